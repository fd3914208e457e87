"""Where to insert the copy of a cache stage, given the writer and the readers of the buffer."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import confirmed_regions
from tir_mlir.dialect.analysis.accesses import accesses_to
from tir_mlir.dialect.diagnostics import NotProvable, emit_remark
from tir_mlir.dialect.ir import Block, Buffer, Func, is_inside, only_reads, walk
from tir_mlir.dialect.ir.op_traits import is_scalar
from tir_mlir.dialect.ir.op_views import LoadOp, isa
from tir_mlir.passes.schedule.caching.copy_block import CopyRegion, copy_region, next_op, whole_buffer
from tir_mlir.passes.schedule.edits import first_op_after_allocs
from tir_mlir.passes.schedule.legality import (
    Scope,
    check_runs_after,
    children_using,
    common_ancestor,
    find_uncovered_element,
    is_ahead,
    is_child,
    runs_before,
)
from tir_mlir.passes.schedule.registry import JOIN_WRITERS, WRAP_IN_BLOCK, check, refuse, warn

_READ_AT = "read_at copies the current contents, whoever wrote them; or leave this reader out (consumer_blocks)"
_WRITE_AT = "write_at a loop around the writer alone copies back in each iteration"

# --- writer and readers -----------------------------------------------------------------------------------------------


def check_not_in_init(block: Block, scope: Scope) -> None:
    if not is_child(block, scope):
        refuse(block, f'block "{block.name}" is in an init region; pass the block around it')


def readers_in(scope: Scope, buffer: Buffer) -> list[Block]:
    return [b for b in children_using(scope, [buffer.value]) if accesses_to(buffer.value, b.op, False)]


def only_writer(scope: Scope, buffer: Buffer, readers: Sequence[Block] = ()) -> Block | None:
    """The only child of the scope that writes the buffer, or None. Refuses several writers.

    `readers`: blocks that the writer is wanted for; a block that runs after all of them, in no common loop, is passed
    over. Of the blocks listed, those that write the buffer are no readers of the copy.
    """
    readers = [
        r for r in readers if accesses_to(buffer.value, r.op, False) and not accesses_to(buffer.value, r.op, True)
    ]
    every = [b for b in children_using(scope, [buffer.value]) if accesses_to(buffer.value, b.op, True)]
    writers = [b for b in every if not readers or not all(_runs_once_before(scope, r, b) for r in readers)]
    if len(writers) > 1:
        names = ", ".join(f'"{b.name}"' for b in writers)
        refuse(
            writers[1],
            f"{buffer.name} is written by several blocks ({names}); a cached buffer needs a single writer in the scope",
            fix=JOIN_WRITERS,
        )
    for access in accesses_to(buffer.value, scope.op):
        if access.is_write and not any(is_inside(access.op, b.op) for b in every):
            refuse(
                access.op,
                f"{buffer.name} is also written outside any block of the scope; a cached buffer needs a single writer",
                fix=_fix_outside_write(scope, access.op),
            )
    return writers[0] if writers else None


def note_readers(buffer: Buffer, readers: Sequence[Block], writer: Block | None) -> None:
    """What is proved of a buffer that some blocks are to read from a copy; `writer` is its only one."""
    names = ", ".join(f"`{reader.name}`" for reader in readers)
    if writer is None:
        emit_remark(f"no block of the scope writes `{buffer.name}`: the copy has the values that {names} would read")
    else:
        emit_remark(f"`{writer.name}` alone writes `{buffer.name}`, before the copy; the copy is before {names}")


def note_writer(buffer: Buffer, writer: Block) -> None:
    """What is proved of a buffer that its only writer is to write through a copy."""
    name = f"block `{writer.name}` alone writes `{buffer.name}`"
    emit_remark(f"{name}; the copy is written back before anything else reads it")


def _runs_once_before(scope: Scope, first: Block, second: Block) -> bool:
    """Whether all of a block runs before any of another one, in the scope."""
    return first != second and common_ancestor(first.op, second.op)[0] == scope.op and runs_before(first.op, second.op)


def _fix_outside_write(scope: Scope, op: ir.Operation) -> str:
    """Fix for a write outside any child block."""
    if isinstance(scope, Block) and scope.init is not None and is_inside(op, scope.init):
        return f'pass block "{scope.name}", which contains the init'
    return WRAP_IN_BLOCK


def readers_to_redirect(
    scope: Scope, buffer: Buffer, writer: Block | None, listed: Sequence[Block] | None
) -> list[Block]:
    """The readers to redirect to the cache, in program order: all that do not write the buffer, or those the user
    listed. Other listed blocks are passed over, with a warning.
    """
    written = {b.id for b in readers_in(scope, buffer) if accesses_to(buffer.value, b.op, True)}
    readers = [b for b in readers_in(scope, buffer) if b.id not in written]
    for block in listed or []:
        if block not in readers:
            what = "writes" if block == writer or block.id in written else "does not read"
            warn(
                f'consumer_blocks: block "{block.name}" {what} {buffer.name} in the same scope, so it is not redirected'
            )
    chosen = [b for b in readers if b in listed] if listed else readers
    for reader in chosen:
        if writer is not None and is_ahead(reader, writer):
            refuse(
                reader,
                f'block "{reader.name}" reads {buffer.name} before block "{writer.name}" writes it; cache '
                "only the reads after the write (consumer_blocks)",
            )
    return chosen


# --- positions --------------------------------------------------------------------------------------------------------


def input_copy(scope: Scope, buffer: Buffer) -> CopyRegion:
    """The start of the scope, for a buffer that the scope does not write."""
    anchor = first_op_after_allocs(scope.body)
    if isinstance(scope, Block) and scope.init is not None and anchor == scope.init:
        listed = [o.operation for o in scope.body.operations]
        anchor = listed[listed.index(anchor) + 1]
    full_region = whole_buffer(buffer)
    if isinstance(scope, Func):
        return CopyRegion(anchor, full_region, full_region)
    region = next((r for r in confirmed_regions(scope)[0] if r.buffer == buffer), full_region)
    return CopyRegion(anchor, region, full_region)


def read_copy(scope: Scope, buffer: Buffer, writer: Block, readers: Sequence[Block]) -> CopyRegion:
    """Before the first reader, in its innermost common op with the writer, or without one after the writer. Every
    reader must find its elements in the copy.
    """
    if not readers:
        return copy_region(
            accesses_to(buffer.value, writer.op, True), scope.op, next_op(walk.child_towards(scope.op, writer.op))
        )
    level, first = _before_reader(writer, readers[0], buffer, _READ_AT)
    writes = accesses_to(buffer.value, writer.op, True)
    for reader in readers:
        check_reads_writer(reader, buffer, writer)
    return copy_region(writes, level, _with_bounds(first))


def _before_reader(writer: Block, reader: Block, buffer: Buffer, fix: str) -> tuple[ir.Operation, ir.Operation]:
    """The common op of a writer and the first reader, and its child with the reader."""
    level, write_op, first = common_ancestor(writer.op, reader.op)
    text = f"the writer and the first reader of {buffer.name} are in two branches of one condition"
    check(write_op.block == first.block, reader, text, fix)
    return level, first


def _with_bounds(loop: ir.Operation) -> ir.Operation:
    """The first of the ops right before a loop over data that compute its bounds only; other ops: the op itself."""
    listed, chain = loop.block.operations, [loop]
    for number in reversed(range(walk.position(loop))):
        op = listed[number].operation
        if not (isa(op, LoadOp) or is_scalar(op.name)):
            break
        if not all(use.owner.operation in chain for result in op.results for use in result.uses):
            break
        chain.append(op)
    return chain[-1]


def check_reads_writer(reader: Block, buffer: Buffer, writer: Block) -> None:
    """Refuse unless a reader runs after the writer and reads what it wrote in the same iteration of their common
    loops.
    """
    check_runs_after(reader, writer, _READ_AT)
    level = common_ancestor(writer.op, reader.op)[0]
    reads, writes = accesses_to(buffer.value, reader.op, False), accesses_to(buffer.value, writer.op, True)
    try:
        missing = find_uncovered_element(reads, writes, level)
    except NotProvable as error:
        refuse(reader, str(error), provable=False, fix=_READ_AT)
    if missing:
        refuse(
            reader,
            f'block "{reader.name}" reads {missing}, which block "{writer.name}" has not written in '
            "the same iteration of their common loops; a copy would not contain it",
            counterexample=missing,
            fix=_READ_AT,
        )


@only_reads
def write_copy(scope: Scope, buffer: Buffer, block: Block, others: Sequence[Block]) -> CopyRegion:
    """Before the first reader that keeps the buffer, or at the end of the scope."""
    earlier = [r for r in others if is_ahead(r, block)]
    for reader in earlier:
        level = common_ancestor(reader.op, block.op)[0]
        if level != scope.op:
            refuse(
                reader,
                f'block "{reader.name}" reads {buffer.name} before block "{block.name}" in the same loop, '
                "and would miss the write of the previous iteration",
                fix=_WRITE_AT,
            )
    blocks = [block, *children_using(scope, [buffer.value])]
    loose = [a for a in accesses_to(buffer.value, scope.op) if not any(is_inside(a.op, b.op) for b in blocks)]
    if loose:
        refuse(
            loose[0].op,
            f"{buffer.name} is read outside any block of the scope, which a write-back could miss",
            fix=WRAP_IN_BLOCK,
        )
    writes = accesses_to(buffer.value, block.op, True)
    later = [r for r in others if r not in earlier]
    level, anchor = scope.op, list(scope.body.operations)[-1].operation
    if later:
        level, anchor = _before_reader(block, later[0], buffer, _WRITE_AT)
    return copy_region(writes, level, anchor)
