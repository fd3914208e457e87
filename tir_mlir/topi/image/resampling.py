"""One axis read at given positions with given weights: resizing of any kind."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import as_type, axis_of, describe_tensor, is_float, refuse, tensor, wide_type
from tir_mlir.topi.reductions import narrow
from tir_mlir.topi.sizes import number

OP = "image.resample"


def resample(data: Any, positions: Any, weights: Any = None, axis: int = -1) -> te.Tensor:
    """result[.., o, ..] = sum over t of data[.., positions[o, t], ..] * weights[o, t], along an axis.

    positions: integers (m, taps) within the axis; weights: floats of the same shape; without them taps is 1.
    """
    x, at = tensor(OP, "data", data), tensor(OP, "positions", positions)
    d = axis_of(OP, axis, x.ndim)
    taps = number(at.shape[-1]) if at.ndim == 2 else None
    if taps is None or is_float(at.dtype) or (weights is None and taps != 1):
        raise refuse(OP, f"{describe_tensor('positions', at)}", "pass integers (m, taps), and weights for several taps")
    shape = (*x.shape[:d], at.shape[0], *x.shape[d + 1 :])
    last = x.shape[d] - 1

    def element(i: Any, t: Any) -> Any:
        where = te.max(te.min(as_type(at(i[d], t), at.dtype, "int32"), last), 0)
        return x(*i[:d], where, *i[d + 1 :])

    if weights is None:
        return te.compute(shape, lambda *i: element(i, 0), name="T_resample")
    w, wide = tensor(OP, "weights", weights), wide_type(x.dtype)
    if not is_float(x.dtype):
        raise refuse(OP, f"{describe_tensor('data', x)} is not of floats", 'cast it first: astype(data, "float32")')

    def term(i: Any, t: Any) -> Any:
        return as_type(element(i, t), x.dtype, wide) * as_type(w(i[d], t), w.dtype, wide)

    if taps <= 4:

        def weighted_sum(*i: Any) -> Any:
            total = term(i, 0)
            for t in range(1, taps):
                total = total + term(i, t)
            return as_type(total, wide, x.dtype)

        return te.compute(shape, weighted_sum, name="T_resample")
    k = te.reduce_axis((0, taps), name="t")
    return narrow(te.compute(shape, lambda *i: te.sum(term(i, k), axis=k), name="T_resample"), x.dtype)


__all__ = ["resample"]
