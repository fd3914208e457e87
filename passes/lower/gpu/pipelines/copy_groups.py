"""Find copies that later iterations of a loop read, and the waits before that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Buffer, Loop, attrs, defining_op, is_loop, only_reads, walk
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, isa
from tir_mlir.passes.lower.gpu.conflicts import SharedAccess
from tir_mlir.passes.lower.gpu.nests import KernelNest, perfect_nests
from tir_mlir.passes.lower.gpu.outline.kernel_memory import COPIED_AHEAD
from tir_mlir.passes.lower.gpu.pipelines.meetings import Meetings
from tir_mlir.passes.lower.gpu.pipelines.timeline import make_timeline
from tir_mlir.passes.lower.gpu.thread_tags import is_shared
from tir_mlir.passes.lower.registry import location_text, lowering, programs, warn

COMMIT, WAIT = "nvvm.cp.async.commit.group", "nvvm.cp.async.wait.group"


@lowering("tir-lower-gpu-copy-groups", "Group the copies that run ahead of what reads them, and wait for each in time")
def run(module: ir.Module, asynchronous: bool = False, chip: str = "") -> None:
    """Mark buffers whose copies may be asynchronous, and insert what ends a group of copies and waits for earlier ones.

        for %k = 0 to 10 {                           for %k = 0 to 10 {
          store A[...], %s[%k mod 3, ...]              store A[...], %s[%k mod 3, ...]
          ... %s[(%k - 2) mod 3, ...]         -->      nvvm.cp.async.commit.group
          gpu.barrier                                  ... %s[(%k - 2) mod 3, ...]
        }                                              nvvm.cp.async.wait.group 1
                                                       gpu.barrier
                                                     }
                                                     nvvm.cp.async.wait.group 0

    A buffer qualifies if all its loads are in one serial loop, its stores in that or before it, each store copies an
    element of global memory that the kernel does not write, and every element is read in a later iteration than the
    one that stores it. Copies beside each other whose reads are as far away are one group. How many groups may be
    pending at a barrier is the least number of groups between the one of a copy and the barrier before a read of it,
    or a next copy to it, over all pairs of iterations, by integer sets.
    asynchronous: whether the GPU has such copies (cp.async, sm_80). If not, and with a `chip`, such buffers remain
    loads and stores, with a LoweringWarning. Requires barriers to be placed.
    """
    if not asynchronous and not chip:
        return
    number = 0
    for func in programs(module):
        for nest in perfect_nests(func):
            for pipeline in _find_pipelines(nest):
                if asynchronous:
                    pipeline.insert(number := number + 1)
                else:
                    pipeline.warn(chip)


@dataclass(frozen=True)
class _Pipeline:
    """A loop, the allocations of the buffers that are copied in it and before it, the ops after which groups end, and
    the groups that may be pending before ops: barriers, or the loop."""

    loop: ir.Operation
    allocs: tuple[ir.Operation, ...]
    ends: tuple[ir.Operation, ...]
    pending: dict[ir.Operation, int]

    def warn(self, chip: str) -> None:
        names = ", ".join(Buffer(op.results[0]).name for op in self.allocs)
        warn(
            f"{location_text(self.loop)}: copies to {names} pass through registers, as {chip} has no cp.async; a copy "
            "in scope local between (cache_read of the copy, before pipeline) loads before the sums and stores after"
        )

    def insert(self, number: int) -> None:
        for op in self.allocs:
            attrs.put(op, COPIED_AHEAD, number)
        for end in self.ends:
            with ir.InsertionPoint(_next(end)), end.location:
                attrs.put(ir.Operation.create(COMMIT), COPIED_AHEAD, number)
        for op, count in self.pending.items():
            _insert_wait(count, op, op.location, number)
        _insert_wait(0, _next(self.loop), self.loop.location, number)


def _insert_wait(count: int, before: ir.Operation, location: ir.Location, number: int) -> None:
    with ir.InsertionPoint(before), location:
        facts = {"n": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count)}
        attrs.put(ir.Operation.create(WAIT, attributes=facts), COPIED_AHEAD, number)


def _next(op: ir.Operation) -> ir.Operation:
    return op.block.operations[walk.position_of_many(op) + 1].operation


@dataclass(frozen=True)
class _CopiedBuffer:
    """A buffer that is copied in a loop, and before it, some iterations ahead of what reads it."""

    alloc: ir.Operation
    loop: ir.Operation
    stores: tuple[SharedAccess, ...]
    loads: tuple[SharedAccess, ...]
    lag: int


@only_reads
def _find_pipelines(nest: KernelNest) -> list[_Pipeline]:
    found = list(_find_copied_buffers(nest))
    loops = list(dict.fromkeys(copied.loop for copied in found))
    pipelines = (_pipeline(nest, [copied for copied in found if copied.loop == loop]) for loop in loops)
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
        if alloc is not None and is_shared(Buffer(buffer)) and is_exact and copies and all(copies):
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
    """The buffer, if all that a loop reads of it was stored in an earlier iteration of it, or before it."""
    stores = tuple(r for r in relations if r.access.is_write)
    loads = tuple(r for r in relations if not r.access.is_write)
    if not loads:
        return None
    for loop in _candidates(nest, [r.access.op for r in relations], [r.access.op for r in loads]):
        inside = [store for store in stores if walk.is_inside(store.access.op, loop)]
        if not inside or any(not _is_before(store.access.op, loop) for store in stores if store not in inside):
            continue
        meetings = Meetings(nest, loop)
        least = [meetings.least_distance(store, load) for store in inside for load in loads]
        lags = [n for n in least if n is not None]
        if len(lags) == len(least) and min(lags) > 0:
            return _CopiedBuffer(alloc, loop, stores, loads, min(lags))
    return None


def _candidates(
    nest: KernelNest, everything: Sequence[ir.Operation], loads: Sequence[ir.Operation]
) -> Iterator[ir.Operation]:
    """The serial loops that may be that of a pipeline: around all accesses, or around all loads and beside the rest."""
    common = walk.common_parent(everything)
    chain = [common, *walk.parents(common)]
    around = next((p for p in chain[: chain.index(nest.root)] if is_loop(p)), None)
    beside = {walk.child_towards(common, op) for op in loads if op != common}
    for op in [around, *(beside if len(beside) == 1 else ())]:
        if op is not None and is_loop(op) and Loop(op).kind == "serial":
            yield op


def _is_before(op: ir.Operation, loop: ir.Operation) -> bool:
    """Whether an op is in an earlier op of the body that a loop is in."""
    body = next((p for p in [op, *walk.parents(op)] if p.block == loop.block), None)
    return body is not None and walk.position_of_many(body) < walk.position_of_many(loop)


def _pipeline(nest: KernelNest, group: Sequence[_CopiedBuffer]) -> _Pipeline | None:
    """The groups of a loop, and how many may be pending; None if a read cannot be waited for."""
    loop = group[0].loop
    stores = [store for copied in group for store in copied.stores]
    pending: dict[ir.Operation, int] = {}
    try:
        timeline = make_timeline(
            Meetings(nest, loop),
            stores,
            [load for copied in group for load in copied.loads],
            {copied.alloc.results[0]: copied.lag for copied in group},
        )
        for copied in group:
            inside = [store for store in copied.stores if walk.is_inside(store.access.op, loop)]
            for store in copied.stores:
                for touch in (*copied.loads, *inside):
                    for op, count in timeline.pending(store, touch):
                        pending[op] = min(count, pending.get(op, count))
    except NotProvable:
        return None
    if any(count < 0 for count in pending.values()):
        return None
    return _Pipeline(loop, tuple(copied.alloc for copied in group), tuple(timeline.ends), pending)
