"""Conditions on named dimensions and sizes as text: `a == 3 and b >= 2`, `n % 16 == 0`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.index_maps.layout import Conjunction, Padding
from tir_mlir.dialect.index_maps.terms import Number, Operation, Term, evaluate, from_affine


@dataclass(frozen=True)
class Condition:
    """`left >= right`, or `left == right`."""

    left: Term
    right: Term
    is_eq: bool

    @staticmethod
    def of(expr: ir.AffineExpr, is_eq: bool, names: Sequence[str]) -> Condition:
        """`expr >= 0` (or `== 0`) with what is subtracted moved to the other side."""
        sides: list[list[Term]] = [[], []]
        for sign, term in _summands(from_affine(expr, list(names)), 1):
            sides[sign < 0].append(term)
        left, right = (_total(side) for side in sides)
        return Condition(right, left, is_eq) if is_eq and not sides[0] else Condition(left, right, is_eq)

    def holds(self, values: dict[str, int]) -> bool:
        """Whether it holds for some values of its names."""
        left, right = evaluate(self.left, values), evaluate(self.right, values)
        return left == right if self.is_eq else left >= right

    def __repr__(self) -> str:
        if self.is_eq:
            return f"{self.left} == {self.right}"
        if isinstance(self.left, Number):  # 13 >= i reads better the other way round
            return f"{self.right} <= {self.left}"
        return f"{self.left} >= {self.right}"


def _summands(term: Term, sign: int) -> list[tuple[int, Term]]:
    """A sum as signed parts, each part with a positive factor."""
    if isinstance(term, Number):
        if term.value == 0:
            return []
        return [(sign if term.value > 0 else -sign, Number(abs(term.value)))]
    if isinstance(term, Operation) and term.symbol in ("+", "-"):
        other = sign if term.symbol == "+" else -sign
        return [*_summands(term.left, sign), *_summands(term.right, other)]
    if isinstance(term, Operation) and term.symbol == "*" and isinstance(term.right, Number) and term.right.value < 0:
        factor = -term.right.value
        return [(-sign, term.left if factor == 1 else term.left * factor)]
    return [(sign, term)]


def _total(parts: Sequence[Term]) -> Term:
    """The sum of some parts, the constant last."""
    variables = [p for p in parts if not isinstance(p, Number)]
    constant = sum(p.value for p in parts if isinstance(p, Number))
    if not variables:
        return Number(constant)
    total = variables[0]
    for part in variables[1:]:
        total = total + part
    return total + constant if constant else total


@dataclass(frozen=True)
class Predicate:
    """A union of conjunctions over named indices and sizes; empty: it never holds."""

    names: tuple[str, ...]
    pieces: tuple[tuple[Condition, ...], ...]

    @staticmethod
    def of(names: Sequence[str], sizes: Sequence[str], padding: Padding) -> Predicate:
        called = [*names, *sizes]
        return Predicate(tuple(called), tuple(conditions(piece, called) for piece in padding.pieces))

    @property
    def never(self) -> bool:
        return not self.pieces

    def __call__(self, *values: int) -> bool:
        """Whether it holds for some indices (then the sizes)."""
        known = dict(zip(self.names, values, strict=True))
        return any(all(c.holds(known) for c in piece) for piece in self.pieces)

    def __repr__(self) -> str:
        if not self.pieces:
            return "never"
        texts = [" and ".join(map(repr, piece)) for piece in self.pieces]
        return " or ".join(texts)


def conditions(piece: Conjunction, names: Sequence[str]) -> tuple[Condition, ...]:
    return tuple(Condition.of(expr, is_eq, names) for expr, is_eq in piece)
