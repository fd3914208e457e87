"""Barriers between the threads of a block: derived from the accesses, and proved to separate all that have to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError, NotProvable
from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Index,
    Loop,
    attrs,
    constraints,
    create,
    edit,
    is_loop,
    only_reads,
    walk,
)
from tir_mlir.dialect.ir.op_traits import is_pure, is_scalar
from tir_mlir.dialect.ir.op_views import AffineIfOp, ApplyOp, LoopLikeOp, isa
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.gpu.conflicts import TEXTUAL, SharedConflict, conflicts, pair_text
from tir_mlir.passes.lower.gpu.nests import Divergence, KernelNest, perfect_nests
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

    Requires the form after `tir-lower-gpu-axes`. Every barrier is at a position that all threads of a block reach
    equally often, in the outermost loop that will do, and none is there that the others make needless. The innermost
    axis gets the names of the buffers that threads exchange values through. Errors: LoweringError
    for two blocks, or two threads at one time, that touch one element, and for threads that can only be separated where
    not all threads of the block go.
    """
    for func in programs(module):
        for nest in perfect_nests(func):
            plan = _require_plan(nest)
            while (
                isinstance(plan, BlockedBarrier)
                and plan.control is not None
                and _split_control(plan.control, *plan.ops)
            ):
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


# --- positions in the body of a kernel --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spot:
    """A position for a barrier: before op number `index` of a body."""

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
        return [p for p in chain[: chain.index(self._root)] if isa(p, LoopLikeOp)]

    def spots(self, body: ir.Block, indices: range) -> Iterator[Spot]:
        """The positions in a body before ops of some numbers; none where threads differ."""
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
    """Positions for barriers that separate all conflicts, from the last one to the first.

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
    """Later positions first among equals: threads wait as late as they may."""
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


def _split_control(control: ir.Operation, first: ir.Operation, second: ir.Operation) -> bool:
    """Rewrite the outermost op at which threads part, so that two ops in it are no longer both inside; or one step of
    it. Returns whether something was rewritten; else nothing has changed.

        if t < 48 { S[t] = ...; ... = S[47 - t] }      -->   if t < 48 { S[t] = ... }; if t < 48 { ... = S[47 - t] }
        if t < 48 { for k { ... } }                    -->   for k { if t < 48 { ... } }
        for k in range(t) { ... }                      -->   for k in range(63) { if k < t { ... } }
    """
    if is_loop(control):
        return _bounds_to_guards(Loop(control))
    if not isa(control, AffineIfOp) or len(control.results) or len(control.regions[1].blocks):
        return False
    early, late = (walk.child_towards(control, op) for op in (first, second))
    start, end = sorted((walk.position(early), walk.position(late)))
    if start != end:
        return any(_cut(control, number) for number in range(end, start, -1))
    count = len(control.regions[0].blocks[0].operations) - 1
    if start + 1 < count:
        return _cut(control, start + 1)
    if start > 0:
        return _cut(control, start)
    return _swap(control, early)


def _bounds_to_guards(loop: Loop) -> bool:
    """Bounds that differ between threads become conditions: the loop runs as often as for the busiest thread."""
    box = intervals.enclosing_ranges(loop.op)
    lows = [intervals.interval(index, box)[0] for index in loop.lowers]
    highs = [intervals.interval(index, box)[1] for index in loop.uppers]
    least, most = [n for n in lows if n is not None], [n for n in highs if n is not None]
    if len(loop.op.results) or loop.kind == "vectorized" or not least or not most:
        return False
    lowers, uppers = loop.lowers, loop.uppers
    op = edit.set_bounds(loop.op, [Index.constant(max(least))], [Index.constant(min(most))])
    body, var = [o.operation for o in Loop(op).body_ops()], Index.from_value(Loop(op).var)
    with ir.InsertionPoint(body[0]), op.location:
        guard = create.guard([*(Constraint(var - low) for low in lowers), *(Constraint(up - 1 - var) for up in uppers)])
    end = list(guard.regions[0].blocks[0].operations)[-1]
    for inner in body:
        edit.move_before(inner, end)
    return True


def _cut(control: ir.Operation, number: int) -> bool:
    """`if c { a; b }` -> `if c { a }; if c { b }` before op `number`; scalars of `a` that `b` uses are repeated."""
    body = [o.operation for o in control.regions[0].blocks[0].operations][:-1]
    before, after = body[:number], body[number:]
    repeated = _ops_to_repeat(before, after)
    if repeated is None:
        return False
    with ir.InsertionPoint.after(control), control.location:
        guard = create.guard(constraints(control))
    end = list(guard.regions[0].blocks[0].operations)[-1]
    values: dict[ir.Value, ir.Value] = {}
    for op in repeated:
        copy = edit.clone(op, ir.InsertionPoint(end), values)
        values |= dict(zip(op.results, copy.results, strict=True))
    for op in after:
        edit.move_before(op, end)
        edit.replace_values(op, values)
    return True


def _ops_to_repeat(before: Sequence[ir.Operation], after: Sequence[ir.Operation]) -> list[ir.Operation] | None:
    """The ops of the first part that the second part needs as well, in order; None if one may not be repeated."""
    later_ops = {op for top in after for op in walk.ops(top)}
    needed: set[ir.Operation] = set()
    for op in reversed(before):
        users = {use.owner.operation for result in op.results for use in result.uses}
        if users & (later_ops | needed):
            if not (is_scalar(op.name) or isa(op, ApplyOp)) or not is_pure(op) or len(op.regions):
                return None
            needed.add(op)
    return [op for op in before if op in needed]


def _swap(control: ir.Operation, only: ir.Operation) -> bool:
    """A guard around one loop or guard goes into it: `if c { for k { a } }` -> `for k { if c { a } }`."""
    if isa(only, AffineIfOp) and not len(only.results) and not len(only.regions[1].blocks):
        edit.rebuild_guard(control, [*constraints(control), *constraints(only)])
        return _unwrap(only)
    if not is_loop(only) or len(only.results):
        return False
    body = [o.operation for o in Loop(only).body_ops()]
    if not body:
        return False
    with ir.InsertionPoint(body[0]), control.location:
        guard = create.guard(constraints(control))
    end = list(guard.regions[0].blocks[0].operations)[-1]
    for op in body:
        edit.move_before(op, end)
    edit.move_before(only, control)
    edit.drop(control)
    return True


def _unwrap(guard: ir.Operation) -> bool:
    for op in [o.operation for o in guard.regions[0].blocks[0].operations][:-1]:
        edit.move_before(op, guard)
    edit.drop(guard)
    return True
