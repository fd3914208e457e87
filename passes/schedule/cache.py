"""cache_read and cache_write: a copy of a buffer in another scope, and the block that fills or empties it."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.dialect import attrs
from tir_mlir.dialect.accesses import Access, accesses
from tir_mlir.dialect.flow import unwritten_reads
from tir_mlir.dialect.memo import frozen
from tir_mlir.dialect.regions import regions
from tir_mlir.dialect.sets import question
from tir_mlir.dialect.views import Block, Buffer, Func, Loop, is_loop
from tir_mlir.dialect.walk import is_inside, parents
from tir_mlir.passes.schedule.buffers import check_scope_name, head_end, pick
from tir_mlir.passes.schedule.copy_stage import (
    Place,
    check_redirectable,
    make_cache,
    make_copy,
    place,
    redirect,
    whole_buffer,
    windowed,
)
from tir_mlir.passes.schedule.cover import comes_before, meeting, uncovered
from tir_mlir.passes.schedule.registry import check, primitive, refuse
from tir_mlir.passes.schedule.scope import Scope, children, scope_of


@primitive("cache_read")
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
        writer = _only_writer(scope, buffer)
        if writer is not None and writer == block:
            refuse(
                block, f'block "{block.name}" writes {buffer.name} itself and must see its own writes; use cache_write'
            )
        readers = _chosen(scope, buffer, writer, consumer_blocks)
        check(bool(readers), block, f"no block reads {buffer.name} after it is written")
        _check_child(block, scope)
        for reader in readers:
            check_redirectable(reader.op, buffer)
        where = _input_place(scope, buffer) if writer is None else _read_place(buffer, writer, readers)
        where = windowed(where, scope, readers)

    cache = make_cache(scope, where, storage_scope)
    made = make_copy(f"{buffer.name}_{storage_scope}", buffer, cache, where)
    if writer is not None and _runs_at_once(made):
        _check_box(buffer, writer, made)
    for reader in readers:
        redirect(reader.op, buffer, cache, where.shift)
    return made


@primitive("cache_write")
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
        _check_child(block, scope)
        _only_writer(scope, buffer)
        listed = _chosen(scope, buffer, block, consumer_blocks) if consumer_blocks else []
        for reader in listed:
            _check_behind(reader, buffer, block)
        others = [r for r in _readers(scope, buffer) if r != block and r not in listed]
        for user in [block, *listed]:
            check_redirectable(user.op, buffer)
        where = windowed(_write_place(scope, buffer, block, others), scope, [block, *listed])

    cache = make_cache(scope, where, storage_scope)
    made = make_copy(f"{buffer.name}_{storage_scope}", cache, buffer, where)
    for user in [block, *listed]:
        redirect(user.op, buffer, cache, where.shift)
    _check_filled(scope, cache, block, made)
    return made


# --- who writes, who reads ------------------------------------------------------------------------------------------


def _check_child(block: Block, scope: Scope) -> None:
    if block not in children(scope):
        refuse(block, f'block "{block.name}" stands in an init region; name the block around it')


def _touching(block: Block, buffer: Buffer, writes: bool) -> list[Access]:
    return [a for a in accesses(block.op) if a.buffer == buffer.value and a.is_write == writes]


def _readers(scope: Scope, buffer: Buffer) -> list[Block]:
    return [b for b in children(scope) if _touching(b, buffer, writes=False)]


def _only_writer(scope: Scope, buffer: Buffer) -> Block | None:
    """The one child of the scope that writes the buffer, None when none does."""
    found = [b for b in children(scope) if _touching(b, buffer, writes=True)]
    if len(found) > 1:
        names = ", ".join(f'"{b.name}"' for b in found)
        refuse(
            found[1],
            f"{buffer.name} is written by several blocks ({names}); a cached buffer needs a single writer in the scope",
        )
    for access in accesses(scope.op):
        if access.is_write and access.buffer == buffer.value and not any(is_inside(access.op, b.op) for b in found):
            refuse(
                access.op,
                f"{buffer.name} is also written outside any block of the scope; a cached buffer needs a single writer",
            )
    return found[0] if found else None


def _chosen(scope: Scope, buffer: Buffer, writer: Block | None, wanted: Sequence[Block] | None) -> list[Block]:
    """The readers to be turned to the cache, in program order: all, or those the user listed."""
    readers = [b for b in _readers(scope, buffer) if b != writer]
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


def _input_place(scope: Scope, buffer: Buffer) -> Place:
    """The start of the scope: nothing there writes the buffer."""
    before = head_end(scope.body)
    if isinstance(scope, Block) and scope.init is not None and before == scope.init:
        listed = [o.operation for o in scope.body.operations]
        before = listed[listed.index(before) + 1]
    whole = whole_buffer(buffer)
    if isinstance(scope, Func):
        return Place(before, whole, whole)
    region = next((r for r in regions(scope)[0] if r.buffer == buffer), whole)
    return Place(before, region, whole)


def _read_place(buffer: Buffer, writer: Block, readers: Sequence[Block]) -> Place:
    """Before the first reader, in what holds it and the writer; every reader must find its elements copied."""
    level, made, first = meeting(writer.op, readers[0].op)
    check(
        made.block == first.block,
        readers[0],
        f"the writer and the first reader of {buffer.name} stand in two branches of one condition",
    )
    writes = _touching(writer, buffer, writes=True)
    for reader in readers:
        _check_behind(reader, buffer, writer)
    return place(writes, level, first)


def _check_behind(reader: Block, buffer: Buffer, writer: Block) -> None:
    """Refuse unless a reader runs after the writer and reads what it wrote in this iteration of their common loops."""
    behind = comes_before(writer.op, reader.op)
    check(
        behind,
        reader,
        f'block "{reader.name}" does not run after block "{writer.name}" in each iteration of the loops around both',
    )
    level = meeting(writer.op, reader.op)[0]
    if missing := uncovered(_touching(reader, buffer, writes=False), _touching(writer, buffer, writes=True), level):
        refuse(
            reader,
            f'block "{reader.name}" reads {missing}, which block "{writer.name}" has not '
            "written in the same iteration of the loops around both; a copy would not hold it",
        )


@frozen()
def _write_place(scope: Scope, buffer: Buffer, block: Block, others: Sequence[Block]) -> Place:
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
            )
    loose = [
        a
        for a in accesses(scope.op)
        if a.buffer == buffer.value and not any(is_inside(a.op, b.op) for b in [block, *order])
    ]
    if loose:
        refuse(loose[0].op, f"{buffer.name} is read outside any block of the scope, which a write-back could miss")
    writes = _touching(block, buffer, writes=True)
    later = [r for r in others if r not in earlier]
    level, before = scope.op, list(scope.body.operations)[-1].operation
    if later:
        level, made, before = meeting(block.op, later[0].op)
        check(
            made.block == before.block,
            later[0],
            f"the writer and the first reader of {buffer.name} stand in two branches of one condition",
        )
    return place(writes, level, before)


# --- what the copy relies on ----------------------------------------------------------------------------------------


def _runs_at_once(block: Block) -> bool:
    """Whether a loop around a block runs its iterations at the same time."""
    return any(is_loop(p) and Loop(p).kind not in ("serial", "unrolled") for p in parents(block.op))


def _check_box(buffer: Buffer, writer: Block, copy: Block) -> None:
    """Refuse when a copy reads more of a buffer than the writer fills in the same iteration."""
    level = meeting(writer.op, copy.op)[0]
    missing = uncovered(_touching(copy, buffer, writes=False), _touching(writer, buffer, writes=True), level)
    if missing:
        refuse(
            writer,
            f'block "{writer.name}" does not fill a box: the copy would also take {missing}, which it does not write',
        )


@frozen()
def _check_filled(scope: Scope, cache: Buffer, block: Block, copy: Block) -> None:
    """The write-back takes only what the block wrote, and the block itself relies on nothing from before."""
    _check_box(cache, block, copy)
    if not _touching(block, cache, writes=False):
        return
    with question(f"whether {cache.name} is written before it is read"):
        found = unwritten_reads(cache.value, scope.op, block.op)
    if found is not None:
        touch, point = found
        refuse(
            block,
            f"at {touch.at(point)} the block reads what the buffer held before it wrote "
            "there; a cache would be empty: cache_write needs an init or a first write",
        )


__all__ = ["cache_read", "cache_write"]
