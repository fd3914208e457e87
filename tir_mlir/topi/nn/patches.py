"""The patches of images under the window of a convolution, as rows of a matrix."""

from __future__ import annotations

from math import prod
from typing import Any

from tir_mlir import te
from tir_mlir.topi.nn.convolution import Window
from tir_mlir.topi.operands import constant, describe_tensor, integer, integers, ranked_tensor, refuse
from tir_mlir.topi.sizes import number

__all__ = ["patches"]


def patches(
    data: Any,
    kernel: Any = 1,
    strides: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
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
    rows, columns = (int(n) for n in window.result(op, [high, wide], list(taps)))
    count = integer(op, "parts", parts, 1)
    if channels % count:
        raise refuse(
            op, f"{describe_tensor('data', x)} has {channels} channels", f"pass parts that divide them, not {count}"
        )
    each, step = channels // count, integer(op, "multiple", multiple, 1)
    length = prod(taps) * each
    (top, _), (left, _) = window.padding

    def element(*index: Any) -> Any:
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
