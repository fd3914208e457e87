"""cache_inplace: a buffer that a block reads and writes is copied in before the block and out after it."""

from __future__ import annotations

from tir_mlir.dialect.analysis import Region, box
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.analysis.regions import regions
from tir_mlir.dialect.ir import Block, Buffer, attrs, frozen, func_of
from tir_mlir.dialect.verify import left_out
from tir_mlir.passes.schedule.caching.copy_block import Place, check_redirectable, make_copy, op_after, redirect
from tir_mlir.passes.schedule.caching.copy_legality import touching
from tir_mlir.passes.schedule.caching.copy_placement import check_child
from tir_mlir.passes.schedule.edits import alloc, check_scope_name, keeps_region_order, pick
from tir_mlir.passes.schedule.legality import scope_of
from tir_mlir.passes.schedule.registry import check, primitive


@primitive("cache_inplace")
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

    The copies stand directly before and after the block, in the same loops, and move the region that the block reads
    and writes there. The copy has the shape of the buffer. Returned are the block that copies in and the one that
    copies out. Nothing runs between them but the block, so every element has the value it had.

    Requires: the block reads and writes the buffer; of a parameter it touches all of a box, or every nth element.
    `read_buffer_index` counts the buffers as `T.reads` prints them, or is a name.
    """
    with frozen():
        check_scope_name(block, storage_scope)
        buffer = pick(block, read_buffer_index, attrs.READS)
        scope = scope_of(block)
        check_child(block, scope)
        check(
            bool(touching(block, buffer, writes=True)),
            block,
            f'block "{block.name}" reads {buffer.name} but does not write it; cache_read is for that',
        )
        check_redirectable(block.op, buffer)
        region, whole = _moved(block, buffer)

    name = f"{buffer.name}_{storage_scope}"
    cache = alloc(scope, name, buffer.dims, buffer.dtype, storage_scope)
    after = op_after(block.outermost)
    with block.op.location:
        made = [make_copy(name, buffer, cache, Place(block.outermost, region, whole))]
        made.append(make_copy(name, cache, buffer, Place(after, region, whole)))
    point = left_out(made[1]) if buffer.is_param else None
    check(
        point is None,
        block,
        f'block "{block.name}" touches only some elements of the box of {buffer.name} that the copies would run over, '
        f"not {point}",
    )
    redirect(block.op, buffer, cache)
    return made


def _moved(block: Block, buffer: Buffer) -> tuple[Region, Region]:
    """What one instance of the block touches, in values known around it, and the box that all instances touch."""
    found = [next((r for r in group if r.buffer == buffer), None) for group in regions(block)]
    own = [a for a in accesses(block.op) if a.buffer == buffer.value]
    one = found[0] if found[0] and found[1] and found[0].same(found[1]) else box(own, block.op)
    bound = {i.var: i.binding for i in block.iters}
    mins, extents = ([i.substitute(bound).simplified() for i in part] for part in (one.mins, one.extents))
    return Region(buffer, tuple(mins), tuple(extents)), box(own, func_of(block.op).op)
