"""Where the copy of a buffer stands: who writes the buffer, who reads it, and what lies between."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import trusted
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Block, Buffer, Func, is_inside, only_reads
from tir_mlir.passes.schedule.caching.copy_block import Place, place, whole_buffer
from tir_mlir.passes.schedule.caching.copy_legality import touching
from tir_mlir.passes.schedule.edits import head_end
from tir_mlir.passes.schedule.legality import IN_BLOCK, ONE_WRITER, Scope, children, comes_before, meeting, uncovered
from tir_mlir.passes.schedule.registry import check, refuse

_READ_AT = "read_at copies what is there, whoever wrote it; or leave this reader out (consumer_blocks)"
_WRITE_AT = "write_at a loop around the writer alone copies back each time"

# --- who writes, who reads ------------------------------------------------------------------------------------------


def check_child(block: Block, scope: Scope) -> None:
    if block not in children(scope):
        refuse(block, f'block "{block.name}" stands in an init region; name the block around it')


def readers_in(scope: Scope, buffer: Buffer) -> list[Block]:
    return [b for b in children(scope) if touching(b, buffer, writes=False)]


def only_writer(scope: Scope, buffer: Buffer) -> Block | None:
    """The one child of the scope that writes the buffer, None when none does."""
    found = [b for b in children(scope) if touching(b, buffer, writes=True)]
    if len(found) > 1:
        names = ", ".join(f'"{b.name}"' for b in found)
        refuse(
            found[1],
            f"{buffer.name} is written by several blocks ({names}); a cached buffer needs a single writer in the scope",
            fix=ONE_WRITER,
        )
    for access in accesses(scope.op):
        if access.is_write and access.buffer == buffer.value and not any(is_inside(access.op, b.op) for b in found):
            refuse(
                access.op,
                f"{buffer.name} is also written outside any block of the scope; a cached buffer needs a single writer",
                fix=_whole_of(scope, access.op),
            )
    return found[0] if found else None


def _whole_of(scope: Scope, op: ir.Operation) -> str:
    """Of a write that is no part of a block."""
    if isinstance(scope, Block) and scope.init is not None and is_inside(op, scope.init):
        return f'name block "{scope.name}", of which the init is a part'
    return IN_BLOCK


def chosen_readers(scope: Scope, buffer: Buffer, writer: Block | None, wanted: Sequence[Block] | None) -> list[Block]:
    """The readers to be turned to the cache, in program order: all, or those the user listed."""
    readers = [b for b in readers_in(scope, buffer) if b != writer]
    for one in wanted or []:
        check(
            one in readers,
            one,
            f'block "{one.name}" is no reader of {buffer.name} in the same scope; list readers only',
        )
    found = [b for b in readers if b in wanted] if wanted else readers
    order = children(scope)
    for reader in found:
        if writer is not None and order.index(reader) < order.index(writer):
            refuse(
                reader,
                f'block "{reader.name}" reads {buffer.name} before block "{writer.name}" '
                "writes it; cache the reads after the write only (consumer_blocks)",
            )
    return found


# --- where the copy stands ------------------------------------------------------------------------------------------


def input_place(scope: Scope, buffer: Buffer) -> Place:
    """The start of the scope: nothing there writes the buffer."""
    before = head_end(scope.body)
    if isinstance(scope, Block) and scope.init is not None and before == scope.init:
        listed = [o.operation for o in scope.body.operations]
        before = listed[listed.index(before) + 1]
    whole = whole_buffer(buffer)
    if isinstance(scope, Func):
        return Place(before, whole, whole)
    region = next((r for r in trusted(scope)[0] if r.buffer == buffer), whole)
    return Place(before, region, whole)


def read_place(buffer: Buffer, writer: Block, readers: Sequence[Block]) -> Place:
    """Before the first reader, in what holds it and the writer; every reader must find its elements copied."""
    level, made, first = meeting(writer.op, readers[0].op)
    check(
        made.block == first.block,
        readers[0],
        f"the writer and the first reader of {buffer.name} stand in two branches of one condition",
        fix=_READ_AT,
    )
    writes = touching(writer, buffer, writes=True)
    for reader in readers:
        check_behind(reader, buffer, writer)
    return place(writes, level, first)


def check_behind(reader: Block, buffer: Buffer, writer: Block) -> None:
    """Refuse unless a reader runs after the writer and reads what it wrote in this iteration of their common loops."""
    behind = comes_before(writer.op, reader.op)
    check(
        behind,
        reader,
        f'block "{reader.name}" does not run after block "{writer.name}" in each iteration of the loops around both',
        fix=_READ_AT,
    )
    level = meeting(writer.op, reader.op)[0]
    if missing := uncovered(touching(reader, buffer, writes=False), touching(writer, buffer, writes=True), level):
        refuse(
            reader,
            f'block "{reader.name}" reads {missing}, which block "{writer.name}" has not '
            "written in the same iteration of the loops around both; a copy would not hold it",
            counterexample=missing,
            fix=_READ_AT,
        )


@only_reads
def write_place(scope: Scope, buffer: Buffer, block: Block, others: Sequence[Block]) -> Place:
    """Before the first reader that keeps the buffer, or at the end of the scope."""
    order = children(scope)
    earlier = [r for r in others if order.index(r) < order.index(block)]
    for reader in earlier:
        level = meeting(reader.op, block.op)[0]
        if level != scope.op:
            refuse(
                reader,
                f'block "{reader.name}" reads {buffer.name} ahead of block "{block.name}" '
                "in the same loop, and would miss what the last iteration wrote",
                fix=_WRITE_AT,
            )
    loose = [
        a
        for a in accesses(scope.op)
        if a.buffer == buffer.value and not any(is_inside(a.op, b.op) for b in [block, *order])
    ]
    if loose:
        refuse(
            loose[0].op,
            f"{buffer.name} is read outside any block of the scope, which a write-back could miss",
            fix=IN_BLOCK,
        )
    writes = touching(block, buffer, writes=True)
    later = [r for r in others if r not in earlier]
    level, before = scope.op, list(scope.body.operations)[-1].operation
    if later:
        level, made, before = meeting(block.op, later[0].op)
        check(
            made.block == before.block,
            later[0],
            f"the writer and the first reader of {buffer.name} stand in two branches of one condition",
            fix=_WRITE_AT,
        )
    return place(writes, level, before)
