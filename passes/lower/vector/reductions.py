"""Reductions over the lanes of a vector: recognized, their first iterations peeled, a partial result for each lane."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, vector

from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Index,
    Loop,
    create,
    defining_op,
    edit,
    emit_map,
    is_loop,
    is_symbol,
    owner_op,
    same_indices,
    step,
    walk,
)
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, AFFINE_STORE, ASSOCIATIVE, ORDERED_REDUCERS
from tir_mlir.dialect.ir.op_views import AffineIfOp, AffineLoadOp, AffineStoreOp, ConstantOp, LoadOp, StoreOp, isa
from tir_mlir.dialect.presburger import intervals

NEEDS_REASSOC = ORDERED_REDUCERS
"""Order-dependent float combiners, unless the block declares a reduction "
"(`tir-lower-fastmath`)."""


@dataclass(frozen=True)
class LaneReduction:
    """An update `C[f] = C[f] op value` of one element; `chain`: its ops, the last one first."""

    load: ir.Operation
    store: ir.Operation
    chain: tuple[ir.Operation, ...]

    @property
    def root(self) -> ir.Value:
        return StoreOp(self.store).memref

    @property
    def indices(self) -> list[Index]:
        return walk.access_indices(self.store)

    @property
    def type(self) -> ir.Type:
        return self.load.results[0].type

    def combine(self, a: ir.Value, b: ir.Value) -> ir.Value:
        """Combine two values of one type, with the fast-math flags of the update."""
        op = self.chain[0]
        return ir.Operation.create(op.name, [a.type], [a, b], {n: op.attributes[n] for n in op.attributes}).results[0]


def find_reductions(loop: Loop) -> list[LaneReduction]:
    """The reductions over a loop, each the only accesses of its buffer there."""
    reductions = []
    for op in walk.ops(loop.op)[1:]:
        if isa(op, AffineStoreOp) and (sum_ := _lane_reduction(op)) is not None and is_invariant(sum_, loop):
            reductions.append(sum_)
    return reductions


def _lane_reduction(store: ir.Operation) -> LaneReduction | None:
    for chain, load in _chains(StoreOp(store).value, store):
        return LaneReduction(load, store, tuple(chain))
    return None


def _chains(value: ir.Value, store: ir.Operation) -> Iterator[tuple[list[ir.Operation], ir.Operation]]:
    """Ops of one kind from a value to the load of the stored element, each used only by the next."""
    op = defining_op(value)
    if op is None or op.name not in ASSOCIATIVE or sum(1 for _ in value.uses) != 1:
        return
    if op.name in NEEDS_REASSOC and "reassoc" not in str(op.attributes["fastmath"]):
        return
    for operand in op.operands:
        source = defining_op(operand)
        if source is None:
            continue
        if _loads_stored(source, store):
            yield [op], source
        elif source.name == op.name:
            yield from (([op, *tail], load) for tail, load in _chains(operand, store))


def _loads_stored(load: ir.Operation, store: ir.Operation) -> bool:
    if (
        not isa(load, AffineLoadOp)
        or LoadOp(load).memref != StoreOp(store).memref
        or sum(1 for _ in load.results[0].uses) != 1
    ):
        return False
    return same_indices(walk.access_indices(load), walk.access_indices(store))


def is_invariant(sum_: LaneReduction, loop: Loop) -> bool:
    """Whether a reduction updates an invariant element, and nothing else in the loop accesses it."""
    if Buffer(sum_.root).root.value != sum_.root or not walk.is_inside(sum_.load, loop.op):
        return False
    if any(walk.is_inside(owner_op(v), loop.op) for i in sum_.indices for v in i.values):
        return False
    return all(op in (sum_.load, sum_.store) for op in users_in(sum_.root, loop.op))


def users_in(root: ir.Value, scope: ir.Operation) -> list[ir.Operation]:
    """The ops in a loop that use a buffer or a view of it."""
    users = []
    for op in walk.ops(scope):
        if any(isinstance(v.type, ir.MemRefType) and Buffer(v).root.value == root for v in op.operands):
            users.append(op)
    return users


def peel_first_iteration(loop: Loop) -> None:
    """Hoist what only the first iteration does, at its start, out of the loop.

        for %k = 0 to n { if (%k == 0) {C[%i] = 0} ; body }   -->   C[%i] = 0 ; for %k = 0 to n { body }

    Only stores of values defined outside; the other constraints of the condition remain.
    """
    if len(loop.lowers) != 1 or not may_hoist(loop):
        return
    for op in loop.body_ops():
        remaining = _first_iteration_constraints(op, loop) if isa(op, AffineIfOp) else None
        if remaining is None or not _stores_only(op, loop):
            continue
        op.move_before(loop.op)
        if remaining:
            edit.rebuild_guard(op, remaining)
        else:
            for inner in list(op.regions[0].blocks[0].operations)[:-1]:
                inner.operation.move_before(op)
            op.erase()


def may_hoist(loop: Loop) -> bool:
    """Whether ops may be hoisted although the loop may be empty: it is not, or only sizes decide."""
    box = intervals.enclosing_ranges(loop.op)
    if all(intervals.at_least_zero(u - low - 1, box) for u in loop.uppers for low in loop.lowers):
        return True
    return all(is_symbol(v) for i in (*loop.lowers, *loop.uppers) for v in i.values)


