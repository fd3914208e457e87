"""One perfect nest of axes for each kernel: blocks and threads outside, what one thread does inside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Func,
    Index,
    Loop,
    at_end,
    attrs,
    create,
    edit,
    is_fragment,
    is_symbol,
    owner_op,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref, may_write
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AllocLikeOp, LoopLikeOp, WriteOp, isa
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.gpu.thread_tags import (
    THREADS,
    in_order,
    is_axis,
    is_block_kind,
    is_local,
    is_shared,
    is_shared_by_lanes,
    kernel_nests,
)
from tir_mlir.passes.lower.memory.compact import compact
from tir_mlir.passes.lower.registry import location_text, lowering, programs

FRESH = "tir.fresh"
"""On a shared buffer: in how many serial loops it was allocated, each iteration of which writes it before it reads it.
Exists only during lowering."""


@lowering("tir-lower-gpu-axes", "Make one perfect nest of blockIdx and threadIdx loops around the work of each thread")
def run(module: ir.Module) -> None:
    """Make each top-level nest with bound loops one perfect nest of its axes, around the work of one thread.

        for %b = 0 to 8 {               (blockIdx.x)         for %b = 0 to 8 {                          (blockIdx.x)
          %s = memref.alloc "shared"                           %s = memref.alloc "shared"
          for %k {                                             for %t = 0 to 64 {                       (threadIdx.x)
            for %i = 0 to 64 {..%i..}   (threadIdx.x)  -->       for %k {
            for %j = 0 to 16 {..%j..}   (threadIdx.x)              ..%t..
          }                                                        if %t < 16 {..%t..}
          store %x, %B[%b]                                       }
        }                                                        if %t == 0 {store %x, %B[%b]}
                                                             }}

    The axes are blockIdx.z, y, x, threadIdx.z, y, x, as far as the nest has them, each with the largest extent of its
    loops; a smaller loop becomes a condition. What is outside of the loops of an axis is done once, by the first block
    or thread of it; writes to `local` buffers by each, as each has a copy. Shared buffers are allocated outside of
    the threads, local ones inside. Requires blocks to be removed. Raises
    LoweringError for bounds without a maximum, threads without a constant number, and for `local` buffers that several
    threads would have to share.
    """
    for func in programs(module):
        for nest in kernel_nests(func):
            _BoundNest(func, nest).rewrite()
        compact(func, _copies, _is_indexed_by_thread)  # what several nests over one axis use, one thread uses


@dataclass
class _KernelAxis:
    """An axis of a kernel: its loops in the program, the number of its blocks or threads, and the loop it becomes."""

    kind: str
    loops: list[Loop] = field(default_factory=list)
    extent: Index = field(default_factory=lambda: Index.constant(1))
    var: ir.Value | None = None


class _BoundNest:
    """A top-level op with bound loops."""

    def __init__(self, func: Func, top: ir.Operation):
        self.func, self.top = func, top
        self.axes: dict[str, _KernelAxis] = {}
        for op in walk.ops(top):
            if is_axis(op):
                self.axes.setdefault(Loop(op).kind, _KernelAxis(Loop(op).kind)).loops.append(Loop(op))

    def rewrite(self) -> None:
        for axis in self.axes.values():
            _check_threads(axis.loops)
            axis.extent = _extent(axis)
        block_body, innermost = self._new_loops()
        self._own_buffers()
        self._guard_outside_work(innermost)
        self._replace_loops()
        _place_buffers(innermost, block_body)

    def _own_buffers(self) -> None:
        """Allocate the shared and local buffers of the function that the nest uses around it: each kernel has its own.
        Not in it: if it is a serial loop, its iterations have one copy."""
        for op in self.func.body_ops():
            buffer = Buffer(op.results[0]) if isa(op, AllocLikeOp) else None
            if buffer is None or not (is_shared(buffer) or is_local(buffer)):
                continue
            uses = [use.owner.operation for use in buffer.value.uses]
            if any(walk.is_inside(user, self.top) for user in uses):
                copy = edit.clone(op, ir.InsertionPoint(self.top))
                edit.replace_values(self.top, {buffer.value: copy.results[0]})
                if all(walk.is_inside(user, self.top) for user in uses):
                    edit.drop(op)

    def _new_loops(self) -> tuple[ir.Block, Loop]:
        """The perfect nest around everything. Returns where one block begins, and the innermost loop."""
        ip, block_body, innermost = ir.InsertionPoint(self.top), None, None
        for kind in in_order(self.axes):
            axis = self.axes[kind]
            with ip, axis.loops[0].op.location:
                innermost = create.loop(axis.loops[0].name, 0, axis.extent, kind)
            axis.var = innermost.var
            ip = at_end(innermost.body)
            if is_block_kind(kind) or block_body is None:
                block_body = innermost.body
        assert innermost is not None and block_body is not None
        edit.move_before(self.top, list(innermost.body.operations)[-1])
        return block_body, innermost

    def _replace_loops(self) -> None:
        """The old loops become conditions on the axes."""
        pairs = [(axis, loop) for axis in self.axes.values() for loop in axis.loops]
        pairs.sort(key=lambda pair: len(walk.parents(pair[1].op)), reverse=True)  # inner ones first: bounds are rebuilt
        for axis, loop in pairs:
            _replace(loop, Index.from_value(_variable(axis)), axis.extent)

    def _guard_outside_work(self, innermost: Loop) -> None:
        """Do what is outside of the loops of an axis once."""
        pending: list[tuple[ir.Block, frozenset[str]]] = [(innermost.body, frozenset())]
        while pending:
            body, bound = pending.pop()
            outside: list[ir.Operation] = []
            for op in [o.operation for o in body.operations]:
                if not _is_partly_for_each(op) and not any(is_axis(inner) for inner in walk.ops(op)):
                    outside.append(op)
                    continue
                self._guard(outside, bound)
                outside = []
                bound_inside = bound | {Loop(op).kind} if is_axis(op) else bound
                pending += [(block, bound_inside) for region in op.regions for block in region.blocks]
            self._guard(outside, bound)

    def _guard(self, ops: Sequence[ir.Operation], bound: frozenset[str]) -> None:
        """Put consecutive ops that are inside loops of the axes `bound` under the first index of all others."""
        missing = [axis for kind, axis in self.axes.items() if kind not in bound and axis.extent.as_constant() != 1]
        if not missing:
            return
        for group in _groups(ops):
            if not all(_only_for_block(op) for op in group):
                axes = missing
            else:
                axes = [axis for axis in missing if axis.kind in THREADS]
            if not axes:
                continue
            with ir.InsertionPoint(group[0]), group[0].location:
                guard = create.guard([Constraint(Index.from_value(_variable(axis)), is_eq=True) for axis in axes])
            end = list(guard.regions[0].blocks[0].operations)[-1]
            for op in group:
                edit.move_before(op, end)


def _check_threads(loops: Sequence[Loop]) -> None:
    """Refuse a loop inside of another one over the same axis that needs more threads than this has."""
    for outer in loops:
        for inner in (loop for loop in loops if loop != outer and walk.is_inside(loop.op, outer.op)):
            threads, needed = outer.const_extent, inner.const_extent
            if outer.extent.is_equal_to(inner.extent) or (threads and needed and needed <= threads):
                continue
            counts = ["a number of" if count is None else str(count) for count in (needed, threads)]
            raise LoweringError(
                f'{location_text(inner.op)}: loop "{inner.name}" is inside of loop "{outer.name}", both {outer.kind}: '
                f"it needs {counts[0]} threads, and the outer one has {counts[1]}; fix: split it by the extent of the "
                "outer one, and bind only the inner part"
            )


def _variable(axis: _KernelAxis) -> ir.Value:
    assert axis.var is not None
    return axis.var


def _extent(axis: _KernelAxis) -> Index:
    """The largest extent of the loops of an axis. Raises LoweringError."""
    extents = [_largest(loop) for loop in axis.loops]
    numbers = [extent.as_constant() for extent in extents]
    if all(number is not None for number in numbers):
        return Index.constant(max(0, *[n for n in numbers if n is not None], 0))
    symbolic = axis.loops[numbers.index(None)]
    if axis.kind in THREADS:
        raise LoweringError(
            f'{location_text(symbolic.op)}: loop "{symbolic.name}" is bound to {axis.kind}, but the number of threads '
            "of a block is a constant; fix: split it by a constant factor and bind the inner loop"
        )
    if not all(extent.is_equal_to(extents[0]) for extent in extents):
        names = " and ".join(f'"{loop.name}"' for loop in axis.loops)
        raise LoweringError(
            f"{location_text(symbolic.op)}: loops {names} of one kernel are bound to {axis.kind} with different "
            "extents, not all constant; fix: bind one of them to another axis, or move one to a nest of its own"
        )
    return extents[0]


def _largest(loop: Loop) -> Index:
    """The least upper bound of a loop's extent that holds for all iterations of the loops around it."""
    box = intervals.enclosing_ranges(loop.op)
    exact = [loop.extent] if len(loop.lowers) == len(loop.uppers) == 1 else []
    for extent in exact:
        if extent.as_constant() is not None or all(is_symbol(v) for v in extent.values):
            return extent
    ends = [intervals.interval(upper - lower, box)[1] for upper in loop.uppers for lower in loop.lowers]
    numbers = [end for end in ends if end is not None]
    if numbers:
        return Index.constant(min(numbers))
    raise LoweringError(
        f'{location_text(loop.op)}: loop "{loop.name}" is bound to {loop.kind}, but its extent has no largest value '
        "that is a constant or an expression of sizes; fix: bind a loop with other bounds"
    )


