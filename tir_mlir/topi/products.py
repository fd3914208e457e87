"""Products of matrices."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.topi.broadcast import broadcast_shape
from tir_mlir.topi.operands import described, one_type, ranked, refuse
from tir_mlir.topi.sizes import is_one, same


def sum_type(dtype: str, out_dtype: str | None) -> str:
    """The type that products of a type are summed in: float32 for the short floats, int32 for the short integers that
    are asked for in it."""
    return "float32" if dtype in ("float16", "bfloat16") else out_dtype or dtype


def cast_to(x: te.Tensor, dtype: str) -> te.Tensor:
    """The tensor in a type; itself if it has it."""
    return x if x.dtype == dtype else te.compute(x.shape, lambda *i: x(*i).astype(dtype), name="T_cast")


def as_type(value: te.Expr, own: str, dtype: str) -> te.Expr:
    """A value of type `own` in another type."""
    return value if own == dtype else value.astype(dtype)


def matmul(a: Any, b: Any, transp_a: bool = False, transp_b: bool = False, out_dtype: str | None = None) -> te.Tensor:
    """Matrix product of the last two axes, (.., n, k) x (.., k, m) -> (.., n, m); the axes before broadcast.

    A vector is a row on the left, a column on the right, and its axis is not in the result. transp_a, transp_b: the
    last two axes are exchanged. float16 and bfloat16 are summed in float32. out_dtype: default that of the operands.
    """
    x, y = ranked("matmul", "a", a, 1, 99), ranked("matmul", "b", b, 1, 99)
    dtype = one_type("matmul", a=x, b=y)
    swap = transp_a and x.ndim > 1, transp_b and y.ndim > 1
    depth, other = x.shape[-2 if swap[0] else -1], y.shape[-2 if y.ndim > 1 and not swap[1] else -1]
    if not same(depth, other):
        told = f"{described('a', x)}{' transposed' * swap[0]} and {described('b', y)}{' transposed' * swap[1]}"
        raise refuse("matmul", f"{told}: {depth} columns times {other} rows", "transpose or reshape one of them")
    batch = broadcast_shape("matmul", x.shape[:-2], y.shape[:-2])
    rows = () if x.ndim == 1 else (x.shape[-1 if swap[0] else -2],)
    columns = () if y.ndim == 1 else (y.shape[-2 if swap[1] else -1],)
    k = te.reduce_axis((0, depth), name="k")
    added = sum_type(dtype, out_dtype)

    def side(t: te.Tensor, outer: Any, at: Any, left: bool) -> Any:
        if t.ndim == 1:
            return t(k)
        own = t.shape[:-2]
        index = [
            0 if is_one(n) and not is_one(m) else i
            for i, n, m in zip(outer[len(batch) - len(own) :], own, batch[len(batch) - len(own) :], strict=True)
        ]
        last = (at, k) if left != swap[not left] else (k, at)
        return t(*index, *last)

    def element(*i: Any) -> Any:
        outer = i[: len(batch)]
        row, column = (i[len(batch)] if rows else None), (i[-1] if columns else None)
        one, two = side(x, outer, row, True), side(y, outer, column, False)
        return te.sum(as_type(one, dtype, added) * as_type(two, dtype, added), axis=k)

    product = te.compute((*batch, *rows, *columns), element, name="T_matmul")
    return cast_to(product, out_dtype or dtype)


def batch_matmul(
    tensor_a: Any,
    tensor_b: Any,
    oshape: Any = None,
    out_dtype: str | None = None,
    transpose_a: bool = False,
    transpose_b: bool = True,
) -> te.Tensor:
    """(b, n, k) x (b, m, k) -> (b, n, m); transpose_b=False: (b, k, m). oshape: accepted, ignored."""
    x, y = ranked("nn.batch_matmul", "tensor_a", tensor_a, 3), ranked("nn.batch_matmul", "tensor_b", tensor_b, 3)
    return matmul(x, y, transpose_a, transpose_b, out_dtype)
