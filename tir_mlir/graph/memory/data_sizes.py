"""Sizes that are known only when a graph has computed a count: the memory for them has the size of their bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import TensorType
from tir_mlir.dialect.symbolic import Constant, IntExpr, fold, names_in, operation, parse, size_of
from tir_mlir.graph import size_code
from tir_mlir.graph.size_code import Size

Range = tuple[IntExpr, IntExpr]


def upper_bound(size: Size, bounds: Mapping[str, Size]) -> Size:
    """The greatest value of a size, where those in `bounds` are between 0 and their bound: "3 * u0 + n" -> "192 + n".

    Errors: GraphError for a quotient by what may be 0.
    """
    if not bounds or isinstance(size, int) or not names_in(parse(size)) & set(bounds):
        return size

    def leaf(expr: IntExpr) -> Range:
        name = str(getattr(expr, "name", ""))
        return (Constant(0), parse(upper_bound(bounds[name], bounds))) if name in bounds else (expr, expr)

    return size_of(fold(parse(size), leaf, _combine_ranges)[1])


def _combine_ranges(symbol: str, left: Range, right: Range) -> Range:
    """The least and the greatest value of an operation on values that are not negative."""
    if symbol == "-":
        return left[0] - right[1], left[1] - right[0]
    if symbol in "+*":
        return operation(symbol, left[0], right[0]), operation(symbol, left[1], right[1])
    if isinstance(right[0], Constant) and right[0].value <= 0:
        raise GraphError("a size is divided by one that data decide on, which may be 0\n  fix: a size that is given")
    if symbol == "%":
        return Constant(0), right[1]
    return operation(symbol, left[0], right[1]), operation(symbol, left[1], right[0])


def is_data_dependent(type_: TensorType, bounds: Mapping[str, Size]) -> bool:
    """Whether data decide on the shape of a tensor."""
    return bool(bounds) and any(name in bounds for size in type_.shape for name in size_code.symbols(size))


def storage_type(type_: TensorType, bounds: Mapping[str, Size]) -> TensorType:
    """The memory of a tensor: itself, or where data decide on its shape a vector of as many elements as it may have."""
    return (
        replace(type_, shape=(upper_bound(size_code.product(type_.shape), bounds),))
        if is_data_dependent(type_, bounds)
        else type_
    )