def _replace(loop: Loop, axis: Index, extent: Index) -> None:
    """A loop over an axis becomes its body at one index of the axis, where the loop has that index."""
    start = loop.lower if len(loop.lowers) == 1 else Index.constant(0)
    index = (start + axis).simplify()
    below = [
        Constraint(upper - 1 - index) for upper in loop.uppers if not (upper - start).simplify().is_equal_to(extent)
    ]
    above = [Constraint(index - lower) for lower in loop.lowers] if len(loop.lowers) > 1 else []
    with ir.InsertionPoint(loop.op), loop.op.location:
        holder = create.guard([*above, *below]) if above or below else None
    end = loop.op if holder is None else list(holder.regions[0].blocks[0].operations)[-1].operation
    for op in loop.body_ops():
        edit.move_before(op, end)
    edit.substitute({loop.var: index})
    edit.drop(loop.op)


# --- what is outside of the loops of an axis ----------------------------------------------------------------------


def _groups(ops: Sequence[ir.Operation]) -> list[list[ir.Operation]]:
    """The runs of ops that are to be done once: they write what is not local, and define no value for others.

    What writes to local buffers, and what a value outside of the run is computed from, is left to each thread.
    """
    apart = {op for op in ops if _is_for_each(op)}
    while True:
        runs = _runs(ops, apart)
        run_of = {op: number for number, run in enumerate(runs) for op in run}
        crossing = {op for op in run_of if any(run_of.get(user) != run_of[op] for user in _users_in(op))}
        if not crossing:
            return [run for run in runs if any(_writes(op) for op in run)]
        apart |= crossing
        for op in crossing:
            if _writes(op):
                raise LoweringError(
                    f"{location_text(op)}: {op.name} writes and has a result that loops over threads use; fix: write "
                    "what it computes in the program, in these loops"
                )


