"""write_in_place: let a block write over what it reads."""

from __future__ import annotations

from tir_mlir.dialect.analysis.accesses import accesses_to
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, Buffer, attrs, edit, freeze_modules, is_inside
from tir_mlir.passes.schedule.caching.copy_block import check_redirectable, redirect
from tir_mlir.passes.schedule.edits import find_buffer, keeps_region_order
from tir_mlir.passes.schedule.legality import Scope, check_complete, scope_of
from tir_mlir.passes.schedule.legality.scope import writes_of
from tir_mlir.passes.schedule.legality.written_before_read import in_order
from tir_mlir.passes.schedule.registry import check, primitive, refuse


@primitive("write_in_place", moves="nothing")
@keeps_region_order
def write_in_place(block: Block, read_buffer_index: int | str) -> None:
    """Let a block write its result over a buffer that it reads, which becomes what other blocks read.

        for i in range(n):                            for i in range(n):
            with T.block("B"): B[vi] = A[vi] * 2          with T.block("B"): A[vi] = A[vi] * 2
        for i in range(n):                     ->     for i in range(n):
            with T.block("C"): C[vi] = B[vi]              with T.block("C"): C[vi] = A[vi]

    The buffer that the block wrote is gone. Each element of the results gets the same value as before.

    Requires: the block is complete, runs once for each point, and reads the buffer at the index at which it writes;
    the program allocates both buffers, of one type, in one scope; nothing accesses an element of the buffer after the
    block has read it. `read_buffer_index` is a position in `T.reads`, or a name.
    """
    with freeze_modules():
        source, scope = find_buffer(block, read_buffer_index, attrs.READS), scope_of(block)
        check_complete(block)
        (written,) = [Buffer(b) for b in writes_of(block)] if len(writes_of(block)) == 1 else [None]
        check(written is not None, block, f'block "{block.name}" writes several buffers')
        assert written is not None
        _check_buffers(block, source, written)
        _check_elements(block, scope, source, written)
        check_redirectable(scope.op, written)
    emit_remark(f"nothing accesses an element of `{source.name}` after `{block.name}` has read it, once")
    alloc = written.op
    redirect(scope.op, written, source)
    assert alloc is not None
    edit.erase(alloc)


def _check_buffers(block: Block, source: Buffer, written: Buffer) -> None:
    """Refuse buffers that cannot be one."""
    for buffer in (source, written):
        text = f"{buffer.name} is a parameter, whose memory belongs to the caller"
        check(buffer.is_alloc, block, text, fix="cache_read or cache_write makes a buffer of the program")
    same = source.type == written.type
    text = f"{source.name} and {written.name} differ in shape, type or scope: {source.type} and {written.type}"
    check(same, block, f"{text}; one buffer cannot be both")


def _check_elements(block: Block, scope: Scope, source: Buffer, written: Buffer) -> None:
    """Refuse a block that would overwrite what it, or something else, reads later."""
    reads = accesses_to(source.value, block.op, False)
    (write, *more) = accesses_to(written.value, block.op, True)
    apart = [a for a in (*reads, *more) if any(not m.is_equal_to(n) for m, n in zip(a.mins, write.mins, strict=True))]
    text = f'block "{block.name}" reads {source.name} at another index than it writes {written.name} at'
    check(not apart and all(a.is_point for a in (*reads, write)), block, f"{text}, or several elements at once")
    again = in_order([write], [write], scope.op)
    text = f'block "{block.name}" writes an element of {written.name} twice, and would read its own result'
    if again is not None:
        refuse(block, text, counterexample=again[2])
    others = [a for a in accesses_to(source.value, scope.op) if not is_inside(a.op, block.op)]
    clash = in_order(reads, others, scope.op)
    if clash is not None:
        what = "written" if clash[1].is_write else "read"
        refuse(
            block,
            f'an element of {source.name} is {what} after block "{block.name}" has read it, which would overwrite it',
            counterexample=clash[2],
        )
