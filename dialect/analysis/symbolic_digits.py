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
    is_loop,
    is_symbol,
    parents,
    read_map,
    remembered,
    symbol_name,
)
from tir_mlir.dialect.ir.op_traits import DATA_LOOPS, FOLDED, IFS, INTEGER_RING
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

_ARITH = INTEGER_RING | {"arith.floordivsi"}


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

    def of(self, value: ir.Value) -> Index | None:
        """The form of a value of type `index`; None if it has none."""
        if not isinstance(value.type, ir.IndexType):
            return None
        if isinstance(value.owner, ir.Block) or is_symbol(value) or value.owner.name in FOLDED:
            return read_map(ir.AffineMap.get_identity(1), [value])[0]
        op = value.owner.operation
        if op.name not in _ARITH:
            return None
        left, right = map(self.of, op.operands)
        if left is None or right is None:
            return None
        if op.name == "arith.addi":
            return self._sum(left + right)
        if op.name == "arith.subi":
            return self._remainder(op, left) or self._sum(left - right)
        if op.name == "arith.muli":
            return self._product(value, left, right)
        return self._quotient(value, left, right)

    def _atom(self, value: ir.Value, *key: Hashable) -> ir.Value:
        """The atom that stands for a value: the first one computed from the same operands."""
        if key not in self._known:
            self._known[key] = value
            self.atoms.append(value)
        return self._known[key]

    def _sum(self, total: Index) -> Index:
        """Note a sum whose terms are one product and its low digit."""
        total = total.simplified()
        found = [v for v in total.values if v in self._products]
        if len(found) == 1:
            high, base = self._products[found[0]]
            low = (total - Index.of(found[0])).simplified()
            if found[0] not in low.values:
                self._note(Digits(total, high, low, base, (low, base - low - 1)))
        return total

    def _product(self, value: ir.Value, left: Index, right: Index) -> Index | None:
        if left.as_constant() is not None or right.as_constant() is not None:
            return (left * right).simplified()
        high, base = (left, right) if _is_size(right) else (right, left)
        if not _is_size(base):
            return None
        atom = self._atom(value, "*", high, base)
        self._products[atom] = high, base
        return Index.of(atom)

    def _quotient(self, value: ir.Value, whole: Index, base: Index) -> Index | None:
        if base.as_constant() is not None:
            return _divided(whole, base)
        if not _is_size(base):
            return None
        return Index.of(self._atom(value, "//", whole, base))

    def _remainder(self, op: ir.Operation, whole: Index) -> Index | None:
        """The form of `x - x // m * m`; None for any other difference."""
        product = op.operands[1].owner
        if isinstance(product, ir.Block) or product.name != "arith.muli":
            return None
        quotient = product.operands[0].owner
        if isinstance(quotient, ir.Block) or quotient.name != "arith.floordivsi":
            return None
        over, base, again = (self.of(v) for v in (*quotient.operands, product.operands[1]))
        if over is None or base is None or over != whole or base != again or not _is_size(base):
            return None
        high = Index.of(self._atom(quotient.results[0], "//", whole, base))
        low = Index.of(self._atom(op.results[0], "%", whole, base))
        self._note(Digits(whole, high, low, base, (base - 1,)))
        return low

    def _note(self, digits: Digits) -> None:
        if digits not in self.digits:
            self.digits.append(digits)


def _is_size(index: Index) -> bool:
    """Whether an expression is made of sizes, and no constant."""
    return bool(index.values) and all(map(is_symbol, index.values))


