"""Find copies that later iterations of a loop read, and the waits before that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import same_element
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Buffer, Loop, defining_op, edit, is_loop, only_reads, walk
from tir_mlir.dialect.ir.lowering_op_views import BarrierOp
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, isa
from tir_mlir.dialect.presburger import BUILD_OPERATIONS, dim_type, question, smallest_point
from tir_mlir.passes.lower.gpu.conflicts import SharedAccess
from tir_mlir.passes.lower.gpu.nests import KernelNest, perfect_nests
from tir_mlir.passes.lower.gpu.thread_tags import is_shared
from tir_mlir.passes.lower.registry import lowering, programs

COPIED_AHEAD = "tir.copied_ahead"
"""On a shared buffer, and on the loop with all of its stores, which are asynchronous copies. Exists only during
lowering."""
COMMIT, WAIT = "nvvm.cp.async.commit.group", "nvvm.cp.async.wait.group"


@lowering("tir-lower-gpu-copy-groups", "Group the copies that run ahead of what reads them, and wait for each in time")
def run(module: ir.Module, asynchronous: bool = False) -> None:
    """Mark buffers whose copies may be asynchronous, and insert what ends a group of copies and waits for earlier ones.

        for %k = 0 to 10 {                           for %k = 0 to 10 {
          store A[...], %s[%k mod 3, ...]              store A[...], %s[%k mod 3, ...]
          ... %s[(%k - 2) mod 3, ...]         -->      nvvm.cp.async.commit.group
          gpu.barrier                                  ... %s[(%k - 2) mod 3, ...]
        }                                              nvvm.cp.async.wait.group 1
                                                       gpu.barrier
                                                     } {tir.copied_ahead}

    A buffer qualifies if all its stores and loads are in one serial loop, each store copies an element of global memory
    that the kernel does not write, and every element is read in a later iteration than the one that stores it: the
    least distance of the two, by integer sets, says how many groups may be pending at the barrier before the read.
    asynchronous: whether the GPU has such copies (cp.async, sm_80). Requires barriers to be placed.
    """
    if not asynchronous:
        return
    for func in programs(module):
        for nest in perfect_nests(func):
            for pipeline in _find_pipelines(nest):
                pipeline.insert()


@dataclass(frozen=True)
class _Pipeline:
    """A loop, the allocations of the buffers that are copied in it, the op of its body with the last copy, and the
    groups that may be pending at barriers of its body."""

    loop: ir.Operation
    allocs: tuple[ir.Operation, ...]
    last_copy: ir.Operation
    pending: dict[ir.Operation, int]

    def insert(self) -> None:
        unit, i32 = ir.UnitAttr.get(), ir.IntegerType.get_signless(32)
        for op in (self.loop, *self.allocs):
            edit.set_attribute(op, COPIED_AHEAD, unit)
        with ir.InsertionPoint(_next(self.last_copy)), self.last_copy.location:
            ir.Operation.create(COMMIT)
        for barrier, count in self.pending.items():
            with ir.InsertionPoint(barrier), barrier.location:
                ir.Operation.create(WAIT, attributes={"n": ir.IntegerAttr.get(i32, count)})
        with ir.InsertionPoint(_next(self.loop)), self.loop.location:
            ir.Operation.create(WAIT, attributes={"n": ir.IntegerAttr.get(i32, 0)})


def drop_groups(loop: ir.Operation) -> None:
    """Remove what `tir-lower-gpu-copy-groups` has inserted in a loop and behind it."""
    for op in [*Loop(loop).body_ops(), _next(loop)]:
        if op.name in (COMMIT, WAIT):
            edit.drop(op)


def _next(op: ir.Operation) -> ir.Operation:
    return op.block.operations[walk.position_of_many(op) + 1].operation


@dataclass(frozen=True)
class _CopiedBuffer:
    """The allocation of a buffer that is copied in a loop.

    distances: of each load, the least number of iterations since the store of what it reads.
    """

    alloc: ir.Operation
    loop: ir.Operation
    stores: tuple[SharedAccess, ...]
    distances: dict[ir.Operation, int]


@only_reads
def _find_pipelines(nest: KernelNest) -> list[_Pipeline]:
    found = list(_find_copied_buffers(nest))
    loops = list(dict.fromkeys(copied.loop for copied in found))
    pipelines = (_pipeline([copied for copied in found if copied.loop == loop]) for loop in loops)
    return [pipeline for pipeline in pipelines if pipeline is not None]


def _find_copied_buffers(nest: KernelNest) -> Iterator[_CopiedBuffer]:
    groups: dict[ir.Value, list[SharedAccess]] = {}
    for access in accesses(nest.root):
        groups.setdefault(access.buffer, []).append(SharedAccess.from_access(access))
    written = {buffer for buffer, group in groups.items() if any(r.access.is_write for r in group)}
    for buffer, group in groups.items():
        is_exact = all(relation.dom.exact for relation in group)
        copies = [_is_copy(relation.access.op, written) for relation in group if relation.access.is_write]
        alloc = Buffer(buffer).op
        if alloc is not None and is_shared(Buffer(buffer)) and is_exact and all(copies):
            copied = _analyze(nest, alloc, group)
            if copied is not None:
                yield copied


def _is_copy(op: ir.Operation, written: set[ir.Value]) -> bool:
    """Whether an op stores what was loaded beside it from global memory that the kernel does not write."""
    if not isa(op, AffineStoreOp):
        return False
    load = defining_op(AffineStoreOp(op).value, AffineLoadOp)
    if load is None or load.op.block != op.block:
        return False
    source = next(access.buffer for access in accesses(load.op))
    return Buffer(source).scope == "global" and source not in written


def _analyze(nest: KernelNest, alloc: ir.Operation, relations: Sequence[SharedAccess]) -> _CopiedBuffer | None:
    """The buffer, if all that is read of it was stored in an earlier iteration of the loop around its accesses."""
    stores = tuple(r for r in relations if r.access.is_write)
    loads = [r for r in relations if not r.access.is_write]
    common = walk.common_parent([r.access.op for r in relations])
    loop = next((p for p in [common, *walk.parents(common)] if is_loop(p)), None)
    if not stores or not loads or loop is None or loop == nest.root or not walk.is_inside(loop, nest.root):
        return None
    if Loop(loop).kind != "serial":
        return None
    distances: dict[ir.Operation, int] = {}
    for load in loads:
        for store in stores:
            least = _least_distance(nest, loop, store, load)
            if least is None:
                return None
            distances[load.access.op] = min(least, distances.get(load.access.op, least))
    return _CopiedBuffer(alloc, loop, stores, distances)


def _least_distance(nest: KernelNest, loop: ir.Operation, store: SharedAccess, load: SharedAccess) -> int | None:
    """The fewest iterations from a store to a load of the same element in the same block; None if it may be in the
    same iteration, or is not known."""
    try:
        with question(f"how far ahead {Buffer(store.access.buffer).name} is copied", BUILD_OPERATIONS):
            pairs = same_element(store, load)
            outer = [axis.var for axis in nest.blocks] + [Loop(p).var for p in walk.parents(loop) if is_loop(p)]
            for var in outer:
                if var not in {axis.var for axis in nest.threads}:
                    pairs = pairs.equate(dim_type.in_, store.dom.index_of(var), dim_type.out, load.dom.index_of(var))
            distance = _project(_project(pairs, dim_type.in_, store, loop), dim_type.out, load, loop).deltas()
            distance = distance.project_out(dim_type.param, 0, distance.dim(dim_type.param))
            after = distance.lower_bound_val(dim_type.set, 0, isl.Val(0))
            point = smallest_point(after)
    except NotProvable:
        return None
    return point[0] if point is not None and point[0] > 0 else None


def _project(pairs: isl.Map, side: dim_type, access: SharedAccess, loop: ir.Operation) -> isl.Map:
    """Keep the iteration of a loop alone."""
    number = access.dom.index_of(Loop(loop).var)
    pairs = pairs.project_out(side, number + 1, pairs.dim(side) - number - 1)
    return pairs.project_out(side, 0, number)


def _pipeline(group: Sequence[_CopiedBuffer]) -> _Pipeline | None:
    """The groups that may be pending before each barrier of a loop; None if a load has no barrier before it."""
    loop = group[0].loop
    body = Loop(loop).body_ops()
    position = {op: n for n, op in enumerate(body)}

    def place(op: ir.Operation) -> int:
        return position[walk.child_towards(loop, op)]

    barriers = [op for op in body if isa(op, BarrierOp)]
    last_copy = max(place(store.access.op) for copied in group for store in copied.stores)
    pending: dict[ir.Operation, int] = {}
    for copied in group:
        for load, distance in copied.distances.items():
            before = [b for b in barriers if position[b] < place(load)]
            if not barriers:
                return None
            barrier, iterations = (before[-1], 0) if before else (barriers[-1], 1)
            committed = 1 if position[barrier] > last_copy else 0
            count = distance - iterations + committed - 1
            if count < 0:
                return None
            pending[barrier] = min(count, pending.get(barrier, count))
    return _Pipeline(loop, tuple(copied.alloc for copied in group), body[last_copy], pending)
