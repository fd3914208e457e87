"""cache_read and cache_write: add a cache stage for a buffer in another storage scope."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.dialect.ir import Block, Buffer, Loop, attrs, freeze_modules, is_inside, is_loop, parents
from tir_mlir.passes.schedule.caching.copy_block import (
    CopyRegion,
    as_window,
    check_redirectable,
    make_cache,
    make_copy,
    redirect,
)
from tir_mlir.passes.schedule.caching.copy_placement import (
    check_copies_written,
    check_fills_box,
    check_not_in_init,
    check_reads_earlier_contents,
    check_reads_writer,
    check_write_back,
    input_copy,
    note_readers,
    note_writer,
    only_writer,
    read_copy,
    readers_in,
    readers_to_redirect,
    write_copy,
)
from tir_mlir.passes.schedule.edits import check_scope_name, find_buffer, keeps_region_order
from tir_mlir.passes.schedule.legality import Scope, scope_of
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
    with freeze_modules():
        buffer, scope = _buffer_in_scope(block, read_buffer_index, storage_scope, attrs.READS)
        writer = only_writer(scope, buffer, consumer_blocks or ())
        readers = readers_to_redirect(scope, buffer, writer, consumer_blocks)
        reads_itself, reads_own_write = _own_write_reason(block, buffer), writer == block and not readers
        if reads_own_write:
            check_reads_earlier_contents(scope, buffer, block, f"{reads_itself}; use cache_write")
        elif writer == block and not consumer_blocks:
            warn(f"{reads_itself}, so only the other readers use the copy")
        where = _copy_region(scope, buffer, None if reads_own_write else writer, block, readers)
        if not reads_own_write:
            note_readers(buffer, readers or [block], writer)

    cache = make_cache(scope, where, storage_scope)
    copy = make_copy(f"{buffer.name}_{storage_scope}", buffer, cache, where)
    if writer is not None:
        _check_contents(buffer, writer, copy, block, reads_own_write)
    for reader in [block] if reads_own_write else readers:
        redirect(reader.op, buffer, cache, where.shift, loads_only=reads_own_write)
    return copy


def _check_contents(buffer: Buffer, writer: Block, copy: Block, block: Block, is_before: bool) -> None:
    """Refuse a copy of elements that nothing wrote before it. `is_before`: the copy is before the writer."""
    if not is_before and _sees_one_iteration(writer, copy):
        check_fills_box(buffer, writer, copy)
    else:
        check_copies_written(buffer, copy, block)


def _copy_region(
    scope: Scope, buffer: Buffer, writer: Block | None, block: Block, readers: Sequence[Block]
) -> CopyRegion:
    """Where a copy for some readers, or for `block`, is made, and of what; at the start of the scope if no writer is
    before it.
    """
    users = readers or [block]
    for user in users:
        check_redirectable(user.op, buffer)
    where = input_copy(scope, buffer) if writer is None else read_copy(scope, buffer, writer, readers)
    return as_window(where, scope, users)


def _buffer_in_scope(block: Block, which: int | str, storage_scope: str, key: str) -> tuple[Buffer, Scope]:
    check_scope_name(block, storage_scope)
    buffer, scope = find_buffer(block, which, key), scope_of(block)
    check_not_in_init(block, scope)
    return buffer, scope


def _own_write_reason(block: Block, buffer: Buffer) -> str:
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
    with freeze_modules():
        buffer, scope = _buffer_in_scope(block, write_buffer_index, storage_scope, attrs.WRITES)
        only_writer(scope, buffer)
        listed = readers_to_redirect(scope, buffer, block, consumer_blocks) if consumer_blocks else []
        for reader in listed:
            check_reads_writer(reader, buffer, block)
        others = [r for r in readers_in(scope, buffer) if r != block and r not in listed]
        for user in [block, *listed]:
            check_redirectable(user.op, buffer)
        where = as_window(write_copy(scope, buffer, block, others), scope, [block, *listed])

    note_writer(buffer, block)
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