def _runs(ops: Sequence[ir.Operation], apart: set[ir.Operation]) -> list[list[ir.Operation]]:
    runs: list[list[ir.Operation]] = [[]]
    for op in ops:
        if op in apart:
            runs.append([])
        else:
            runs[-1].append(op)
    return [run for run in runs if run]


def _users_in(op: ir.Operation) -> list[ir.Operation]:
    """The users of the results of an op, as ops of the same body."""
    users = []
    for result in op.results:
        for use in result.uses:
            user = use.owner.operation
            while user.block != op.block:
                user = user.parent.operation  # type: ignore[union-attr]
            users.append(user)
    return users


def _is_for_each(op: ir.Operation) -> bool:
    """Whether each thread has to do an op itself: allocations, terminators, writes to local buffers."""
    if isa(op, AllocLikeOp) or op.name.endswith(("yield", "return")):
        return True
    written = _written_buffers(op)
    return bool(written) and all(is_local(buffer) for buffer in written)


def _is_partly_for_each(op: ir.Operation) -> bool:
    """Whether an op contains writes to local buffers, for each thread to do, and other writes, to be done once."""
    local = {is_local(buffer) for buffer in _written_buffers(op)}
    return bool(len(op.regions)) and (len(local) > 1 or (local == {True} and _is_opaque(op)))


