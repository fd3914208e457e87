"""cache_read and cache_write: a copy of a buffer in another scope, and the block that fills or empties it."""

from __future__ import annotations

from tir_mlir.dialect.ir import Block, Loop, attrs, frozen, is_loop, parents
from tir_mlir.passes.schedule.caching.copy_block import check_redirectable, make_cache, make_copy, redirect, windowed
from tir_mlir.passes.schedule.caching.copy_legality import check_box, check_filled
from tir_mlir.passes.schedule.caching.copy_placement import (
    check_behind,
    check_child,
    chosen_readers,
    input_place,
    only_writer,
    read_place,
    readers_in,
    write_place,
)
from tir_mlir.passes.schedule.edits import check_scope_name, keeps_region_order, pick
from tir_mlir.passes.schedule.legality import scope_of
from tir_mlir.passes.schedule.registry import primitive, refuse


@primitive("cache_read")
@keeps_region_order
def cache_read(
    block: Block, read_buffer_index: int | str, storage_scope: str, consumer_blocks: list[Block] | None = None
) -> Block:
    """Copy a buffer that a block reads into another storage scope, and let its readers use the copy.

        for i, k in T.grid(n, m):                   A_s = T.alloc_buffer((n, m), scope="s")
            with T.block("b"):                      for ax0, ax1 in T.grid(n, m):
                ... A[vi, vk] ...            ->         with T.block("A_s"): A_s[v0, v1] = A[v0, v1]
                                                    for i, k in T.grid(n, m):
                                                        with T.block("b"): ... A_s[vi, vk] ...

    Every reader in the scope of `block` is turned to the copy, or only `consumer_blocks`. An input is copied at the
    start of the scope; a buffer that the scope computes, directly before the first reader, in the innermost loop that
    holds the writer and that reader: there only what the writer filled in this iteration is copied. Buffer and block
    are called `<buffer>_<storage_scope>`; the cache has the shape of the buffer. Every read sees the value it saw
    before.

    Requires: one writer in the scope, ahead of all readers; what is read has been written in the same iteration of the
    loops around the copy. `read_buffer_index` counts the buffers as `T.reads` prints them, or is a name.
    """
    with frozen():
        check_scope_name(block, storage_scope)
        buffer = pick(block, read_buffer_index, attrs.READS)
        scope = scope_of(block)
        check_child(block, scope)
        writer = only_writer(scope, buffer)
        if writer is not None and writer == block:
            refuse(
                block, f'block "{block.name}" writes {buffer.name} itself and must see its own writes; use cache_write'
            )
        readers = chosen_readers(scope, buffer, writer, consumer_blocks)
        for reader in readers:
            check_redirectable(reader.op, buffer)
        where = input_place(scope, buffer) if writer is None else read_place(buffer, writer, readers)
        where = windowed(where, scope, readers)

    cache = make_cache(scope, where, storage_scope)
    made = make_copy(f"{buffer.name}_{storage_scope}", buffer, cache, where)
    if writer is not None and _runs_at_once(made):
        check_box(buffer, writer, made)
    for reader in readers:
        redirect(reader.op, buffer, cache, where.shift)
    return made


@primitive("cache_write")
@keeps_region_order
def cache_write(
    block: Block, write_buffer_index: int | str, storage_scope: str, consumer_blocks: list[Block] | None = None
) -> Block:
    """Let a block compute into a copy of a buffer in another storage scope, and write the copy back.

        for i in range(n):                          C_s = T.alloc_buffer((n,), scope="s")
            with T.block("b"):                      for i in range(n):
                C[vi] = ...                  ->         with T.block("b"): C_s[vi] = ...
                                                    for ax0 in range(n):
                                                        with T.block("C_s"): C[v0] = C_s[v0]

    The write-back stands directly before the first block that reads the buffer, in the innermost loop that holds
    both, or at the end of the scope when nothing reads it. `consumer_blocks` read the copy instead of the buffer.
    Buffer and block are called `<buffer>_<storage_scope>`; every other read sees the value it saw before.

    Requires: `block` is the only writer of the buffer in its scope, writes before it reads, and fills a box.
    """
    with frozen():
        check_scope_name(block, storage_scope)
        buffer = pick(block, write_buffer_index, attrs.WRITES)
        scope = scope_of(block)
        check_child(block, scope)
        only_writer(scope, buffer)
        listed = chosen_readers(scope, buffer, block, consumer_blocks) if consumer_blocks else []
        for reader in listed:
            check_behind(reader, buffer, block)
        others = [r for r in readers_in(scope, buffer) if r != block and r not in listed]
        for user in [block, *listed]:
            check_redirectable(user.op, buffer)
        where = windowed(write_place(scope, buffer, block, others), scope, [block, *listed])

    cache = make_cache(scope, where, storage_scope)
    made = make_copy(f"{buffer.name}_{storage_scope}", cache, buffer, where)
    for user in [block, *listed]:
        redirect(user.op, buffer, cache, where.shift)
    check_filled(scope, cache, block, made, "write_at a loop in an iteration of which it does")
    return made


def _runs_at_once(block: Block) -> bool:
    """Whether a loop around a block runs its iterations at the same time."""
    return any(is_loop(p) and Loop(p).kind not in ("serial", "unrolled") for p in parents(block.op))


__all__ = ["cache_read", "cache_write"]
