"""Convolutions beside torch."""

import numpy as np
import pytest
from harness.operators import picked, random, run

from tir_mlir import topi
from tir_mlir.topi import nn

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
functional = torch.nn.functional

CASES = {
    "plain": ((1, 3, 8, 9), (5, 3, 3, 3), {}),
    "padded": ((2, 4, 7, 7), (6, 4, 3, 3), {"padding": 1}),
    "strided": ((1, 3, 15, 17), (8, 3, 3, 3), {"padding": (1, 2), "strides": 2}),
    "dilated": ((1, 4, 11, 11), (4, 4, 3, 3), {"dilation": (2, 3), "padding": 2}),
    "one by one": ((2, 16, 5, 5), (7, 16, 1, 1), {}),
    "one by one, strided": ((1, 8, 7, 7), (4, 8, 1, 1), {"strides": 2}),
    "grouped": ((1, 8, 6, 6), (12, 2, 3, 3), {"groups": 4, "padding": 1}),
    "depthwise": ((1, 8, 9, 9), (8, 1, 3, 3), {"groups": 8, "padding": 1, "strides": 2}),
    "depthwise, two filters": ((1, 4, 6, 6), (8, 1, 3, 3), {"groups": 4, "padding": 1}),
    "large window": ((1, 3, 32, 32), (4, 3, 16, 16), {"strides": 16}),
    "one pixel": ((1, 1, 1, 1), (1, 1, 1, 1), {}),
}


def torch_args(attrs):
    return {{"strides": "stride"}.get(k, k): v for k, v in attrs.items()}


def close(got, wanted, tolerance=2e-5):
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", CASES)
def test_conv2d(case):
    data, kernel, attrs = CASES[case]
    x, w = random(*data), random(*kernel, seed=1)
    close(
        run(nn.conv2d, x, w, **attrs), functional.conv2d(torch.tensor(x), torch.tensor(w), **torch_args(attrs)).numpy()
    )


@pytest.mark.parametrize("case", ["padded", "strided", "grouped", "depthwise"])
def test_conv2d_channels_last(case):
    data, kernel, attrs = CASES[case]
    x, w = random(*data), random(*kernel, seed=1)
    wanted = functional.conv2d(torch.tensor(x), torch.tensor(w), **torch_args(attrs)).numpy()
    turned = [np.ascontiguousarray(v) for v in (x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0))]
    got = run(nn.conv2d, *turned, data_layout="NHWC", kernel_layout="HWIO", **attrs)
    close(got, wanted.transpose(0, 2, 3, 1))


