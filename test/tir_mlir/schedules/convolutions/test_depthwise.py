"""Depthwise convolutions of NHWC images: pixels of a tile share the weights in registers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from programs.layers import chain

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.target import AVX2, AVX512_VNNI, Target, chosen

WIDE = Target(vector_bits=256, registers=32, l1=32 << 10, l2=256 << 10, l3=1 << 20, cores=2)
SMALL = Target(vector_bits=256, registers=32, l1=1 << 10, l2=4 << 10, l3=1 << 20, cores=2)
AVX_VNNI = replace(AVX2, features=AVX2.features | {"avxvnni"})
RNG = np.random.default_rng(3)


def depthwise(size, channels, window, step):
    """A padded NHWC image, its depthwise convolution, a bias, relu."""
    pad, full = window // 2, size + window - 1
    x, w = te.placeholder((1, size, size, channels), name="X"), te.placeholder((window, window, channels), name="W")

    def padded(n, h, v, c):
        inside = te.all(h >= pad, h < size + pad, v >= pad, v < size + pad)
        return te.if_then_else(inside, x[n, h - pad, v - pad, c], 0.0)

    p = te.compute((1, full, full, channels), padded, name="padded")
    r, s = te.reduce_axis((0, window), name="r"), te.reduce_axis((0, window), name="s")
    out = (full - window) // step + 1
    y = te.compute(
        (1, out, out, channels),
        lambda n, h, v, c: te.sum(p[n, h * step + r, v * step + s, c] * w[r, s, c], axis=[r, s]),
        name="conv",
    )
    y, more = chain(y, ["bias", "relu"])
    return te.create_prim_func([x, w, *more, y]), out


@pytest.mark.parametrize(("size", "channels", "window", "step"), [(9, 20, 3, 1), (15, 8, 5, 2), (4, 3, 3, 1)])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_result_is_numpys(size, channels, window, step, threads):
    check(size, channels, window, step, WIDE, threads)


@pytest.mark.parametrize(("size", "step"), [(15, 1), (15, 2), (9, 1)])
def test_an_image_is_padded_strip_by_strip(size, step):
    sch = check(size, 8, 3, step, SMALL, 1)
    strip, *_ = (sch.get(loop) for loop in sch.get_loops("padded") if sch.get(loop).extent != 1)
    assert strip.extent > 2
    assert str(sch.get_loops("padded")[1]) == str(sch.get_loops("conv_update")[1])


def test_threads_share_the_strips():
    sch = check(57, 16, 3, 1, WIDE, 2, exact=False)
    kinds = [str(sch.get(loop).kind) for loop in sch.get_loops("padded")]
    assert kinds.count("parallel") == 1
    assert str(sch.get(sch.get_loops("conv_update")[kinds.index("parallel")]).kind) == "parallel"


def test_a_small_image_is_left_to_one_thread():
    sch = Schedule(depthwise(14, 16, 3, 1)[0])
    schedules.auto(sch, WIDE, 2)
    assert "parallel" not in [str(sch.get(loop).kind) for loop in sch.get_loops("conv_update")]


def check(size, channels, window, step, target, threads, exact=True):
    """The schedule of a depthwise convolution, whose results are compared with NumPy's."""
    program, out = depthwise(size, channels, window, step)
    sch = Schedule(program)
    found = schedules.auto(sch, target, threads)
    assert set(found.values()) == {"conv2d"}
    assert not exact or sch.verify()
    x, w, b = (
        RNG.integers(-4, 5, s).astype("f4")
        for s in ((1, size, size, channels), (window, window, channels), (channels,))
    )
    y = np.empty((1, out, out, channels), "f4")
    build(sch)(x, w, b, y)
    pad = window // 2
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0))), (window, window), (1, 2)
    )
    expected = np.einsum("nhwcyx,yxc->nhwc", windows[:, ::step, ::step], w) + b
    np.testing.assert_array_equal(y, np.maximum(expected, 0))
    return sch


