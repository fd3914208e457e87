"""Affine expressions and constraints the way a person writes them: `vi_o * 16 + vi_i`, `15 - i`, `i < 50`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.create import Constraint
from tir_mlir.dialect.index import Index

from .literals import integer
from .text import ADD, ATOM, COMPARE, MUL, UNARY, Text, binary, call

ValueText = Callable[[ir.Value], Text]
Rank = Callable[[str], int]


@dataclass
class Term:
    """`text * factor` of a sum; `rank` says how far out its first variable is bound."""

    text: Text
    factor: int
    rank: int
    is_symbol: bool

    @property
    def key(self) -> tuple[int, bool, int, str]:
        """Large strides first, sizes last, outer variables before inner ones: one order for equal expressions."""
        return (-abs(self.factor), self.is_symbol, self.rank, self.text.text)

    def magnitude(self) -> Text:
        size = abs(self.factor)
        return self.text if size == 1 else Text(f"{self.text.within(MUL)} * {size}", MUL)


class IndexPrinter:
    """Prints `Index` expressions; how a value prints and where its name was bound come from outside."""

    def __init__(self, value_text: ValueText, rank: Rank):
        self._value_text = value_text
        self._rank = rank

    def text(self, index: Index) -> Text:
        """The expression in MLIR's simplest form, which is what the parser makes of its text."""
        index = index.simplified() if isinstance(index.expr, ir.AffineBinaryExpr) else index
        return self._sum(*self._terms(index.expr, index.values))

    def constraint(self, condition: Constraint) -> Text:
        """`49 - i >= 0` -> `i < 50`; `vk - 3 == 0` -> `vk == 3`."""
        index = condition.index.simplified()
        terms, constant = self._terms(index.expr, index.values)
        if not terms:
            return binary(integer(constant), "==" if condition.is_eq else ">=", integer(0), COMPARE)
        if condition.is_eq:
            return self._equality(terms, constant)
        low = [t for t in terms if t.factor < 0]
        high = [t for t in terms if t.factor > 0]
        for term in low:
            term.factor = -term.factor
        if not low:
            return binary(self._sum(high, 0), ">=", integer(-constant), COMPARE)
        if not high or constant < 0:
            return binary(self._sum(low, 0), "<", self._sum(high, constant + 1), COMPARE)
        return binary(self._sum(low, 0), "<=", self._sum(high, constant), COMPARE)

    def _equality(self, terms: list[Term], constant: int) -> Text:
        if min(terms, key=lambda t: t.key).factor < 0:
            constant = -constant
            for term in terms:
                term.factor = -term.factor
        left = [t for t in terms if t.factor > 0]
        right = [t for t in terms if t.factor < 0]
        for term in right:
            term.factor = -term.factor
        return binary(self._sum(left, 0), "==", self._sum(right, -constant), COMPARE)

    def _sum(self, terms: list[Term], constant: int) -> Text:
        if not terms:
            return integer(constant)
        terms = sorted(terms, key=lambda t: t.key)
        leading = next((t for t in terms if t.factor > 0), None)
        if leading is not None:
            terms.remove(leading)
            result = leading.magnitude()
        elif constant > 0:
            result, constant = integer(constant), 0
        else:
            first = terms.pop(0)
            result = Text(f"-{first.text.within(ATOM)}", UNARY) if first.factor == -1 else first.magnitude()
            if first.factor != -1:
                result = Text(f"{first.text.within(MUL)} * {first.factor}", MUL)
        for term in terms:
            result = binary(result, "+" if term.factor > 0 else "-", term.magnitude(), ADD)
        if constant:
            result = binary(result, "+" if constant > 0 else "-", integer(abs(constant)), ADD)
        return result

    def _terms(self, expr: ir.AffineExpr, values: tuple[ir.Value, ...]) -> tuple[list[Term], int]:
        found: dict[str, Term] = {}
        constant = self._collect(expr, values, 1, found)
        return [t for t in found.values() if t.factor], constant

    def _collect(
        self, expr: ir.AffineExpr, values: tuple[ir.Value, ...], factor: int, found: dict[str, Term]
    ) -> int:
        """Add `expr * factor` to the terms; returns the constant part."""
        expr = expr.maybe_downcast()
        if isinstance(expr, ir.AffineConstantExpr):
            return expr.value * factor
        if isinstance(expr, ir.AffineAddExpr):
            return self._collect(expr.lhs, values, factor, found) + self._collect(expr.rhs, values, factor, found)
        if isinstance(expr, ir.AffineMulExpr):
            right = expr.rhs.maybe_downcast()
            if isinstance(right, ir.AffineConstantExpr) and not (right.value != -1 and _is_sum(expr.lhs)):
                return self._collect(expr.lhs, values, factor * right.value, found)
        term, own = self._leaf(expr, values)
        if term.text.text in found:
            found[term.text.text].factor += factor * own
        else:
            term.factor = factor * own
            found[term.text.text] = term
        return 0

    def _leaf(self, expr: ir.AffineExpr, values: tuple[ir.Value, ...]) -> tuple[Term, int]:
        """What is no sum: a variable, a quotient, a remainder, a multiple of a sum (with its factor)."""
        if isinstance(expr, ir.AffineDimExpr):
            text = self._value_text(values[expr.position])
            return Term(text, 1, self._rank(text.text), _is_size(values[expr.position])), 1
        left, right = expr.lhs, expr.rhs.maybe_downcast()  # type: ignore[attr-defined]
        terms, constant = self._terms(left, values)
        rank = min((t.rank for t in terms), default=0)
        symbol = all(t.is_symbol for t in terms)
        if isinstance(expr, ir.AffineMulExpr):
            if isinstance(right, ir.AffineConstantExpr):
                return Term(self._sum(terms, constant), 1, rank, symbol), right.value
            text = binary(self._sum(terms, constant), "*", self._sum(*self._terms(right, values)), MUL)
            return Term(text, 1, rank, symbol), 1
        divisor = self._sum(*self._terms(right, values))
        if isinstance(expr, ir.AffineModExpr):
            return Term(binary(self._sum(terms, constant), "%", divisor, MUL), 1, rank, symbol), 1
        if isinstance(expr, ir.AffineFloorDivExpr):
            return Term(binary(self._sum(terms, constant), "//", divisor, MUL), 1, rank, symbol), 1
        if isinstance(right, ir.AffineConstantExpr):
            rounded = self._sum(terms, constant + right.value - 1)
            return Term(binary(rounded, "//", divisor, MUL), 1, rank, symbol), 1
        return Term(call("T.ceildiv", self._sum(terms, constant), divisor), 1, rank, symbol), 1


def _is_sum(expr: ir.AffineExpr) -> bool:
    return isinstance(expr.maybe_downcast(), ir.AffineAddExpr)


def _is_size(value: ir.Value) -> bool:
    """Sizes (not loop variables or iters) go last in a sum."""
    owner = value.owner
    return owner.owner.operation.name == "func.func" if isinstance(owner, ir.Block) else True
