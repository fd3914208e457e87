"""Indices that a block computes from its iters and numbers alone, by casts and arithmetic: `A[int(vi * 0.5)]`.

isl does not express them, but over a constant domain they are evaluated at each point: arithmetic outside of reductions
is strict IEEE, so that compiled code computes the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.ir import Block, Index, cache_while_frozen, dtypes, read_value, signs
from tir_mlir.dialect.ir.op_traits import both_signs, index_operands
from tir_mlir.dialect.ir.op_views import (
    ApplyOp,
    CastOp,
    ComputedAccessOp,
    ConstantOp,
    FloorDivOp,
    FPToSIOp,
    IndexCastOp,
    isa,
)
from tir_mlir.dialect.symbolic import APPLY, fold_affine

MOST = 1 << 16
"""Points up to which a domain is evaluated."""

Values = np.ndarray[Any, Any]
_FLOATS: dict[str, Callable[..., Any]] = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "math.floor": np.floor, "math.ceil": np.ceil,
    "math.trunc": np.trunc, "math.roundeven": np.rint,
}  # fmt: skip
_INTEGERS: dict[str, Callable[..., Any]] = {
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum, "arith.floordivsi": lambda a, b: np.floor_divide(a.astype(np.int64), b.astype(np.int64)),
    "arith.shrsi": lambda a, b: np.floor(a / 2.0**b),
}  # fmt: skip
_FROM_FLOATS = frozenset(word for name in FPToSIOp.names for word in both_signs(name))
_EVALUATED = _FLOATS.keys() | _INTEGERS.keys() | CastOp.names | IndexCastOp.names
_EXACT = 1 << 53


def stays_within(op: ir.Operation, block: Block, mins: Sequence[Index], extents: Sequence[Index]) -> bool:
    """Whether the indices of a load or store in a block lie in [min, min + extent), expressions over its iters, at all
    points of its domain. False if they are not known, for instance because they are loaded.
    """
    points = _points(block)
    if points is None or not isa(op, ComputedAccessOp):
        return False
    for value, low, extent in zip(index_operands(op), mins, extents, strict=True):
        index, start, size = _value(value, points), index_values(low, points), index_values(extent, points)
        if index is None or start is None or size is None or not np.all((start <= index) & (index < start + size)):
            return False
    return True


@cache_while_frozen
def _points(block: Block) -> dict[ir.Value, Values] | None:
    """The values of the iters at all points of the domain of a block; None if it is too large, or not constant."""
    spans = [(it.min.as_constant(), it.extent.as_constant()) for it in block.iters]
    if any(low is None or size is None for low, size in spans) or math.prod(size or 0 for _, size in spans) > MOST:
        return None
    axes = [np.arange(low or 0, (low or 0) + (size or 0), dtype=np.int64) for low, size in spans]
    grid = np.meshgrid(*axes, indexing="ij")
    return {it.var: values.reshape(-1) for it, values in zip(block.iters, grid, strict=True)}


def _value(value: ir.Value, points: dict[ir.Value, Values]) -> Values | None:
    """An integer (as int64) or float at all points; None if it is not known or not finite."""
    if isinstance(value.type, ir.IndexType) and (isinstance(value.owner, ir.Block) or isa(value.owner, ApplyOp)):
        return index_values(read_value(value), points)
    if isinstance(value.owner, ir.Block):
        return None
    op = value.owner.operation
    if isa(op, ConstantOp):
        number = op.attributes["value"]
        return np.array([number.value]) if isinstance(number, ir.IntegerAttr | ir.FloatAttr) else None
    parts = (
        [_value(v, points) for v in op.operands] if op.name in _EVALUATED and signs.operand_sign(op) is not True else []
    )
    if not parts or any(p is None for p in parts):
        return None
    dtype = "int64" if isinstance(op.results[0].type, ir.IndexType) else dtypes.to_name(op.results[0].type)
    return evaluate_op(op.name, dtype, [p for p in parts if p is not None])


def evaluate_op(name: str, dtype: str, parts: list[Values]) -> Values | None:
    """The result of an op, or of a cast, on known operands, as its type holds it; None if that does not represent it,
    or is none of float32, float64 and integers, or if the op is not known."""
    if name not in _EVALUATED:
        return None
    with np.errstate(all="ignore"):
        if dtype in ("float32", "float64"):
            parts = [p.astype(dtype) if name in _FLOATS else p for p in parts]
            result = _FLOATS[name](*parts) if name in _FLOATS else parts[0].astype(dtype)
            return result if np.all(np.isfinite(result)) else None
        if not dtype.startswith(("int", "uint")):
            return None
        if name in _FROM_FLOATS:
            parts = [np.trunc(parts[0])] if np.all(np.abs(parts[0]) < _EXACT) else []
        if not parts or any(np.any(np.abs(p) >= _EXACT) for p in parts):
            return None
        if name in FloorDivOp.names and np.any(parts[1] == 0):
            return None
        if name == "arith.shrsi" and not np.all((parts[1] >= 0) & (parts[1] < dtypes.bits(dtype))):
            return None
        wide = [p.astype(np.float64) for p in parts]  # exact below 2^53, so that an overflow is seen
        low, high = dtypes.limits(dtype)
        checked = _INTEGERS[name](*wide) if name in _INTEGERS else wide[0]
        if not np.all((low <= checked) & (checked <= high) & (np.abs(checked) < _EXACT)):
            return None
        return checked.astype(np.int64)


def index_values(index: Index, points: dict[ir.Value, Values]) -> Values | None:
    """An index expression at all points; None if it uses values that have none there."""
    if any(v not in points for v in index.values):
        return None
    dims = [points[v] for v in index.values]

    def leaf(part: Any) -> Any:
        return np.int64(part.value) if isinstance(part, ir.AffineConstantExpr) else dims[part.position]

    return np.atleast_1d(fold_affine(index.expr, leaf, lambda symbol, a, b: APPLY[symbol](a, b)))
