"""Barriers between the threads of a block: derived from the accesses, and proved to separate all that have to be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError, NotProvable
from tir_mlir.dialect.ir import Buffer, Loop, attrs, is_loop, only_reads, walk
from tir_mlir.dialect.ir.op_traits import LOOPS
from tir_mlir.passes.lower.gpu.conflicts import TEXTUAL, SharedConflict, conflicts, pair_text
from tir_mlir.passes.lower.gpu.divergence import Divergence
from tir_mlir.passes.lower.gpu.nests import KernelNest, perfect_nests
from tir_mlir.passes.lower.gpu.split_guards import split
from tir_mlir.passes.lower.registry import location_text, lowering, programs

BARRIER = "gpu.barrier"
EXCHANGED = "tir.exchanged"
"""On the innermost axis of a kernel: the names of the buffers that its threads exchange values through."""


@lowering("tir-lower-gpu-barriers", "Insert the barriers between threads that touch one element of shared memory")
def run(module: ir.Module) -> None:
    """Insert `gpu.barrier` between accesses of different threads of a block to one element, one of them a write.

        affine.for %t = 0 to 64 {                 affine.for %t = 0 to 64 {
          affine.for %k {                           affine.for %k {
            store %S[%t]                  -->         store %S[%t]
            load %S[63 - %t]                          gpu.barrier
          }                                           load %S[63 - %t]
        } {tir.kind = "threadIdx.x"}                  gpu.barrier
                                                    }
                                                  } {tir.kind = "threadIdx.x"}

    A guard that only some threads pass, or a loop that they run a different number of times, is split where a barrier
    has to be in it.

    Requires the form after `tir-lower-gpu-axes`. Every barrier is at a place that all threads of a block reach equally
    often, in the outermost loop that will do, and none is there that the others make needless. The innermost axis gets
    the names of the buffers that threads exchange values through. Errors: LoweringError
    for two blocks, or two threads at one time, that touch one element, and for threads that can only be separated where
    not all threads of the block go.
    """
    for func in programs(module):
        for nest in perfect_nests(func):
            plan = _require_plan(nest)
            while isinstance(plan, BlockedBarrier) and plan.control is not None and split(plan.control, *plan.ops):
                plan = _require_plan(nest)
            if isinstance(plan, BlockedBarrier):
                raise LoweringError(plan.text)
            for spot in plan.spots:
                spot.insert()
            attrs.put(nest.root, EXCHANGED, plan.exchanged)


def _require_plan(nest: KernelNest) -> BarrierPlan | BlockedBarrier:
    try:
        return _plan(nest)
    except NotProvable as error:
        raise LoweringError(f"{location_text(nest.root)}: {error}") from error


@dataclass(frozen=True)
class BarrierPlan:
    """Where barriers are to be, and the names of the buffers of which two threads touch one element, one writing."""

    spots: list[Spot]
    exchanged: list[str]


# --- places in the body of a kernel -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spot:
    """A place for a barrier: before op number `index` of a body."""

    body: ir.Block
    index: int
    depth: int

    def insert(self) -> None:
        anchor = self.body.operations[self.index].operation
        with ir.InsertionPoint(anchor), anchor.location:
            ir.Operation.create(BARRIER)


Path = dict[ir.Block, int]
"""From the body of the kernel to an op: each body on the way, and the number of the op in it that leads on."""


class _Paths:
    """Where the accesses of a kernel are."""

    def __init__(self, nest: KernelNest) -> None:
        self._root = nest.root
        self._of: dict[ir.Operation, Path] = {}
        self.divergence = Divergence(nest)

    def path_of(self, op: ir.Operation) -> Path:
        if op not in self._of:
            chain = [op, *walk.parents(op)]
            inner = chain[: chain.index(self._root)]
            self._of[op] = {p.block: walk.position_of_many(p) for p in inner[::-1]}
        return self._of[op]

    def loops(self, body: ir.Block) -> list[ir.Operation]:
        """The serial loops around the ops of a body."""
        owner = body.owner.operation
        chain = [owner, *walk.parents(owner)]
        return [p for p in chain[: chain.index(self._root)] if p.name in LOOPS]

    def spots(self, body: ir.Block, indices: range) -> Iterator[Spot]:
        """The places in a body before ops of some numbers; none where threads differ."""
        if self.divergence.outermost_divergent_op(body.owner.operation) is None:
            depth = len(self.loops(body))
            yield from (Spot(body, i, depth) for i in indices)


def _insertion_ranges(conflict: SharedConflict, paths: _Paths) -> Iterator[tuple[ir.Block, range]]:
    """The bodies, and numbers of ops in them, before which a barrier surely runs between both accesses.

    After the first access, in a body around it, or before the second one, in a body around that; but inside the
    iteration of the carrying loop, or between both in the body in which their ways part. Anywhere in the body of the
    carrying loop if a whole iteration is between.
    """
    first, second = paths.path_of(conflict.first.access.op), paths.path_of(conflict.second.access.op)
    last = {body: len(body.operations) for body in (*first, *second)}
    if conflict.carrier is TEXTUAL:
        common = [body for body in first if body in second][-1]
        if first[common] < second[common]:  # else they are in two regions of one op
            yield common, range(first[common] + 1, second[common] + 1)
        inner_first = [body for body in first if body not in second]
        inner_second = [body for body in second if body not in first]
    else:
        inner_first = [body for body in first if conflict.carrier in paths.loops(body)]
        inner_second = [body for body in second if conflict.carrier in paths.loops(body)]
    if conflict.far and conflict.carrier is not TEXTUAL:
        body = conflict.carrier.regions[0].blocks[0]  # type: ignore[union-attr]
        yield body, range(len(body.operations))
    for body in inner_first:
        yield body, range(first[body] + 1, last[body])
    for body in inner_second:
        yield body, range(second[body] + 1)


# --- the choice -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BlockedBarrier:
    """A conflict that no barrier can separate, and the outermost op at which threads part around it."""

    control: ir.Operation | None
    ops: tuple[ir.Operation, ir.Operation]
    text: str


@only_reads
def _plan(nest: KernelNest) -> BarrierPlan | BlockedBarrier:
    """Places for barriers that separate all conflicts, from the last one to the first.

    A conflict that needs a barrier in a deep loop comes first, as that barrier may separate others, too.
    """
    paths = _Paths(nest)
    reach: list[set[Spot]] = []
    found = conflicts(nest)
    for conflict in found:
        reach.append(set(_candidates(conflict, paths)))
        if not reach[-1]:
            return _blocked_barrier(nest, conflict, paths)
    chosen: list[Spot] = []
    pending = reach
    while pending:
        deepest = max(pending, key=_least_depth)
        spots = [s for s in deepest if s.depth == _least_depth(deepest)]
        chosen.append(max(spots, key=lambda s: (sum(s in p for p in pending), _order(s, paths))))
        pending = [p for p in pending if chosen[-1] not in p]
    for spot in sorted(chosen, key=lambda s: s.depth, reverse=True):
        without = [s for s in chosen if s != spot]
        if all(any(s in spots for s in without) for spots in reach):
            chosen = without
    exchanged = sorted({Buffer(conflict.first.access.buffer).name for conflict in found})
    return BarrierPlan(sorted(chosen, key=lambda s: s.index, reverse=True), exchanged)


def _candidates(conflict: SharedConflict, paths: _Paths) -> Iterator[Spot]:
    for body, indices in _insertion_ranges(conflict, paths):
        yield from paths.spots(body, indices)


def _least_depth(spots: set[Spot]) -> int:
    return min(s.depth for s in spots)


def _order(spot: Spot, paths: _Paths) -> tuple[int, ...]:
    """Later places first among equals: threads wait as late as they may."""
    return (*paths.path_of(spot.body.owner.operation).values(), spot.index)


def _blocked_barrier(nest: KernelNest, conflict: SharedConflict, paths: _Paths) -> BlockedBarrier:
    a, b = conflict.first, conflict.second
    common = walk.common_parent([a.access.op, b.access.op])
    control = paths.divergence.outermost_divergent_op(common)
    where = common if control is None else control
    text = (
        f"{location_text(where)}: {pair_text(nest, a, b, conflict.pairs, 'two threads')}; a barrier between them would"
        f" be in {_control(where)}, which not all threads of a block run alike; fix: {_uniform_control_fix(where)}"
    )
    return BlockedBarrier(control, (a.access.op, b.access.op), text)


def _uniform_control_fix(op: ir.Operation) -> str:
    """How all threads get to run what an op controls alike."""
    if is_loop(op) and Loop(op).kind == "vectorized":
        return f"leave loop {Loop(op).name} serial"
    return "let all threads run it, with its condition around the single statements in it"


def _control(op: ir.Operation) -> str:
    return f"loop {Loop(op).name}" if is_loop(op) else "the guard" if op.name.endswith(".if") else op.name
