"""Convolutions in one layout, under TVM's names and with its names of blocks."""

from __future__ import annotations

from tir_mlir import te
from tir_mlir.te import Tensor
from tir_mlir.topi.layouts import layout
from tir_mlir.topi.nn.convolution import Window, conv1d, conv2d, conv3d, convolve
from tir_mlir.topi.nn.transposed_convolution import conv2d_transpose
from tir_mlir.topi.operands import Ints, describe_tensor, refuse, tensor
from tir_mlir.topi.sizes import are_equal, number, simple

__all__ = [
    "conv1d_ncw", "conv1d_nwc", "conv2d_hwcn", "conv2d_nchw", "conv2d_nhwc", "conv2d_transpose_nchw",
    "conv3d_ncdhw", "conv3d_ndhwc", "depthwise_conv2d_nchw", "depthwise_conv2d_nhwc", "group_conv2d_nchw",
    "group_conv2d_nhwc",
]  # fmt: skip


def conv1d_ncw(
    data: Tensor, kernel: Tensor, strides: Ints = 1, padding: Ints = 0, dilation: Ints = 1, out_dtype: str | None = None
) -> Tensor:
    """`conv1d` of images (n, c, w) with weights (features, c, kernel) -> (n, features, out).

    Options are those of `conv1d`; the block has TVM's name for this layout.
    """
    return conv1d(data, kernel, strides, padding, dilation, "NCW", "OIW", out_dtype)


def conv1d_nwc(
    data: Tensor, kernel: Tensor, strides: Ints = 1, padding: Ints = 0, dilation: Ints = 1, out_dtype: str | None = None
) -> Tensor:
    """`conv1d` of images (n, w, c) with weights (kernel, c, features) -> (n, out, features).

    Options are those of `conv1d`; the block has TVM's name for this layout.
    """
    return conv1d(data, kernel, strides, padding, dilation, "NWC", "WIO", out_dtype)


def conv2d_nchw(
    data: Tensor, kernel: Tensor, stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1, out_dtype: str | None = None
) -> Tensor:
    """`conv2d` of images (n, c, h, w) with weights (features, c, kernel h, kernel w) -> (n, features, ..).

    Options are those of `conv2d`; the block has TVM's name for this layout.
    """
    return conv2d(data, kernel, stride, padding, dilation, "NCHW", "OIHW", out_dtype)


def conv2d_nhwc(
    data: Tensor, kernel: Tensor, stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1, out_dtype: str | None = None
) -> Tensor:
    """`conv2d` of images (n, h, w, c) with weights (kernel h, kernel w, c, features) -> (n, .., features).

    Options are those of `conv2d`; the block has TVM's name for this layout.
    """
    return conv2d(data, kernel, stride, padding, dilation, "NHWC", "HWIO", out_dtype)


def conv2d_hwcn(
    data: Tensor, kernel: Tensor, stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1, out_dtype: str | None = None
) -> Tensor:
    """`conv2d` of images (h, w, c, n) with weights (kernel h, kernel w, c, features) -> (.., features, n).

    Options are those of `conv2d`; the block has TVM's name for this layout.
    """
    return conv2d(data, kernel, stride, padding, dilation, "HWCN", "HWIO", out_dtype)


def conv3d_ncdhw(
    data: Tensor,
    kernel: Tensor,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    out_dtype: str | None = None,
) -> Tensor:
    """`conv3d` of volumes (n, c, d, h, w) with weights (features, c, kernel ..) -> (n, features, ..).

    Options are those of `conv3d`; the block has TVM's name for this layout.
    """
    return conv3d(data, kernel, stride, padding, dilation, "NCDHW", "OIDHW", out_dtype, groups)


def conv3d_ndhwc(
    data: Tensor,
    kernel: Tensor,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    out_dtype: str | None = None,
) -> Tensor:
    """`conv3d` of volumes (n, d, h, w, c) with weights (kernel .., c, features) -> (n, .., features).

    Options are those of `conv3d`; the block has TVM's name for this layout.
    """
    return conv3d(data, kernel, stride, padding, dilation, "NDHWC", "DHWIO", out_dtype, groups)


