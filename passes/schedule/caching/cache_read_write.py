"""cache_read and cache_write: add a cache stage for a buffer in another storage scope."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.dialect.diagnostics import proved
from tir_mlir.dialect.ir import Block, Buffer, Loop, attrs, frozen, is_inside, is_loop, parents
from tir_mlir.passes.schedule.caching.copy_block import as_window, check_redirectable, make_cache, make_copy, redirect
from tir_mlir.passes.schedule.caching.copy_legality import (
    check_copies_written,
    check_fills_box,
    check_reads_earlier_contents,
    check_write_back,
)
from tir_mlir.passes.schedule.caching.copy_placement import (
    check_not_in_init,
    check_reads_writer,
    input_copy,
    only_writer,
    read_copy,
    readers_in,
    readers_to_redirect,
    write_copy,
)
from tir_mlir.passes.schedule.edits import check_scope_name, find_buffer, keeps_region_order
from tir_mlir.passes.schedule.legality import scope_of
from tir_mlir.passes.schedule.registry import primitive, warn


@primitive("cache_read", moves="in place")
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

    Redirects every reader in the scope of `block` except the writer, or those of `consumer_blocks`; a listed block that
    does not read the buffer is passed over with a `ScheduleWarning`. The copy of an input is placed at the start of the
    scope. The copy of a buffer computed in the scope is placed directly before the first reader, in the innermost
    common loop of the writer and that reader, and covers only what the writer writes in one iteration of it; without a
    reader it is placed after the writer. If the writer alone reads the buffer, and only what it has not written yet,
    its reads use a copy from the start of the scope. Buffer and block are named `<buffer>_<storage_scope>`; the cache
    has the shape of the buffer. Every read sees the same value as before.

    Requires: one writer in the scope, before all readers, besides those that run after all `consumer_blocks`; elements
    read have been written in the same iteration of the loops around the copy. `read_buffer_index` is a position in
    `T.reads`, or a name.
    """
    with frozen():
        check_scope_name(block, storage_scope)
        buffer = find_buffer(block, read_buffer_index, attrs.READS)
        scope = scope_of(block)
        check_not_in_init(block, scope)
        writer = only_writer(scope, buffer, consumer_blocks or ())
        readers = readers_to_redirect(scope, buffer, writer, consumer_blocks)
        reads_own_write = writer is not None and writer == block
        if reads_own_write and readers:
            if not consumer_blocks:
                warn(f"{_own(block, buffer)}, so only the other readers use the copy")
        elif reads_own_write:
            check_reads_earlier_contents(scope, buffer, block, f"{_own(block, buffer)}; use cache_write")
        reads_own_write = reads_own_write and not readers
        for reader in readers or [block]:
            check_redirectable(reader.op, buffer)
        where = (
            input_copy(scope, buffer)
            if writer is None or reads_own_write
            else read_copy(scope, buffer, writer, readers)
        )
        where = as_window(where, scope, readers or [block])

    _note_readers(buffer, readers or [block], writer)
    cache = make_cache(scope, where, storage_scope)
    copy = make_copy(f"{buffer.name}_{storage_scope}", buffer, cache, where)
    if writer is not None and not reads_own_write and _sees_one_iteration(writer, copy):
        check_fills_box(buffer, writer, copy)
    elif writer is not None:
        check_copies_written(buffer, copy, block)
    for reader in [block] if reads_own_write else readers:
        redirect(reader.op, buffer, cache, where.shift, loads_only=reads_own_write)
    return copy


def _note_readers(buffer: Buffer, readers: Sequence[Block], writer: Block | None) -> None:
    names = ", ".join(f"`{reader.name}`" for reader in readers)
    if writer is None:
        proved(f"no block of the scope writes `{buffer.name}`: the copy has the values that {names} would read")
    else:
        proved(f"`{writer.name}` alone writes `{buffer.name}`, before the copy; the copy is before {names}")


def _own(block: Block, buffer: Buffer) -> str:
    return f'block "{block.name}" writes {buffer.name} itself and must see its own writes'


@primitive("cache_write", moves="in place")
@keeps_region_order
def cache_write(
    block: Block, write_buffer_index: int | str, storage_scope: str, consumer_blocks: list[Block] | None = None
) -> Block:
    """Let a block write to a copy of a buffer in another storage scope, and write the copy back.

        for i in range(n):                          C_s = T.alloc_buffer((n,), scope="s")
            with T.block("b"):                      for i in range(n):
                C[vi] = ...                  ->         with T.block("b"): C_s[vi] = ...
                                                    for ax0 in range(n):
                                                        with T.block("C_s"): C[v0] = C_s[v0]

    The write-back is placed directly before the first block that reads the buffer, in the innermost common loop of the
    two, or at the end of the scope if nothing reads it. `consumer_blocks` read the copy instead of the buffer; those
    that do not read it are passed over with a `ScheduleWarning`. Buffer and block are named `<buffer>_<storage_scope>`;
    every other read sees the same value as before.

    Requires: `block` is the only writer of the buffer in its scope, writes before it reads, and fills a box.
    """
    with frozen():
        check_scope_name(block, storage_scope)
        buffer = find_buffer(block, write_buffer_index, attrs.WRITES)
        scope = scope_of(block)
        check_not_in_init(block, scope)
        only_writer(scope, buffer)
        listed = readers_to_redirect(scope, buffer, block, consumer_blocks) if consumer_blocks else []
        for reader in listed:
            check_reads_writer(reader, buffer, block)
        others = [r for r in readers_in(scope, buffer) if r != block and r not in listed]
        for user in [block, *listed]:
            check_redirectable(user.op, buffer)
        where = as_window(write_copy(scope, buffer, block, others), scope, [block, *listed])

    proved(f"block `{block.name}` alone writes `{buffer.name}`; the copy is written back before anything else reads it")
    cache = make_cache(scope, where, storage_scope)
    copy = make_copy(f"{buffer.name}_{storage_scope}", cache, buffer, where)
    for user in [block, *listed]:
        redirect(user.op, buffer, cache, where.shift)
    check_write_back(scope, cache, block, copy, "write_at a loop in one iteration of which it does")
    return copy


def _sees_one_iteration(writer: Block, copy: Block) -> bool:
    """Whether a copy finds only what the writer wrote in the same iteration of the loops around both: none is around
    both, or some run their iterations concurrently.
    """
    shared = [Loop(p) for p in parents(copy.op) if is_loop(p) and is_inside(writer.op, p)]
    return not shared or any(loop.kind not in ("serial", "unrolled") for loop in shared)
