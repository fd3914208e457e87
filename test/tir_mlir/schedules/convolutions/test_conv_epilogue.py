"""Elementwise blocks after a convolution are computed where its tiles are written."""

from dataclasses import replace

import numpy as np
import pytest
from programs.layers import chain

from tir_mlir import Schedule, build, schedules, te
from tir_mlir.target import Target

WIDE = Target(vector_bits=256, registers=32, l1=32 << 10, l2=256 << 10, l3=1 << 20, cores=2)
RNG = np.random.default_rng(3)


def conv(channels, filters, size, window, step=1, after=("bias", "add", "relu"), groups=False):
    """A convolution of a padded NCHW image, and the blocks after it."""
    pad = window // 2
    x = te.placeholder((1, channels, size, size), name="X")
    w = te.placeholder((filters, 1 if groups else channels, window, window), name="W")
    p = te.compute(
        (1, channels, size + 2 * pad, size + 2 * pad),
        lambda n, c, h, v: te.if_then_else(
            te.all(h >= pad, h < size + pad, v >= pad, v < size + pad), x[n, c, h - pad, v - pad], 0.0
        ),
        name="padded",
    )
    c, r, s = (
        te.reduce_axis((0, e), name=a) for e, a in ((1 if groups else channels, "c"), (window, "r"), (window, "s"))
    )
    out = (size + 2 * pad - window) // step + 1
    y = te.compute(
        (1, filters, out, out),
        lambda n, o, h, v: te.sum(p[n, o if groups else c, h * step + r, v * step + s] * w[o, c, r, s], axis=[c, r, s]),
        name="conv",
    )
    y, more = chain(y, after, axis=1)
    return te.create_prim_func([x, w, *more, y])


def numbers(*shape):
    return RNG.integers(-4, 5, shape).astype("float32")


def by_numpy(x, w, b, r, step, groups=False):
    pad, out = w.shape[2] // 2, r.shape[2]
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    y = np.zeros(r.shape, "float32") + b[None, :, None, None] + r
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            part = x[:, :, i : i + step * out : step, j : j + step * out : step]
            y += part * w[None, :, 0, i, j, None, None] if groups else np.einsum("ncij,oc->noij", part, w[:, :, i, j])
    return np.maximum(y, 0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("window", "step", "groups"), [(3, 1, False), (3, 2, False), (1, 1, False), (3, 1, True)])
def test_bias_residual_and_relu(window, step, groups, threads):
    sch = Schedule(conv(12, 12, 9, window, step, groups=groups))
    found = schedules.auto(sch, WIDE, threads)
    assert {found[n] for n in ("conv", "bias", "add", "relu")} == {"conv2d"} and sch.verify()
    x, w, b = numbers(1, 12, 9, 9), numbers(12, 1 if groups else 12, window, window), numbers(12)
    r = numbers(1, 12, (9 - 1) // step + 1, (9 - 1) // step + 1)
    y = np.empty_like(r)
    build(sch)(x, w, b, r, y)
    np.testing.assert_array_equal(y, by_numpy(x, w, b, r, step, groups))


def test_the_bias_is_in_the_tile():
    sch = Schedule(conv(4, 6, 9, 3, after=["bias", "relu"]))
    schedules.auto(sch, WIDE, 1)
    names = {sch.get(b).name for b in sch.get_child_blocks(sch.get_block("root"))}
    assert not names & {"bias", "relu"} and "alloc_buffer((1, 6, 9, 9))" not in sch.mod.script()


def test_the_bias_is_in_the_tiles_of_pieces_of_an_image():
    sch = Schedule(conv(16, 64, 12, 3, after=["bias", "relu"]))
    schedules.auto(sch, replace(WIDE, l1=64 << 10, l2=128 << 10), 9)
    names = {sch.get(b).name for b in sch.get_child_blocks(sch.get_block("root"))}
    assert not names & {"bias", "relu"} and "alloc_buffer((1, 64, 12, 12))" not in sch.mod.script()
