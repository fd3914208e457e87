"""Sizes of tensors: numbers, or text of named sizes ("n + 1"); as te expressions, and as the ops that compute them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from operator import mul
from typing import SupportsIndex, TypeAlias

import numpy as np
from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import GraphError, NotAffine, short_repr
from tir_mlir.dialect.ir import dtypes
from tir_mlir.dialect.symbolic import (
    Constant,
    IntExpr,
    Symbol,
    evaluate,
    fold,
    is_nonnegative,
    leaves,
    names_in,
    parse,
    size_of,
    to_affine,
)
from tir_mlir.te import Tensor, Var, placeholder, var
from tir_mlir.te.expr import Expr, int_expr

Size: TypeAlias = int | str
"""A size in its plain form: a number, or the text of named sizes."""
SizeLike: TypeAlias = SupportsIndex | str | Expr
"""A size as users give it: a number, text or a te expression."""
ShapeLike: TypeAlias = SizeLike | Sequence[SizeLike]
"""A shape as users give it; one size is a shape of one axis."""


class GraphSizes:
    """The named sizes of a graph, each one variable of te."""

    def __init__(self) -> None:
        self.variables: dict[str, Var] = {}
        self._names: dict[str, str] = {}

    def variable(self, name: str) -> Var:
        """The variable of a name."""
        if name not in self.variables:
            variable = self.variables[name] = var(name)
            self._names[variable.key] = name
        return self.variables[name]

    def expression(self, size: Size) -> Expr | int:
        """The te form of a size: "n + 1" -> the variable of n, plus 1."""
        return evaluate(parse(size), self.variable)

    def text(self, size: SizeLike) -> Size:
        """The number, or the text, of a size given as a number, text or te expression."""
        return size_of(self.int_expr(size))

    def int_expr(self, size: SizeLike) -> IntExpr:
        """The integer expression of a size given as a number, text or te expression. Errors: GraphError."""
        if isinstance(size, bool) or not isinstance(size, (int, str, Expr)):
            if hasattr(size, "__index__"):
                return self.int_expr(int(size))
            raise GraphError(f"a size is a number, a name or an expression of sizes, not {short_repr(size)}")
        if isinstance(size, int):
            if size < 0:
                raise GraphError(f"a size is not negative; this one is {size}")
            if size >= 2**63:
                raise GraphError(f"a size is at most 2**63 - 1; this one is {size}")
        if not isinstance(size, Expr):
            expr = parse(size)
            for leaf in leaves(expr):
                if isinstance(leaf, Symbol):
                    self.variable(leaf.name)
            return expr
        for key, leaf in size.leaves.items():
            if key not in self._names:
                self._adopt(key, leaf)
        return int_expr(size, lambda key: Symbol(self._names[key]), self._refuse)

    def _refuse(self, part: Expr) -> IntExpr:
        raise GraphError(f"a size is a number, a name, or sums and products of them, not {short_repr(part)}")

    def _adopt(self, key: str, leaf: Var | Tensor) -> None:
        """Take a variable of the user's as a size of its name."""
        if not isinstance(leaf, Var):
            raise GraphError(f"a size is an expression of sizes; {leaf!r} is not one")
        variable = self.variables.setdefault(leaf.name, leaf)
        if variable is not leaf:
            raise GraphError(f"two sizes are named {leaf.name}; fix: one variable for both, or another name")
        self._names[key] = leaf.name

    def shape(self, dims: ShapeLike) -> tuple[Size, ...]:
        """A shape in text form. Errors: GraphError for what is not a sequence of sizes."""
        if isinstance(dims, (int, str, Expr)):
            dims = (dims,)
        if not isinstance(dims, (tuple, list)):
            raise GraphError(f"a shape is a tuple of sizes, not {short_repr(dims)}")
        return tuple(self.text(size) for size in dims)

    def tensor(self, name: str, shape: Sequence[Size], dtype: str) -> Tensor:
        """A te placeholder of a shape."""
        return placeholder(tuple(self.expression(size) for size in shape), dtype, name=name)


def checked_dtype(dtype: str | np.dtype) -> str:
    """The name of an element type. Errors: GraphError."""
    name = getattr(dtype, "name", dtype)  # of numpy
    if not isinstance(name, str) or name not in dtypes.NAMES:
        raise GraphError(dtypes.refusal(short_repr(name)))
    return name


def symbols(size: Size) -> list[str]:
    """The names in a size, sorted."""
    return [] if isinstance(size, int) else sorted(names_in(parse(size)))


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


def emit_size(size: Size, values: Mapping[str, ir.Value]) -> ir.Value:
    """The index value of a size, by ops at the current insertion point."""

    def leaf(expr) -> ir.Value:
        return arith.constant(ir.IndexType.get(), expr.value) if isinstance(expr, Constant) else values[expr.name]

    return fold(parse(size), leaf, _emit_operation)


def _emit_operation(symbol: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    if symbol == "%":  # rounded down, as a quotient
        return arith.subi(lhs, arith.muli(arith.floordivsi(lhs, rhs), rhs))
    return {"+": arith.addi, "-": arith.subi, "*": arith.muli, "//": arith.floordivsi}[symbol](lhs, rhs)


def affine(size: Size, names: Sequence[str]) -> ir.AffineExpr | None:
    """A size as an affine expression of symbols in the order of `names`; None if it is not affine."""

    def symbol(leaf: IntExpr) -> ir.AffineExpr:
        assert isinstance(leaf, Symbol)  # a size has no other names
        return ir.AffineExpr.get_symbol(list(names).index(leaf.name))

    try:
        return to_affine(parse(size), symbol)
    except NotAffine:
        return None


def at_least(size: Size, bound: Size) -> bool:
    """Whether a size is known to be no smaller than another one, for all values of the names: 4 * n * m and 2 * n * m.

    False where that is not provable.
    """
    return is_nonnegative(parse(size) - parse(bound))
