"""Reductions over threads: each thread has a partial result, and one loop over the threads combines them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import affine

from tir_mlir.dialect.analysis import relation_of
from tir_mlir.dialect.analysis.accesses import accesses_of_op, touches
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Func,
    Index,
    Loop,
    access_indices,
    constraints,
    create,
    defining_op,
    edit,
    is_loop,
    only_reads,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref, is_pure
from tir_mlir.dialect.ir.op_views import AffineIfOp, AffineStoreOp, ConstantOp, IfOp, StoreOp, YieldOp, isa
from tir_mlir.dialect.presburger import constraint_set, dim_type, domain, question, zeros
from tir_mlir.passes.lower.gpu.combinations import Combination, SelectionCombination, Update, update_of
from tir_mlir.passes.lower.gpu.nests import THREAD, owner_of
from tir_mlir.passes.lower.gpu.thread_tags import is_axis, kernel_nests
from tir_mlir.passes.lower.memory import lifetimes
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-gpu-reductions", "Give each thread a partial result of a reduction over threads")
def run(module: ir.Module) -> None:
    """Reduce over `threadIdx` by partial results that are private to a thread.

        for k {                                       for t: %P[t] = 0
          for t in threadIdx.x {                      for k, t: %P[t] = %P[t] + %A[k * 32 + t]
            if k * 32 + t == 0: %B[0] = 0       -->   %s = for t iter_args(%p = 0) { %p + %P[t] }
            %B[0] = %B[0] + %A[k * 32 + t]            for z in 0..1 of threadIdx.x: %B[0] = %s
          }
        }

    The loop with `iter_args` is left to `tir-lower-gpu-shuffles`; it carries the position and the value of an argmax. A
    sum of floats is added in another order, which its reduce iter allows; of equal elements an argmax keeps what serial
    loops keep. The result is written by the first thread, or by each if it is private to a thread (`local`). Requires
    blocks to be removed and fast-math flags to be set. What is not a reduction `X[f] = X[f] op value` or selection, or
    is used by others meanwhile, is kept; `tir-lower-gpu-block-copies` refuses it if it is wrong on a GPU.
    """
    for func in programs(module):
        for sum_ in _sums(func):
            _rewrite(sum_)


@dataclass
class ThreadSum:
    """`update` of one element of each of its buffers in all iterations of `top`; `inits` are their first writes.

    threads: the loops over threads that it sums over.
    spatial: the loops in `top` that select the element.
    conditions: for which elements it runs.
    starts_always: whether each of these is one that an init starts.
    """

    update: Update
    inits: list[ir.Operation]
    top: Loop
    threads: list[Loop]
    spatial: list[Loop]
    conditions: list[Constraint]
    starts_always: bool

    @property
    def store(self) -> ir.Operation:
        return self.update.stores[0]

    @property
    def buffers(self) -> list[ir.Value]:
        return [accessed_memref(store) for store in self.update.stores]

    @property
    def combination(self) -> Combination:
        return self.update.combination

    @property
    def loops(self) -> list[Loop]:
        """The loops that tell partial results apart, outer to inner."""
        return [lp for lp in _loops(self.store) if lp in self.threads or lp in self.spatial]


# --- analysis ---------------------------------------------------------------------------------------------------------


@only_reads
def _sums(func: Func) -> list[ThreadSum]:
    """The reductions over threads, the last one first."""
    sums = []
    for nest in kernel_nests(func):
        updates = [u for o in walk.ops(nest) if isa(o, AffineStoreOp) and (u := update_of(o)) is not None]
        sums += [s for update in updates if (s := _sum_of(update)) is not None]
    return sums[::-1]


def _loops(op: ir.Operation) -> list[Loop]:
    return [Loop(p) for p in walk.parents(op)[::-1] if is_loop(p)]


def _sum_of(update: Update) -> ThreadSum | None:
    """The reduction over threads that an update belongs to; None if there is none, or for one that is kept."""
    store = update.stores[0]
    selecting = {v for index in access_indices(store) for v in index.values}
    loops = _loops(store)
    threads = [
        lp
        for depth, lp in enumerate(loops)
        if lp.kind.startswith("threadIdx.")
        and lp.var not in selecting
        and not _is_fixed(lp, store)
        and not all(_is_private(accessed_memref(s), lp, depth) for s in update.stores)
    ]
    if not threads:
        return None
    for depth, top in enumerate(loops[: loops.index(threads[0]) + 1]):
        if top.var in selecting or top.kind.startswith("blockIdx."):
            continue
        inner = loops[depth:]
        spatial = [lp for lp in inner if lp.var in selecting]
        others = [lp for lp in inner if is_axis(lp.op) and lp not in threads and lp not in spatial]
        reduced = [lp for lp in inner if lp not in spatial]
        inits = _inits(update, top, reduced)
        sizes = [lp.const_extent for lp in (*threads, *spatial)]
        if others or inits is None or None in sizes or not _selects_one(store, top, spatial):
            continue
        if not update.combination.commutes and reduced[: len(threads)] != threads:
            continue  # the parts of threads have gaps
        conditions = _conditions(store, top, reduced)
        if conditions is not None:
            always = bool(inits) and _starts_all(inits[0], store, reduced)
            return ThreadSum(update, inits, top, threads, spatial, conditions, always)
    return None


def _is_fixed(loop: Loop, store: ir.Operation) -> bool:
    """Whether a condition lets a store run in one iteration only, as that of the first lane of a warp."""
    conditions = [c for p in walk.parents(store) if isa(p, AffineIfOp) for c in constraints(p)]
    return any(c.is_eq and c.index.drop_unused_values().values == (loop.var,) for c in conditions)


def _is_private(value: ir.Value, loop: Loop, depth: int) -> bool:
    """Whether each iteration of a loop computes a result of its own in the buffer."""
    owner = Buffer(value).op
    if owner is None:
        return False
    if walk.is_inside(owner, loop.op):
        return True
    try:
        with question(f"whether {Buffer(value).name} is private to loop {loop.name}"):
            return lifetimes.is_private(lifetimes.timed_accesses(value, {}), depth + 1)
    except NotProvable:
        return False


def _inits(update: Update, top: Loop, reduced: Sequence[Loop]) -> list[ir.Operation] | None:
    """The writes in `top` that start a reduction, in its first iteration, for each buffer; None if something else uses
    a buffer, or if what a selection starts from is not known."""
    inits: dict[ir.Value, ir.Operation] = {}
    buffers = [accessed_memref(store) for store in update.stores]
    for touch in touches(top.op):
        if touch.buffer not in buffers or touch.op in (*update.stores, *update.loads):
            continue
        if not touch.is_write or not isa(touch.op, AffineStoreOp) or touch.buffer in inits:
            return None
        pairs = zip(access_indices(touch.op), access_indices(update.stores[0]), strict=True)
        if not all(a.is_equal_to(b) for a, b in pairs):
            return None
        inits[touch.buffer] = touch.op
    present = [inits[b] for b in buffers if b in inits]
    if isinstance(update.combination, SelectionCombination) and (
        len(present) < len(buffers) or not all(map(_is_constant, present))
    ):
        return None
    return present if all(_is_first(init, present, update.loads, reduced) for init in present) else None


def _is_constant(init: ir.Operation) -> bool:
    return defining_op(StoreOp(init).value, ConstantOp) is not None


def _is_first(
    init: ir.Operation, inits: Sequence[ir.Operation], loads: Sequence[ir.Operation], reduced: Sequence[Loop]
) -> bool:
    """Whether a store runs in the first iteration of all reduced loops only, before some loads."""
    enclosing = walk.parents(init)
    if init.block != inits[0].block or any(lp.op not in enclosing for lp in reduced):
        return False
    for load in loads:
        common = walk.common_parent([init, load])
        if not walk.child_towards(common, init).is_before_in_block(walk.child_towards(common, load)):
            return False
    others = [o.operation for o in init.block.operations if o.operation not in inits and not isa(o.operation, YieldOp)]
    if any(not is_pure(o) and not isa(o, AffineStoreOp) for o in others):  # stores: what starts another reduction
        return False
    dom = domain(init)
    try:
        with question("whether an init runs first"):
            return dom.exact and all(
                dom.set.is_subset(zeros(dom.env[lp.var].sub(dom.aff(lp.lower))))
                for lp in reduced
                if len(lp.lowers) == 1
            )
    except NotProvable:
        return False


def _selects_one(store: ir.Operation, top: Loop, spatial: Sequence[Loop]) -> bool:
    """Whether each iteration of the spatial loops has an element of its own, in one iteration of the loops around."""
    (access,) = accesses_of_op(store)
    touch = relation_of(access)
    try:
        with question("whether loops select one element"):
            pairs = touch.relation.apply_range(touch.relation.reverse())
            for lp in _loops(top.op):
                number = touch.dom.index_of(lp.var)
                pairs = pairs.equate(dim_type.in_, number, dim_type.out, number)
            numbers = [touch.dom.index_of(lp.var) for lp in spatial]
            return all(
                order(dim_type.in_, n, dim_type.out, n).is_empty()
                for n in numbers
                for order in (pairs.order_lt, pairs.order_gt)
            )
    except NotProvable:
        return False


def _starts_all(init: ir.Operation, store: ir.Operation, reduced: Sequence[Loop]) -> bool:
    """Whether an init runs for each element that is updated."""
    started, updated = domain(init), domain(store)
    try:
        with question("which elements an init starts"):
            points, needed = started.set, updated.set
            for lp in reversed(reduced):
                points = points.project_out(dim_type.set, started.index_of(lp.var), 1)
                needed = needed.project_out(dim_type.set, updated.index_of(lp.var), 1)
            return needed.is_subset(points)
    except NotProvable:
        return False


def _conditions(store: ir.Operation, top: Loop, reduced: Sequence[Loop]) -> list[Constraint] | None:
    """The conditions in `top` under which an element is updated at all; None if these are not those without the reduced
    loops."""
    variables = {lp.var for lp in reduced}
    chain = [store, *walk.parents(store)]
    around: list[Constraint] = []
    inside: list[Constraint] = []
    for child, parent in itertools.pairwise(chain):
        if isa(parent, IfOp):
            if not isa(parent, AffineIfOp) or child.block != parent.regions[0].blocks[0]:
                return None
            kept = inside if walk.is_inside(parent, top.op) else around
            kept += [c for c in constraints(parent) if not variables & set(c.index.values)]
    dom = domain(store)
    try:
        with question("for which elements a reduction runs"):
            points, updated = domain(store, guards=False).set, dom.set
            for c in (*around, *inside):
                points = points.intersect(constraint_set(dom, c))
            for lp in reversed(reduced):
                points, updated = (s.project_out(dim_type.set, dom.index_of(lp.var), 1) for s in (points, updated))
            return inside if dom.exact and points.is_subset(updated) else None
    except NotProvable:
        return None


# --- the rewrite ------------------------------------------------------------------------------------------------------


def _rewrite(sum_: ThreadSum) -> None:
    loops, top = sum_.loops, sum_.top.op
    with ir.InsertionPoint(top), sum_.store.location:
        shape = [lp.const_extent or 0 for lp in loops]
        buffers = [Buffer(b) for b in sum_.buffers]
        partials = [create.alloc(f"{b.name}_partial", shape, b.dtype, "local") for b in buffers]
        ip, variables = create.copy_loops(loops, ir.InsertionPoint(top))
        with ip:
            for start, partial in zip(_starts(sum_), partials, strict=True):
                create.store(start, partial, [variables[lp.var] - lp.lower for lp in loops])
    if sum_.inits and not sum_.starts_always:
        _start_early(sum_)
    _finish(sum_, partials)
    indices, lane_values = (
        [Index.from_value(lp.var) - lp.lower for lp in loops],
        dict(zip(sum_.buffers, partials, strict=True)),
    )
    for load in sum_.update.loads:
        with ir.InsertionPoint(load), load.location:
            edit.replace_uses(load.results[0], create.load(lane_values[accessed_memref(load)], indices))
        edit.drop(load)
    for store in sum_.update.stores:
        with ir.InsertionPoint(store), store.location:
            create.store(StoreOp(store).value, lane_values[accessed_memref(store)], indices)
        edit.drop(store)
    for init in sum_.inits:
        edit.prune(init, top)


def _starts(sum_: ThreadSum) -> list[ir.Value]:
    """What each thread starts from."""
    starts = sum_.combination.starts()
    if starts is not None:
        return starts
    constants = [StoreOp(init).value.owner.operation for init in sum_.inits]  # type: ignore[union-attr]
    return [edit.clone(op, ir.InsertionPoint.current).results[0] for op in constants]


def _start_early(sum_: ThreadSum) -> None:
    """Before the loops: write the first value of those elements that have one."""
    init = sum_.inits[0]
    ip, variables = create.copy_loops(sum_.spatial, ir.InsertionPoint(sum_.top.op))
    iteration = _first_iterations(sum_, init, variables)
    conditions = [
        Constraint(c.index.substitute(iteration).simplify(), c.is_eq)
        for parent in walk.parents(init)
        if isa(parent, AffineIfOp) and walk.is_inside(parent, sum_.top.op)
        for c in constraints(parent)
    ]
    with ip, init.location:
        ip = create.at_end(create.guard(conditions).regions[0].blocks[0])
    ip = _first_thread_point(sum_, ip)
    with ip, init.location:
        indices = [i.substitute(variables) for i in access_indices(init)]
        for value, target in zip(_init_values(sum_, variables), sum_.inits, strict=True):
            create.store(value, accessed_memref(target), indices)


def _first_thread_point(sum_: ThreadSum, ip: ir.InsertionPoint) -> ir.InsertionPoint:
    """Where only the first thread of those that sum writes; each, if it has a copy of its own."""
    if any(owner_of(Buffer(b)) != THREAD for b in sum_.buffers):
        for lp in sum_.threads:
            with ip, sum_.store.location:
                ip = create.at_end(create.loop(f"{lp.name}_first", 0, 1, lp.kind).body)
    return ip


def _finish(sum_: ThreadSum, partials: Sequence[ir.Value]) -> None:
    """After the loops: combine the partial results, and write the result.

    for i: %s = for t iter_args(%p = 0) { %p + %P[i, t] }; if i < n: for z in 0..1 of threadIdx.x: %B[i] = %s
    """
    ip, variables = create.copy_loops(sum_.spatial, ir.InsertionPoint.after(sum_.top.op))
    with ip, sum_.store.location:
        total = _combine_partials(sum_, partials, variables, sum_.threads, _starts(sum_))
        if sum_.conditions:
            conditions = [Constraint(c.index.substitute(variables), c.is_eq) for c in sum_.conditions]
            ip = create.at_end(create.guard(conditions).regions[0].blocks[0])
    ip = _first_thread_point(sum_, ip)
    with ip, sum_.store.location:
        indices = [i.substitute(variables) for i in access_indices(sum_.store)]
        if not sum_.starts_always:
            total = sum_.combination.combine([create.load(b, indices) for b in sum_.buffers], total)
        elif not isinstance(sum_.combination, SelectionCombination):  # which has started from it
            total = sum_.combination.combine(_init_values(sum_, variables), total)
        for value, buffer in zip(total, sum_.buffers, strict=True):
            create.store(value, buffer, indices)


def _combine_partials(
    sum_: ThreadSum,
    partials: Sequence[ir.Value],
    variables: dict[ir.Value, Index],
    threads: Sequence[Loop],
    starts: Sequence[ir.Value],
) -> list[ir.Value]:
    """`for t iter_args(%p = start) { %p + %P[t] }`, for each of the loops over threads."""
    if not threads:
        indices = [variables[lp.var] - lp.lower for lp in sum_.loops]
        return sum_.combination.combine(starts, [create.load(partial, indices) for partial in partials])
    loop, carried = create.carrying_loop(threads[0], starts)
    with ir.InsertionPoint(loop.body):
        inner = variables | {threads[0].var: Index.from_value(loop.var)}
        affine.yield_(_combine_partials(sum_, partials, inner, threads[1:], carried))
    return list(loop.op.results)


def _first_iterations(sum_: ThreadSum, init: ir.Operation, variables: dict[ir.Value, Index]) -> dict[ir.Value, Index]:
    """The spatial loops as they are now, all others at their first iteration."""
    iteration = dict(variables)
    for lp in _loops(init):
        if walk.is_inside(lp.op, sum_.top.op):
            iteration.setdefault(lp.var, lp.lower.substitute(iteration))
    return iteration


def _init_values(sum_: ThreadSum, variables: dict[ir.Value, Index]) -> list[ir.Value]:
    """The values that the first iteration starts from, computed again."""
    init = sum_.inits[0]
    values: dict[ir.Value, ir.Value] = {}
    copied = [op for op in list(init.block.operations)[:-1] if not isa(op.operation, AffineStoreOp)]
    operands = {value for op in copied for value in op.operation.operands}
    iteration = _first_iterations(sum_, init, variables)
    for lp in _loops(init):
        if walk.is_inside(lp.op, sum_.top.op) and lp.var in operands:
            values[lp.var] = create.apply(iteration[lp.var])
    for op in copied:
        copy = edit.clone(op.operation, ir.InsertionPoint.current, values)
        values |= dict(zip(op.operation.results, copy.results, strict=True))
    stored = [StoreOp(i).value for i in sum_.inits]
    return [values.get(value, value) for value in stored]
