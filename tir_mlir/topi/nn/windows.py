"""Windows of images as columns, columns added up to images, and the patches of a convolution as rows of a matrix."""

from __future__ import annotations

from math import prod

from tir_mlir import te
from tir_mlir.topi.nn.convolution import Window
from tir_mlir.topi.operands import (
    Ints,
    as_type,
    constant,
    describe_tensor,
    integer,
    integers,
    ranked_tensor,
    refuse,
    wide_type,
)
from tir_mlir.topi.reductions import narrow
from tir_mlir.topi.shapes import reshape
from tir_mlir.topi.sizes import are_equal, number, simple, total

__all__ = ["fold", "patches", "unfold", "windows"]


def unfold(data: te.Tensor, kernel: te.Tensor, strides: Ints = 1, padding: Ints = 0, dilation: Ints = 1) -> te.Tensor:
    """The windows of an image as columns: (n, c, h, w) -> (n, c * kh * kw, windows), zeros beyond the image."""
    y = windows(data, kernel, strides, padding, dilation)
    n, c, kh, kw, h, w = y.shape
    return reshape(y, (n, simple(c * kh * kw), total((h, w))))


def windows(data: te.Tensor, kernel: te.Tensor, strides: Ints = 1, padding: Ints = 0, dilation: Ints = 1) -> te.Tensor:
    """The windows of an image, for each of their elements: (n, c, h, w) -> (n, c, kh, kw, oh, ow), zeros beyond the
    image."""
    op = "nn.windows"
    x = ranked_tensor(op, "data", data, 4)
    taps = integers(op, "kernel", kernel, 2, 1)
    window = Window.from_arguments(op, strides, padding, dilation, 2)
    counts = window.result(op, x.shape[2:], taps)

    def element(n: te.Expr, c: te.Expr, ky: te.Expr, kx: te.Expr, *position: te.Expr) -> te.Expr:
        index, tests = [], []
        for a, offset in enumerate((ky, kx)):
            (low, high), step, apart = window.padding[a], window.strides[a], window.dilation[a]
            v = position[a] * step + offset * apart - low
            tests += [v >= 0] * (low > 0) + [v < x.shape[2 + a]] * (high > 0)
            index.append(v)
        value = x(n, c, *index)
        return te.if_then_else(te.all(*tests), value, constant(0, x.dtype)) if tests else value

    return te.compute((*x.shape[:2], *taps, *counts), element, name="T_windows")


def fold(
    data: te.Tensor, output_size: Ints, kernel: te.Tensor, strides: Ints = 1, padding: Ints = 0, dilation: Ints = 1
) -> te.Tensor:
    """Windows added up to an image, the reverse of `unfold`: (n, c * kh * kw, windows) -> (n, c, h, w)."""
    op = "nn.fold"
    x = ranked_tensor(op, "data", data, 3)
    taps, size = integers(op, "kernel", kernel, 2, 1), integers(op, "output_size", output_size, 2, 1)
    window = Window.from_arguments(op, strides, padding, dilation, 2)
    counts = window.result(op, size, taps)
    channels = number(x.shape[1])
    if channels is None or channels % (taps[0] * taps[1]) or not are_equal(total(counts), x.shape[2]):
        problem = f"{describe_tensor('data', x)} for windows of {taps} of an image of {size}"
        raise refuse(op, problem, f"pass (n, c * {taps[0] * taps[1]}, {total(counts)})")
    ky, kx = te.reduce_axis((0, taps[0]), name="ky"), te.reduce_axis((0, taps[1]), name="kx")
    wide = wide_type(x.dtype)

    def element(n: te.Expr, c: te.Expr, *position: te.Expr) -> te.ReductionValue:
        tests, at = [], []
        for a, (v, k) in enumerate(zip(position, (ky, kx), strict=True)):
            begin = v + window.padding[a][0] - k * window.dilation[a]  # times the stride, of a window that covers v
            step = window.strides[a]
            tests += [begin >= 0, begin // step < counts[a]] + [begin % step < 1] * (step > 1)
            at.append(begin // step if step > 1 else begin)
        row = c * (taps[0] * taps[1]) + ky * taps[1] + kx
        value = as_type(x(n, row, at[0] * counts[1] + at[1]), x.dtype, wide)
        return te.sum(te.if_then_else(te.all(*tests), value, constant(0, wide)), axis=[ky, kx])

    shape = (x.shape[0], channels // (taps[0] * taps[1]), *size)
    return narrow(te.compute(shape, element, name="T_fold"), x.dtype)


def patches(
    data: te.Tensor,
    kernel: Ints = 1,
    strides: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    pad_value: int = 0,
    multiple: int = 1,
    parts: int = 1,
) -> te.Tensor:
    """What each pixel of a convolution reads: (n, h, w, c) -> (n * out h * out w, kernel h * kernel w * c).

        P[(n * OH + y) * OW + x, (i * KW + j) * C + c] = X[n, y * s + i, x * s + j, c]

    kernel, strides, dilation: one number, or one for each axis; padding: also one for each side. pad_value: what is
    around the images. multiple: rows are filled with zeros up to a multiple of it. parts: more than 1 makes a matrix of
    each part of the channels, (parts, pixels, kernel h * kernel w * c / parts). Sizes are numbers.
    """
    op = "nn.patches"
    x = ranked_tensor(op, "data", data, 4)
    sizes = [number(n) for n in x.shape]
    if any(n is None for n in sizes):
        raise refuse(op, f"{describe_tensor('data', x)} has symbolic sizes", "use numbers")
    _, high, wide, channels = (int(n or 0) for n in sizes)
    taps, window = integers(op, "kernel", kernel, 2, 1), Window.from_arguments(op, strides, padding, dilation, 2)
    rows, columns = (number(n) or 0 for n in window.result(op, [high, wide], list(taps)))
    count = integer(op, "parts", parts, 1)
    if channels % count:
        raise refuse(
            op, f"{describe_tensor('data', x)} has {channels} channels", f"pass parts that divide them, not {count}"
        )
    each, step = channels // count, integer(op, "multiple", multiple, 1)
    length = prod(taps) * each
    (top, _), (left, _) = window.padding

    def element(*index: te.Expr) -> te.Expr:
        *part, p, k = index
        i, j, c = k // (each * taps[1]), k // each % taps[1], k % each
        c = part[0] * each + c if part else c
        y = p // columns % rows * window.strides[0] + i * window.dilation[0] - top
        z = p % columns * window.strides[1] + j * window.dilation[1] - left
        value = x(p // (rows * columns), y, z, c)
        tests = [t for at, n, sides in ((y, high, window.padding[0]), (z, wide, window.padding[1]))
                 if any(sides) for t in (at >= 0, at < n)]  # fmt: skip
        if tests:
            value = te.if_then_else(te.all(*tests), value, constant(pad_value, x.dtype))
        return value if length % step == 0 else te.if_then_else(k < length, value, constant(0, x.dtype))

    shape = (int(sizes[0] or 0) * rows * columns, -(-length // step) * step)
    return te.compute(shape if count == 1 else (count, *shape), element, name="T_patches")
