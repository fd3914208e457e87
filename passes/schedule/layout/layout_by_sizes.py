"""Index maps that divide by sizes or multiply with them: `lambda i: (i // n, i % n)`, which are not affine.

The new shape is computed from bounds that are polynomials of the sizes. That no two elements get one index is asserted
by the caller, and refuted where an example at small sizes shows the contrary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from itertools import product as combinations
from typing import Any

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.symbolic_digits import Forms
from tir_mlir.dialect.diagnostics import NotAffine, NotProvable
from tir_mlir.dialect.index_maps import Box, Collision, IndexMap, check_start, unused_name
from tir_mlir.dialect.ir import Constraint, Index, symbol_name, symbols_by_name, trim
from tir_mlir.dialect.ir.size_products import is_quotient, named_factors, shape_variables, value_of
from tir_mlir.dialect.presburger import Domain, constraint_set, domain, holds, linear_terms, question, sizes, times
from tir_mlir.dialect.symbolic import (
    APPLY,
    DIVISIONS,
    Constant,
    Dim,
    IntExpr,
    Operation,
    Polynomial,
    Symbol,
    Variable,
    fold,
    names_in,
    product,
)
from tir_mlir.passes.schedule.edits import emit_index, emit_operation
from tir_mlir.passes.schedule.layout.apply_layout import LayoutChange

AffineExpr = ir.AffineExpr
_ZERO, _ONE = Polynomial.from_expr(0), Polynomial.from_expr(1)
_EXAMPLES = 27  # combinations of small sizes that are tried


@dataclass(frozen=True)
class LayoutBySizes:
    """An index map over a box, with the new extents; `symbols` are the sizes by name."""

    map: IndexMap
    shape: list[Index]
    symbols: Mapping[str, ir.Value]

    @staticmethod
    def from_extents(map_: IndexMap, extents: Sequence[Index], op: ir.Operation) -> LayoutBySizes:
        """The map over [0, extent) in each dimension, in the function that contains `op`; creates products of sizes.

        Errors: NotProvable if an extent is not a polynomial of the sizes, or a divisor may be 0; IndexMapError for a
        negative index.
        """
        bounds = _Bounds(map_, extents, op)
        shape = [bounds.extent(number) for number in range(len(map_.terms))]
        return LayoutBySizes(map_, shape, symbols_by_name(op))

    def image(self, indices: Sequence[Index]) -> list[Index]:
        """The new indices of an element; what is not affine is emitted at the insertion point."""
        values = {n: Index.from_value(v) for n, v in self.symbols.items()}
        values |= dict(zip(self.map.names, indices, strict=True))
        return [_emit_term(term, values) for term in self.map.terms]


def _emit_term(term: IntExpr, values: Mapping[str, Index]) -> Index:
    """The value of a term."""

    def leaf(part: Any) -> Index:
        return Index.constant(int(part.value)) if isinstance(part, Constant) else values[part.name]

    return fold(term, leaf, _emit_operation)


def _emit_operation(symbol: str, left: Index, right: Index) -> Index:
    if symbol in DIVISIONS and (digits := _digits(left, right)) is not None:
        return digits[symbol == "%"]
    try:
        return APPLY[symbol](left, right)
    except NotAffine:
        d0, d1 = (AffineExpr.get_dim(n) for n in range(2))
        build = {"*": AffineExpr.get_mul, "//": AffineExpr.get_floor_div, "%": AffineExpr.get_mod}[symbol]
        return Index.from_value(emit_operation(build(d0, d1).maybe_downcast(), emit_index(left), emit_index(right)))


def _digits(number: Index, base: Index) -> tuple[Index, Index] | None:
    """The high and the low digit of a number at the insertion point, if it is computed from them: `i * n + j`."""
    value, op, forms = number.is_value(), ir.InsertionPoint.current.ref_operation, Forms()
    if value is None or op is None or (form := forms.form_of(value)) is None:
        return None
    for digits in forms.digits:
        if digits.whole == form and digits.base == base:
            dom = domain(op.operation)
            if not all(v in dom.env for c in digits.conditions for v in c.values):
                continue
            with question(f"whether {value} has digits"):
                if all(holds(dom, c) for c in digits.conditions):
                    return digits.high, digits.low
    return None


# --- bounds -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Range:
    """The values of a term: from `low` to `last`, polynomials of the factors of sizes."""

    low: Polynomial
    last: Polynomial


class _Bounds:
    """The bounds of the results of a map over a box, wherever it has points."""

    def __init__(self, map_: IndexMap, extents: Sequence[Index], op: ir.Operation):
        self.map, self.extents, self.op = map_, list(extents), op
        self.variables = dict(zip(map_.names, extents, strict=True))
        self.factors: dict[str, Index] = {}  # those of all polynomials

    def extent(self, number: int) -> Index:
        """The extent of one dimension of the image."""
        term = self.map.terms[number]
        alone = IndexMap(self.map.names, (term,))
        if alone.is_affine:
            change = LayoutChange.from_extents(alone, self.extents, self.op)
            with question(f"the extent of {term}"):
                check_start(alone, change.layout)
                return change.shape[0]
        range_ = self._range(term)
        if not self._is_least(range_.low, 0):
            raise NotProvable(f"{term} may be negative")
        return self._index(range_.last + _ONE)

    def _range(self, term: IntExpr) -> _Range:
        if isinstance(term, Constant):
            value = Polynomial.from_expr(term)
            return _Range(value, value)
        if not isinstance(term, Operation):
            (name,) = names_in(term)
            if name in self.variables:
                return _Range(_ZERO, self._polynomial(self.variables[name], term) - _ONE)
            size = self._polynomial(Index.from_value(symbols_by_name(self.op)[name]), term)
            return _Range(size, size)
        lhs, right = self._range(term.left), self._range(term.right)
        if term.symbol == "+":
            return _Range(lhs.low + right.low, lhs.last + right.last)
        if term.symbol == "-":
            return _Range(lhs.low - right.last, lhs.last - right.low)
        if term.symbol == "*":
            return self._product(term, lhs, right)
        if right.low != right.last or not self._is_least(right.low, 1):
            raise NotProvable(f"{term}: the divisor may be 0 where there are elements")
        if term.symbol == "%":
            return _Range(_ZERO, right.low - _ONE)
        return _Range(_ZERO, self._quotient(term, lhs, right.low))

    def _product(self, term: IntExpr, lhs: _Range, right: _Range) -> _Range:
        if lhs.low == lhs.last:
            lhs, right = right, lhs
        factor = right.low
        if (number := factor.constant()) is not None and number < 0:
            return _Range(lhs.last * factor, lhs.low * factor)
        if right.low != right.last or not self._is_least(factor, 0):
            raise NotProvable(f"{term}: the sign of a factor is not known")
        return _Range(lhs.low * factor, lhs.last * factor)

    def _quotient(self, term: IntExpr, dividend: _Range, by: Polynomial) -> Polynomial:
        """The largest quotient."""
        count = (dividend.last + _ONE).exact_quotient(by)
        if dividend.low.terms or count is None:
            raise NotProvable(f"the extent of {term} is not a product of sizes: the divisor must divide the extent")
        return count - _ONE

    def digits(self, term: IntExpr, result: Dim, dims: Mapping[IntExpr, Dim]) -> dict[str, IntExpr]:
        """The variables that a result determines, alone or with the result for the digits above it."""
        if isinstance(term, Variable):
            return {term.name: result}
        if not isinstance(term, Operation):
            return {}
        if term.symbol == "%" and isinstance(term.left, Variable):
            above = dims.get(Operation("//", term.left, term.right))
            count = self._polynomial(self.variables[term.left.name], term)
            fits = count.exact_quotient(self._range(term.right).low) is not None
            return {term.left.name: above * term.right + result} if above is not None and fits else {}
        high, low = (term.left, term.right) if isinstance(term.right, Variable) else (term.right, term.left)
        if term.symbol != "+" or not isinstance(low, Variable) or not isinstance(high, Operation) or high.symbol != "*":
            return {}
        top, base = (high.left, high.right) if isinstance(high.left, Variable) else (high.right, high.left)
        if {low.name, getattr(top, "name", "")} - set(self.variables) or top == low:
            return {}
        fits = self._polynomial(self.variables[low.name], term) == self._range(base).low
        return {top.name: result // base, low.name: result % base} if fits and isinstance(top, Variable) else {}

    def _is_least(self, what: Polynomial, least: int) -> bool:
        """Whether a polynomial is at least a number wherever the box has points."""
        index = self._index(what - Polynomial.from_expr(least))
        dom = sizes(self.op)
        with question("the sign of a size"):
            points = dom.set
            for extent in self.extents:
                points = points.intersect(constraint_set(dom, Constraint(extent - 1)))
            return points.is_subset(constraint_set(dom, Constraint(index)))

    def _index(self, what: Polynomial) -> Index:
        """A polynomial as an expression over sizes and products of sizes."""
        total = Index.constant(0)
        for factors, number in what.terms.items():
            total = total + reduce(times, (self.factors[str(f)] for f in factors), Index.constant(1)) * number
        return total.simplify()

    def _polynomial(self, size: Index, term: IntExpr) -> Polynomial:
        """A size as a polynomial."""
        terms, constant = linear_terms(size.expr)
        total = Polynomial.from_expr(constant)
        for part, number in terms.items():
            index = trim(part, size.values)
            if index.is_value() is None and not is_quotient(index):
                raise NotProvable(f"the extent that {term} runs over is not a product of sizes")
            named = named_factors(index)
            self.factors |= dict(named)
            total = total + product([number, *(Symbol(text) for text, _ in named)])
        return total


# --- inverse ----------------------------------------------------------------------------------------------------------


def inverse_by_digits(map_: IndexMap, extents: Sequence[Index], op: ir.Operation) -> IndexMap:
    """The inverse of a map that splits variables into digits, joins digits, or takes variables as they are.

        lambda i, j: (j, i // n, i % n)    ->    lambda axis0, axis1, axis2: (axis1 * n + axis2, axis0)

    Over a box whose extents fit the digits (`m * n` for i above), it is a bijection onto a box. Errors: NotProvable for
    any other map.
    """
    bounds = _Bounds(map_, extents, op)
    names = [unused_name(f"axis{number}", {*map_.sizes}) for number in range(len(map_.terms))]
    dims = {term: Dim(name) for term, name in zip(map_.terms, names, strict=True)}
    back: dict[str, IntExpr] = {}
    for term, result in dims.items():
        for variable, value in bounds.digits(term, result, dims).items():
            if variable in back:
                raise NotProvable(f"whether {map_} maps two points to one: it uses {variable} in several ways")
            back[variable] = value
    uses = [name for term in map_.terms for name in names_in(term) if name in map_.names]
    digits = [term.left for term in map_.terms if isinstance(term, Operation) and term.symbol == "//"]
    if len(uses) != len(map_.names) + len(digits) or set(back) != set(map_.names):
        raise NotProvable(f"whether {map_} fills a box: it does more than split and join digits")
    return IndexMap(tuple(names), tuple(back[name] for name in map_.names))


# --- counterexamples --------------------------------------------------------------------------------------------------


def small_collision(map_: IndexMap, extents: Sequence[Index], op: ir.Operation) -> Collision | None:
    """Two elements with one index at small sizes; None if none is found."""
    dom = sizes(op)
    for values in islice(_small_sizes(map_, extents, dom), _EXAMPLES):
        box = Box.from_shape([_value(e, values) for e in extents])
        with question(f"where {map_} maps elements at {values}"):
            clash = map_.at(values).layout(box).collision
        if clash is not None:
            return Collision(values, clash.first, clash.second)
    return None


def _small_sizes(map_: IndexMap, extents: Sequence[Index], dom: Domain) -> Iterator[dict[str, int]]:
    """Values of the sizes that a map and its box use, which the function may be called with."""
    factors = {f for e in extents for v in e.values for f in shape_variables(symbol_name(v))}
    names = sorted({*factors, *(f for n in map_.sizes for f in shape_variables(n))})
    for values in combinations((2, 3, 4), repeat=len(names)):
        assignment: dict[str, int] = dict(zip(names, values, strict=True))
        points = dom.set
        for position, name in enumerate(dom.params):
            if (value := value_of(name, assignment)) is not None:
                points = points.fix_val(isl.dim_type.param, position, isl.Val(value))
        if not points.is_empty():
            yield assignment


def _value(extent: Index, values: Mapping[str, int]) -> int:
    """The value of an extent."""
    parts = [Index.constant(value_of(symbol_name(v), values) or 0) for v in extent.values]
    return extent.substitute(dict(zip(extent.values, parts, strict=True))).simplify().as_constant() or 0
