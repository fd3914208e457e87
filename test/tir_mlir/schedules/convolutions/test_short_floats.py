"""schedules.conv2d of float16 and bfloat16, summed in float32: each operand is widened in a copy, not for each use."""

from __future__ import annotations

import numpy as np
import pytest
from programs.convolutions import Conv, convolved

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.target import Target

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
"""Caches so small that every level of tiles is there."""
WIDE = Target(vector_bits=512, registers=32, l1=32 << 10, l2=1 << 20, l3=1 << 24, cores=2)
RNG = np.random.default_rng(5)


def program(conv: Conv, dtype: str, layout: str):
    image, kernel = (conv.batch, conv.ci, *conv.size), (conv.co, conv.ci, *conv.kernel)
    if layout == "NHWC":
        image, kernel = (conv.batch, *conv.size, conv.ci), (*conv.kernel, conv.ci, conv.co)
    x, w = te.placeholder(image, dtype, name="X"), te.placeholder(kernel, dtype, name="W")
    operator = topi.nn.conv2d_nhwc if layout == "NHWC" else topi.nn.conv2d_nchw
    return te.create_prim_func([x, w, operator(x, w, conv.stride, conv.pad, conv.dilation)])


def scheduled(conv: Conv, dtype="float16", layout="NHWC", target=WIDE, threads=1) -> Schedule:
    sch = Schedule(program(conv, dtype, layout))
    schedules.conv2d(sch, f"conv2d_{layout.lower()}", target, threads)
    return sch


def update(sch: Schedule) -> str:
    """The line that adds to the sums."""
    return next(line for line in sch.mod.script().splitlines() if " * " in line and "] + " in line and "] = " in line)


def stored(values: np.ndarray, dtype: str) -> np.ndarray:
    return (values.view("uint32") >> 16).astype("uint16") if dtype == "bfloat16" else values.astype(dtype)


LAYERS = {
    "padded": Conv(5, 40, (9, 9), pad=1),
    "stride": Conv(3, 17, (12, 10), stride=2, pad=1),
    "pixels": Conv(17, 15, (9, 8), (1, 1)),
    "stride of pixels": Conv(6, 9, (9, 9), (1, 1), stride=2),
    "no padding": Conv(20, 33, (7, 8)),
    "images": Conv(4, 6, (6, 6), pad=1, batch=2),
}


@pytest.mark.few(3)
@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", LAYERS)
def test_values(name, dtype, layout, target):
    conv = LAYERS[name]
    x = RNG.integers(-2, 3, (conv.batch, conv.ci, *conv.size)).astype("float32")
    w = RNG.integers(-1, 2, (conv.co, conv.ci, *conv.kernel)).astype("float32")
    expected = convolved(x, w, conv)
    if layout == "NHWC":
        x, w, expected = x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), expected.transpose(0, 2, 3, 1)
    y = np.zeros(expected.shape, "uint16" if dtype == "bfloat16" else dtype)
    build(scheduled(conv, dtype, layout, target))["main"](*(stored(a.copy(), dtype) for a in (x, w)), y)
    np.testing.assert_array_equal(y, stored(expected.astype("float32"), dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("conv", [Conv(16, 32, (28, 28), pad=1), Conv(32, 64, (28, 28), (1, 1)), Conv(8, 32, (20, 20))],
                         ids=["padded", "pixels", "no padding"])  # fmt: skip
def test_no_operand_is_widened_in_the_sum(conv, layout, dtype):
    assert "Cast" not in update(scheduled(conv, dtype, layout))


def test_padding_stores_the_wide_image():
    text = scheduled(Conv(16, 32, (28, 28), pad=1)).mod.script()
    assert "pad_temp = T.alloc_buffer((1, 900, 16))" in text
    assert 'v_i3] = T.Cast("float32", T.if_then_else(' in text


def test_weights_of_few_pixels_are_widened_in_registers():
    sch = scheduled(Conv(64, 32, (7, 7), pad=1))
    assert 'T.Cast("float32", W[' in update(sch)
    assert "pad_temp" in update(sch)
    assert 'T.Cast("float32", pad_temp' not in update(sch)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_few_channels_are_padded_in_vectors_of_several_pixels(dtype, threads):
    text = scheduled(Conv(3, 32, (32, 32), stride=2, pad=1), dtype, threads=threads).mod.script()
    assert "T.vectorized(48)" in text
    assert "T.vectorized(3)" not in text