@pytest.mark.parametrize("case", ["padded", "grouped", "depthwise"])
def test_conv2d_of_blocks_of_channels(case):
    data, kernel, attrs = CASES[case]
    x, w = random(*data), random(*kernel, seed=1)
    wanted = functional.conv2d(torch.tensor(x), torch.tensor(w), **torch_args(attrs)).numpy()
    b, o = (2, 3) if case == "padded" else (4, 4)
    n, c, h, v = x.shape
    blocked = np.ascontiguousarray(x.reshape(n, c // b, b, h, v).transpose(0, 1, 3, 4, 2))
    got = run(nn.conv2d, blocked, w, data_layout=f"NCHW{b}c", out_layout=f"NCHW{o}c", **attrs)
    close(got.transpose(0, 1, 4, 2, 3).reshape(wanted.shape), wanted)


def test_conv2d_of_blocked_weights():
    x, w = random(1, 8, 6, 6), random(8, 8, 3, 3, seed=1)
    wanted = functional.conv2d(torch.tensor(x), torch.tensor(w)).numpy()
    blocked = np.ascontiguousarray(x.reshape(1, 2, 4, 6, 6).transpose(0, 1, 3, 4, 2))
    weights = np.ascontiguousarray(w.reshape(2, 4, 2, 4, 3, 3).transpose(0, 2, 4, 5, 3, 1))
    got = run(nn.conv2d, blocked, weights, data_layout="NCHW4c", kernel_layout="OIHW4i4o")
    close(got.transpose(0, 1, 4, 2, 3).reshape(wanted.shape), wanted)


@pytest.mark.parametrize("stride", [1, 2])
def test_conv2d_of_groups_of_rows_of_weights(stride):
    x, w = random(1, 9, 8, 5), random(8, 3, 5, 1, seed=1)
    image, kernel = (torch.tensor(v.transpose(order)) for v, order in ((x, (0, 3, 1, 2)), (w, (2, 3, 0, 1))))
    wanted = functional.conv2d(image, kernel, stride=stride, padding=1, groups=5).numpy()
    grouped = np.ascontiguousarray(w.reshape(2, 4, 3, 5, 1).transpose(0, 2, 3, 4, 1))
    options = {"strides": stride, "padding": 1, "groups": 5, "data_layout": "NHWC", "kernel_layout": "HWOI4h"}
    close(run(nn.conv2d, x, grouped, **options), wanted.transpose(0, 2, 3, 1))


def test_conv2d_pads_each_side():
    x, w = random(1, 3, 6, 6), random(2, 3, 3, 3, seed=1)
    wanted = functional.conv2d(functional.pad(torch.tensor(x), (2, 0, 1, 3)), torch.tensor(w)).numpy()
    close(run(nn.conv2d, x, w, padding=(1, 2, 3, 0)), wanted)


@pytest.mark.nightly
@pytest.mark.parametrize("shape", [("n", 3, 9, 7), (5, 3, "h", "w")])
def test_conv2d_of_symbolic_sizes(shape):
    x, w = random(5, 3, 9, 7), random(4, 3, 3, 3, seed=1)
    wanted = functional.conv2d(torch.tensor(x), torch.tensor(w), stride=2, padding=1).numpy()
    close(run(nn.conv2d, x, w, shapes=[shape, w.shape], like=wanted, strides=2, padding=1), wanted)


@pytest.mark.parametrize(("dtype", "out"), [("float16", "float32"), ("int8", "int32")])
def test_conv2d_of_short_numbers(dtype, out):
    x, w = random(1, 4, 6, 6, dtype=dtype), random(3, 4, 3, 3, dtype=dtype, seed=1)
    wanted = functional.conv2d(torch.tensor(x).double(), torch.tensor(w).double(), padding=1).numpy()
    close(run(nn.conv2d, x, w, padding=1, out_dtype=out), wanted)


@pytest.mark.parametrize("groups", [1, 2])
def test_conv1d_and_conv3d(groups):
    x, w = random(2, 4, 15), random(6, 4 // groups, 3, seed=1)
    close(
        run(nn.conv1d, x, w, strides=2, padding=1, groups=groups),
        functional.conv1d(torch.tensor(x), torch.tensor(w), stride=2, padding=1, groups=groups).numpy(),
    )
    x, w = random(1, 4, 4, 5, 6), random(6, 4 // groups, 2, 3, 3, seed=1)
    close(
        run(nn.conv3d, x, w, padding=1, groups=groups),
        functional.conv3d(torch.tensor(x), torch.tensor(w), padding=1, groups=groups).numpy(),
    )


def test_functions_with_a_layout_in_their_name():
    x, w = random(1, 4, 6, 6), random(8, 2, 3, 3, seed=1)
    wanted = functional.conv2d(torch.tensor(x), torch.tensor(w), padding=1, groups=2).numpy()
    close(run(nn.group_conv2d_nchw, x, w, padding=1, groups=2), wanted)
    deep = random(4, 2, 3, 3, seed=2)
    wanted = functional.conv2d(torch.tensor(x), torch.tensor(deep.reshape(8, 1, 3, 3)), groups=4).numpy()
    close(run(nn.depthwise_conv2d_nchw, x, deep), wanted)


TRANSPOSED = {
    "twice as large": ((1, 4, 5, 6), (4, 3, 2, 2), {"strides": 2}),
    "padded": ((2, 3, 5, 5), (3, 4, 3, 3), {"strides": 2, "padding": 1, "output_padding": 1}),
    "plain": ((1, 2, 4, 4), (2, 3, 3, 3), {}),
    "cut off": ((1, 2, 5, 5), (2, 2, 2, 2), {"padding": 2, "strides": 3}),
    "grouped": ((1, 4, 4, 4), (4, 3, 3, 3), {"groups": 2, "strides": 2}),
    "dilated": ((1, 2, 4, 4), (2, 2, 3, 3), {"dilation": 2, "padding": 1}),
}


@pytest.mark.parametrize("case", TRANSPOSED)
def test_conv2d_transpose(case):
    data, kernel, attrs = TRANSPOSED[case]
    x, w = random(*data), random(*kernel, seed=1)
    wanted = functional.conv_transpose2d(torch.tensor(x), torch.tensor(w), **torch_args(attrs)).numpy()
    close(run(nn.conv2d_transpose, x, w, **attrs), wanted)


def test_conv1d_transpose():
    x, w = random(1, 3, 7), random(3, 2, 4, seed=1)
    wanted = functional.conv_transpose1d(torch.tensor(x), torch.tensor(w), stride=2, padding=1).numpy()
    close(run(nn.conv1d_transpose, x, w, strides=2, padding=1), wanted)


SCHEDULES = [
    ([(1, 16, 14, 14), (32, 16, 3, 3)], {}, ["conv2d"]),
    ([(1, 16, 14, 14), (32, 16, 3, 3)], {"padding": 1}, ["conv2d", "conv2d"]),
    ([(1, 16, 14, 14), (32, 16, 1, 1)], {}, ["conv2d"]),
    ([("n", 16, 14, 14), (32, 16, 3, 3)], {"padding": 1, "strides": 2}, ["conv2d", "conv2d"]),
    ([(1, 14, 14, 16), (3, 3, 16, 32)], {"data_layout": "NHWC", "kernel_layout": "HWIO", "padding": 1}, ["conv2d"] * 2),
    ([(1, 16, 14, 14), (16, 1, 3, 3)], {"groups": 16, "padding": 1}, ["conv2d", "conv2d"]),
]


@pytest.mark.parametrize(("shapes", "attrs", "schedules"), SCHEDULES)
def test_schedules(shapes, attrs, schedules):
    assert picked(topi.nn.conv2d, *shapes, **attrs) == schedules


def turned(array, order):
    """The array with its axes in another order, as its own memory."""
    return np.ascontiguousarray(array.transpose(order))


BY_LAYOUT = {  # orders of data, weights and result for those of torch
    "conv1d_ncw": ((0, 1, 2), (0, 1, 2), {}),
    "conv1d_nwc": ((0, 2, 1), (2, 1, 0), {}),
    "conv2d_hwcn": ((2, 3, 1, 0), (2, 3, 1, 0), {}),
    "conv3d_ncdhw": ((0, 1, 2, 3, 4), (0, 1, 2, 3, 4), {}),
    "conv3d_ndhwc": ((0, 2, 3, 4, 1), (2, 3, 4, 1, 0), {}),
    "group_conv2d_nhwc": ((0, 2, 3, 1), (2, 3, 1, 0), {"groups": 2}),
}


@pytest.mark.parametrize("name", BY_LAYOUT)
def test_convolutions_by_layout(name):
    order, weights, attrs = BY_LAYOUT[name]
    count = len(order) - 2
    x, w = random(2, 4, *[5] * count), random(6, 4 // attrs.get("groups", 1), *[3] * count, seed=1)
    wanted = getattr(functional, f"conv{count}d")(torch.tensor(x), torch.tensor(w), padding=1, **attrs).numpy()
    got = run(getattr(nn, name), turned(x, order), turned(w, weights), padding=1, **attrs)
    close(got, wanted.transpose(order), 1e-4)


def test_a_depthwise_convolution_with_channels_last():
    x, w = random(1, 4, 6, 6), random(8, 1, 3, 3, seed=1)
    wanted = functional.conv2d(torch.tensor(x), torch.tensor(w), padding=1, groups=4).numpy()
    filters = turned(w.reshape(4, 2, 3, 3), (2, 3, 0, 1))
    got = run(nn.depthwise_conv2d_nhwc, turned(x, (0, 2, 3, 1)), filters, padding=1)
    close(got, wanted.transpose(0, 2, 3, 1))


def test_a_transposed_convolution_with_tvms_arguments():
    x, w = random(1, 3, 4, 4), random(3, 5, 3, 3, seed=1)
    wanted = functional.conv_transpose2d(
        torch.tensor(x), torch.tensor(w), stride=2, padding=1, output_padding=1
    ).numpy()
    got = run(lambda a, b: nn.conv2d_transpose_nchw(a, b, (2, 2), (1, 1), "float32", (1, 1)), x, w)
    close(got, wanted)
