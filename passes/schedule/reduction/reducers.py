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
from mlir.dialects import arith

from tir_mlir.dialect.ir import access_indices, defining_op, dtypes, is_inside
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, COMPARISONS, DIVISIONS, REDUCERS, accessed, is_pure

_GREATEST = {
    "float16": 65504.0,
    "bfloat16": float.fromhex("0x1.FEp127"),
    "float32": float.fromhex("0x1.FFFFFEp127"),
    "float64": float.fromhex("0x1.FFFFFFFFFFFFFp1023"),
}
EmitValue = Callable[[], ir.Value]  # emits a value at the insertion point: reads are emitted in the order of their uses
EmitUpdate = Callable[[Sequence[EmitValue], Sequence[EmitValue]], list[ir.Value]]


@dataclass(frozen=True)
class OldValues:
    """The results that a reduction updates, to recognize loads of their old values."""

    buffers: Sequence[ir.Value]

    def number(self, value: ir.Value) -> int | None:
        """Which result a value is the old element of (all accesses have one common index)."""
        op = defining_op(value)
        if op is None or op.name != AFFINE_LOAD or accessed(op) not in self.buffers:
            return None
        return list(self.buffers).index(accessed(op))


@dataclass(frozen=True)
class Reducer:
    """A combiner: name, accepted identities, how to emit it, and what each result is combined with."""

    name: str
    identities: tuple[tuple[float, ...], ...]  # for each result, all accepted constants
    emit: EmitUpdate
    new: tuple[ir.Value, ...]
    unsigned: bool = False  # a max or min of unsigned integers


# --- one result -------------------------------------------------------------------------------------------------------


def identities(name: str, type_: ir.Type, unsigned: bool = False) -> tuple[float, ...]:
    """The constants that are an identity for all values of a type, as MLIR's attributes hold them."""
    if name in ("sum", "product"):
        return (0,) if name == "sum" else (1,)
    dtype = dtypes.to_name(type_)
    sign = -1 if name == "max" else 1
    if dtype in _GREATEST:
        return (sign * _GREATEST[dtype], sign * float("inf"))
    dtype = f"u{dtype}" if unsigned else dtype
    return (dtypes.as_signed(dtypes.limits(dtype)[int(name == "min")], dtype),)


def scalar_reducer(value: ir.Value, number: int, olds: OldValues) -> Reducer | None:
    """The reducer of `x op y`, where x is the old value of result `number`."""
    op = defining_op(value)
    if op is None or op.name not in REDUCERS or olds.number(op.operands[0]) != number:
        return None
    name = REDUCERS[op.name]
    # operations on bools, such as `or` and `and`, are not sums or products of numbers
    if name in ("sum", "product") and dtypes.to_name(value.type) == "bool":
        return None

    def emit(x: Sequence[EmitValue], y: Sequence[EmitValue]) -> list[ir.Value]:
        return [ir.Operation.create(op.name, results=[value.type], operands=[x[0](), y[0]()]).results[0]]

    unsigned = op.name.endswith("ui")
    return Reducer(name, (identities(name, value.type, unsigned),), emit, (op.operands[1],), unsigned)


def has_swapped_operands(value: ir.Value, number: int, olds: OldValues) -> bool:
    """Whether an update is `y op x`: a reduction with swapped operands."""
    op = defining_op(value)
    return op is not None and op.name in REDUCERS and olds.number(op.operands[1]) == number


# --- a position and a value -------------------------------------------------------------------------------------------

_FLOAT = {arith.CmpFPredicate.OGT: "gt", arith.CmpFPredicate.OGE: "ge", arith.CmpFPredicate.OLT: "lt",
          arith.CmpFPredicate.OLE: "le", arith.CmpFPredicate.OEQ: "eq"}  # fmt: skip
_INT = {arith.CmpIPredicate.sgt: "gt", arith.CmpIPredicate.sge: "ge", arith.CmpIPredicate.slt: "lt",
        arith.CmpIPredicate.sle: "le", arith.CmpIPredicate.eq: "eq",
        arith.CmpIPredicate.ugt: "ugt", arith.CmpIPredicate.uge: "uge", arith.CmpIPredicate.ult: "ult",
        arith.CmpIPredicate.ule: "ule"}  # fmt: skip
Term = tuple  # ("x", n) | ("y", value) | (op, term, term, ...)


def _term(value: ir.Value, olds: OldValues) -> Term:
    """A value as a tree of selects, comparisons and conditions over old values x and other values y."""
    if (number := olds.number(value)) is not None:
        return ("x", number)
    op = defining_op(value)
    if op is None:
        return ("y", value)
    if op.name == "arith.select":
        return ("select", *[_term(v, olds) for v in op.operands])
    if op.name == "scf.if" and len(op.results) == 1:
        sides = [list(r.blocks[0].operations)[-1].operands[0] for r in op.regions]
        if all(_may_always_run(v, op) for v in sides):
            return ("select", *[_term(v, olds) for v in (op.operands[0], *sides)])
    if op.name in COMPARISONS:
        code = ir.IntegerAttr(op.attributes["predicate"]).value
        is_float = op.name == "arith.cmpf"
        word = _FLOAT.get(arith.CmpFPredicate(code)) if is_float else _INT.get(arith.CmpIPredicate(code))
        return (word or "other", *[_term(v, olds) for v in op.operands])
    if (op.name == "arith.andi" or op.name == "arith.ori") and dtypes.to_name(value.type) == "bool":
        return (op.name[6:-1], *[_term(v, olds) for v in op.operands])
    return ("y", value)


