"""Printing of affine expressions and constraints in readable form: `vi_o * 16 + vi_i`, `15 - i`, `i < 50`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from mlir import ir

from tir_mlir.dialect.ir import Constraint, Index, attrs
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.dialect.presburger import linear_terms
from tir_mlir.script.printer.expression_text import ADD, ATOM, COMPARE, MUL, UNARY, ExprText, binary, call, integer

ValueText = Callable[[ir.Value], ExprText]
Rank = Callable[[str], int]
Values = tuple[ir.Value, ...]


@dataclass
class Quotient:
    """The parts of a term `(terms + constant) // divisor`."""

    terms: list[SumTerm]
    constant: int
    divisor: int


@dataclass
class SumTerm:
    """`text * factor` in a sum; `rank` orders terms by the loop that binds their outermost variable."""

    text: ExprText
    factor: int
    rank: int
    is_symbol: bool
    quotient: Quotient | None = None

    @property
    def key(self) -> tuple[int, bool, int, str]:
        """Sort key: large strides first, sizes last, outer variables before inner ones."""
        return (-abs(self.factor), self.is_symbol, self.rank, self.text.text)


class IndexPrinter:
    """Prints `Index` expressions, given how to print a value and the rank of a name."""

    def __init__(self, value_text: ValueText, rank: Rank):
        self._value_text = value_text
        self._rank = rank
        self.is_wide: Callable[[ir.Value], bool] = attrs.is_wide
        self._wide = False  # the expression in hand is of int64, and so are its constants

    def text(self, index: Index) -> ExprText:
        """The expression in MLIR's simplified form, which the parser reproduces from its text."""
        index = _fully_simplified(index) if isinstance(index.expr, ir.AffineBinaryExpr) else index
        outer, self._wide = self._wide, any(map(self.is_wide, index.values))
        try:
            return self._sum(*self._terms(index.expr, index.values))
        finally:
            self._wide = outer

    def bound_text(self, index: Index, wide: bool) -> ExprText:
        """A bound or an extent; a constant of int64 shows its type."""
        number = index.as_constant() if wide else None
        return self.text(index) if number is None else ExprText(f"T.int64({number})")

    def constraint(self, condition: Constraint) -> ExprText:
        """`49 - i >= 0` -> `i < 50`; `vk - 3 == 0` -> `vk == 3`."""
        index = _fully_simplified(condition.index)
        self._wide = any(map(self.is_wide, index.values))
        terms, constant = self._terms(index.expr, index.values)
        if not terms:
            return binary(self._integer(constant), "==" if condition.is_eq else ">=", self._integer(0), COMPARE)
        if condition.is_eq:
            return self._equality(terms, constant)
        low = [t for t in terms if t.factor < 0]
        high = [t for t in terms if t.factor > 0]
        for term in low:
            term.factor = -term.factor
        if not low:
            return binary(self._sum(high, 0), ">=", self._integer(-constant), COMPARE)
        if not high or constant < 0:
            return binary(self._sum(low, 0), "<", self._sum(high, constant + 1), COMPARE)
        return binary(self._sum(low, 0), "<=", self._sum(high, constant), COMPARE)

    def _integer(self, value: int) -> ExprText:
        return ExprText(f"T.int64({value})") if self._wide else integer(value)

    def _magnitude(self, term: SumTerm) -> ExprText:
        size = abs(term.factor)
        return term.text if size == 1 else ExprText(f"{term.text.parenthesize(MUL)} * {self._integer(size).text}", MUL)

    def _equality(self, terms: list[SumTerm], constant: int) -> ExprText:
        if min(terms, key=lambda t: t.key).factor < 0:
            constant = -constant
            for term in terms:
                term.factor = -term.factor
        lhs = [t for t in terms if t.factor > 0]
        rhs = [t for t in terms if t.factor < 0]
        for term in rhs:
            term.factor = -term.factor
        return binary(self._sum(lhs, 0), "==", self._sum(rhs, -constant), COMPARE)

    def _sum(self, terms: list[SumTerm], constant: int) -> ExprText:
        if not terms:
            return self._integer(constant)
        terms = sorted(terms, key=lambda t: t.key)
        leading = next((t for t in terms if t.factor > 0), None)
        if leading is not None:
            terms.remove(leading)
            result = self._magnitude(leading)
        elif constant > 0:
            result, constant = self._integer(constant), 0
        else:
            first = terms.pop(0)
            result = (
                ExprText(f"-{first.text.parenthesize(ATOM)}", UNARY) if first.factor == -1 else self._magnitude(first)
            )
            if first.factor != -1:
                result = ExprText(f"{first.text.parenthesize(MUL)} * {self._integer(first.factor).text}", MUL)
        for term in terms:
            result = binary(result, "+" if term.factor > 0 else "-", self._magnitude(term), ADD)
        if constant:
            result = binary(result, "+" if constant > 0 else "-", self._integer(abs(constant)), ADD)
        return result

    def _terms(self, expr: ir.AffineExpr, values: Values) -> tuple[list[SumTerm], int]:
        sum_terms: dict[str, SumTerm] = {}
        constant = self._collect(expr, values, 1, sum_terms)
        return self._with_remainders(sum_terms, constant)

    def _with_remainders(self, sum_terms: dict[str, SumTerm], constant: int) -> tuple[list[SumTerm], int]:
        """Rewrite `x - x // c * c` as `x % c`, complete remainders first, to a fixed point."""
        changed = True
        while changed:
            changed = False
            quotients = [(t.quotient, t) for t in sum_terms.values() if t.quotient is not None and t.factor]
            for _, term in sorted(quotients, key=lambda pair: (pair[1].factor % pair[0].divisor != 0, pair[1].key)):
                if (shift := self._remainder(term, sum_terms)) is not None:
                    constant += shift
                    changed = True
                    break
        return [t for t in sum_terms.values() if t.factor], constant

    def _remainder(self, term: SumTerm, sum_terms: dict[str, SumTerm]) -> int | None:
        """`x * 4 - x // 4 * 15` -> `x % 4 * 4 + x // 4`, if that makes the factors smaller.

        `%` is expanded first (here and by MLIR's simplifier), so that equal expressions print the same.
        Returns the change of the constant, or None if the rewrite does not apply.
        """
        inner = term.quotient
        assert inner is not None
        factors = [sum_terms[n.text.text].factor if n.text.text in sum_terms else 0 for n in inner.terms]
        times = (
            -term.factor // inner.divisor if term.factor % inner.divisor == 0 else factors[0] // inner.terms[0].factor
        )
        reduced = [h - times * n.factor for h, n in zip(factors, inner.terms, strict=True)]
        if times == 0 or any(abs(new) >= abs(old) for new, old in zip(reduced, factors, strict=True)):
            return None
        if abs(term.factor + times * inner.divisor) >= abs(term.factor):
            return None
        for part, new in zip(inner.terms, reduced, strict=True):
            sum_terms[part.text.text].factor = new
        term.factor += times * inner.divisor
        text = binary(self._sum(inner.terms, inner.constant), "%", self._integer(inner.divisor), MUL)
        _add(sum_terms, _compound(text, inner.terms), times)
        return -times * inner.constant

    def _collect(self, expr: ir.AffineExpr, values: Values, factor: int, sum_terms: dict[str, SumTerm]) -> int:
        """Add `expr * factor` to the terms; returns the constant part."""
        terms, constant = linear_terms(expr)
        constant *= factor
        for term, coefficient in terms.items():
            constant += self._collect_term(term, values, coefficient * factor, sum_terms)
        return constant

    def _collect_term(self, expr: ir.AffineExpr, values: Values, factor: int, sum_terms: dict[str, SumTerm]) -> int:
        """Add a term that is not a sum; divisions and remainders are expanded."""
        if isinstance(expr, (ir.AffineFloorDivExpr, ir.AffineModExpr)):
            divisor = expr.rhs.maybe_downcast()
            if isinstance(divisor, ir.AffineConstantExpr):
                if isinstance(expr, ir.AffineModExpr):
                    return self._modulo(expr.lhs, values, divisor.value, factor, sum_terms)
                terms, constant = self._terms(expr.lhs, values)
                return self._quotient(terms, constant, divisor.value, factor, sum_terms)
        _add(sum_terms, self._leaf(expr, values), factor)
        return 0

    def _quotient(
        self, terms: list[SumTerm], constant: int, divisor: int, factor: int, sum_terms: dict[str, SumTerm]
    ) -> int:
        """Add `(terms + constant) // divisor * factor`: `(i * 16 + j) // 16` is `i + j // 16`.

        Returns the constant part.
        """
        indivisible = [t for t in terms if t.factor % divisor]
        for term in terms:
            if term.factor % divisor == 0:
                _add(sum_terms, term, term.factor // divisor * factor)
        if not indivisible or constant % divisor == 0:
            outside, constant = constant // divisor * factor, 0
        else:
            outside = 0
        if indivisible:
            common = math.gcd(divisor, constant, *[t.factor for t in indivisible])
            indivisible = [replace(t, factor=t.factor // common) for t in indivisible]
            constant, divisor = constant // common, divisor // common
            text = binary(self._sum(indivisible, constant), "//", self._integer(divisor), MUL)
            _add(sum_terms, _compound(text, indivisible, Quotient(indivisible, constant, divisor)), factor)
        return outside

    def _modulo(
        self, expr: ir.AffineExpr, values: Values, divisor: int, factor: int, sum_terms: dict[str, SumTerm]
    ) -> int:
        """Add `expr % divisor * factor`, expanded to x - x // divisor * divisor; returns the constant part."""
        inner: dict[str, SumTerm] = {}
        constant = self._collect(expr, values, 1, inner)
        constant = 0 if constant % divisor == 0 else constant
        inner = {text: term for text, term in inner.items() if term.factor % divisor}
        terms, constant = self._with_remainders(inner, constant)
        for term in terms:
            _add(sum_terms, term, term.factor * factor)
        return constant * factor + self._quotient(terms, constant, divisor, -divisor * factor, sum_terms)

    def _leaf(self, expr: ir.AffineExpr, values: Values) -> SumTerm:
        """A term for a variable, a ceildiv, or a product, quotient or remainder by a variable."""
        if isinstance(expr, ir.AffineDimExpr):
            text = self._value_text(values[expr.position])
            return SumTerm(text, 1, self._rank(text.text), _is_size(values[expr.position]))
        lhs, rhs = expr.lhs, expr.rhs.maybe_downcast()  # type: ignore[attr-defined]
        terms, constant = self._terms(lhs, values)
        sum_ = self._sum(terms, constant)
        if isinstance(rhs, ir.AffineConstantExpr):
            rounded = self._sum(terms, constant + rhs.value - 1)  # a ceildiv
            return _compound(binary(rounded, "//", self._integer(rhs.value), MUL), terms)
        operand = self._sum(*self._terms(rhs, values))
        for kind, symbol in ((ir.AffineMulExpr, "*"), (ir.AffineModExpr, "%"), (ir.AffineFloorDivExpr, "//")):
            if isinstance(expr, kind):
                return _compound(binary(sum_, symbol, operand, MUL), terms)
        return _compound(call("T.ceildiv", sum_, operand), terms)


def _add(sum_terms: dict[str, SumTerm], term: SumTerm, factor: int) -> None:
    """Add `term * factor` to a sum."""
    if term.text.text in sum_terms:
        sum_terms[term.text.text].factor += factor
    else:
        sum_terms[term.text.text] = replace(term, factor=factor)


def _compound(text: ExprText, terms: list[SumTerm], quotient: Quotient | None = None) -> SumTerm:
    """A term composed of others; it is ordered like the outermost of them."""
    return SumTerm(text, 1, min((t.rank for t in terms), default=0), all(t.is_symbol for t in terms), quotient)


def _fully_simplified(index: Index) -> Index:
    """Simplify to a fixed point: one run of MLIR's simplifier may enable the next."""
    for _ in range(8):
        simpler = index.simplify()
        if simpler == index:
            break
        index = simpler
    return index


def _is_size(value: ir.Value) -> bool:
    """Sizes (not loop variables or iters) go last in a sum."""
    owner = value.owner
    return isa(owner.owner.operation, FuncOp) if isinstance(owner, ir.Block) else True