def _only_for_block(op: ir.Operation) -> bool:
    """Whether an op writes only to shared buffers, of which each block has its own."""
    return all(is_shared(buffer) or is_local(buffer) for buffer in _written_buffers(op)) and not _is_opaque(op)


def _writes(op: ir.Operation) -> bool:
    return any(may_write(inner.name) for inner in walk.ops(op))


def _written_buffers(op: ir.Operation) -> list[Buffer]:
    """The buffers that loads and stores in an op write to."""
    return [Buffer(accessed_memref(inner)).root for inner in walk.ops(op) if isa(inner, WriteOp)]


def _is_opaque(op: ir.Operation) -> bool:
    return any(may_write(inner.name) and not isa(inner, WriteOp) for inner in walk.ops(op))


def _place_buffers(innermost: Loop, block_body: ir.Block) -> None:
    """Allocate shared buffers where a block begins; local ones remain inside the threads."""
    ops = walk.ops(innermost.op)
    allocs = [op for op in ops if isa(op, AllocLikeOp) and is_shared(Buffer(op.results[0]))]
    for op in allocs:
        around = walk.parents(op)
        if innermost.op in around:
            attrs.put(op, FRESH, sum(isa(p, LoopLikeOp) for p in around[: around.index(innermost.op)]))
    body = [o.operation for o in block_body.operations]
    enclosing = [op for op in body if walk.is_inside(innermost.op, op)]
    first = [*enclosing, *(op for op in body if op not in allocs)][0]
    for op in allocs:
        edit.move_before(op, first)


def _copies(buffer: Buffer, loops: Sequence[ir.Operation]) -> Sequence[bool]:
    """The loops that a buffer may be private to: lanes share the elements of fragments."""
    return [not is_fragment(buffer) or not is_shared_by_lanes(op) for op in loops]


def _is_indexed_by_thread(value: ir.Value) -> bool:
    """Whether the variable of an axis may be in an index of a buffer, of which each thread or warp has a copy."""
    if is_fragment(Buffer(value)):
        return True
    accesses = [use.owner.operation for use in value.uses if isa(use.owner, AffineElementAccessOp)]
    values = {v for op in accesses for index in walk.access_indices(op) for v in index.values}
    return is_local(Buffer(value)) and any(is_axis(owner_op(v)) for v in values)


def axes_of(nest: ir.Operation) -> Iterable[Loop]:
    """The loops over the axes of a perfect nest, outer to inner."""
    op: ir.Operation | None = nest
    while op is not None and is_axis(op):
        yield Loop(op)
        op = next((o for o in Loop(op).body_ops() if is_axis(o)), None)
