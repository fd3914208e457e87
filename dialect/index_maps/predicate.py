"""Conditions on named dimensions and sizes as text: `a == 3 and b >= 2`, `n % 16 == 0`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.index_maps.layout import Conjunction, Padding
from tir_mlir.dialect.index_maps.terms import from_affine
from tir_mlir.dialect.presburger import linear_terms
from tir_mlir.dialect.symbolic import Constant, IntExpr, evaluate


@dataclass(frozen=True)
class Condition:
    """`left >= right`, or `left == right`."""

    left: IntExpr
    right: IntExpr
    is_eq: bool

    @staticmethod
    def from_expr(expr: ir.AffineExpr, is_eq: bool, names: Sequence[str]) -> Condition:
        """`expr >= 0` (or `== 0`) with negative terms moved to the other side."""
        sides: list[list[IntExpr]] = [[], []]
        terms, constant = linear_terms(expr)
        for term, factor in terms.items():
            part = from_affine(term, list(names))
            sides[factor < 0].append(part if abs(factor) == 1 else part * abs(factor))
        if constant:
            sides[constant < 0].append(Constant(abs(constant)))
        lhs, rhs = (_total(side) for side in sides)
        return Condition(rhs, lhs, is_eq) if is_eq and not sides[0] else Condition(lhs, rhs, is_eq)

    def holds(self, values: dict[str, int]) -> bool:
        """Whether the condition holds for given values of its names."""
        lhs, rhs = (evaluate(side, values.__getitem__) for side in (self.left, self.right))
        return lhs == rhs if self.is_eq else lhs >= rhs

    def __repr__(self) -> str:
        if self.is_eq:
            return f"{self.left} == {self.right}"
        if isinstance(self.left, Constant):  # i <= 13 reads better than 13 >= i
            return f"{self.right} <= {self.left}"
        return f"{self.left} >= {self.right}"


def _total(parts: Sequence[IntExpr]) -> IntExpr:
    """The sum of terms, the constant last."""
    variables = [p for p in parts if not isinstance(p, Constant)]
    constant = sum(p.value for p in parts if isinstance(p, Constant))
    if not variables:
        return Constant(constant)
    total = variables[0]
    for part in variables[1:]:
        total = total + part
    return total + constant if constant else total


@dataclass(frozen=True)
class Predicate:
    """A union of conjunctions over named indices and sizes; the empty union is false."""

    names: tuple[str, ...]
    pieces: tuple[tuple[Condition, ...], ...]

    @staticmethod
    def from_padding(names: Sequence[str], sizes: Sequence[str], padding: Padding) -> Predicate:
        called = [*names, *sizes]
        return Predicate(tuple(called), tuple(conditions(piece, called) for piece in padding.pieces))

    @property
    def never(self) -> bool:
        return not self.pieces

    def __call__(self, *values: int) -> bool:
        """Whether the predicate holds for given indices, followed by the sizes."""
        value_of = dict(zip(self.names, values, strict=True))
        return any(all(c.holds(value_of) for c in piece) for piece in self.pieces)

    def __repr__(self) -> str:
        if not self.pieces:
            return "never"
        texts = [" and ".join(map(repr, piece)) for piece in self.pieces]
        return " or ".join(texts)


def conditions(piece: Conjunction, names: Sequence[str]) -> tuple[Condition, ...]:
    return tuple(Condition.from_expr(expr, is_eq, names) for expr, is_eq in piece)
