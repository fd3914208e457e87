"""Reductions that select, such as argmax: each result is the old or the new element, as comparisons decide.

A combination f of tuples x and y that only compares x[n] with y[n] and takes one of them does not depend on what the
values are, only on their order. So a law in three tuples holds for all of them if it holds for the numbers 0, 1 and 2
instead of each element: three values of a total order have no other orders. NaN has no order: where there is one, a
combination that does not rank it takes any of the elements, like `argmax` by `>` in another order.

As each start value s is only selected as well, parts of a reduction may each start from s if f(f(x, y), x) = f(x, y).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis.reduction_updates import is_declared_reduction
from tir_mlir.dialect.ir import (
    Block,
    Loop,
    access_indices,
    cache_while_frozen,
    defining_op,
    dtypes,
    is_inside,
    is_loop,
    walk,
)
from tir_mlir.dialect.ir.op_traits import DIVISIONS, accessed_memref, is_pure, may_write
from tir_mlir.dialect.ir.op_views import (
    AffineLoadOp,
    AffineStoreOp,
    AndIOp,
    ChoiceOp,
    CompareFloatsOp,
    CompareOp,
    ConstantOp,
    IfOp,
    LoadOp,
    MemrefLoadOp,
    OrIOp,
    ScfIfOp,
    SelectOp,
    StoreOp,
    YieldOp,
    isa,
)

_TESTS = {"gt": gt, "ge": ge, "lt": lt, "le": le, "eq": eq, "ne": ne}
MOST_TUPLES = 40  # of three tuples with these elements each: 64,000 cases


@dataclass(frozen=True)
class Laws:
    """What holds for a combination, unless there is a NaN."""

    associative: bool
    commutative: bool
    starts_often: bool  # f(f(x, y), x) = f(x, y)

    @property
    def parts_in_order(self) -> bool:
        """Whether parts without gaps, each from the start value, may be combined in their order."""
        return self.associative and (self.commutative or self.starts_often)

    @property
    def parts_in_any_order(self) -> bool:
        """Whether any parts, each from the start value, may be combined in any order."""
        return self.associative and self.commutative


@dataclass(frozen=True)
class Selection:
    """`results = f(x, y)`: `terms`, with ("y", n) for the new element `new[n]`, and the laws of f."""

    terms: tuple[Term, ...]
    new: tuple[ir.Value, ...]
    laws: Laws

    def emit(self, x: Sequence[EmitValue], y: Sequence[EmitValue]) -> list[ir.Value]:
        """Emit the combination at the insertion point."""
        return [emit_term(term, x, y) for term in self.terms]


def selection(values: Sequence[ir.Value], old: OldNumber) -> Selection | None:
    """The selection that computes some values from old ones and as many new ones, or None."""
    terms = [term_of(value, old) for value in values]
    new: list[ir.Value] = []
    for number, term in enumerate(terms):
        taken = [t[1] for t in _possible_values(term) if t[0] == "y"]
        if any(t != ("x", number) for t in _possible_values(term) if t[0] == "x") or not taken:
            return None
        if not all(is_same_value(v, taken[0]) for v in taken):
            return None
        new.append(taken[0])
    numbered = tuple(_number_new_values(term, new) for term in terms)
    if any(term is None for term in numbered):
        return None
    laws = _laws(numbered)  # type: ignore[arg-type]
    if laws is None:
        return None
    return Selection(numbered, tuple(new), laws)  # type: ignore[arg-type]


def _possible_values(term: Term) -> Iterator[Term]:
    """What a term may be equal to."""
    if term[0] == "select":
        yield from _possible_values(term[2])
        yield from _possible_values(term[3])
    else:
        yield term


def _number_new_values(term: Term, new: Sequence[ir.Value], only: int | None = None) -> Term | None:
    """The term with the number of each new value; None if it compares others than an old element with the new one."""
    word, parts = term[0], term[1:]
    if word == "x":
        return term
    if word == "y":
        positions = [n for n, v in enumerate(new) if only in (None, n) and is_same_value(v, parts[0])]
        return ("y", positions[0]) if positions else None
    if word in ("select", "and", "or"):
        if any(p[0] in ("x", "y") for p in (parts[:1] if word == "select" else parts)):
            return None  # a condition that is an element
        inner = [_number_new_values(p, new) for p in parts]
    elif word.removeprefix("u") in _TESTS:
        olds = [p[1] for p in parts if p[0] == "x"]
        inner = [_number_new_values(p, new, olds[0] if olds else None) for p in parts]
    else:
        return None
    done = [p for p in inner if p is not None]
    elements = word in ("select", "and", "or") or all(p[0] in ("x", "y") and p[1] == done[0][1] for p in done)
    return (word, *done) if len(done) == len(inner) and elements else None


@lru_cache(maxsize=256)
def _laws(terms: tuple[Term, ...]) -> Laws | None:
    """The laws of a combination, by trying all orders; None if there are too many, or integers of both signs."""
    words = {(t[0].startswith("u"), t[1][1]) for t in _comparisons(terms) if t[0].removeprefix("u") not in ("eq", "ne")}
    if any((not sign, number) in words for sign, number in words) or 3 ** len(terms) > MOST_TUPLES:
        return None
    f = partial(_combine, terms)
    tuples = list(product((0, 1, 2), repeat=len(terms)))
    both = {(x, y): f(x, y) for x in tuples for y in tuples}
    return Laws(
        associative=all(both[both[x, y], z] == both[x, both[y, z]] for x, y, z in product(tuples, repeat=3)),
        commutative=all(both[x, y] == both[y, x] for x, y in both),
        starts_often=all(both[xy, x] == xy for (x, _), xy in both.items()),
    )


def _comparisons(terms: Sequence[Term]) -> Iterator[Term]:
    for term in terms:
        if term[0] in ("select", "and", "or"):
            yield from _comparisons(term[1:])
        elif term[0] not in ("x", "y"):
            yield term


def _combine(terms: Sequence[Term], x: tuple, y: tuple) -> tuple:
    return tuple(_value(term, x, y) for term in terms)


def _value(term: Term, x: Sequence[float], y: Sequence[float]) -> Any:
    word, parts = term[0], term[1:]
    if word in ("x", "y"):
        return (x if word == "x" else y)[parts[0]]
    if word == "select":
        return _value(parts[1] if _value(parts[0], x, y) else parts[2], x, y)
    values = [_value(p, x, y) for p in parts]
    if word in ("and", "or"):
        return all(values) if word == "and" else any(values)
    return _TESTS[word.removeprefix("u")](*values)


# --- updates of elements ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SelectedUpdate:
    """`X[f], Y[f] = f((X[f], Y[f]), new)`: the loads of old values, the stores, and the selection."""

    loads: list[ir.Operation]
    stores: list[ir.Operation]
    selection: Selection

    @property
    def buffers(self) -> list[ir.Value]:
        return [accessed_memref(store) for store in self.stores]


@cache_while_frozen
def selected_update(store: ir.Operation) -> SelectedUpdate | None:
    """The update by selection that a store belongs to, or None. Nothing else may use the old values."""
    body, indices = store.block, access_indices(store)
    stores = [o.operation for o in body.operations if isa(o, AffineStoreOp) and _is_at(o.operation, indices)]
    buffers = [accessed_memref(s) for s in stores]
    if len(set(buffers)) < len(buffers):
        return None
    loads = []
    for op in [o for top in body.operations for o in walk.ops(top.operation)]:
        if isa(op, LoadOp) and accessed_memref(op) in buffers:
            if not isa(op, AffineLoadOp) or not _is_at(op, indices) or not _precedes(op, stores[0]):
                return None
            loads.append(op)

    def old(value: ir.Value) -> int | None:
        op = defining_op(value)
        return buffers.index(accessed_memref(op)) if op is not None and op in loads else None

    if not loads or not _only_feed(loads, stores):
        return None
    choice = selection([StoreOp(s).value for s in stores], old)
    if choice is None or any(_depends(v, loads) for v in choice.new):
        return None
    return SelectedUpdate(loads, stores, choice)


def _is_at(op: ir.Operation, indices: Sequence[Any]) -> bool:
    own = access_indices(op)
    return len(own) == len(indices) and all(a.is_equal_to(b) for a, b in zip(own, indices, strict=True))


def _precedes(op: ir.Operation, store: ir.Operation) -> bool:
    return walk.child_towards(store.parent.operation, op).is_before_in_block(store)  # type: ignore[union-attr]


def _only_feed(loads: Sequence[ir.Operation], stores: Sequence[ir.Operation]) -> bool:
    """Whether loaded values get nowhere but to some stores."""
    pending, seen = [load.results[0] for load in loads], set[ir.Value]()
    while pending:
        value = pending.pop()
        for use in () if value in seen else value.uses:
            user = use.owner.operation
            if user in stores:
                continue
            target = user.parent.operation if isa(user, YieldOp) else user  # type: ignore[union-attr]
            if not all(is_pure(o) or isa(o, ChoiceOp) for o in walk.ops(target)):
                return False
            pending += target.results
        seen.add(value)
    return True


def _depends(value: ir.Value, loads: Sequence[ir.Operation]) -> bool:
    """Whether a value is computed from one of some loads."""
    op = defining_op(value)
    if op is None or isa(op, LoadOp):
        return op is not None and op in loads
    inner = [v for o in walk.ops(op) for v in o.operands]
    return any(_depends(v, loads) for v in inner if not isinstance(v.type, ir.MemRefType))


# --- blocks -----------------------------------------------------------------------------------------------------------


@cache_while_frozen
def block_selection(block: Block) -> SelectedUpdate | None:
    """The update by selection that a block with an init of constants makes; None for other blocks."""
    init = block.init
    store = next((o for o in block.body_ops() if isa(o, AffineStoreOp)), None)
    update = selected_update(store) if init is not None and store is not None else None
    if update is None or init is None or not is_declared_reduction(update.stores[0]):
        return None
    writes = [o for o in walk.ops(block.op) if may_write(o.name) and not walk.is_inside(o, init)]
    starts = [o for o in walk.ops(init) if may_write(o.name)]
    plain = all(
        isa(o, AffineStoreOp) and _is_at(o, access_indices(update.stores[0])) and _is_constant(StoreOp(o).value)
        for o in starts
    )
    same = {accessed_memref(o) for o in starts} == set(update.buffers) if plain else False
    return update if same and len(starts) == len(update.stores) == len(writes) else None


def _is_constant(value: ir.Value) -> bool:
    op = defining_op(value)
    return op is not None and isa(op, ConstantOp)


def keeps_order(block: Block, loop: Loop) -> bool:
    """Whether threads combine their parts of a block's reduction in the order of the elements, with a loop around it
    over threads: no reducing loop between this one and others over threads is serial, so that parts have no gaps."""
    reduced = {v for i in block.iters if i.kind == "R" for v in i.binding.values}
    chain = [Loop(p) for p in walk.parents(block.op)[::-1] if is_loop(p)]
    over = [lp == loop or lp.kind.startswith("threadIdx.") for lp in chain if lp.var in reduced]
    return True not in over or all(over[over.index(True) : len(over) - over[::-1].index(True)])


Term = tuple  # ("x", n) | ("y", value) | (op, term, term, ...)
OldNumber = Callable[[ir.Value], int | None]  # which old value a value is
EmitValue = Callable[[], ir.Value]  # emits a value at the insertion point: reads are emitted in the order of their uses

FLOAT = {arith.CmpFPredicate.OGT: "gt", arith.CmpFPredicate.OGE: "ge", arith.CmpFPredicate.OLT: "lt",
         arith.CmpFPredicate.OLE: "le", arith.CmpFPredicate.OEQ: "eq", arith.CmpFPredicate.UNE: "ne"}  # fmt: skip
INT = {arith.CmpIPredicate.sgt: "gt", arith.CmpIPredicate.sge: "ge", arith.CmpIPredicate.slt: "lt",
       arith.CmpIPredicate.sle: "le", arith.CmpIPredicate.eq: "eq", arith.CmpIPredicate.ne: "ne",
       arith.CmpIPredicate.ugt: "ugt", arith.CmpIPredicate.uge: "uge", arith.CmpIPredicate.ult: "ult",
       arith.CmpIPredicate.ule: "ule"}  # fmt: skip


def term_of(value: ir.Value, old: OldNumber) -> Term:
    """A value as a tree of selects, comparisons and conditions over old values x and other values y."""
    if (number := old(value)) is not None:
        return ("x", number)
    op = defining_op(value)
    if op is None:
        return ("y", value)
    if isa(op, SelectOp):
        return ("select", *[term_of(v, old) for v in op.operands])
    if isa(op, ScfIfOp) and len(op.results) == 1:
        sides = IfOp(op).yielded_values()
        if all(_may_always_run(v, op) for v in sides):
            return ("select", *[term_of(v, old) for v in (ScfIfOp(op).condition, *sides)])
    if isa(op, CompareOp):
        code = ir.IntegerAttr(op.attributes["predicate"]).value
        is_float = isa(op, CompareFloatsOp)
        word = FLOAT.get(arith.CmpFPredicate(code)) if is_float else INT.get(arith.CmpIPredicate(code))
        return (word or "other", *[term_of(v, old) for v in op.operands])
    if isa(op, AndIOp, OrIOp) and dtypes.to_name(value.type) == "bool":
        return (op.name[6:-1], *[term_of(v, old) for v in op.operands])
    return ("y", value)


_TRAPS = MemrefLoadOp.names | DIVISIONS


def _may_always_run(value: ir.Value, choice: ir.Operation) -> bool:
    """Whether the ops in a branch may also run when the other one is taken."""
    op = defining_op(value)
    if op is None or not is_inside(op, choice):
        return True
    return is_pure(op) and op.name not in _TRAPS and all(_may_always_run(v, choice) for v in op.operands)


def emit_term(term: Term, x: Sequence[EmitValue], y: Sequence[EmitValue]) -> ir.Value:
    """Emit a term, ("y", n) instead of ("y", value), at the insertion point."""
    word, parts = term[0], term[1:]
    if word in ("x", "y"):
        return (x if word == "x" else y)[parts[0]]()
    values = [emit_term(p, x, y) for p in parts]
    if word == "select":
        return arith.SelectOp(*values).result
    if word in ("and", "or"):
        return (arith.AndIOp if word == "and" else arith.OrIOp)(*values).result
    if dtypes.is_float(dtypes.to_name(values[0].type)):
        return arith.cmpf(next(p for p, w in FLOAT.items() if w == word), *values)
    return arith.cmpi(next(p for p, w in INT.items() if w == word), *values)


def is_same_value(a: ir.Value, b: ir.Value) -> bool:
    """Whether two values of a body without stores in between are structurally equal."""
    if a == b:
        return True
    first, second = defining_op(a), defining_op(b)
    if first is None or second is None or first.name != second.name or len(first.regions) or len(first.results) != 1:
        return False
    if isa(first, AffineLoadOp):
        if accessed_memref(first) != accessed_memref(second):
            return False
        return all(i.is_equal_to(j) for i, j in zip(access_indices(first), access_indices(second), strict=True))
    facts = [{n: op.attributes[n] for n in op.attributes if not n.startswith("tir.")} for op in (first, second)]
    return facts[0] == facts[1] and all(map(is_same_value, first.operands, second.operands))