def _first_iteration_constraints(op: ir.Operation, loop: Loop) -> list[Constraint] | None:
    """The remaining constraints of a condition that holds only in the first iteration; None for any other condition.

    `16 * %o + %k == 0` is one: with %o >= 0 it holds only at %k = 0, and requires %o = 0.
    """
    remaining, only = [], False
    for c in walk.constraints(op):
        if loop.var not in c.index.values:
            remaining.append(c)
            continue
        grows = step(c.index, loop.var)
        if not c.is_eq or not grows:
            return None
        first = c.index.substitute({loop.var: loop.lower}).simplify()
        if not intervals.at_least_zero(first if grows > 0 else -first, intervals.enclosing_ranges(loop.op)):
            return None
        only = True
        if first.as_constant() != 0:
            remaining.append(Constraint(first, True))
    return remaining if only else None


def _stores_only(op: ir.Operation, loop: Loop) -> bool:
    """Whether an `if` only stores outside values at invariant elements that are not used before."""
    if len(op.results) or len(op.regions[1].blocks):
        return False
    stores = [o.operation for o in list(op.regions[0].blocks[0].operations)[:-1]]
    earlier = loop.body_ops()[: loop.body_ops().index(op)]
    for store in stores:
        if isa(store, ConstantOp):
            continue
        if not isa(store, AffineStoreOp) or not _is_outside(StoreOp(store).value, loop, op):
            return False
        if any(walk.is_inside(owner_op(v), loop.op) for i in walk.access_indices(store) for v in i.values):
            return False
        root = Buffer(StoreOp(store).memref).root.value
        if root != StoreOp(store).memref or any(users_in(root, o) for o in earlier):
            return False
    return True


def _is_outside(value: ir.Value, loop: Loop, op: ir.Operation) -> bool:
    owner = owner_op(value)
    return not walk.is_inside(owner, loop.op) or (walk.is_inside(owner, op) and isa(owner, ConstantOp))


@dataclass(frozen=True)
class Accumulator:
    """A vector accumulator: one row of a small buffer."""

    buffer: ir.Value
    start: int

    def load(self, width: int) -> ir.Value:
        type_ = ir.VectorType.get([width], ir.MemRefType(self.buffer.type).element_type)
        return ir.Operation.create("affine.vector_load", [type_], [self.buffer], self._map()).results[0]

    def store(self, value: ir.Value) -> None:
        ir.Operation.create("affine.vector_store", [], [value, self.buffer], self._map())

    def _map(self) -> dict[str, ir.Attribute]:
        return {"map": ir.AffineMapAttr.get(ir.AffineMap.get(0, 0, [ir.AffineExpr.get_constant(self.start)]))}


class PartialSums:
    """The accumulators of one reduction: `count` rows of `width` lanes, initialized before the outermost loop of the
    reduction and combined after it.
    """

    def __init__(self, sum_: LaneReduction, loop: Loop, width: int, count: int):
        self.sum, self.width, self.count = sum_, width, count
        self.top = _outermost_loop(sum_, loop)
        element = sum_.type
        with ir.InsertionPoint(self.top), self.top.location:
            self.buffer = create.alloc("parts", [width * count], Buffer(sum_.root).dtype)
            type_ = ir.VectorType.get([width], element)
            start = arith.constant(type_, ir.DenseElementsAttr.get_splat(type_, identity(sum_.chain[0].name, element)))
            for row in range(count):
                self.row_accumulator(row).store(start)

    def row_accumulator(self, row: int) -> Accumulator:
        return Accumulator(self.buffer, row * self.width)

    def finish(self) -> None:
        """Combine the accumulators pairwise, and with the old value."""
        sum_ = self.sum
        with ir.InsertionPoint.after(self.top), self.top.location:
            rows = [self.row_accumulator(row).load(self.width) for row in range(self.count)]
            while len(rows) > 1:
                half = len(rows) // 2
                rows = [sum_.combine(a, b) for a, b in zip(rows[:half], rows[half:], strict=True)]
            value = rows[0]
            size = self.width
            while size > 1:
                size //= 2
                low, high = (
                    vector.extract_strided_slice(ir.VectorType.get([size], sum_.type), value, [offset], [size], [1])
                    for offset in (0, size)
                )
                value = sum_.combine(low, high)
            total = vector.extract(value, [], [0])
            map_, operands = emit_map(sum_.indices)
            attributes = {"map": ir.AffineMapAttr.get(map_)}
            old = ir.Operation.create(AFFINE_LOAD, [sum_.type], [sum_.root, *operands], attributes).results[0]
            ir.Operation.create(AFFINE_STORE, [], [sum_.combine(old, total), sum_.root, *operands], attributes)


def _outermost_loop(sum_: LaneReduction, loop: Loop) -> ir.Operation:
    """The outermost loop around that the reduction runs over."""
    top = loop.op
    for parent in walk.parents(loop.op):
        if not is_loop(parent) or len(parent.results):
            break
        outer = Loop(parent)
        if outer.kind not in ("serial", "unrolled"):
            break
        peel_first_iteration(outer)
        if not may_hoist(outer) or not is_invariant(sum_, outer):
            break
        top = parent
    return top


def identity(name: str, element: ir.Type) -> ir.Attribute:
    """The identity of a combiner."""
    kind = name.removeprefix("arith.")
    if isinstance(element, ir.FloatType):
        value = {"addf": -0.0, "mulf": 1.0, "maximumf": -math.inf, "maxnumf": -math.inf}.get(kind, math.inf)
        return ir.FloatAttr.get(element, value)
    bits = 64 if isinstance(element, ir.IndexType) else ir.IntegerType(element).width
    least, ones = -(1 << (bits - 1)), -1
    identities = {"muli": 1, "maxsi": least, "minsi": -least - 1, "minui": ones, "andi": ones}
    return ir.IntegerAttr.get(element, identities.get(kind, 0))
