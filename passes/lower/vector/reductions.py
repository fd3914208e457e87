"""Recognize reductions over a loop: the update of one element in all iterations, without other accesses to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Index, Loop, defining_op, owner_op, same_indices, walk
from tir_mlir.dialect.ir.op_traits import ASSOCIATIVE, ORDERED_REDUCERS
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, LoadOp, StoreOp, isa

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
