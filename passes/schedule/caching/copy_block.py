"""Create the copy block of a cache stage, and redirect accesses to the cache."""

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
    attrs,
    create,
    edit,
    func_of,
    is_inside,
    is_symbol,
    ops,
    walk,
)
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineLoadOp, LoadOp, StoreOp, isa
from tir_mlir.dialect.presburger import intervals, sets
from tir_mlir.passes.schedule.edits import alloc_like, check_retypable, propagate_type, rename_in_regions
from tir_mlir.passes.schedule.legality import Scope
from tir_mlir.passes.schedule.registry import refuse


@dataclass(frozen=True)
class CopyRegion:
    """A copy before an op: its `region` (over values available there), and the box `whole` that is used of the buffer.

    `window`: the cache has the shape of the region, with offsets relative to it; else it has the buffer's shape.
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
        """The offsets to subtract from an index of the buffer to index the cache."""
        return list(self.region.mins) if self.window else [Index.constant(0)] * len(self.region.mins)


def whole_buffer(buffer: Buffer) -> Region:
    return Region(buffer, tuple(Index.constant(0) for _ in buffer.dims), tuple(buffer.dims))


def written_region(writes: Sequence[Access], level: ir.Operation) -> Region:
    """The box that writes fill in one iteration of `level`; the buffer's own extents if it is the whole buffer."""
    region = box(writes, level)
    full = whole_buffer(region.buffer)
    pairs = zip(region.mins, region.extents, full.extents, strict=True)
    extents = [dim if low.as_constant() == 0 and size.is_equal_to(dim) else size for low, size, dim in pairs]
    return Region(region.buffer, region.mins, tuple(extents))


def copy_region(writes: Sequence[Access], level: ir.Operation, anchor: ir.Operation) -> CopyRegion:
    """A copy of what `writes` fill in one iteration of `level`, before one of the ops in it."""
    return CopyRegion(anchor, written_region(writes, level), written_region(writes, func_of(level).op))


def as_window(where: CopyRegion, scope: Scope, users: Sequence[Block]) -> CopyRegion:
    """The same copy with a cache of just the region, if it is directly in the scope and all uses can be shifted.

    In a loop the copy fills another part of the cache each time, so the cache keeps the shape of the buffer.
    """
    sizes = [v for e in where.region.extents for v in e.values]
    starts = [v for m in where.region.mins for v in m.values]
    fits = where.before.block == scope.body and all(is_symbol(v) for v in sizes)
    fits = fits and not any(walk.enclosing_loop_name(v) is not None for v in starts)
    moves = any(m.as_constant() != 0 for m in where.region.mins)
    if not fits or (moves and not all(_shiftable(u.op, where.region.buffer) for u in users)):
        return where
    return CopyRegion(where.before, where.region, where.whole, True)


def _shiftable(root: ir.Operation, buffer: Buffer) -> bool:
    """Whether only plain loads and stores under `root` use a buffer."""
    plain = AffineElementAccessOp.names
    return all(op.name in plain for op in ops(root) if any(v == buffer.value for v in op.operands))


def make_cache(scope: Scope, where: CopyRegion, storage_scope: str) -> Buffer:
    """Allocate the cache `<buffer>_<storage scope>` in the scope."""
    like = where.region.buffer
    return alloc_like(like, scope, f"{like.name}_{storage_scope}", where.shape, storage_scope)


def make_copy(name: str, source: Buffer, target: Buffer, where: CopyRegion) -> Block:
    """Create `target[v] = source[v]` over the region: loops ax0.., a block with iters v0.., guarded where it exceeds
    the buffer.
    """
    ip = ir.InsertionPoint(where.before)
    loops: list[Index] = []
    for number, extent in enumerate(where.region.extents):
        with ip:
            loop = create.loop(f"ax{number}", 0, extent)
        loops.append(Index.from_value(loop.var))
        ip = create.at_end(loop.body)
    elements = [(low + iters).simplify() for low, iters in zip(where.region.mins, loops, strict=True)]
    domains = list(zip(where.whole.mins, where.whole.extents, elements, strict=True))
    conditions = unproved_conditions(ip, [c for low, size, e in domains for c in (e - low, low + size - e - 1)])
    with ip:
        if conditions:
            ip = create.at_end(create.where(conditions).regions[0].blocks[0])
        with ip:
            block = create.block(name, _iters(target, where, loops, elements))
    iters = [Index.from_value(i.var) for i in block.iters]
    shifted = [(a + low).simplify() for a, low in zip(iters, where.shift, strict=True)]
    regions = {where.region.buffer: shifted}
    with create.at_end(block.body):
        create.store(create.load(source.value, regions.get(source, iters)), target.value, regions.get(target, iters))
    return block


