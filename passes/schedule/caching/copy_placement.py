"""Where to insert the copy of a cache stage, given the writer and the readers of the buffer."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import confirmed_regions, unwritten_reads
from tir_mlir.dialect.analysis.accesses import accesses, accesses_to
from tir_mlir.dialect.analysis.dataflow import reads_written, unwritten_example
from tir_mlir.dialect.diagnostics import NotProvable, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    func_of,
    is_bound_value,
    is_data_loop,
    is_inside,
    only_reads,
    parents,
    walk,
)
from tir_mlir.dialect.ir.op_traits import is_scalar
from tir_mlir.dialect.ir.op_views import ElementAccessOp, LoadOp, isa
from tir_mlir.dialect.presburger import question
from tir_mlir.passes.schedule.caching.copy_block import CopyRegion, copy_region, next_op, whole_buffer
from tir_mlir.passes.schedule.edits import first_op_after_allocs
from tir_mlir.passes.schedule.legality import (
    PrivateNest,
    Scope,
    check_runs_after,
    children_using,
    common_ancestor,
    find_uncovered_element,
    is_ahead,
    is_child,
    runs_before,
)
from tir_mlir.passes.schedule.registry import JOIN_WRITERS, WRAP_IN_BLOCK, check, copy_in_and_out, refuse, warn

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


# Legality of a cache stage: it copies only elements already written, and its block does not read earlier contents.


def check_fills_box(buffer: Buffer, writer: Block, copy: Block, fix: str = "") -> None:
    """Refuse a copy that reads more of a buffer than the writer fills in the same iteration."""
    level = common_ancestor(writer.op, copy.op)[0]
    missing = find_uncovered_element(
        accesses_to(buffer.value, copy.op, False), accesses_to(buffer.value, writer.op, True), level
    )
    if missing:
        if fix and "(unless " in str(missing):  # at some sizes
            fix += "; or exclude the sizes at which it does not: T.assume"
        refuse(
            writer,
            f'block "{writer.name}" does not fill a box: the copy would also take {missing}, which it does not write',
            counterexample=missing,
            fix=fix,
        )


@only_reads
def check_copies_written(buffer: Buffer, copy: Block, block: Block) -> None:
    """Refuse a copy for `block` that reads elements of an allocated buffer that nothing wrote before."""
    if buffer.is_param:
        return
    root = func_of(copy.op).op
    with question(f"whether what is copied of {buffer.name} is written before"):
        unwritten = unwritten_reads(buffer.value, root, copy.op)
    if unwritten is not None:
        example = unwritten_example(unwritten, root)
        refuse(
            block,
            f"the copy would also take {example.element}, which no block has written by then",
            counterexample=example,
            fix=f"in the program, write all of {buffer.name} first",
        )
    emit_remark(f"every element of `{buffer.name}` that the copy takes is written before")


@only_reads
def check_write_back(scope: Scope, cache: Buffer, block: Block, copy: Block, fix: str = "") -> None:
    """Refuse a write-back of elements that the block did not write, and a block that reads the buffer's earlier
    contents.
    """
    check_fills_box(cache, block, copy, fix or f'in the program, let block "{block.name}" write the rest as well')
    if not accesses_to(cache.value, block.op, False):
        return
    with question(f"whether {cache.name} is written before it is read"):
        unwritten = unwritten_reads(cache.value, scope.op, block.op)
    if unwritten is not None:
        touch, point = unwritten
        example = unwritten_example(unwritten, scope.op)
        refuse(
            block,
            f"at {touch.iteration_at(point)} the block reads an element of the buffer before it writes it; in a "
            "cache it would be uninitialized: the block needs an init or a first write",
            counterexample=example,
        )
    emit_remark(f"block `{block.name}` reads an element of `{cache.name}` only after it has written it")


def check_not_written_by_others(nest: PrivateNest, buffer: Buffer) -> None:
    """Refuse to copy results that the block reads again if other ops write the buffer in a loop that they share."""
    block = nest.block
    if not nest.shared or not accesses_to(buffer.value, block.op, False):
        return
    for touch in accesses(nest.shared[0].op):
        if touch.is_write and touch.buffer == buffer.value and not is_inside(touch.op, block.op):
            refuse(
                touch.op,
                f"{buffer.name} is also written here, in a loop shared with block "
                f'"{block.name}", which reads what it has written: the copy would miss that',
                fix=copy_in_and_out(buffer),
            )


def check_reads_earlier_contents(scope: Scope, buffer: Buffer, block: Block, message: str) -> None:
    """Refuse (`message`) unless a block, the only writer of a buffer in its scope, reads only what it did not write.

    No element may be read after the block wrote it, in one run of the scope, and all accesses are loads and stores.
    """
    uses = [use.owner.operation for use in buffer.value.uses if is_inside(use.owner.operation, block.op)]
    plain = all(isa(op, ElementAccessOp) for op in uses)
    enclosing = [p for p in parents(block.op) if is_inside(p, scope.op)]
    check(plain and not any(is_data_loop(p) and not is_bound_value(p) for p in enclosing), block, message)
    with question(f"whether the block reads an element of {buffer.name} that it wrote before"):
        seen = reads_written(buffer.value, scope.op)
    check(not seen, block, message)
    emit_remark(f"block `{block.name}` reads no element of `{buffer.name}` that it wrote before")