def test_pixels_and_weights_are_unrolled():
    sch = Schedule(depthwise(14, 16, 3, 1)[0])
    schedules.auto(sch, WIDE, 1)
    kinds = [str(sch.get(loop).kind) for loop in sch.get_loops("conv_update")]
    assert kinds[-4:] == ["unrolled"] * 3 + ["vectorized"]
    assert [sch.get(loop).extent for loop in sch.get_loops("conv_update")][-2] == 7


def test_weights_may_have_a_last_axis_of_one_element():
    x, w = te.placeholder((1, 14, 14, 16), name="X"), te.placeholder((3, 3, 16, 1), name="W")
    y = topi.nn.conv2d(x, w, 1, 1, 1, groups=16, data_layout="NHWC", kernel_layout="HWOI")
    sch = Schedule(te.create_prim_func([x, w, y]))
    schedules.auto(sch, WIDE, 1)
    assert sch.get(sch.get_loops("group_conv2d_nhwc_update")[-2]).extent == 7


def test_a_long_window_is_not_unrolled():
    sch = Schedule(depthwise(14, 16, 7, 1)[0])
    schedules.auto(sch, WIDE, 1)
    assert "unrolled" not in [str(sch.get(loop).kind) for loop in sch.get_loops("conv_update")]


@pytest.mark.parametrize(("channels", "parts"), [(8, 1), (5, 2)], ids=["vectors", "less"])
def test_whole_rows_are_padded_in_one_pass(channels, parts):
    """Rows of less than a vector are filled first, and then copied."""
    sch = Schedule(depthwise(6, channels, 3, 1)[0])
    schedules.auto(sch, WIDE, 1)
    names = {sch.get(b).name for b in sch.get_child_blocks(sch.get_block("root"))}
    assert len([n for n in names if n.startswith("padded")]) == parts


def group_weights(size, channels, window, step):
    """A convolution of bytes whose rows of weights are in groups of four."""
    x = te.placeholder((1, *size, channels), name="X", dtype="uint8")
    w = te.placeholder((-(-window // 4), window, channels, 1, 4), name="W", dtype="int8")
    layouts: dict[str, Any] = {"data_layout": "NHWC", "kernel_layout": "HWOI4h", "out_dtype": "int32"}
    pad = (window // 2, window // 2, window // 2 + -window % 4, window // 2)
    y = topi.nn.conv2d(x, w, strides=step, padding=pad, groups=channels, **layouts)
    return Schedule(te.create_prim_func([x, w, y]))


@pytest.mark.parametrize(
    ("size", "channels", "window", "step"),
    [((1, 1), 16, 3, 1), ((3, 15), 64, 3, 1), ((4, 16), 96, 3, 2), ((2, 17), 32, 5, 1)],
)
@pytest.mark.parametrize("target", [AVX512_VNNI, AVX_VNNI, "neoverse_n2", "neoverse_n1"])
def test_groups_of_rows_are_dot_products_of_lanes(size, channels, window, step, target):
    sch = group_weights(size, channels, window, step)
    schedules.auto(sch, target, 1)
    assert "dot_lanes_" in sch.mod.script()
    assert sch.verify()
    if chosen(target).runs_here:
        x = RNG.integers(0, 256, (1, *size, channels)).astype("uint8")
        w = RNG.integers(-128, 128, (-(-window // 4), window, channels, 1, 4)).astype("int8")
        shape = (1, *(-(-n // step) for n in size), channels)
        found, wanted = np.empty(shape, "int32"), np.empty(shape, "int32")
        build(sch)(x, w, found)
        build(group_weights(size, channels, window, step))(x, w, wanted)
        np.testing.assert_array_equal(found, wanted)


def test_results_of_narrow_registers_are_written_together():
    sch = group_weights((7, 7), 32, 3, 1)
    schedules.auto(sch, "neoverse_n2", 1)
    written = [sch.get(loop) for loop in sch.get_loops("group_conv2d_nhwc_local")]
    assert (str(written[-1].kind), written[-1].extent) == ("vectorized", 16)


def test_without_dot_products_of_bytes_groups_of_rows_are_vectors():
    sch = group_weights((5, 9), 16, 3, 1)
    schedules.auto(sch, AVX2, 1)
    assert "dot_lanes_" not in sch.mod.script()
    assert sch.verify()
