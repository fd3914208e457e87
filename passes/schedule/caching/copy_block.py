"""The block that copies a region of one buffer to the same place of another, and turning a block to the copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis import Access, Region, box
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    IterSpec,
    create,
    edit,
    func_of,
    is_inside,
    is_symbol,
    ops,
    walk,
)
from tir_mlir.dialect.presburger import intervals, sets
from tir_mlir.passes.schedule.edits import alloc, check_retypable, follow, rename_declared
from tir_mlir.passes.schedule.legality import Scope
from tir_mlir.passes.schedule.registry import refuse


@dataclass(frozen=True)
class Place:
    """A copy to be made before an op: over `region` (in values known there), of a buffer whose used part is `whole`.

    `window`: the cache holds just the region, its element 0 is the first of the region; else it has the buffer's shape.
    """

    before: ir.Operation
    region: Region
    whole: Region
    window: bool = False

    @property
    def shape(self) -> list[Index]:
        return list(self.region.extents) if self.window else self.region.buffer.dims

    @property
    def shift(self) -> list[Index]:
        """What is taken off an index of the buffer to give that of the cache."""
        return list(self.region.mins) if self.window else [Index.constant(0)] * len(self.region.mins)


def whole_buffer(buffer: Buffer) -> Region:
    return Region(buffer, tuple(Index.constant(0) for _ in buffer.dims), tuple(buffer.dims))


def written_region(writes: Sequence[Access], level: ir.Operation) -> Region:
    """The box that some writes fill in one iteration of `level`; the buffer's own extents where it is all of it."""
    region = box(writes, level)
    full = whole_buffer(region.buffer)
    pairs = zip(region.mins, region.extents, full.extents, strict=True)
    extents = [dim if low.as_constant() == 0 and size.same(dim) else size for low, size, dim in pairs]
    return Region(region.buffer, region.mins, tuple(extents))


def place(writes: Sequence[Access], level: ir.Operation, before: ir.Operation) -> Place:
    """A copy of what `writes` fill in one iteration of `level`, standing before one of the ops in it."""
    return Place(before, written_region(writes, level), written_region(writes, func_of(level).op))


def windowed(where: Place, scope: Scope, users: Sequence[Block]) -> Place:
    """The same copy with a cache of just the region: where it stands in the scope itself and all uses can be shifted.

    A copy in a loop fills another part of the cache each time: there the cache keeps the shape of the buffer.
    """
    sizes = [v for e in where.region.extents for v in e.values]
    starts = [v for m in where.region.mins for v in m.values]
    fits = where.before.block == scope.body and all(is_symbol(v) for v in sizes)
    fits = fits and not any(walk.enclosing_loop_name(v) is not None for v in starts)
    moves = any(m.as_constant() != 0 for m in where.region.mins)
    if not fits or (moves and not all(_shiftable(u.op, where.region.buffer) for u in users)):
        return where
    return Place(where.before, where.region, where.whole, True)


def _shiftable(root: ir.Operation, buffer: Buffer) -> bool:
    """Whether only plain loads and stores beneath `root` use a buffer."""
    plain = ("affine.load", "affine.store")
    return all(op.name in plain for op in ops(root) if any(v == buffer.value for v in op.operands))


def make_cache(scope: Scope, where: Place, storage_scope: str) -> Buffer:
    """The buffer `<buffer>_<storage scope>` for a copy, allocated in the scope."""
    like = where.region.buffer
    return alloc(scope, f"{like.name}_{storage_scope}", where.shape, like.dtype, storage_scope)