_TRAPS = ("memref.load", *DIVISIONS)


def _may_always_run(value: ir.Value, choice: ir.Operation) -> bool:
    """Whether the ops in a branch may also run when the other one is taken."""
    op = defining_op(value)
    if op is None or not is_inside(op, choice):
        return True
    return is_pure(op) and op.name not in _TRAPS and all(_may_always_run(v, choice) for v in op.operands)


_MIRRORED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq"}
_MIRRORED |= {f"u{a}": f"u{b}" for a, b in _MIRRORED.items() if a != "eq"}  # unsigned


def _turned(term: Term) -> Term:
    """The term with the old value first in each comparison: y > x becomes x < y."""
    word, parts = term[0], term[1:]
    if word in ("x", "y"):
        return term
    parts = tuple(_turned(p) for p in parts)
    if word in _MIRRORED and parts[0][0] == "y" and parts[1][0] == "x":
        return (_MIRRORED[word], parts[1], parts[0])
    return (word, *parts)


def _templates(better: str, number: int) -> Iterator[tuple[Term, Term]]:
    """The two updates of argmax or argmin, result `number` a position: x is kept if it is better or y is taken if it
    is, x stays if they are equal, or positions of equal values are compared.
    """
    (p, v), (q, w) = [("x", number), ("x", 1 - number)], [("y", number), ("y", 1 - number)]
    for keeps in (True, False):
        sign, tie = (better[:-1], "l") if keeps else (_MIRRORED[better][:-1], "g")
        ties = [u + tie + end for u in ("", "u") for end in "te"]
        by_value: list[Term] = [(sign + end, v, w) for end in "et"]
        tied: list[Term] = [("or", by_value[1], ("and", ("eq", v, w), (tie, p, q))) for tie in ties]
        for choice in (by_value[0 if keeps else 1], *tied):
            for comparison in by_value:
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


def arg_reducer(values: Sequence[ir.Value], olds: OldValues) -> Reducer | None:
    """argmax or argmin: one result is a position, the other the value there."""
    terms = [_turned(_term(v, olds)) for v in values]
    kinds = (("argmax", "ge"), ("argmin", "le"), ("argmax", "uge"), ("argmin", "ule"))
    for (name, better), number in product(kinds, (0, 1)):
        for template in _templates(better, number):
            bound: dict[int, ir.Value] = {}
            if all(_fits(f, w, bound) for f, w in zip(terms, template, strict=True)):
                unsigned = better[0] == "u"
                starts: list[tuple[float, ...]] = [(-1,), identities(name[3:], values[1 - number].type, unsigned)]
                new = bound[0], bound[1]
                return Reducer(name, (starts[number], starts[1 - number]), _emit_pair(template), new, unsigned)
    return None


def _emit_pair(template: tuple[Term, Term]) -> EmitUpdate:
    def emit(x: Sequence[EmitValue], y: Sequence[EmitValue]) -> list[ir.Value]:
        return [_emit_term(part, x, y) for part in template]

    return emit


def _emit_term(term: Term, x: Sequence[EmitValue], y: Sequence[EmitValue]) -> ir.Value:
    word, parts = term[0], term[1:]
    if word in ("x", "y"):
        return (x if word == "x" else y)[parts[0]]()
    values = [_emit_term(p, x, y) for p in parts]
    if word == "select":
        return arith.SelectOp(*values).result
    if word in ("and", "or"):
        return (arith.AndIOp if word == "and" else arith.OrIOp)(*values).result
    if dtypes.is_float(dtypes.to_name(values[0].type)):
        return arith.cmpf(next(p for p, w in _FLOAT.items() if w == word), *values)
    return arith.cmpi(next(p for p, w in _INT.items() if w == word), *values)


# --- values -----------------------------------------------------------------------------------------------------------


def is_same_value(a: ir.Value, b: ir.Value) -> bool:
    """Whether two values of a body without stores in between are structurally equal."""
    if a == b:
        return True
    first, second = defining_op(a), defining_op(b)
    if first is None or second is None or first.name != second.name or len(first.regions) or len(first.results) != 1:
        return False
    if first.name == AFFINE_LOAD:
        if accessed(first) != accessed(second):
            return False
        return all(i.same(j) for i, j in zip(access_indices(first), access_indices(second), strict=True))
    facts = [{n: op.attributes[n] for n in op.attributes if not n.startswith("tir.")} for op in (first, second)]
    return facts[0] == facts[1] and all(map(is_same_value, first.operands, second.operands))
