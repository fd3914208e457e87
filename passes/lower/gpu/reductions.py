"""Reductions over threads: each thread has a partial result, and one loop over the threads combines them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import affine, arith

from tir_mlir.dialect.analysis import commutative_update, relation_of
from tir_mlir.dialect.analysis.accesses import of_op, touches
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
    edit,
    is_loop,
    only_reads,
    walk,
)
from tir_mlir.dialect.ir.op_traits import AFFINE_STORE, IFS, ORDERED_REDUCERS, YIELDS, accessed, is_pure
from tir_mlir.dialect.presburger import constraint_set, dim_type, domain, question, zeros
from tir_mlir.passes.lower.gpu.nests import THREAD, owner_of
from tir_mlir.passes.lower.gpu.thread_tags import is_axis, kernel_nests
from tir_mlir.passes.lower.memory import lifetimes
from tir_mlir.passes.lower.registry import lowering, programs
from tir_mlir.passes.lower.vector.partial_sums import identity


@lowering("tir-lower-gpu-reductions", "Give each thread a partial result of a reduction over threads")
def run(module: ir.Module) -> None:
    """Reduce over `threadIdx` by partial results that are private to a thread.

        for k {                                       for t: %P[t] = 0
          for t in threadIdx.x {                      for k, t: %P[t] = %P[t] + %A[k * 32 + t]
            if k * 32 + t == 0: %B[0] = 0       -->   %s = for t iter_args(%p = 0) { %p + %P[t] }
            %B[0] = %B[0] + %A[k * 32 + t]            for z in 0..1 of threadIdx.x: %B[0] = %s
          }
        }

    The loop with `iter_args` is left to `tir-lower-gpu-shuffles`. A sum of floats is added in another order, which its
    reduce iter allows. The result is written by the first thread, or by each if it is private to a thread (`local`).
    Requires blocks to be removed and fast-math flags to be set. What is no reduction `X[f] = X[f] op value`, or is used
    by others meanwhile, is kept; `tir-lower-gpu-block-copies` refuses it if it is wrong on a GPU.
    """
    for func in programs(module):
        for sum_ in _sums(func):
            _rewrite(sum_)


@dataclass
class ThreadSum:
    """`store` updates one element of a buffer in all iterations of `top`; `inits` are its first writes.

    `threads`: the loops over threads that it sums over; `spatial`: the loops in `top` that select the element.
    `conditions`: for which elements it runs. `starts_always`: whether each of these is one that an init starts.
    """

    store: ir.Operation
    load: ir.Operation
    inits: list[ir.Operation]
    top: Loop
    threads: list[Loop]
    spatial: list[Loop]
    conditions: list[Constraint]
    starts_always: bool

    @property
    def buffer(self) -> ir.Value:
        return accessed(self.store)

    @property
    def combiner(self) -> ir.Operation:
        return self.store.operands[0].owner.operation  # type: ignore[union-attr]

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
        stores = [o for o in walk.ops(nest) if o.name == AFFINE_STORE and commutative_update(o) is not None]
        sums += [s for store in stores if (s := _sum_of(store)) is not None]
    return sums[::-1]


def _loops(op: ir.Operation) -> list[Loop]:
    return [Loop(p) for p in walk.parents(op)[::-1] if is_loop(p)]


def _sum_of(store: ir.Operation) -> ThreadSum | None:
    """The reduction over threads that an update belongs to; None if there is none, or for one that is kept."""
    operands = [_owner(v) for v in store.operands[0].owner.operands]
    load = next(o for o in operands if (update := commutative_update(o)) is not None and update == store)
    if not _may_reorder(store.operands[0].owner.operation):  # type: ignore[union-attr]
        return None
    selecting = {v for index in access_indices(store) for v in index.values}
    loops = _loops(store)
    threads = [
        lp
        for depth, lp in enumerate(loops)
        if lp.kind.startswith("threadIdx.") and lp.var not in selecting and not _is_private(accessed(store), lp, depth)
    ]
    if not threads:
        return None
    for depth, top in enumerate(loops[: loops.index(threads[0]) + 1]):
        if top.var in selecting or top.kind.startswith("blockIdx."):
            continue
        inner = loops[depth:]
        spatial = [lp for lp in inner if lp.var in selecting]
        others = [lp for lp in inner if is_axis(lp.op) and lp not in threads and lp not in spatial]
        inits = _inits(store, load, top, [lp for lp in inner if lp not in spatial])
        sizes = [lp.const_extent for lp in (*threads, *spatial)]
        if others or inits is None or None in sizes or not _selects_one(store, top, spatial):
            continue
        reduced = [lp for lp in inner if lp not in spatial]
        conditions = _conditions(store, top, reduced)
        if conditions is not None:
            always = bool(inits) and _starts_all(inits[0], store, reduced)
            return ThreadSum(store, load, inits, top, threads, spatial, conditions, always)
    return None


def _owner(value: ir.Value) -> ir.Operation:
    owner = value.owner
    return owner.owner.operation if isinstance(owner, ir.Block) else owner.operation


def _may_reorder(combiner: ir.Operation) -> bool:
    """Whether a reduction may be computed in another order: floats only where the program declares it."""
    if combiner.name not in ORDERED_REDUCERS:
        return True
    return "fastmath" in combiner.attributes and "reassoc" in str(combiner.attributes["fastmath"])


def _is_private(value: ir.Value, loop: Loop, depth: int) -> bool:
    """Whether each iteration of a loop computes a result of its own in the buffer."""
    home = Buffer(value).op
    if home is None:
        return False
    if walk.is_inside(home, loop.op):
        return True
    try:
        with question(f"whether {Buffer(value).name} is private to loop {loop.name}"):
            return lifetimes.is_private(lifetimes.timed_accesses(value, {}), depth + 1)
    except NotProvable:
        return False


def _inits(store: ir.Operation, load: ir.Operation, top: Loop, reduced: Sequence[Loop]) -> list[ir.Operation] | None:
    """The writes in `top` that start a reduction, in its first iteration; None if something else uses the buffer."""
    inits = []
    for touch in touches(top.op):
        if touch.buffer != accessed(store) or touch.op in (store, load):
            continue
        if not touch.is_write or touch.op.name != AFFINE_STORE or not _is_first(touch.op, load, reduced):
            return None
        pairs = zip(access_indices(touch.op), access_indices(store), strict=True)
        if inits or not all(a.same(b) for a, b in pairs):
            return None
        inits.append(touch.op)
    return inits


def _is_first(init: ir.Operation, load: ir.Operation, reduced: Sequence[Loop]) -> bool:
    """Whether a store runs in the first iteration of all reduced loops only, before a load."""
    common = walk.common_parent([init, load])
    first, second = walk.child_towards(common, init), walk.child_towards(common, load)
    around = walk.parents(init)
    if not first.is_before_in_block(second) or any(lp.op not in around for lp in reduced):
        return False
    beside = [o.operation for o in init.block.operations if o.operation != init and o.operation.name not in YIELDS]
    if any(not is_pure(o) for o in beside):
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
    (access,) = of_op(store)
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
    for child, parent in zip(chain, chain[1:], strict=False):
        if parent.name in IFS:
            if parent.name != "affine.if" or child.block != parent.regions[0].blocks[0]:
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
    loops, buffer, top = sum_.loops, Buffer(sum_.buffer), sum_.top.op
    with ir.InsertionPoint(top), sum_.store.location:
        shape = [lp.const_extent or 0 for lp in loops]
        partial = create.alloc(f"{buffer.name}_partial", shape, buffer.dtype, "local")
        ip, variables = create.copy_loops(loops, ir.InsertionPoint(top))
        with ip:
            create.store(_start(sum_), partial, [variables[lp.var] - lp.lower for lp in loops])
    if sum_.inits and not sum_.starts_always:
        _start_early(sum_)
    _finish(sum_, partial)
    indices = [Index.of(lp.var) - lp.lower for lp in loops]
    with ir.InsertionPoint(sum_.load), sum_.load.location:
        edit.replace_uses(sum_.load.results[0], create.load(partial, indices))
    with ir.InsertionPoint(sum_.store), sum_.store.location:
        create.store(sum_.store.operands[0], partial, indices)
    edit.drop(sum_.load)
    edit.drop(sum_.store)
    for init in sum_.inits:
        edit.prune(init, top)


def _start(sum_: ThreadSum) -> ir.Value:
    element = sum_.store.operands[0].type
    return arith.constant(element, identity(sum_.combiner.name, element))


def _start_early(sum_: ThreadSum) -> None:
    """Before the loops: write the first value of those elements that have one."""
    (init,) = sum_.inits
    ip, variables = create.copy_loops(sum_.spatial, ir.InsertionPoint(sum_.top.op))
    places = _first_places(sum_, init, variables)
    conditions = [
        Constraint(c.index.substitute(places).simplified(), c.is_eq)
        for parent in walk.parents(init)
        if parent.name == "affine.if" and walk.is_inside(parent, sum_.top.op)
        for c in constraints(parent)
    ]
    with ip, init.location:
        ip = create.at_end(create.guard(conditions).regions[0].blocks[0])
    ip = _in_first_thread(sum_, ip)
    with ip, init.location:
        indices = [i.substitute(variables) for i in access_indices(init)]
        create.store(_init_value(sum_, variables), sum_.buffer, indices)


def _in_first_thread(sum_: ThreadSum, ip: ir.InsertionPoint) -> ir.InsertionPoint:
    """Where only the first thread of those that sum writes; each, if it has a copy of its own."""
    if owner_of(Buffer(sum_.buffer)) != THREAD:
        for lp in sum_.threads:
            with ip, sum_.store.location:
                ip = create.at_end(create.loop(f"{lp.name}_first", 0, 1, lp.kind).body)
    return ip


def _finish(sum_: ThreadSum, partial: ir.Value) -> None:
    """After the loops: combine the partial results, and write the result.

    for i: %s = for t iter_args(%p = 0) { %p + %P[i, t] }; if i < n: for z in 0..1 of threadIdx.x: %B[i] = %s
    """
    ip, variables = create.copy_loops(sum_.spatial, ir.InsertionPoint.after(sum_.top.op))
    with ip, sum_.store.location:
        total = _combined(sum_, partial, variables, sum_.threads, _start(sum_))
        if sum_.conditions:
            conditions = [Constraint(c.index.substitute(variables), c.is_eq) for c in sum_.conditions]
            ip = create.at_end(create.guard(conditions).regions[0].blocks[0])
    ip = _in_first_thread(sum_, ip)
    with ip, sum_.store.location:
        indices = [i.substitute(variables) for i in access_indices(sum_.store)]
        first = _init_value(sum_, variables) if sum_.starts_always else create.load(sum_.buffer, indices)
        create.store(_combine(sum_, first, total), sum_.buffer, indices)


def _combined(
    sum_: ThreadSum, partial: ir.Value, variables: dict[ir.Value, Index], threads: Sequence[Loop], start: ir.Value
) -> ir.Value:
    """`for t iter_args(%p = start) { %p + %P[t] }`, for each of the loops over threads."""
    if not threads:
        indices = [variables[lp.var] - lp.lower for lp in sum_.loops]
        return _combine(sum_, start, create.load(partial, indices))
    loop, carried = create.carrying_loop(threads[0], start)
    with ir.InsertionPoint(loop.body):
        inner = variables | {threads[0].var: Index.of(loop.var)}
        affine.yield_([_combined(sum_, partial, inner, threads[1:], carried)])
    return loop.op.results[0]


def _combine(sum_: ThreadSum, a: ir.Value, b: ir.Value) -> ir.Value:
    op = sum_.combiner
    facts = {key: op.attributes[key] for key in op.attributes}
    return ir.Operation.create(op.name, [a.type], [a, b], facts).results[0]


def _first_places(sum_: ThreadSum, init: ir.Operation, variables: dict[ir.Value, Index]) -> dict[ir.Value, Index]:
    """The spatial loops as they are now, all others at their first iteration."""
    places = dict(variables)
    for lp in _loops(init):
        if walk.is_inside(lp.op, sum_.top.op):
            places.setdefault(lp.var, lp.lower.substitute(places))
    return places


def _init_value(sum_: ThreadSum, variables: dict[ir.Value, Index]) -> ir.Value:
    """The value that the first iteration starts from, computed again."""
    (init,) = sum_.inits
    places = _first_places(sum_, init, variables)
    values: dict[ir.Value, ir.Value] = {}
    copied = [op for op in list(init.block.operations)[:-1] if op.operation != init]
    used = {value for op in copied for value in op.operation.operands}
    for lp in _loops(init):
        if walk.is_inside(lp.op, sum_.top.op) and lp.var in used:
            values[lp.var] = create.apply(places[lp.var])
    for op in copied:
        copy = edit.clone(op.operation, ir.InsertionPoint.current, values)
        values |= dict(zip(op.operation.results, copy.results, strict=True))
    return values.get(init.operands[0], init.operands[0])