def _iters(target: Buffer, where: CopyRegion, loops: Sequence[Index], elements: Sequence[Index]) -> list[IterSpec]:
    """One iter a dimension, over the cache or the buffer (for a parameter: over what the copy writes)."""
    if where.window:
        return [IterSpec(f"v{n}", "S", 0, e, loop) for n, (e, loop) in enumerate(zip(where.shape, loops, strict=True))]
    domain = where.whole if target.is_param else whole_buffer(where.region.buffer)
    parts = zip(domain.mins, domain.extents, elements, strict=True)
    return [IterSpec(f"v{n}", "S", low, size, e) for n, (low, size, e) in enumerate(parts)]


def unproved_conditions(ip: ir.InsertionPoint, conditions: Sequence[Index]) -> list[Constraint]:
    """Those of some conditions `>= 0` that the enclosing loops do not imply."""
    end = ip.ref_operation
    if end is None:
        return []
    boxed = intervals.enclosing_ranges(end.operation)
    doubtful = [c for c in conditions if not intervals.at_least_zero(c, boxed)]
    if not doubtful:
        return []
    with sets.question("which part of a copy is inside its buffer"):
        dom = sets.domain(end.operation, extra=doubtful)
        return [Constraint(c) for c in doubtful if not sets.holds(dom, c)]


def next_op(op: ir.Operation) -> ir.Operation:
    """The next op in the body: the insertion point for ops after this one."""
    body = [o.operation for o in op.operation.block.operations]
    return body[body.index(op) + 1]


def check_redirectable(root: ir.Operation, buffer: Buffer) -> None:
    """Refuse a block whose accesses to a buffer cannot be redirected to another one."""
    for op in ops(root):
        for value in op.operands:
            if not isinstance(value.type, ir.MemRefType) or Buffer(value).root != buffer:
                continue
            if value == buffer.value:
                check_retypable([op])
            elif not is_inside(value.owner.operation, root):
                refuse(
                    root,
                    f"{buffer.name} is accessed through {Buffer(value).name}, a view made outside the block; "
                    "cache it in the scope of that view",
                )


def redirect(
    root: ir.Operation, old: Buffer, new: Buffer, shift: Sequence[Index] = (), loads_only: bool = False
) -> None:
    """Replace `old` by `new` in all uses under `root`, including views and declared regions; or in plain loads only.

    `shift` is subtracted from every index (all uses are then plain loads and stores: see `windowed`).
    """
    rename_in_regions([root], old, new.name, shift, (attrs.READS,) if loads_only else (attrs.READS, attrs.WRITES))
    moves = any(s.as_constant() != 0 for s in shift)
    for op in [o for o in ops(root) if not loads_only or isa(o, LoadOp)]:
        if moves and any(v == old.value for v in op.operands):
            indices = [(i - s).simplify() for i, s in zip(walk.access_indices(op), shift, strict=True)]
            access_at(op, new, indices)
            continue
        for number, value in enumerate(list(op.operands)):
            if value == old.value:
                edit.set_operand(op, number, new.value)
                propagate_type(op)


def access_at(op: ir.Operation, buffer: Buffer, indices: Sequence[Index]) -> None:
    """Make an affine load or store access `buffer[indices]`."""
    with ir.InsertionPoint(op), op.location:
        if isa(op, AffineLoadOp):
            edit.replace_uses(op.results[0], create.load(buffer.value, indices))
        else:
            create.store(StoreOp(op).value, buffer.value, indices)
    edit.erase(op)
