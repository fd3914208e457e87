"""cache_inplace: cache a buffer that a block both reads and writes."""

from __future__ import annotations

from tir_mlir.dialect.analysis import Region, box
from tir_mlir.dialect.analysis.accesses import accesses_to
from tir_mlir.dialect.analysis.regions import regions
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    attrs,
    freeze_modules,
    func_of,
    is_bound_value,
    is_inside,
    outermost_with_searches,
    parent_op,
    parents,
)
from tir_mlir.dialect.verify import left_out
from tir_mlir.passes.schedule.caching.copy_block import CopyRegion, check_redirectable, make_copy, next_op, redirect
from tir_mlir.passes.schedule.caching.copy_placement import check_copies_written, check_not_in_init
from tir_mlir.passes.schedule.edits import alloc_like, check_scope_name, find_buffer, keeps_region_order
from tir_mlir.passes.schedule.legality import scope_of
from tir_mlir.passes.schedule.registry import check, primitive


@primitive("cache_inplace", moves="in place")
@keeps_region_order
def cache_inplace(block: Block, read_buffer_index: int | str, storage_scope: str) -> list[Block]:
    """Let a block that reads and writes a buffer work on a copy in another storage scope.

        for i in range(n):                          A_s = T.alloc_buffer((n, m), scope="s")
            with T.block("b"):                      for i in range(n):
                A[vi, 0:m] += ...                       for ax0, ax1 in T.grid(1, m):
                                            ->              with T.block("A_s"): A_s[v0, v1] = A[v0, v1]
                                                        with T.block("b"): A_s[vi, 0:m] += ...
                                                        for ax0, ax1 in T.grid(1, m):
                                                            with T.block("A_s"): A[v0, v1] = A_s[v0, v1]

    The copies are inserted directly before and after the block, in the same loops, and copy the region that the block
    accesses there. The cache has the shape of the buffer. Returns the copy-in and the copy-out block. Only the block
    runs between them, so every element keeps its value.

    Requires: the block reads and writes the buffer; of a parameter it accesses all elements of a box, or every nth; of
    an allocated buffer, the elements copied in were written before.
    `read_buffer_index` is a position in `T.reads`, or a name.
    """
    with freeze_modules():
        check_scope_name(block, storage_scope)
        buffer = find_buffer(block, read_buffer_index, attrs.READS)
        scope = scope_of(block)
        check_not_in_init(block, scope)
        text = f'block "{block.name}" reads {buffer.name} but does not write it; use cache_read'
        check(bool(accesses_to(buffer.value, block.op, True)), block, text)
        check_redirectable(block.op, buffer)
        region, full_region = _accessed_regions(block, buffer)

    name = f"{buffer.name}_{storage_scope}"
    cache = alloc_like(buffer, scope, name, buffer.dims, storage_scope)
    top = outermost_with_searches(block)
    copy_regions = CopyRegion(top, region, full_region), CopyRegion(next_op(top), region, full_region)
    with block.op.location:
        copies = [make_copy(name, buffer, cache, copy_regions[0]), make_copy(name, cache, buffer, copy_regions[1])]
    if buffer.is_param:
        _check_box_accessed(block, buffer, copies[1])
    check_copies_written(buffer, copies[0], block)
    redirect(block.op, buffer, cache)
    return copies


def _check_box_accessed(block: Block, buffer: Buffer, copy: Block) -> None:
    """Refuse to write back elements of a parameter that the block does not access."""
    point = left_out(copy)
    text = f'block "{block.name}" accesses only some elements of the box of {buffer.name} that would be copied'
    check(point is None, block, f"{text}, not {point}")
    every = f"block `{block.name}` accesses each element of `{buffer.name}` that is copied"
    emit_remark(f"{every}: no other is written back")


def _accessed_regions(block: Block, buffer: Buffer) -> tuple[Region, Region]:
    """The region that one instance of the block accesses, over values available outside it, and the union over all
    instances as a box.
    """
    read_and_written = [next((r for r in group if r.buffer == buffer), None) for group in regions(block)]
    buffer_accesses = accesses_to(buffer.value, block.op)
    region = (
        read_and_written[0]
        if read_and_written[0] and read_and_written[1] and read_and_written[0].is_equal_to(read_and_written[1])
        else box(buffer_accesses, block.op)
    )
    top = outermost_with_searches(block)
    if any(is_bound_value(p) and is_inside(p, top) for p in parents(block.op)):  # what it finds is not known outside
        region, bound = box(buffer_accesses, parent_op(top)), {}
    else:
        bound = {i.var: i.binding for i in block.iters}
    mins, extents = ([i.substitute(bound).simplify() for i in part] for part in (region.mins, region.extents))
    return Region(buffer, tuple(mins), tuple(extents)), box(buffer_accesses, func_of(block.op).op)
