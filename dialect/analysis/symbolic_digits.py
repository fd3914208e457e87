"""Digits of symbolic base: `x = q * m + r` with 0 <= r < m, for a size m.

Such values are bound to iters where a program divides by a size (`vi = f // m, vj = f % m`) or multiplies by one
(`vi = i_0 * m + i_1`). They are not affine, but their order is known: for two iterations, x increases exactly if (q, r)
increases lexicographically. These are linear facts about pairs of iterations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import islpy as isl
from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine, NotProvable
from tir_mlir.dialect.ir import (
    Constraint,
    Index,
    Loop,
    bound_value,
    cache_while_frozen,
    is_loop,
    is_symbol,
    parents,
    read_value,
    symbol_name,
)
from tir_mlir.dialect.ir.op_traits import FOLDED, INTEGER_RING
from tir_mlir.dialect.ir.op_views import (
    AddIOp,
    BinaryOp,
    DataLoopOp,
    FloorDivOp,
    IfOp,
    MulIOp,
    SubIOp,
    defining_op,
    isa,
)
from tir_mlir.dialect.ir.size_products import factors_of, is_quotient
from tir_mlir.dialect.presburger import (
    Domain,
    constraint_set,
    dim_type,
    holds,
    local_space,
    nonneg,
    question,
    to_aff,
    zeros,
)

_ARITH = INTEGER_RING | FloorDivOp.names


@dataclass(frozen=True)
class Digits:
    """`whole = high * base + low` with 0 <= low < base, if `conditions` (expressions that are >= 0) hold; `base` is
    made of sizes.
    """

    whole: Index
    high: Index
    low: Index
    base: Index
    conditions: tuple[Index, ...]


@dataclass
class Forms:
    """The values of searches as affine expressions of dimensions and atoms.

    An atom is the result of a product, quotient or remainder that is not affine. `equations` are 0.
    """

    atoms: list[ir.Value] = field(default_factory=list)
    equations: list[Index] = field(default_factory=list)
    digits: list[Digits] = field(default_factory=list)
    _known: dict[Hashable, ir.Value] = field(default_factory=dict)
    _products: dict[ir.Value, tuple[Index, Index]] = field(default_factory=dict)

    def form_of(self, value: ir.Value) -> Index | None:
        """The form of a value of type `index`; None if it has none."""
        if not isinstance(value.type, ir.IndexType):
            return None
        if isinstance(value.owner, ir.Block) or is_symbol(value) or value.owner.name in FOLDED:
            return read_value(value)
        op = value.owner.operation
        if op.name not in _ARITH:
            return None
        lhs, rhs = map(self.form_of, op.operands)
        if lhs is None or rhs is None:
            return None
        if isa(op, AddIOp):
            return self._sum(lhs + rhs)
        if isa(op, SubIOp):
            return self._remainder(op, lhs) or self._sum(lhs - rhs)
        if isa(op, MulIOp):
            return self._product(value, lhs, rhs)
        return self._quotient(value, lhs, rhs)

    def _atom(self, value: ir.Value, *key: Hashable) -> ir.Value:
        """The atom that stands for a value: the first one computed from the same operands."""
        if key not in self._known:
            self._known[key] = value
            self.atoms.append(value)
        return self._known[key]

    def _sum(self, total: Index) -> Index:
        """Note a sum whose terms are one product and its low digit."""
        total = total.simplify()
        products = [v for v in total.values if v in self._products]
        if len(products) == 1:
            high, base = self._products[products[0]]
            low = (total - Index.from_value(products[0])).simplify()
            if products[0] not in low.values:
                self._note(Digits(total, high, low, base, (low, base - low - 1)))
        return total

    def _product(self, value: ir.Value, lhs: Index, rhs: Index) -> Index | None:
        if lhs.as_constant() is not None or rhs.as_constant() is not None:
            return (lhs * rhs).simplify()
        high, base = (lhs, rhs) if _is_size(rhs) else (rhs, lhs)
        if not _is_size(base):
            return None
        atom = self._atom(value, "*", high, base)
        self._products[atom] = high, base
        return Index.from_value(atom)

    def _quotient(self, value: ir.Value, number: Index, base: Index) -> Index | None:
        if base.as_constant() is not None:
            return _try_divide(number, base)
        if not _is_size(base):
            return None
        return Index.from_value(self._atom(value, "//", number, base))

    def _remainder(self, op: ir.Operation, number: Index) -> Index | None:
        """The form of `x - x // m * m`; None for any other difference."""
        product = defining_op(BinaryOp(op).rhs, MulIOp)
        quotient = None if product is None else defining_op(product.lhs, FloorDivOp)
        if product is None or quotient is None:
            return None
        over, base, factor = (self.form_of(v) for v in (quotient.lhs, quotient.rhs, product.rhs))
        if over is None or base is None or over != number or base != factor or not _is_size(base):
            return None
        high = Index.from_value(self._atom(quotient.result, "//", number, base))
        low = Index.from_value(self._atom(op.results[0], "%", number, base))
        self._note(Digits(number, high, low, base, (base - 1,)))
        return low

    def _note(self, digits: Digits) -> None:
        if digits not in self.digits:
            self.digits.append(digits)


def _is_size(index: Index) -> bool:
    """Whether an expression is made of sizes, and no constant."""
    return bool(index.values) and all(map(is_symbol, index.values))


def _try_divide(number: Index, by: Index) -> Index | None:
    try:
        return (number // by).simplify()
    except NotAffine:
        return None


@cache_while_frozen
def forms(body: ir.Block) -> Forms:
    """The forms of the values that the searches around the ops of a body find."""
    result = Forms()
    op = body.owner.operation
    for parent in [op, *parents(op)]:
        search = bound_value(parent)
        form = None if search is None else result.form_of(search[0])
        if form is not None:
            result.equations.append(Index.from_value(parent.regions[0].blocks[0].arguments[0]) - form)
    return result


def has_digits(op: ir.Operation) -> bool:
    """Whether digits of symbolic base are known around an op."""
    return bool(forms(op.block).digits)


def finds_all(op: ir.Operation, level: ir.Operation) -> bool:
    """Whether the searches around an op find every combination of their values in one iteration of `level`: they find
    the two digits of a loop `f` over all of `n * m` in it, `f // m` in [0, n) and `f % m` in [0, m), and nothing else
    decides whether the op runs.
    """
    enclosing = parents(op)
    inner_ops = enclosing[: enclosing.index(level)] if level in enclosing else enclosing
    values = [(Loop(p), searched[0]) for p in inner_ops if (searched := bound_value(p)) is not None]
    choices = [p for p in inner_ops if isa(p, IfOp, DataLoopOp)]
    if len(values) != 2 or len(choices) != 2:  # the conditions of the searches
        return False
    value_forms = forms(op.block)
    searched = [value_forms.form_of(value) for _, value in values]
    for digits in value_forms.digits:
        for (high, high_form), (low, low_form) in permutations(zip((lp for lp, _ in values), searched, strict=True)):
            if high_form == digits.high and low_form == digits.low and low.extent.is_equal_to(digits.base):
                return _is_counted(digits, high, low, inner_ops)
    return False


def _is_counted(digits: Digits, high: Loop, low: Loop, inner_ops: Sequence[ir.Operation]) -> bool:
    """Whether the number is a loop inside, from 0 to the product of the extents of its digits, which start at 0."""
    counter = next((Loop(p) for p in inner_ops if is_loop(p) and digits.whole == Index.from_value(Loop(p).var)), None)
    if counter is None or not all(lp.lower.as_constant() == 0 for lp in (counter, high, low)):
        return False
    total, *parts = (_factors(i) for i in (counter.extent, high.extent, digits.base))
    if total is None or None in parts:
        return False
    return Counter(total) == Counter(factor for part in parts for factor in part or ())


def _factors(size: Index) -> list[Index] | None:
    """The factors of a size; None for any other expression."""
    value = size.is_value()
    if value is None:
        return [size] if is_quotient(size) else None
    return factors_of(value) if is_symbol(value) else None


def known_order(a: Domain, op_of_a: ir.Operation, b: Domain, op_of_b: ir.Operation) -> isl.Map | None:
    """{ iteration of `a` -> iteration of `b` } in which digits are in the order of their numbers; None: all pairs.

    `op_of_a` and `op_of_b` are ops in these domains.
    """
    if not has_digits(op_of_a) or not has_digits(op_of_b):
        return None
    (wide_a, first), (wide_b, second) = _valid(a, op_of_a), _valid(b, op_of_b)
    pairs = [(d, e) for base in dict.fromkeys(d.base for d in first) for d, e in _matching_digits(first, second, base)]
    if not pairs:
        return None
    numbers_of_a = _numbers(wide_a, [d for d, _ in pairs], len(a.dims))
    numbers_of_b = _numbers(wide_b, [e for _, e in pairs], len(b.dims))
    return numbers_of_a.apply_range(_order_relation(a, [d.base for d, _ in pairs])).apply_range(numbers_of_b.reverse())


def _matching_digits(first: Sequence[Digits], second: Sequence[Digits], base: Index) -> list[tuple[Digits, Digits]]:
    """The digits of both sides to one base, in order of appearance."""
    return list(zip(*([d for d in side if d.base == base] for side in (first, second)), strict=False))


def _valid(dom: Domain, op: ir.Operation) -> tuple[Domain, list[Digits]]:
    """A domain with the atoms as further dimensions, and the digits whose conditions hold in it."""
    value_forms = forms(op.block)
    wide = _add_atom_dims(dom, value_forms)
    valid = []
    for digits in value_forms.digits:
        indices = (digits.whole, digits.high, digits.low, *digits.conditions)
        if not all(v in wide.env for index in indices for v in index.values):
            continue
        try:
            with question("the digits of a value"):
                if all(holds(wide, c) for c in digits.conditions):
                    valid.append(digits)
        except NotProvable:
            continue
    for digits in valid:
        for index in (digits.low, digits.base - digits.low - 1):
            wide.set = wide.set.intersect(constraint_set(wide, Constraint(index)))
    return wide, valid


def _add_atom_dims(dom: Domain, value_forms: Forms) -> Domain:
    """A domain with the atoms as further dimensions, and the equations between them and the iters."""
    count, atom_count = len(dom.dims), len(value_forms.atoms)
    local = local_space(count + atom_count, dom.params)
    env = {v: aff.insert_dims(dim_type.in_, count, atom_count) for v, aff in dom.env.items()}
    env |= {v: isl.Aff.var_on_domain(local, dim_type.set, count + n) for n, v in enumerate(value_forms.atoms)}
    points = dom.set.insert_dims(dim_type.set, count, atom_count)
    wide = Domain([*dom.dims, *value_forms.atoms], dom.params, points, env, isl.Aff.zero_on_domain(local))
    for equation in value_forms.equations:
        if all(v in env for v in equation.values):
            wide.set = wide.set.intersect(constraint_set(wide, Constraint(equation, is_eq=True)))
    return wide


def _numbers(wide: Domain, digits: Sequence[Digits], dim_count: int) -> isl.Map:
    """{ iteration -> whole, high, low of all digits }, over the first dimensions."""
    numbers = wide.map([index for d in digits for index in (d.whole, d.high, d.low)])
    return numbers.project_out(dim_type.in_, dim_count, len(wide.dims) - dim_count)


def _order_relation(dom: Domain, bases: Sequence[Index]) -> isl.Map:
    """{ whole, high, low of all digits -> those of another iteration } in a consistent order.

    With x = q * m + r, and q < q': x' - x = (q' - q) * m + r' - r, where (q' - q) * m >= m + (q' - q) - 1.
    """
    count = 3 * len(bases)
    local = local_space(2 * count, dom.params)
    result = isl.Set.universe(local.get_space())
    for number, base in enumerate(bases):
        x, q, r = (_difference(local, 3 * number + n, count) for n in range(3))
        step = _base(base, dom, local).add_constant_val(isl.Val(-1))
        same = zeros(q).intersect(zeros(x.sub(r)))
        up = nonneg(q.add_constant_val(isl.Val(-1))).intersect(nonneg(x.sub(r).sub(step).sub(q)))
        down = nonneg(q.neg().add_constant_val(isl.Val(-1))).intersect(nonneg(r.sub(x).sub(step).add(q)))
        result = result.intersect(same.union(up).union(down))
    return isl.Map.from_range(result).move_dims(dim_type.in_, 0, dim_type.out, 0, count)


def _difference(local: isl.LocalSpace, position: int, count: int) -> isl.Aff:
    """The second number at a position minus the first one."""
    first, second = (isl.Aff.var_on_domain(local, dim_type.set, n) for n in (position, position + count))
    return second.sub(first)


def _base(base: Index, dom: Domain, local: isl.LocalSpace) -> isl.Aff:
    sizes = [isl.Aff.var_on_domain(local, dim_type.param, dom.params.index(symbol_name(v))) for v in base.values]
    return to_aff(base.expr, sizes, isl.Aff.zero_on_domain(local))
