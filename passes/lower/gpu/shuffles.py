"""Values combined over the threads of a block: by shuffles in a warp, and by shared memory between warps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from mlir import ir
from mlir.dialects import affine, arith

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Constraint, Index, Loop, access_indices, create, edit, is_loop, to_name, walk
from tir_mlir.dialect.ir.op_traits import AFFINE_ELEMENT_ACCESSES, AFFINE_LOAD, ASSOCIATIVE
from tir_mlir.passes.lower.gpu.divergence import Divergence
from tir_mlir.passes.lower.gpu.nests import THREAD, KernelNest, owner_of, perfect_nests
from tir_mlir.passes.lower.registry import location_text, lowering, programs
from tir_mlir.passes.lower.vector.partial_sums import identity


@lowering("tir-lower-gpu-shuffles", "Combine values over threads by shuffles and shared memory")
def run(module: ir.Module, warp: int | str = 32) -> None:
    """Lower loops over `threadIdx` that carry a value, to which every thread contributes its own.

        %s = for t in threadIdx.x iter_args(%p = 0)      %a = %P[tx]
          { %p + %P[t] }                           -->   %b = %a + (gpu.shuffle xor %a, 16)
                                                         ...
                                                         %s = %e + (gpu.shuffle xor %e, 1)

    Every thread gets the result. Where a group of threads is more than one warp, each warp leaves its result in a
    shared buffer; where it is no whole number of warps nor a power of two in one, threads combine in a tree over a
    shared buffer. `warp`: the number of threads that shuffle, 1 for a device without shuffles. Barriers come later.
    Requires the form after `tir-lower-gpu-axes`. Errors: LoweringError for such a loop where not all threads go.
    """
    for func in programs(module):
        for nest in perfect_nests(func):
            # one at a time: a loop is erased with the ops in it, and so are the users of an allocation
            while (op := next((o for o in walk.ops(nest.root) if _carries(o)), None)) is not None:
                _lower(op, nest, int(warp))
            for alloc in [o for o in walk.ops(nest.root) if o.name == "memref.alloc"]:
                if owner_of(Buffer(alloc.results[0])) == THREAD:
                    _drop_own_dims(alloc, nest)


def _carries(op: ir.Operation | ir.OpView | None) -> bool:
    """Whether an op is a loop over threads that carries a value."""
    return op is not None and is_loop(op) and Loop(op).kind.startswith("threadIdx.") and len(op.operation.results) == 1


# --- the value of a thread --------------------------------------------------------------------------------------------


def _lower(op: ir.Operation, nest: KernelNest, warp: int) -> None:
    control = Divergence(nest).around(op.parent.operation)  # type: ignore[union-attr]
    if control is not None:
        raise LoweringError(
            f"{location_text(op)}: the threads of {Loop(op).kind} combine a value in {_name(control)}, which not all"
            " threads of a block run alike; fix: move the reduction out of it, or give all loops over one axis one"
            " extent"
        )
    loops = _nested(op)
    combiner = _combiner(loops[-1])
    with ir.InsertionPoint(op), op.location:
        value = _own_value(loops, combiner, nest)
        group = Group(nest, [lp.kind for lp in loops], warp, combiner)
        total = group.reduce(value)
        start = op.operands[len(op.operands) - 1]
        if not _is_identity(start, combiner):
            total = group.combine(start, total)
    edit.replace_uses(op.results[0], total)
    edit.drop(op)
    _sink(total)


def _sink(value: ir.Value) -> None:
    """Load a result in the guard in which alone it is used: what only one thread loads needs no barrier."""
    load = value.owner.operation if not isinstance(value.owner, ir.Block) else None
    if load is None or load.name != AFFINE_LOAD:
        return
    users = {walk.child_towards(load.parent.operation, use.owner.operation) for use in value.uses}  # type: ignore[union-attr]
    guard = users.pop() if len(users) == 1 else load
    if guard.name == "affine.if" and not len(guard.results) and not len(guard.regions[1].blocks):
        edit.move_before(load, guard.regions[0].blocks[0].operations[0])


def _name(op: ir.Operation) -> str:
    return f"loop {Loop(op).name}" if is_loop(op) else "a guard"


def _nested(op: ir.Operation) -> list[Loop]:
    """The loops over threads that carry one value through all of them."""
    loops = [Loop(op)]
    while _carries(inner := loops[-1].body.operations[0]):
        loops.append(Loop(inner))
    return loops


def _combiner(loop: Loop) -> ir.Operation:
    result = list(loop.body.operations)[-1].operands[0]
    op = None if isinstance(result.owner, ir.Block) else result.owner.operation
    if op is None or op.name not in ASSOCIATIVE or loop.body.arguments[1] not in list(op.operands):
        raise LoweringError(
            f"{location_text(loop.op)}: loop {loop.name} over threads carries a value that is no reduction"
        )
    return op


def _own_value(loops: Sequence[Loop], combiner: ir.Operation, nest: KernelNest) -> ir.Value:
    """What a thread contributes; the identity if it is in no iteration of the loops."""
    axes = {axis.kind: axis for axis in nest.threads}
    places = {lp.var: Index.of(axes[lp.kind].var) + lp.lower for lp in loops}
    conditions = [
        Constraint((lp.upper - 1).simplified() - places[lp.var])
        for lp in loops
        if lp.const_extent is None or lp.const_extent != axes[lp.kind].const_extent
    ]
    if not conditions:
        return _copied(loops[-1], combiner, places)
    element = combiner.results[0].type
    choice = create.guard(conditions, results=[element], has_else=True)
    with ir.InsertionPoint(choice.regions[0].blocks[0]):
        affine.yield_([_copied(loops[-1], combiner, places)])
    with ir.InsertionPoint(choice.regions[1].blocks[0]):
        affine.yield_([arith.constant(element, identity(combiner.name, element))])
    return choice.results[0]


def _copied(loop: Loop, combiner: ir.Operation, places: dict[ir.Value, Index]) -> ir.Value:
    """The body of a loop without the combination, at the insertion point."""
    values = {var: create.apply(index) for var, index in places.items()}
    for op in list(loop.body.operations)[:-1]:
        if op.operation != combiner:
            copy = edit.clone(op.operation, ir.InsertionPoint.current, values)
            values |= dict(zip(op.operation.results, copy.results, strict=True))
    side = 0 if combiner.operands[1] == loop.body.arguments[1] else 1
    return values.get(combiner.operands[side], combiner.operands[side])


def _is_identity(value: ir.Value, combiner: ir.Operation) -> bool:
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is None or op.name != "arith.constant":
        return False
    return op.attributes["value"] == identity(combiner.name, value.type)


# --- a group of threads -----------------------------------------------------------------------------------------------


@dataclass
class Group:
    """The threads of a block that differ along some axes only: they combine their values."""

    nest: KernelNest
    tags: Sequence[str]
    warp: int
    combiner: ir.Operation

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
            result, stride = result + Index.of(axis.var) * stride, stride * (axis.const_extent or 1)
        return result

    def reduce(self, value: ir.Value) -> ir.Value:
        """The combined value, in every thread."""
        inner = [axis for axis in self.axes if axis.kind in self.tags]
        count, threads = self._size(inner), self._size(self.axes)
        adjacent = self.axes[: len(inner)] == inner and self.warp > 1 and threads % self.warp == 0
        if count == 1:
            return value
        if adjacent and count <= self.warp and count & (count - 1) == 0:
            return self._shuffled(value, count)
        if adjacent and count % self.warp == 0:
            return self._between_warps(self._shuffled(value, self.warp), count // self.warp)
        return self._tree(value, inner, count)

    def combine(self, a: ir.Value, b: ir.Value) -> ir.Value:
        facts = {key: self.combiner.attributes[key] for key in self.combiner.attributes}
        return ir.Operation.create(self.combiner.name, [a.type], [a, b], facts).results[0]

    def _shuffled(self, value: ir.Value, count: int) -> ir.Value:
        """Combine among `count` adjacent threads of a warp, a power of two."""
        while count > 1:
            count //= 2
            value = self.combine(value, shuffle(value, count, self.warp))
        return value

    def _between_warps(self, value: ir.Value, warps: int) -> ir.Value:
        """Combine the results of `warps` adjacent warps: %S[warp] = value by the first lane, then all read them."""
        if warps == 1:
            return value
        lane, thread = self._linear(self.axes) % self.warp, self._linear(self.axes)
        slots = self._shared(value.type, self._size(self.axes) // self.warp)
        first = create.guard([Constraint(lane, True)]).regions[0].blocks[0]
        with create.at_end(first):
            create.store(value, slots, [thread // self.warp])
        start = thread // (self.warp * warps) * warps
        lanes = 1 << (warps - 1).bit_length()
        if lanes > self.warp:
            at = location_text(self.combiner)
            raise LoweringError(f"{at}: {warps} warps combine a value, more than a warp has threads")
        own = lane % lanes
        if lanes == warps:
            return self._shuffled(create.load(slots, [start + own]), lanes)
        choice = create.guard([Constraint(warps - 1 - own)], results=[value.type], has_else=True)
        with ir.InsertionPoint(choice.regions[0].blocks[0]):
            affine.yield_([create.load(slots, [start + own])])
        with ir.InsertionPoint(choice.regions[1].blocks[0]):
            affine.yield_([arith.constant(value.type, identity(self.combiner.name, value.type))])
        return self._shuffled(choice.results[0], lanes)

    def _tree(self, value: ir.Value, inner: Sequence[Loop], count: int) -> ir.Value:
        """Combine in shared memory: the upper half of what is left is added to the lower half, until one is left."""
        slots = self._shared(value.type, self._size(self.axes))
        place = self._linear(inner)
        start = self._linear([axis for axis in self.axes if axis not in inner]) * count
        create.store(value, slots, [start + place])
        while count > 1:
            half = (count + 1) // 2
            body = create.guard([Constraint(count - half - 1 - place)]).regions[0].blocks[0]
            with create.at_end(body):
                pair = [create.load(slots, [start + place + offset]) for offset in (0, half)]
                create.store(self.combine(*pair), slots, [start + place])
            count = half
        return create.load(slots, [start])

    def _shared(self, element: ir.Type, count: int) -> ir.Value:
        with ir.InsertionPoint(self.nest.root.regions[0].blocks[0].operations[0]):
            return create.alloc("partials", [count], to_name(element), "shared")


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
    if not users or any(u.name not in AFFINE_ELEMENT_ACCESSES for u in users):
        return
    buffer, axes = Buffer(alloc.results[0]), {axis.var for axis in nest.axes}
    columns = list(zip(*(access_indices(u) for u in users), strict=True))
    own = [n for n, c in enumerate(columns) if set(c[0].values) <= axes and all(i.same(c[0]) for i in c)]
    if all(buffer.shape[n] == 1 for n in own) or None in buffer.shape:
        return
    shape = [1 if n in own else size or 0 for n, size in enumerate(buffer.shape)]
    with ir.InsertionPoint(alloc), alloc.location:
        smaller = create.alloc(buffer.name, shape, buffer.dtype, buffer.scope)
    for user in users:
        indices = [Index.constant(0) if n in own else i for n, i in enumerate(access_indices(user))]
        with ir.InsertionPoint(user), user.location:
            if len(user.results):
                edit.replace_uses(user.results[0], create.load(smaller, indices))
            else:
                create.store(user.operands[0], smaller, indices)
        edit.drop(user)
    edit.drop(alloc)
