"""Recognize the combiner and identity of a reduction from its update and init.

A reducer combines an old value x and a new one y. Combiners are associative and commutative, with one exception that is
left unspecified, like the rounding of a sum: if several elements are maximal (minimal), `argmax` by `>=` may return the
position of any of them. The form that breaks ties by index is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from mlir import ir

from tir_mlir.dialect.analysis import EmitValue, Term, emit_term, is_same_value, term_of
from tir_mlir.dialect.ir import defining_op, dtypes
from tir_mlir.dialect.ir.op_traits import DIFFERENCES, REDUCERS, accessed_memref
from tir_mlir.dialect.ir.op_views import AffineLoadOp, BinaryOp, isa

_GREATEST = {
    "float16": 65504.0,
    "bfloat16": float.fromhex("0x1.FEp127"),
    "float32": float.fromhex("0x1.FFFFFEp127"),
    "float64": float.fromhex("0x1.FFFFFFFFFFFFFp1023"),
}
EmitUpdate = Callable[[Sequence[EmitValue], Sequence[EmitValue]], list[ir.Value]]


@dataclass(frozen=True)
class OldValues:
    """The results that a reduction updates, to recognize loads of their old values."""

    buffers: Sequence[ir.Value]

    def number(self, value: ir.Value) -> int | None:
        """Which result a value is the old element of (all accesses have one common index)."""
        op = defining_op(value)
        if op is None or not isa(op, AffineLoadOp) or accessed_memref(op) not in self.buffers:
            return None
        return list(self.buffers).index(accessed_memref(op))


@dataclass(frozen=True)
class ReductionCombiner:
    """A combiner: name, accepted identities, how to emit it, and what each result is combined with."""

    name: str
    identities: tuple[tuple[float, ...], ...]  # for each result, all accepted constants
    emit: EmitUpdate
    new: tuple[ir.Value, ...]
    unsigned: bool = False  # a max or min of unsigned integers
    join: EmitUpdate | None = None  # how to emit the combination of partial results, if it is another one


# --- one result -------------------------------------------------------------------------------------------------------


def identities(name: str, type_: ir.Type, unsigned: bool = False) -> tuple[float, ...]:
    """The constants that are an identity for all values of a type, as MLIR's attributes hold them."""
    if name in ("sum", "difference", "or", "xor"):
        return (0,)
    if name == "product":
        return (1,)
    if name == "and":
        return (1, -1) if dtypes.to_name(type_) == "bool" else (-1,)
    dtype = dtypes.to_name(type_)
    sign = -1 if name == "max" else 1
    if dtype in _GREATEST:
        return (sign * _GREATEST[dtype], sign * float("inf"))
    dtype = f"u{dtype}" if unsigned else dtype
    return (dtypes.as_signed(dtypes.limits(dtype)[int(name == "min")], dtype),)


def scalar_reducer(value: ir.Value, number: int, olds: OldValues) -> ReductionCombiner | None:
    """The reducer of `x op y`, where x is the old value of result `number`; of `x - y`, whose parts are added up."""
    op = defining_op(value)
    if op is None or op.name not in (*REDUCERS, *DIFFERENCES) or olds.number(BinaryOp(op).lhs) != number:
        return None
    name = REDUCERS.get(op.name, "difference")
    # operations on bools, such as `or` and `and`, are not sums or products of numbers
    if name in ("sum", "product", "difference") and dtypes.to_name(value.type) == "bool":
        return None

    def emits(word: str) -> EmitUpdate:
        return lambda x, y: [ir.Operation.create(word, results=[value.type], operands=[x[0](), y[0]()]).results[0]]

    join = emits(op.name.replace("sub", "add")) if op.name in DIFFERENCES else None
    unsigned = op.name.endswith("ui")
    starts = identities(name, value.type, unsigned)
    return ReductionCombiner(name, (starts,), emits(op.name), (BinaryOp(op).rhs,), unsigned, join)


def has_swapped_operands(value: ir.Value, number: int, olds: OldValues) -> bool:
    """Whether an update is `y op x`: a reduction with swapped operands."""
    op = defining_op(value)
    return op is not None and op.name in REDUCERS and olds.number(BinaryOp(op).rhs) == number


