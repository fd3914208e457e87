"""schedules.auto of products between transforms of tiles: one nest, which gives NumPy's convolution."""

import numpy as np
import pytest
from programs.convolutions import Conv, convolved

from tir_mlir import Schedule, build, schedules, te
from tir_mlir.topi import nn

RNG = np.random.default_rng(3)


def program(n, h, w, c, o, width, padding=1):
    """relu(convolution + bias), of the transformed weights."""
    x, u = te.placeholder((n, h, w, c), name="X"), te.placeholder((o // width, 4, 4, c, width), name="U")
    bias = te.placeholder((o,), name="B")
    y = nn.conv2d_winograd(x, u, padding)
    return te.create_prim_func([x, u, bias, nn.relu(te.compute(y.shape, lambda *i: y(*i) + bias(i[-1]), name="add"))])


def transformed(kernel, width):
    """G w G^T, in panels."""
    g = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, -1]], "float32")
    o, c = kernel.shape[:2]
    points = np.einsum("iy,jx,ocyx->oijc", g, g, kernel).reshape(o // width, width, 4, 4, c)
    return np.ascontiguousarray(points.transpose(0, 2, 3, 4, 1))


@pytest.mark.parametrize(("sizes", "threads"), [
    ((1, 16, 16, 16, 16, 16), 1), ((2, 6, 10, 17, 32, 8), 1), ((1, 34, 4, 15, 16, 16), 1), ((1, 8, 30, 127, 16, 16), 2),
    ((3, 4, 4, 1, 8, 8), 2),
])  # fmt: skip
def test_results_are_those_of_a_convolution(sizes, threads):
    n, h, w, c, o, width = sizes
    sch = Schedule(program(*sizes))
    assert set(schedules.auto(sch, threads=threads).values()) == {"winograd"}
    x, kernel = RNG.integers(-4, 5, (n, c, h, w)), 4 * RNG.integers(-2, 3, (o, c, 3, 3))
    bias, y = RNG.integers(-9, 9, o), np.full((n, h, w, o), 99, "float32")
    x, kernel, bias = (a.astype("float32") for a in (x, kernel, bias))
    build(sch)["main"](x.transpose(0, 2, 3, 1).copy(), transformed(kernel, width), bias, y)
    expected = convolved(x, kernel, Conv(c, o, (h, w), pad=1, batch=n)).transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(y, np.maximum(expected + bias, 0))


def loops_of(sch, block):
    return [sch.get(loop) for loop in sch.get_loops(block)]


def test_a_strip_has_enough_tiles_to_share_the_weights():
    sch = Schedule(program(1, 32, 16, 16, 16, 16))
    schedules.auto(sch, threads=1)
    images, strips, *_ = loops_of(sch, "winograd_image")
    assert (images.extent, strips.extent) == (1, 2)  # of 8 rows of 8 tiles


def test_the_schedule_is_the_same_program():
    sch = Schedule(program(1, 4, 6, 8, 16, 16))
    schedules.auto(sch, threads=1)
    assert sch.verify()


def test_without_panels_it_is_a_convolution():
    x, u = te.placeholder((1, 8, 8, 16), name="X"), te.placeholder((8, 4, 4, 16, 1), name="U")
    sch = Schedule(te.create_prim_func([x, u, nn.conv2d_winograd(x, u, 1)]))
    assert "winograd" not in schedules.auto(sch, threads=1).values()


def test_of_one_axis_it_is_a_convolution():
    x, w = te.placeholder((1, 2, 4), "float16", name="X"), te.placeholder((2, 3, 3), "float16", name="W")
    sch = Schedule(te.create_prim_func([x, w, nn.conv1d_transpose(x, w, 2)]))
    assert "winograd" not in schedules.auto(sch, threads=1).values()