def group_conv2d_nchw(
    data: Tensor,
    kernel: Tensor,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    out_dtype: str | None = None,
) -> Tensor:
    """`conv2d` of groups of channels: (n, c, h, w), (features, c / groups, kernel ..) -> (n, features, ..).

    Options are those of `conv2d`; groups divides the channels and the features.
    """
    return conv2d(data, kernel, stride, padding, dilation, "NCHW", "OIHW", out_dtype, groups)


def group_conv2d_nhwc(
    data: Tensor,
    kernel: Tensor,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    out_dtype: str | None = None,
) -> Tensor:
    """`conv2d` of groups of channels: (n, h, w, c), (kernel .., c / groups, features) -> (n, .., features).

    Options are those of `conv2d`; groups divides the channels and the features.
    """
    return conv2d(data, kernel, stride, padding, dilation, "NHWC", "HWIO", out_dtype, groups)


def depthwise_conv2d_nchw(
    data: Tensor, kernel: Tensor, stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1, out_dtype: str | None = None
) -> Tensor:
    """`conv2d` of each channel alone, in NCHW: (n, c, h, w), (c, m, kh, kw) -> (n, c * m, ..)."""
    return _depthwise(data, kernel, stride, padding, dilation, out_dtype, "NCHW", "OIHW", (0, 1))


def depthwise_conv2d_nhwc(
    data: Tensor, kernel: Tensor, stride: Ints = 1, padding: Ints = 0, dilation: Ints = 1, out_dtype: str | None = None
) -> Tensor:
    """`conv2d` of each channel alone, in NHWC: (n, h, w, c), (kh, kw, c, m) -> (n, .., c * m)."""
    return _depthwise(data, kernel, stride, padding, dilation, out_dtype, "NHWC", "HWOI", (2, 3))


def _depthwise(
    data: Tensor,
    kernel: Tensor,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    out_dtype: str | None,
    order: str,
    weights: str,
    channels: tuple[int, int],
) -> Tensor:
    """A convolution of each channel alone. channels: the axes of the kernel that are channels and filters of each."""
    op = "nn.depthwise_conv2d"
    x, w = tensor(op, "data", data), tensor(op, "kernel", kernel)
    if x.ndim != 4 or w.ndim != 4:
        fix = f"pass {order} and {'(c, m, kh, kw)' if channels == (0, 1) else '(kh, kw, c, m)'}"
        raise refuse(op, f"{describe_tensor('data', x)} and {describe_tensor('kernel', w)}", fix)
    count = number(x.shape[order.index("C")])
    if count is None:
        raise refuse(op, f"{describe_tensor('data', x)} has a symbolic number of channels", "use a number")
    filters = w if are_equal(w.shape[channels[1]], 1) else _flatten_filters(w, channels)
    window = Window.from_arguments(op, stride, padding, dilation, 2)
    source, target = layout(op, "data_layout", order, "NCHW", "NCHW"), layout(op, "out_layout", order, "NCHW", "NCHW")
    of_kernel = layout(op, "kernel_layout", weights, "OIHW", "OIHW")
    names = ("PaddedInput", "DepthwiseConv2d")
    return convolve(op, x, filters, window, count, (source, of_kernel, target), "HW", out_dtype, names)


def _flatten_filters(w: Tensor, channels: tuple[int, int]) -> Tensor:
    """Weights of c channels with m filters each, as those of c * m channels with one."""
    outer, inner = channels
    several = w.shape[inner]
    shape = tuple(simple(n * several) if a == outer else 1 if a == inner else n for a, n in enumerate(w.shape))

    def element(*i: te.Expr) -> te.Expr:
        index = list(i)
        index[outer], index[inner] = i[outer] // several, i[outer] % several + i[inner]
        return w(*index)

    return te.compute(shape, element, name="T_kernel")


def conv2d_transpose_nchw(
    data: Tensor,
    kernel: Tensor,
    strides: Ints = 1,
    padding: Ints = 0,
    out_dtype: str | None = None,
    output_padding: Ints = 0,
) -> Tensor:
    """A transposed convolution, as `conv2d_transpose` computes it, of images in NCHW by weights in IOHW: input channels
    first. `padding` is cut off the result; `output_padding` adds rows and columns at its end.
    """
    return conv2d_transpose(data, kernel, strides, padding, output_padding, out_dtype=out_dtype)
