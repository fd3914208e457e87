"""Legality of a cache stage: it copies only elements already written, and its block does not read earlier contents."""

from __future__ import annotations

from tir_mlir.dialect.analysis import unwritten_reads
from tir_mlir.dialect.analysis.accesses import accesses, accesses_to
from tir_mlir.dialect.analysis.dataflow import reads_written, unwritten_example
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, Buffer, func_of, is_bound_value, is_data_loop, is_inside, only_reads, parents
from tir_mlir.dialect.ir.op_views import ElementAccessOp, isa
from tir_mlir.dialect.presburger import question
from tir_mlir.passes.schedule.legality import PrivateNest, Scope, common_ancestor, find_uncovered_element
from tir_mlir.passes.schedule.registry import check, copy_in_and_out, refuse


def check_fills_box(buffer: Buffer, writer: Block, copy: Block, fix: str = "") -> None:
    """Refuse a copy that reads more of a buffer than the writer fills in the same iteration."""
    level = common_ancestor(writer.op, copy.op)[0]
    missing = find_uncovered_element(
        accesses_to(buffer.value, copy.op, False), accesses_to(buffer.value, writer.op, True), level
    )
    if missing:
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