def make_copy(name: str, source: Buffer, target: Buffer, where: Place) -> Block:
    """`target[v] = source[v]` over the region: loops ax0.., a block with iters v0.., guarded where that sticks out."""
    ip = ir.InsertionPoint(where.before)
    loops: list[Index] = []
    for number, extent in enumerate(where.region.extents):
        with ip:
            loop = create.loop(f"ax{number}", 0, extent)
        loops.append(Index.of(loop.var))
        ip = create.at_end(loop.body)
    elements = [(low + at).simplified() for low, at in zip(where.region.mins, loops, strict=True)]
    known = list(zip(where.whole.mins, where.whole.extents, elements, strict=True))
    conditions = open_conditions(ip, [c for low, size, e in known for c in (e - low, low + size - e - 1)])
    with ip:
        if conditions:
            ip = create.at_end(create.where(conditions).regions[0].blocks[0])
        with ip:
            block = create.block(name, _iters(target, where, loops, elements))
    at = [Index.of(i.var) for i in block.iters]
    there = [(a + low).simplified() for a, low in zip(at, where.shift, strict=True)]
    places = {where.region.buffer: there}
    with create.at_end(block.body):
        create.store(create.load(source.value, places.get(source, at)), target.value, places.get(target, at))
    return block


def _iters(target: Buffer, where: Place, loops: Sequence[Index], elements: Sequence[Index]) -> list[IterSpec]:
    """One iter a dimension: over the cache, or over the buffer (of a parameter, over what the copy writes)."""
    if where.window:
        return [IterSpec(f"v{n}", "S", 0, e, at) for n, (e, at) in enumerate(zip(where.shape, loops, strict=True))]
    domain = where.whole if target.is_param else whole_buffer(where.region.buffer)
    parts = zip(domain.mins, domain.extents, elements, strict=True)
    return [IterSpec(f"v{n}", "S", low, size, e) for n, (low, size, e) in enumerate(parts)]


def open_conditions(ip: ir.InsertionPoint, wanted: Sequence[Index]) -> list[Constraint]:
    """Those of some conditions `>= 0` that the loops around do not already promise."""
    end = ip.ref_operation
    if end is None:
        return []
    boxed = intervals.around(end.operation)
    doubtful = [c for c in wanted if not intervals.at_least_zero(c, boxed)]
    if not doubtful:
        return []
    with sets.question("which part of a copy lies inside its buffer"):
        dom = sets.domain(end.operation, extra=doubtful)
        return [Constraint(c) for c in doubtful if not sets.holds(dom, c)]


def op_after(op: ir.Operation) -> ir.Operation:
    """The op behind one in its body: where what comes after it is inserted."""
    body = [o.operation for o in op.operation.block.operations]
    return body[body.index(op) + 1]


def check_redirectable(root: ir.Operation, buffer: Buffer) -> None:
    """Refuse when a block reaches a buffer in a way that cannot be turned to another one."""
    for op in ops(root):
        for value in op.operands:
            if not isinstance(value.type, ir.MemRefType) or Buffer(value).root != buffer:
                continue
            if value == buffer.value:
                check_retypable([op])
            elif not is_inside(value.owner.operation, root):
                refuse(
                    root,
                    f"{buffer.name} is reached through {Buffer(value).name}, a view "
                    "made outside the block; cache it in the scope of that view",
                )


def redirect(root: ir.Operation, old: Buffer, new: Buffer, shift: Sequence[Index] = ()) -> None:
    """Everything beneath `root` that uses `old` uses `new` instead, views and declared regions too.

    `shift` is taken off every index (the uses are then plain loads and stores: see `windowed`).
    """
    rename_declared([root], old, new.name, shift)
    moves = any(s.as_constant() != 0 for s in shift)
    for op in ops(root):
        if moves and any(v == old.value for v in op.operands):
            at = [(i - s).simplified() for i, s in zip(walk.access_indices(op), shift, strict=True)]
            access_at(op, new, at)
            continue
        for number, value in enumerate(list(op.operands)):
            if value == old.value:
                op.operands[number] = new.value
                follow(op)


def access_at(op: ir.Operation, buffer: Buffer, indices: Sequence[Index]) -> None:
    """Let an affine load or store access `buffer[indices]` instead."""
    with ir.InsertionPoint(op), op.location:
        if op.name == "affine.load":
            op.results[0].replace_all_uses_with(create.load(buffer.value, indices))
        else:
            create.store(op.operands[0], buffer.value, indices)
    edit.erase(op)
