"""Sizes as text ("n + 1"): their product, the ops that compute them, their affine form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from operator import mul

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import NotAffine
from tir_mlir.dialect.symbolic import Constant, evaluate, fold, is_nonnegative, names_in, parse, to_affine

Size = int | str


def symbols(size: Size) -> list[str]:
    """The names in a size, sorted."""
    return sorted(names_in(parse(size)))


def product(sizes: Sequence[Size]) -> Size:
    """The product of sizes: (4, "n", "n + 1") -> "4 * n * (n + 1)"."""
    number = prod(s for s in sizes if isinstance(s, int))
    named = [parse(s) for s in sizes if isinstance(s, str)]
    if not named or not number:
        return number
    return str(reduce(mul, [Constant(number), *named] if number > 1 else named))


def value(size: Size, values: Mapping[str, int]) -> int:
    """The number that a size is where the names have these values."""
    return evaluate(parse(size), values.__getitem__)


def emitted(size: Size, values: Mapping[str, ir.Value]) -> ir.Value:
    """The index value of a size, by ops at the current insertion point."""

    def leaf(expr) -> ir.Value:
        return arith.constant(ir.IndexType.get(), expr.value) if isinstance(expr, Constant) else values[expr.name]

    return fold(parse(size), leaf, _emitted)


def _emitted(symbol: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    if symbol == "%":  # rounded down, as a quotient
        return arith.subi(lhs, arith.muli(arith.floordivsi(lhs, rhs), rhs))
    return {"+": arith.addi, "-": arith.subi, "*": arith.muli, "//": arith.floordivsi}[symbol](lhs, rhs)


def affine(size: Size, names: Sequence[str]) -> ir.AffineExpr | None:
    """A size as an affine expression of symbols in the order of `names`; None if it is not affine."""
    try:
        return to_affine(parse(size), lambda leaf: ir.AffineExpr.get_symbol(list(names).index(leaf.name)))
    except NotAffine:
        return None


def at_least(size: Size, bound: Size) -> bool:
    """Whether a size is known to be no smaller than another one, for all values of the names: 4 * n * m and 2 * n * m.

    False where that is not provable.
    """
    return is_nonnegative(parse(size) - parse(bound))
