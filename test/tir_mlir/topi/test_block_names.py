"""The names of the blocks that operators make are those of TVM, so that schedules find them."""

import numpy as np
import pytest
from harness.operators import random

from tir_mlir import Schedule, build, schedules, te, topi

IMAGES = [(1, 4, 8, 8), (4, 4, 3, 3)]
GROUPS = [(1, 4, 8, 8), (4, 2, 3, 3)]
LAST = [(1, 8, 8, 4), (3, 3, 4, 4)]
NAMES = {
    "conv1d_ncw": ([(1, 3, 8), (4, 3, 3)], ["pad_temp", "conv1d_ncw"]),
    "conv1d_nwc": ([(1, 8, 3), (3, 3, 4)], ["pad_temp", "conv1d_nwc"]),
    "conv2d": (IMAGES, ["pad_temp", "conv2d_nchw"]),
    "conv2d_nchw": (IMAGES, ["pad_temp", "conv2d_nchw"]),
    "conv2d_nhwc": (LAST, ["pad_temp", "conv2d_nhwc"]),
    "conv2d_hwcn": ([(8, 8, 3, 1), (3, 3, 3, 4)], ["pad_temp", "conv2d_hwcn"]),
    "conv3d_ncdhw": ([(1, 3, 4, 4, 4), (4, 3, 3, 3, 3)], ["pad_temp", "conv3d_ncdhw"]),
    "conv3d_ndhwc": ([(1, 4, 4, 4, 3), (3, 3, 3, 3, 4)], ["pad_temp", "conv3d_ndhwc"]),
    "depthwise_conv2d_nchw": ([(1, 4, 8, 8), (4, 1, 3, 3)], ["PaddedInput", "DepthwiseConv2d"]),
    "depthwise_conv2d_nhwc": ([(1, 8, 8, 4), (3, 3, 4, 1)], ["PaddedInput", "DepthwiseConv2d"]),
    "group_conv2d_nchw": (GROUPS, ["pad_temp", "group_conv2d_nchw"]),
    "group_conv2d_nhwc": ([(1, 8, 8, 4), (3, 3, 2, 4)], ["pad_temp", "group_conv2d_nhwc"]),
}


def blocks(function, shapes, *more):
    """The names of the blocks of an operator on tensors A, B, ... of these shapes."""
    inputs = [te.placeholder(shape, name=name) for shape, name in zip(shapes, "ABC", strict=False)]
    text = te.create_prim_func([*inputs, function(*inputs, *more)]).script()
    return [line.split('"')[1] for line in text.splitlines() if "with T.block(" in line and "#" not in line]


@pytest.mark.parametrize("name", NAMES)
def test_convolutions(name):
    shapes, names = NAMES[name]
    groups = [2] if name.startswith("group") else []
    assert blocks(getattr(topi.nn, name), shapes, 1, 1, 1, *groups) == names


@pytest.mark.parametrize(
    ("function", "shapes", "names"),
    [
        (topi.matmul, [(3, 8), (8, 4)], ["T_matmul"]),
        (topi.nn.matmul, [(3, 8), (8, 4)], ["T_matmul_NN"]),
        (lambda a, b: topi.nn.matmul(a, b, transpose_a=True), [(8, 3), (8, 4)], ["T_matmul_TN"]),
        (topi.nn.dense, [(3, 8), (4, 8)], ["T_matmul_NT"]),
        (topi.nn.batch_matmul, [(2, 3, 8), (2, 4, 8)], ["T_batch_matmul_NT"]),
        (lambda a: topi.nn.pad(a, (0, 1), (1, 0)), [(3, 8)], ["PadInput"]),
        (lambda a: topi.nn.pad(a, (0, 1), name="mine"), [(3, 8)], ["mine"]),
        (lambda a: topi.sum(a, 1), [(3, 8)], ["A_red"]),
        (topi.max, [(3, 8)], ["A_red"]),
    ],
)
def test_products_pads_and_reductions(function, shapes, names):
    assert blocks(function, shapes) == names


def test_a_schedule_finds_the_padding():
    x, w = te.placeholder((1, 4, 8, 8), name="x"), te.placeholder((4, 4, 3, 3), name="w")
    sch = Schedule(te.create_prim_func([x, w, topi.nn.conv2d(x, w, 1, 1, 1)]))
    conv = sch.get_block("conv2d_nchw")
    sch.compute_at(sch.get_block("pad_temp"), sch.get_loops(conv)[1])
    sch.reorder(*sch.get_loops(conv)[-3:], sch.get_loops(conv)[3])
    assert sch.verify()
    a, b, c = random(1, 4, 8, 8), random(4, 4, 3, 3, seed=1), np.zeros((1, 4, 8, 8), "float32")
    build(sch)(a, b, c)
    wide = np.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (2, 3))
    np.testing.assert_allclose(c, np.einsum("nchwyx,ocyx->nohw", windows, b), rtol=1e-4, atol=1e-4)


def test_library_schedules_do_not_depend_on_the_names():
    for name in ("conv2d", "depthwise_conv2d_nchw", "group_conv2d_nchw"):
        inputs = [te.placeholder(shape) for shape in NAMES[name][0]]
        groups = [2] if name.startswith("group") else []
        sch = Schedule(te.create_prim_func([*inputs, getattr(topi.nn, name)(*inputs, 1, 1, 1, *groups)]))
        assert schedules.auto(sch)[NAMES[name][1][1]] != "none"
