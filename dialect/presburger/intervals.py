"""Interval arithmetic, the fast path before isl. `True` is definitive; `False` means unknown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from mlir import ir

from tir_mlir.dialect.ir import ENTRIES, Block, Index, attrs, is_block, is_loop, is_symbol, over_dims, remembered
from tir_mlir.dialect.presburger.linear_terms import dim_factors

Bound = int | None  # None: unbounded
Range = tuple[Bound, Bound]
ValueRanges = dict[ir.Value, tuple[Bound, Bound]]


def around(op: ir.Operation) -> ValueRanges:
    """The ranges of the loop variables and iters around an op: loops by their bounds, iters by their domains."""
    parent = None if op.name == "func.func" else op.parent
    return {} if parent is None else within(parent.operation)


@remembered
def within(op: ir.Operation) -> ValueRanges:
    """The ranges of the variables of an op and of the ops around it."""
    outer = around(op)
    if not is_loop(op) and not is_block(op):
        return outer
    box = dict(outer)
    if is_loop(op):
        low, high = attrs.affine_map(op, "lowerBoundMap"), attrs.affine_map(op, "upperBoundMap")
        operand_ranges = tuple(known_range(v, box) for v in op.operands)
        box[op.regions[0].blocks[0].arguments[0]] = _loop_range(low, high, operand_ranges)
    else:
        ranges = _iter_ranges(attrs.affine_map(op, attrs.MIN), attrs.affine_map(op, attrs.EXTENT))
        if ranges is not None:
            box.update(zip(op.regions[0].blocks[0].arguments, ranges, strict=False))  # without iters: a dummy argument
            return box
        for it in Block(op).iters:
            low, high = interval(it.min, box)[0], interval(it.min + it.extent, box)[1]
            box[it.var] = (low, None if high is None else high - 1)
    return box


@lru_cache(maxsize=ENTRIES)
def _iter_ranges(mins: ir.AffineMap, extents: ir.AffineMap) -> tuple[Range, ...] | None:
    """The ranges of the iters of a block with a constant domain; None for any other."""
    lows = [constant_of(e) for e in mins.results]
    counts = [constant_of(e) for e in extents.results]
    if None in lows or None in counts:
        return None
    return tuple((low, low + count - 1) for low, count in zip(lows, counts, strict=True))  # type: ignore[operator]


@lru_cache(maxsize=ENTRIES)
def _loop_range(
    low: ir.AffineMap, high: ir.AffineMap, operand_ranges: tuple[tuple[Bound, Bound], ...]
) -> tuple[Bound, Bound]:
    """The range of a loop variable, from the ranges of its bounds' operands."""
    cut = low.n_inputs
    lows = [of_expr(e, operand_ranges[:cut])[0] for e in over_dims(low)]
    highs = [of_expr(e, operand_ranges[cut:])[1] for e in over_dims(high)]
    least = None if None in lows else max(v for v in lows if v is not None)
    ends = [v for v in highs if v is not None]
    return least, min(ends) - 1 if ends else None


def known_range(value: ir.Value, box: ValueRanges) -> tuple[Bound, Bound]:
    """The range of a value; a shape variable is at least 0."""
    if value in box:
        return box[value]
    return (0, None) if is_symbol(value) else (None, None)


def interval(index: Index, box: ValueRanges) -> tuple[Bound, Bound]:
    """The minimum and maximum of an expression; shape variables are >= 0."""
    return of_expr(index.expr, [known_range(v, box) for v in index.values])


def of_expr(expr: ir.AffineExpr, dims: Sequence[tuple[Bound, Bound]]) -> tuple[Bound, Bound]:
    """The minimum and maximum of an expression over dimensions of known ranges."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineConstantExpr):
        return expr.value, expr.value
    if isinstance(expr, ir.AffineDimExpr):
        return dims[expr.position]
    assert isinstance(expr, ir.AffineBinaryExpr)  # symbols are dimensions here
    low, high = of_expr(expr.lhs, dims)
    if isinstance(expr, ir.AffineAddExpr):
        other_low, other_high = of_expr(expr.rhs, dims)
        return _add(low, other_low), _add(high, other_high)
    factor = ir.AffineConstantExpr(expr.rhs).value
    if isinstance(expr, ir.AffineMulExpr):
        ends = _scale(low, factor), _scale(high, factor)
        return ends if factor >= 0 else (ends[1], ends[0])
    if isinstance(expr, ir.AffineModExpr):
        is_below = low is not None and high is not None and 0 <= low and high < factor
        return (low, high) if is_below else (0, factor - 1)
    up = factor - 1 if isinstance(expr, ir.AffineCeilDivExpr) else 0
    return tuple(None if v is None else (v + up) // factor for v in (low, high))  # type: ignore[return-value]


def _add(a: Bound, b: Bound) -> Bound:
    return None if a is None or b is None else a + b


def _scale(value: Bound, factor: int) -> Bound:
    return 0 if factor == 0 else None if value is None else value * factor


def at_least_zero(index: Index, box: ValueRanges) -> bool:
    """Whether intervals show `index >= 0`; `False` means unknown."""
    low = interval(index.simplified(), box)[0]
    return low is not None and low >= 0


def inside(index: Index, extent: Index, low: Index, size: Index, box: ValueRanges) -> bool:
    """Whether intervals show that [index, index + extent) lies in [low, low + size); `False` means unknown."""
    start, count = low.as_constant(), size.as_constant()
    if start is None or count is None:
        return False
    least, most = interval(index, box)
    longest = interval(extent, box)[1]
    if least is None or most is None or longest is None:
        return False
    return start <= least and most + longest <= start + count


def only_positive(expr: ir.AffineExpr) -> bool:
    """Whether an expression is a sum of dimensions with positive factors."""
    linear = dim_factors(expr)
    return linear is not None and all(f > 0 for f in linear.factors.values())


def constant_bounds(loop: ir.Operation) -> tuple[int, int] | None:
    """The first and last value of a loop with constant bounds (last < first: it is empty); else None."""
    return _constant_bounds(attrs.affine_map(loop, "lowerBoundMap"), attrs.affine_map(loop, "upperBoundMap"))


@lru_cache(maxsize=ENTRIES)
def _constant_bounds(low: ir.AffineMap, high: ir.AffineMap) -> tuple[int, int] | None:
    if len(low.results) != 1 or len(high.results) != 1:
        return None
    first, end = constant_of(over_dims(low)[0]), constant_of(over_dims(high)[0])
    return None if first is None or end is None else (first, end - 1)


def constant_of(expr: ir.AffineExpr) -> int | None:
    return expr.value if isinstance(expr, ir.AffineConstantExpr) else None
