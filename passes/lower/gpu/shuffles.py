"""Values combined over the threads of a block: by shuffles in a warp, and by shared memory between warps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from mlir import ir
from mlir.dialects import affine, arith

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Constraint, Index, Loop, access_indices, create, edit, is_loop, to_name, walk
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineIfOp, AffineLoadOp, AllocOp, StoreOp, isa
from tir_mlir.passes.lower.gpu.combinations import Combination, carried_combination
from tir_mlir.passes.lower.gpu.nests import THREAD, Divergence, KernelNest, owner_of, perfect_nests
from tir_mlir.passes.lower.registry import location_text, lowering, programs


@lowering("tir-lower-gpu-shuffles", "Combine values over threads by shuffles and shared memory")
def run(module: ir.Module, warp: int | str = 32) -> None:
    """Lower loops over `threadIdx` that carry values, to which every thread contributes its own.

        %s = for t in threadIdx.x iter_args(%p = 0)      %a = %P[tx]
          { %p + %P[t] }                           -->   %b = %a + (gpu.shuffle xor %a, 16)
                                                         ...
                                                         %s = %e + (gpu.shuffle xor %e, 1)

    Every thread gets the result. Where a group of threads is more than one warp, each warp leaves its result in a
    shared buffer; where it is not a whole number of warps nor a power of two in one, threads combine in a tree over a
    shared buffer. What does not commute, such as an argmax that keeps the first of equal elements, combines neighbours
    first, the lower one on the left. `warp`: the number of threads that shuffle, 1 for a device without shuffles.
    Barriers come later.
    Requires the form after `tir-lower-gpu-axes`. Errors: LoweringError for such a loop where not all threads go.
    """
    for func in programs(module):
        for nest in perfect_nests(func):
            # one at a time: a loop is erased with the ops in it, and so are the users of an allocation
            while (op := next((o for o in walk.ops(nest.root) if _carries(o)), None)) is not None:
                _lower(op, nest, int(warp))
            for alloc in [o for o in walk.ops(nest.root) if isa(o, AllocOp)]:
                if owner_of(Buffer(alloc.results[0])) == THREAD:
                    _drop_own_dims(alloc, nest)


def _carries(op: ir.Operation | ir.OpView | None) -> bool:
    """Whether an op is a loop over threads that carries values."""
    return op is not None and is_loop(op) and Loop(op).kind.startswith("threadIdx.") and len(op.operation.results) > 0


# --- the value of a thread --------------------------------------------------------------------------------------------


def _lower(op: ir.Operation, nest: KernelNest, warp: int) -> None:
    control = Divergence(nest).outermost_divergent_op(op.parent.operation)  # type: ignore[union-attr]
    if control is not None:
        raise LoweringError(
            f"{location_text(op)}: the threads of {Loop(op).kind} combine a value in {_name(control)}, which not all"
            " threads of a block run alike; fix: move the reduction out of it, or give all loops over one axis one"
            " extent"
        )
    loops = _carrying_loops(op)
    combination = _combination(loops[-1])
    starts = list(op.operands)[len(op.operands) - len(op.results) :]
    with ir.InsertionPoint(op), op.location:
        values = _own_values(loops, combination, nest, starts)
        total = Group(nest, [lp.kind for lp in loops], warp, combination, starts).reduce(values)
        if not combination.is_start(starts):
            total = combination.combine(starts, total)
    for result, value in zip(op.results, total, strict=True):
        edit.replace_uses(result, value)
    edit.drop(op)
    for value in total:
        _sink(value)


def _sink(value: ir.Value) -> None:
    """Load a result in the guard in which alone it is used: what only one thread loads needs no barrier."""
    load = value.owner.operation if not isinstance(value.owner, ir.Block) else None
    if load is None or not isa(load, AffineLoadOp):
        return
    users = {walk.child_towards(load.parent.operation, use.owner.operation) for use in value.uses}  # type: ignore[union-attr]
    guard = users.pop() if len(users) == 1 else load
    if isa(guard, AffineIfOp) and not len(guard.results) and not len(guard.regions[1].blocks):
        edit.move_before(load, guard.regions[0].blocks[0].operations[0])


def _name(op: ir.Operation) -> str:
    return f"loop {Loop(op).name}" if is_loop(op) else "a guard"


def _carrying_loops(op: ir.Operation) -> list[Loop]:
    """The loops over threads that carry one value through all of them."""
    loops = [Loop(op)]
    while _carries(inner := loops[-1].body.operations[0]):
        loops.append(Loop(inner))
    return loops


def _combination(loop: Loop) -> Combination:
    combination = carried_combination(loop)
    if combination is None:
        raise LoweringError(
            f"{location_text(loop.op)}: loop {loop.name} over threads carries a value that is not a reduction"
        )
    return combination


def _own_values(
    loops: Sequence[Loop], combination: Combination, nest: KernelNest, starts: Sequence[ir.Value]
) -> list[ir.Value]:
    """What a thread contributes; what changes nothing if it is in no iteration of the loops."""
    axes = {axis.kind: axis for axis in nest.threads}
    lane_values = {lp.var: Index.from_value(axes[lp.kind].var) + lp.lower for lp in loops}
    conditions = [
        Constraint((lp.upper - 1).simplify() - lane_values[lp.var])
        for lp in loops
        if lp.const_extent is None or lp.const_extent != axes[lp.kind].const_extent
    ]
    if not conditions:
        return _clone_independent_ops(loops[-1], combination, lane_values)
    choice = create.guard(conditions, results=[v.type for v in combination.new], has_else=True)
    with ir.InsertionPoint(choice.regions[0].blocks[0]):
        affine.yield_(_clone_independent_ops(loops[-1], combination, lane_values))
    with ir.InsertionPoint(choice.regions[1].blocks[0]):
        affine.yield_(combination.starts() or starts)
    return list(choice.results)


def _clone_independent_ops(loop: Loop, combination: Combination, lane_values: dict[ir.Value, Index]) -> list[ir.Value]:
    """The body of a loop without what depends on the values that it carries, at the insertion point."""
    values = {var: create.apply(index) for var, index in lane_values.items()}
    carried = set(list(loop.body.arguments)[1:])
    for op in list(loop.body.operations)[:-1]:
        if carried & {v for inner in walk.ops(op.operation) for v in inner.operands}:
            carried |= set(op.results)
            continue
        copy = edit.clone(op.operation, ir.InsertionPoint.current, values)
        values |= dict(zip(op.operation.results, copy.results, strict=True))
    return [values.get(v, v) for v in combination.new]


# --- a group of threads -----------------------------------------------------------------------------------------------


@dataclass
class Group:
    """The threads of a block that differ along some axes only: they combine their values."""

    nest: KernelNest
    tags: Sequence[str]  # of the loops that combine, outer to inner
    warp: int
    combination: Combination
    starts: Sequence[ir.Value]

    def __post_init__(self) -> None:
        for axis in self.nest.threads:
            if axis.const_extent is None:
                raise LoweringError(f"{location_text(axis.op)}: {axis.kind} has no constant extent")

    @cached_property
    def axes(self) -> list[Loop]:
        """The axes of threads with more than one, that of adjacent threads first."""
        return [axis for axis in self.nest.threads[::-1] if axis.const_extent != 1]

    def _size(self, axes: Sequence[Loop]) -> int:
        return prod(axis.const_extent or 1 for axis in axes)

    def _linear(self, axes: Sequence[Loop]) -> Index:
        result, stride = Index.constant(0), 1
        for axis in axes:
            result, stride = result + Index.from_value(axis.var) * stride, stride * (axis.const_extent or 1)
        return result

    def reduce(self, values: list[ir.Value]) -> list[ir.Value]:
        """The combined values, in every thread."""
        inner = [axis for axis in self.axes if axis.kind in self.tags]
        count, threads = self._size(inner), self._size(self.axes)
        if not self.combination.commutes:
            inner.sort(key=lambda axis: self.tags.index(axis.kind), reverse=True)  # that of adjacent iterations first
        adjacent = self.axes[: len(inner)] == inner and self.warp > 1 and threads % self.warp == 0
        if count == 1:
            return values
        if adjacent and count <= self.warp and count & (count - 1) == 0:
            return self._reduce_in_warp(values, count)
        if adjacent and count % self.warp == 0:
            return self._combine_warps(self._reduce_in_warp(values, self.warp), count // self.warp)
        return self._tree(values, inner, count)

    def _reduce_in_warp(self, values: list[ir.Value], count: int) -> list[ir.Value]:
        """Combine among `count` adjacent threads of a warp, a power of two."""
        offsets = [1 << n for n in range(count.bit_length() - 1)]
        for offset in offsets[::-1] if self.combination.commutes else offsets:
            others = [shuffle(value, offset, self.warp) for value in values]
            values = self._combine_in_order(values, others, offset)
        return values

    def _combine_in_order(self, own: list[ir.Value], others: list[ir.Value], offset: int) -> list[ir.Value]:
        """Combine with the values of the thread whose number differs in the bit `offset`: the lower thread's first."""
        if self.combination.commutes:
            return self.combination.combine(own, others)
        bit = create.apply(self._linear(self.axes) // offset % 2)
        lower = arith.cmpi(arith.CmpIPredicate.eq, bit, create.apply(Index.constant(0)))
        pairs = list(zip(own, others, strict=True))
        first = [arith.select(lower, a, b) for a, b in pairs]
        return self.combination.combine(first, [arith.select(lower, b, a) for a, b in pairs])

    def _combine_warps(self, values: list[ir.Value], warps: int) -> list[ir.Value]:
        """Combine the results of `warps` adjacent warps: %S[warp] = value by the first lane, then all read them."""
        if warps == 1:
            return values
        lane, thread = self._linear(self.axes) % self.warp, self._linear(self.axes)
        slots = self._alloc_shared(values, self._size(self.axes) // self.warp)
        first = create.guard([Constraint(lane, True)]).regions[0].blocks[0]
        with create.at_end(first):
            _store(values, slots, thread // self.warp)
        start = thread // (self.warp * warps) * warps
        lanes = 1 << (warps - 1).bit_length()
        if lanes > self.warp:
            location = location_text(self.nest.root)
            raise LoweringError(f"{location}: {warps} warps combine a value, more than a warp has threads")
        warp_lane = lane % lanes
        if lanes == warps:
            return self._reduce_in_warp(_load(slots, start + warp_lane), lanes)
        choice = create.guard([Constraint(warps - 1 - warp_lane)], results=[v.type for v in values], has_else=True)
        with ir.InsertionPoint(choice.regions[0].blocks[0]):
            affine.yield_(_load(slots, start + warp_lane))
        with ir.InsertionPoint(choice.regions[1].blocks[0]):
            affine.yield_(self.combination.starts() or self.starts)
        return self._reduce_in_warp(list(choice.results), lanes)

    def _tree(self, values: list[ir.Value], inner: Sequence[Loop], count: int) -> list[ir.Value]:
        """Combine in shared memory, until one is left. Adjacent threads use adjacent elements."""
        slots = self._alloc_shared(values, self._size(self.axes))
        linear_index, others = self._linear(inner), [axis for axis in self.axes if axis not in inner]
        apart = self._size(others) if others[:1] == self.axes[:1] else 1  # elements between those that combine
        start = self._linear(others) * (1 if others[:1] == self.axes[:1] else count)
        _store(values, slots, start + linear_index * apart)
        for offset, conditions in _pairs(linear_index, count, self.combination.commutes):
            body = create.guard(conditions).regions[0].blocks[0]
            with create.at_end(body):
                pair = [_load(slots, start + (linear_index + n) * apart) for n in (0, offset)]
                _store(self.combination.combine(*pair), slots, start + linear_index * apart)
        return _load(slots, start)

    def _alloc_shared(self, values: Sequence[ir.Value], count: int) -> list[ir.Value]:
        with ir.InsertionPoint(self.nest.root.regions[0].blocks[0].operations[0]):
            return [create.alloc("partials", [count], to_name(v.type), "shared") for v in values]


def _pairs(lane: Index, count: int, commutes: bool) -> Iterator[tuple[int, list[Constraint]]]:
    """Which threads combine with the thread `offset` after them, step by step: the lower half with the upper one of
    what is left; where the order matters, neighbours, then pairs of these."""
    if commutes:
        while count > 1:
            half = (count + 1) // 2
            yield half, [Constraint(count - half - 1 - lane)]
            count = half
        return
    offset = 1
    while offset < count:
        yield offset, [Constraint(lane % (2 * offset), True), Constraint(count - offset - 1 - lane)]
        offset *= 2


def _store(values: Sequence[ir.Value], slots: Sequence[ir.Value], lane: Index) -> None:
    for value, slot in zip(values, slots, strict=True):
        create.store(value, slot, [lane])


def _load(slots: Sequence[ir.Value], lane: Index) -> list[ir.Value]:
    return [create.load(slot, [lane]) for slot in slots]


def shuffle(value: ir.Value, offset: int, warp: int) -> ir.Value:
    """The value of the thread of the warp whose number differs in the bit `offset`."""
    word = ir.IntegerType.get_signless(32)
    type_ = value.type
    bits = type_.width  # type: ignore[attr-defined]
    if bits < 32:
        value = arith.bitcast(ir.IntegerType.get_signless(bits), value) if isinstance(type_, ir.FloatType) else value
        value = arith.extui(word, value)
    amounts = [arith.constant(word, ir.IntegerAttr.get(word, n)) for n in (offset, warp)]
    facts = {"mode": ir.Attribute.parse("#gpu<shuffle_mode xor>")}
    flag = ir.IntegerType.get_signless(1)
    value = ir.Operation.create("gpu.shuffle", [value.type, flag], [value, *amounts], facts).results[0]
    if bits < 32:
        value = arith.trunci(ir.IntegerType.get_signless(bits), value)
        value = arith.bitcast(type_, value) if isinstance(type_, ir.FloatType) else value
    return value


# --- private memory ---------------------------------------------------------------------------------------------------


def _drop_own_dims(alloc: ir.Operation, nest: KernelNest) -> None:
    """Remove the dimensions of a private buffer in which each thread uses one element.

    %P[%t] of memref<32xf32, "local">   -->   %P[0] of memref<1xf32, "local">
    """
    users = [use.owner.operation for use in alloc.results[0].uses]
    if not users or any(not isa(u, AffineElementAccessOp) for u in users):
        return
    buffer, axes = Buffer(alloc.results[0]), {axis.var for axis in nest.axes}
    columns = list(zip(*(access_indices(u) for u in users), strict=True))
    own_dims = [n for n, c in enumerate(columns) if set(c[0].values) <= axes and all(i.is_equal_to(c[0]) for i in c)]
    if all(buffer.shape[n] == 1 for n in own_dims) or None in buffer.shape:
        return
    shape = [1 if n in own_dims else size or 0 for n, size in enumerate(buffer.shape)]
    with ir.InsertionPoint(alloc), alloc.location:
        smaller = create.alloc(buffer.name, shape, buffer.dtype, buffer.scope)
    for user in users:
        indices = [Index.constant(0) if n in own_dims else i for n, i in enumerate(access_indices(user))]
        with ir.InsertionPoint(user), user.location:
            if len(user.results):
                edit.replace_uses(user.results[0], create.load(smaller, indices))
            else:
                create.store(StoreOp(user).value, smaller, indices)
        edit.drop(user)
    edit.drop(alloc)
