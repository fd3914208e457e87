"""The block that copies a region of one buffer to the same place of another, and turning a block to the copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect import create, ranges, sets
from tir_mlir.dialect.accesses import Access
from tir_mlir.dialect.create import Constraint, IterSpec
from tir_mlir.dialect.index import Index
from tir_mlir.dialect.regions import Region, box
from tir_mlir.dialect.views import Block, Buffer, func_of
from tir_mlir.dialect.walk import is_inside, ops
from tir_mlir.passes.schedule.buffers import rename_declared
from tir_mlir.passes.schedule.registry import refuse
from tir_mlir.passes.schedule.retype import check_retypable, follow


@dataclass(frozen=True)
class Place:
    """A copy to be made before an op: over `region` (in values known there), of a buffer whose used part is `whole`."""

    before: ir.Operation
    region: Region
    whole: Region


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


def make_copy(name: str, source: Buffer, target: Buffer, where: Place) -> Block:
    """`target[v] = source[v]` over the region: loops ax0.., a block with iters v0.., guarded where that sticks out."""
    ip = ir.InsertionPoint(where.before)
    bindings: list[Index] = []
    for number, (low, extent) in enumerate(zip(where.region.mins, where.region.extents, strict=True)):
        with ip:
            loop = create.loop(f"ax{number}", 0, extent)
        bindings.append((low + Index.of(loop.var)).simplified())
        ip = create.at_end(loop.body)
    parts = list(zip(where.whole.mins, where.whole.extents, bindings, strict=True))
    conditions = _open_conditions(ip, [c for low, size, b in parts for c in (b - low, low + size - b - 1)])
    with ip:
        if conditions:
            ip = create.at_end(create.where(conditions).regions[0].blocks[0])
        with ip:
            specs = [IterSpec(f"v{n}", "S", low, size, b) for n, (low, size, b) in enumerate(parts)]
            block = create.block(name, specs)
    at = [Index.of(i.var) for i in block.iters]
    with create.at_end(block.body):
        create.store(create.load(source.value, at), target.value, at)
    return block


def _open_conditions(ip: ir.InsertionPoint, wanted: Sequence[Index]) -> list[Constraint]:
    """Those of some conditions `>= 0` that the loops around do not already promise."""
    end = ip.ref_operation
    if end is None:
        return []
    boxed = ranges.around(end.operation)
    doubtful = [c for c in wanted if not ranges.at_least_zero(c, boxed)]
    if not doubtful:
        return []
    with sets.question("which part of a copy lies inside its buffer"):
        dom = sets.domain(end.operation, extra=doubtful)
        return [Constraint(c) for c in doubtful if not sets.holds(dom, c)]


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


def redirect(root: ir.Operation, old: Buffer, new: Buffer) -> None:
    """Everything beneath `root` that uses `old` uses `new` instead, views and declared regions too."""
    rename_declared([root], old, new.name)
    for op in ops(root):
        for number, value in enumerate(list(op.operands)):
            if value == old.value:
                op.operands[number] = new.value
                follow(op)