def _divided(whole: Index, by: Index) -> Index | None:
    try:
        return (whole // by).simplified()
    except NotAffine:
        return None


@remembered
def forms(body: ir.Block) -> Forms:
    """The forms of the values that the searches around the ops of a body find."""
    found = Forms()
    op = body.owner.operation
    for parent in [op, *parents(op)]:
        search = bound_value(parent)
        form = None if search is None else found.of(search[0])
        if form is not None:
            found.equations.append(Index.of(parent.regions[0].blocks[0].arguments[0]) - form)
    return found


def has_digits(op: ir.Operation) -> bool:
    """Whether digits of symbolic base are known around an op."""
    return bool(forms(op.block).digits)


def finds_all(op: ir.Operation, level: ir.Operation) -> bool:
    """Whether the searches around an op find every combination of their values in one iteration of `level`: they find
    the two digits of a loop `f` over all of `n * m` in it, `f // m` in [0, n) and `f % m` in [0, m), and nothing else
    decides whether the op runs.
    """
    around = parents(op)
    inside = around[: around.index(level)] if level in around else around
    values = [(Loop(p), found[0]) for p in inside if (found := bound_value(p)) is not None]
    choices = [p for p in inside if p.name in IFS or p.name in DATA_LOOPS]
    if len(values) != 2 or len(choices) != 2:  # the conditions of the searches
        return False
    known = forms(op.block)
    found = [known.of(value) for _, value in values]
    for digits in known.digits:
        for (high, high_form), (low, low_form) in permutations(zip((lp for lp, _ in values), found, strict=True)):
            if high_form == digits.high and low_form == digits.low and low.extent.same(digits.base):
                return _is_counted(digits, high, low, inside)
    return False


def _is_counted(digits: Digits, high: Loop, low: Loop, inside: Sequence[ir.Operation]) -> bool:
    """Whether the number is a loop inside, from 0 to the product of the extents of its digits, which start at 0."""
    counter = next((Loop(p) for p in inside if is_loop(p) and digits.whole == Index.of(Loop(p).var)), None)
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


def known_order(a: Domain, one: ir.Operation, b: Domain, other: ir.Operation) -> isl.Map | None:
    """{ iteration of `a` -> iteration of `b` } in which digits are in the order of their numbers; None: all pairs.

    `one` and `other` are ops in these domains.
    """
    if not has_digits(one) or not has_digits(other):
        return None
    (left, first), (right, second) = _valid(a, one), _valid(b, other)
    pairs = [(d, e) for base in dict.fromkeys(d.base for d in first) for d, e in _alike(first, second, base)]
    if not pairs:
        return None
    before = _numbers(left, [d for d, _ in pairs], len(a.dims))
    after = _numbers(right, [e for _, e in pairs], len(b.dims))
    return before.apply_range(_ordered(a, [d.base for d, _ in pairs])).apply_range(after.reverse())


def _alike(first: Sequence[Digits], second: Sequence[Digits], base: Index) -> list[tuple[Digits, Digits]]:
    """The digits of both sides to one base, in order of appearance."""
    return list(zip(*([d for d in found if d.base == base] for found in (first, second)), strict=False))


def _valid(dom: Domain, op: ir.Operation) -> tuple[Domain, list[Digits]]:
    """A domain with the atoms as further dimensions, and the digits whose conditions hold in it."""
    found = forms(op.block)
    wide = _widened(dom, found)
    valid = []
    for digits in found.digits:
        used = (digits.whole, digits.high, digits.low, *digits.conditions)
        if not all(v in wide.env for index in used for v in index.values):
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


def _widened(dom: Domain, found: Forms) -> Domain:
    """A domain with the atoms as further dimensions, and the equations between them and the iters."""
    count, more = len(dom.dims), len(found.atoms)
    local = local_space(count + more, dom.params)
    env = {v: aff.insert_dims(dim_type.in_, count, more) for v, aff in dom.env.items()}
    env |= {v: isl.Aff.var_on_domain(local, dim_type.set, count + n) for n, v in enumerate(found.atoms)}
    points = dom.set.insert_dims(dim_type.set, count, more)
    wide = Domain([*dom.dims, *found.atoms], dom.params, points, env, isl.Aff.zero_on_domain(local))
    for equation in found.equations:
        if all(v in env for v in equation.values):
            wide.set = wide.set.intersect(constraint_set(wide, Constraint(equation, is_eq=True)))
    return wide


def _numbers(wide: Domain, digits: Sequence[Digits], kept: int) -> isl.Map:
    """{ iteration -> whole, high, low of all digits }, over the first dimensions."""
    found = wide.map([index for d in digits for index in (d.whole, d.high, d.low)])
    return found.project_out(dim_type.in_, kept, len(wide.dims) - kept)


def _ordered(dom: Domain, bases: Sequence[Index]) -> isl.Map:
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


def _difference(local: isl.LocalSpace, place: int, count: int) -> isl.Aff:
    """The second number at a place minus the first one."""
    first, second = (isl.Aff.var_on_domain(local, dim_type.set, n) for n in (place, place + count))
    return second.sub(first)


def _base(base: Index, dom: Domain, local: isl.LocalSpace) -> isl.Aff:
    sizes = [isl.Aff.var_on_domain(local, dim_type.param, dom.params.index(symbol_name(v))) for v in base.values]
    return to_aff(base.expr, sizes, isl.Aff.zero_on_domain(local))
