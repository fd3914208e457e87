"""Elements of a tensor by strides: diagonals, windows along an axis, views of any strides."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import axis_of, describe_tensor, integer, integers, refuse, shape_of, tensor
from tir_mlir.topi.sizes import floor_quotient, number, simple, total

__all__ = ["as_strided", "diagonal", "sliding_windows"]


def diagonal(data: te.Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> te.Tensor:
    """The elements whose indices along two axes differ by `offset`, as the last axis of the result."""
    op = "diagonal"
    x = tensor(op, "data", data)
    a, b = axis_of(op, axis1, x.ndim, "axis1"), axis_of(op, axis2, x.ndim, "axis2")
    rows, columns = number(x.shape[a]), number(x.shape[b])
    if a == b or rows is None or columns is None:
        raise refuse(op, f"axes {a} and {b} of {describe_tensor('data', x)}", "name two axes whose sizes are numbers")
    down, right = max(-integer(op, "offset", offset), 0), max(offset, 0)
    count = max(min(rows - down, columns - right), 0)
    rest = [d for d in range(x.ndim) if d not in (a, b)]

    def element(*i: Any) -> Any:
        at = dict(zip(rest, i[:-1], strict=True)) | {a: i[-1] + down, b: i[-1] + right}
        return x(*(at[d] for d in range(x.ndim)))

    return te.compute((*(x.shape[d] for d in rest), count), element, name="T_diagonal")


def sliding_windows(data: te.Tensor, size: int, step: int = 1, axis: int = -1) -> te.Tensor:
    """Windows of `size` elements along an axis, one every `step`, as a new last axis: (n,) -> (windows, size)."""
    op = "sliding_windows"
    x = tensor(op, "data", data)
    d = axis_of(op, axis, x.ndim)
    width, apart = integer(op, "size", size, 0), integer(op, "step", step, 1)
    length = number(x.shape[d])
    if length is not None and length < width:
        raise refuse(op, f"windows of {width} along axis {d} of {describe_tensor('data', x)}", "use shorter windows")
    shape = (*x.shape[:d], floor_quotient(x.shape[d] - width + apart, apart), *x.shape[d + 1 :], width)
    return te.compute(shape, lambda *i: x(*i[:d], i[d] * apart + i[-1], *i[d + 1 : -1]), name="T_windows")


def as_strided(data: te.Tensor, shape: Any, strides: Any, offset: int = 0) -> te.Tensor:
    """result[i, j] = the element number offset + i * strides[0] + j * strides[1] of the data in row-major order."""
    op = "as_strided"
    x = tensor(op, "data", data)
    sizes = shape_of(op, shape)
    steps = integers(op, "strides", strides, len(sizes), 0) if sizes else ()
    start, count = integer(op, "offset", offset, 0), number(total(x.shape))
    last = start + sum((number(n) or 1) * s - s for n, s in zip(sizes, steps, strict=True))
    if count is None or (last >= count and all(number(n) != 0 for n in sizes)):
        raise refuse(op, f"element {last} of {describe_tensor('data', x)}", "remain within the elements of the data")

    def element(*i: Any) -> Any:
        flat: Any = start
        for v, s in zip(i, steps, strict=True):
            flat = v * s + flat
        index: list[Any] = []
        for n in reversed(x.shape[1:]):
            index, flat = [flat % n, *index], flat // n
        return x(*([flat, *index] if x.ndim else []))

    return te.compute(tuple(simple(n) for n in sizes), element, name="T_as_strided")
