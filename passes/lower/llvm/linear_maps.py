"""The position of an element in a buffer as a sum: the number that its indices are for, over the operands of their
map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mlir import ir

from tir_mlir.dialect.ir.index import over_dims, used_dims
from tir_mlir.passes.lower.op_attrs import is_row_major


@dataclass(frozen=True, slots=True)
class Term:
    """`factor * operands[operand]`; operand None: `factor * expr`, where `expr` divides."""

    factor: int
    operand: int | None
    expr: ir.AffineExpr


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms and a constant."""

    terms: tuple[Term, ...]
    constant: int


@lru_cache(maxsize=4096)
def linear(map_: ir.AffineMap, strides: tuple[int, ...]) -> Sum | None:
    """The sum of the results of a map, each times its stride. The symbols of the map count after its dimensions. None
    if it divides or multiplies by one of them."""
    factors: dict[ir.AffineExpr, int] = {}
    results = zip(over_dims(map_), strides, strict=True)
    constant = sum(_collect(result, stride, factors) for result, stride in results)
    if not all(map(_is_pure, factors)):
        return None
    terms = [Term(f, e.position if isinstance(e, ir.AffineDimExpr) else None, e) for e, f in factors.items() if f]
    return Sum(tuple(terms), constant)


def _collect(expr: ir.AffineExpr, factor: int, factors: dict[ir.AffineExpr, int]) -> int:
    """Add `factor * expr` to the factors of its terms; the constant in it."""
    if isinstance(expr, ir.AffineConstantExpr):
        return factor * expr.value
    if isinstance(expr, ir.AffineAddExpr):
        return sum(_collect(side.maybe_downcast(), factor, factors) for side in (expr.lhs, expr.rhs))
    if isinstance(expr, ir.AffineMulExpr) and isinstance(scale := expr.rhs.maybe_downcast(), ir.AffineConstantExpr):
        return _collect(expr.lhs.maybe_downcast(), factor * scale.value, factors)
    factors[expr] = factors.get(expr, 0) + factor
    return 0


def _is_pure(expr: ir.AffineExpr) -> bool:
    """Whether an expression multiplies and divides by constants only."""
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return True
    is_sum = isinstance(expr, ir.AffineAddExpr)
    return _is_pure(expr.lhs) and (
        _is_pure(expr.rhs) if is_sum else isinstance(expr.rhs.maybe_downcast(), ir.AffineConstantExpr)
    )


def strides_of(type_: ir.MemRefType) -> tuple[int, ...] | None:
    """The strides of a buffer that is dense from its first element on; None if they are not constant."""
    unknown, shape = ir.ShapedType.get_dynamic_size(), type_.shape
    if type_.memory_space is not None or not is_row_major(type_) or unknown in shape[1:]:
        return None
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return tuple(strides[: type_.rank])


def is_natural(expr: ir.AffineExpr, naturals: Sequence[bool]) -> bool:
    """Whether an expression over dimensions is surely never negative, given which of them are not."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineConstantExpr):
        return expr.value >= 0
    if isinstance(expr, ir.AffineDimExpr):
        return naturals[expr.position]
    if isinstance(expr, ir.AffineModExpr):
        return True
    assert isinstance(expr, ir.AffineBinaryExpr)  # a sum, product or quotient
    return is_natural(expr.lhs, naturals) and is_natural(expr.rhs, naturals)


@lru_cache(maxsize=4096)
def of_its_operands(expr: ir.AffineExpr, dims: int) -> tuple[ir.AffineMap, tuple[int, ...]]:
    """An expression as a map of the dimensions that it uses, and their numbers. Those from `dims` on are symbols."""
    numbers = sorted(used_dims(expr))
    of_dims = sum(number < dims for number in numbers)
    positions: list[ir.AffineExpr] = [ir.AffineExpr.get_constant(0)] * (max(numbers) + 1)
    for new, old in enumerate(numbers):
        is_dim = new < of_dims
        positions[old] = ir.AffineExpr.get_dim(new) if is_dim else ir.AffineExpr.get_symbol(new - of_dims)
    sizes = of_dims, len(numbers) - of_dims
    return ir.AffineMap.get(*sizes, [expr.compose(ir.AffineMap.get(*sizes, positions))]), tuple(numbers)
