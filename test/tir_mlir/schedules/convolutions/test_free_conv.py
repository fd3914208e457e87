"""schedules.conv2d(free=True): every point is the same convolution."""

import numpy as np
import pytest
from harness.spaces import check_points
from programs.convolutions import Conv, convolved, program

from tir_mlir import schedules
from tir_mlir.target import Target

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
RNG = np.random.default_rng(7)
LAYERS = [Conv(5, 7, (9, 9), pad=1), Conv(17, 15, (7, 7), (1, 1)), Conv(3, 5, (17, 15), stride=2, pad=1)]


@pytest.mark.few(3)
@pytest.mark.parametrize("conv", LAYERS, ids=["3x3", "1x1", "stride"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_every_point_is_the_convolution(conv, layout):
    x, w = (
        RNG.integers(-4, 5, s).astype("float32")
        for s in ((conv.batch, conv.ci, *conv.size), (conv.co, conv.ci, *conv.kernel))
    )
    expected = convolved(x, w, conv)
    if layout == "NHWC":
        orders = ((x, (0, 2, 3, 1)), (w, (2, 3, 1, 0)), (expected, (0, 2, 3, 1)))
        x, w, expected = (a.transpose(order).copy() for a, order in orders)
    names = check_points(
        program(conv, layout), lambda sch: schedules.conv2d(sch, "Y", SMALL, 2, free=True), [x, w], expected, 3
    )
    assert names >= {"Y.unroll"}


def test_fewer_columns_than_the_lanes_of_a_vector():
    conv = Conv(5, 3, (7, 7), pad=1)
    x, w = (RNG.integers(-4, 5, s).astype("float32") for s in ((1, 5, *conv.size), (3, 5, *conv.kernel)))
    wide = Target(vector_bits=512, registers=32, cores=2)
    check_points(
        program(conv), lambda sch: schedules.conv2d(sch, "Y", free=True, target=wide), [x, w], convolved(x, w, conv), 2
    )