# --- a position and a value -------------------------------------------------------------------------------------------

_MIRRORED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq"}
_MIRRORED |= {f"u{a}": f"u{b}" for a, b in _MIRRORED.items() if a != "eq"}  # unsigned


def _mirror_comparisons(term: Term) -> Term:
    """The term with the old value first in each comparison: y > x becomes x < y."""
    word, parts = term[0], term[1:]
    if word in ("x", "y"):
        return term
    parts = tuple(_mirror_comparisons(p) for p in parts)
    if word in _MIRRORED and parts[0][0] == "y" and parts[1][0] == "x":
        return (_MIRRORED[word], parts[1], parts[0])
    return (word, *parts)


def _templates(better: str, number: int) -> Iterator[tuple[Term, Term]]:
    """The two updates of argmax or argmin, result `number` a position: x is kept if it is better or y is taken if it
    is, x remains if they are equal, or positions of equal values are compared. With these, NaN may be better than all
    numbers: that is a total order, too.
    """
    (p, v), (q, w) = [("x", number), ("x", 1 - number)], [("y", number), ("y", 1 - number)]
    for keeps in (True, False):
        sign, tie = (better[:-1], "l") if keeps else (_MIRRORED[better][:-1], "g")
        ties: list[Term] = [(u + tie + end, p, q) for u in ("", "u") for end in "te"]
        by_value: list[Term] = [(sign + end, v, w) for end in "et"]
        tied: list[Term] = [("or", by_value[1], ("and", ("eq", v, w), t)) for t in ties]
        one, other = (v, w) if keeps else (w, v)
        nans: list[Term] = [("and", ("ne", one, one), ("or", ("eq", other, other), t)) for t in ties]
        with_nan: list[Term] = [("or", *both) for both in zip(tied, nans, strict=True)]
        choices = [*product((by_value[0 if keeps else 1], *tied), by_value), *((c, c) for c in (*tied, *with_nan))]
        for choice, comparison in choices:
            sides = [(x, y) if keeps else (y, x) for x, y in ((p, q), (v, w))]
            both = ("select", choice, *sides[0]), ("select", comparison, *sides[1])
            yield both if number == 0 else (both[1], both[0])


def _fits(term: Term, template: Term, bound: dict[int, ir.Value]) -> bool:
    """Whether a term matches a template; `bound` gets the values matched with y."""
    if template[0] == "y":
        if term[0] != "y":
            return False
        return is_same_value(bound.setdefault(template[1], term[1]), term[1])
    if template[0] == "x" or term[0] != template[0] or len(term) != len(template):
        return term == template
    return all(_fits(t, w, bound) for t, w in zip(term[1:], template[1:], strict=True))


def arg_reducer(values: Sequence[ir.Value], olds: OldValues) -> ReductionCombiner | None:
    """argmax or argmin: one result is a position, the other the value there."""
    terms = [_mirror_comparisons(term_of(v, olds.number)) for v in values]
    kinds = (("argmax", "ge"), ("argmin", "le"), ("argmax", "uge"), ("argmin", "ule"))
    for (name, better), number in product(kinds, (0, 1)):
        for template in _templates(better, number):
            bound: dict[int, ir.Value] = {}
            if all(_fits(f, w, bound) for f, w in zip(terms, template, strict=True)):
                unsigned = better[0] == "u"
                positions = -1, dtypes.limits(dtypes.to_name(values[number].type))[1]
                starts: list[tuple[float, ...]] = [positions, identities(name[3:], values[1 - number].type, unsigned)]
                new = bound[0], bound[1]
                return ReductionCombiner(
                    name, (starts[number], starts[1 - number]), _emit_pair(template), new, unsigned
                )
    return None


def _emit_pair(template: tuple[Term, Term]) -> EmitUpdate:
    def emit(x: Sequence[EmitValue], y: Sequence[EmitValue]) -> list[ir.Value]:
        return [emit_term(part, x, y) for part in template]

    return emit
