"""read_at and write_at: one block copies all that is read or written of a buffer in an iteration of a loop."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import Access, box, unwritten_reads
from tir_mlir.dialect.analysis.accesses import accesses, accesses_to
from tir_mlir.dialect.analysis.dataflow import unwritten_example
from tir_mlir.dialect.diagnostics import NotProvable, VerifyError, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    IterSpec,
    Loop,
    attrs,
    create,
    enclosing_block,
    freeze_modules,
    func_of,
    is_inside,
    is_symbol,
    loops_above,
    only_reads,
)
from tir_mlir.dialect.presburger import question
from tir_mlir.dialect.verify.iter_kinds import iter_kinds
from tir_mlir.passes.schedule.caching.copy_block import (
    CopyRegion,
    check_redirectable,
    next_op,
    redirect,
    unproved_conditions,
    whole_buffer,
    written_region,
)
from tir_mlir.passes.schedule.edits import alloc_like, check_scope_name, find_buffer, keeps_region_order
from tir_mlir.passes.schedule.legality import Scope, find_uncovered_element, scope_of, sharing_threads
from tir_mlir.passes.schedule.registry import PASS_OWN_LOOP, check, primitive, refuse, use_longest_range

COPY_IN = "cache_inplace copies in the earlier contents"
COPY_ALL = "cache_read and cache_write copy for one block each"


@primitive("read_at", moves="under its loop")
@keeps_region_order
def read_at(loop: Loop, block: Block, read_buffer_index: int | str, storage_scope: str) -> Block:
    """At the start of each iteration of a loop, copy all that is read of a buffer in it.

        for i in range(n):                          A_s = T.alloc_buffer((n, m), scope="s")
            for j in range(m):                      for i in range(n):
                with T.block("b"):          ->          with T.block("A_s"):
                    ... A[vi, vj] ...                       v0 = T.axis.spatial(n, i)
                                                            T.block_attr({"auto_copy": True})
                                                            for ax0, ax1 in T.grid(1, m):
                                                                A_s[v0 + ax0, ax1] = A[v0 + ax0, ax1]
                                                        for j in range(m):
                                                            with T.block("b"): ... A_s[vi, vj] ...

    The iters of the copy block are the loops that its region depends on (opaque where neighboring regions overlap); it
    copies by plain loops inside. It is inserted before the first statement of the loop's body that reads the buffer
    after the last one that writes it; all reads from there on use the copy, which has the shape of the buffer. Threads
    that share the storage scope copy the needs of all of them: for `shared`, enclosing loops bound to threadIdx and
    vthread count as inner loops; for `warp`, those bound to threadIdx.x. Every read sees the same value as before.

    Requires: the block is under the loop or around it; it does not read the buffer before a later write in the loop's
    body.
    """
    with freeze_modules():
        buffer = _find_buffer(loop, block, read_buffer_index, storage_scope, attrs.READS)
        readers = _readers_after_writes(loop, block, buffer)
        _check_redirectable(readers, buffer)
        reads = [a for r in readers for a in accesses(r) if a.buffer == buffer.value]
        where = CopyRegion(readers[0], box(reads, loop.op, sharing_threads(storage_scope, loop)), whole_buffer(buffer))
        iters = _iters(loop, where)

    when = " after the copy, in one iteration of" if _users(loop, buffer, writes=True) else " in"
    emit_remark(f"nothing writes `{buffer.name}`{when} `{loop.name}`: each read there finds its value in the copy")
    scope = enclosing_block(loop.op)
    cache = alloc_like(buffer, scope, f"{buffer.name}_{storage_scope}", buffer.dims, storage_scope)
    copy = _copy(f"{buffer.name}_{storage_scope}", buffer, cache, where, iters)
    for reader in readers:
        redirect(reader, buffer, cache)
    return copy


@primitive("write_at", moves="under its loop")
@keeps_region_order
def write_at(loop: Loop, block: Block, write_buffer_index: int | str, storage_scope: str) -> Block:
    """Redirect all writes to a buffer under a loop to a copy, written back in each iteration of the loop.

        for i in range(n):                          C_s = T.alloc_buffer((n, m), scope="s")
            for j in range(m):                      for i in range(n):
                with T.block("b"):          ->          for j in range(m):
                    C[vi, vj] = ...                         with T.block("b"): C_s[vi, vj] = ...
                                                        with T.block("C_s"):
                                                            v0 = T.axis.spatial(n, i)
                                                            T.block_attr({"auto_copy": True})
                                                            for ax0, ax1 in T.grid(1, m):
                                                                C[v0 + ax0, ax1] = C_s[v0 + ax0, ax1]

    The iters of the copy block are the loops that its region depends on; it copies by plain loops inside. It is
    inserted after the last statement of the loop's body that writes the buffer. Every read sees the same value as
    before.

    Requires: the block is under the loop or around it; in the loop's body nothing reads the buffer after the last
    write; the elements written in an iteration fill a box, of which the rest may come from earlier iterations if there
    are no other writers; elements read there were written by the same statements before, in the loop if there are
    other writers.
    """
    with freeze_modules():
        buffer = _find_buffer(loop, block, write_buffer_index, storage_scope, attrs.WRITES)
        users, writers = _users(loop, buffer), _users(loop, buffer, writes=True)
        text = f"{buffer.name} is read here after the last write in loop {loop.name}; use cache_write"
        check(users[-1] == writers[-1], users[-1], text)
        _check_redirectable(users, buffer)
        writes = [a for w in writers for a in accesses(w) if a.buffer == buffer.value and a.is_write]
        region = written_region(writes, loop.op)
        where = CopyRegion(next_op(writers[-1]), region, written_region(writes, func_of(loop.op).op))
        iters, outer_write = _iters(loop, where), _other_write(buffer, loop)

    name = f"{buffer.name}_{storage_scope}"
    cache = alloc_like(buffer, enclosing_block(loop.op), name, buffer.dims, storage_scope)
    copy = _copy(name, cache, buffer, where, iters)
    for user in users:
        redirect(user, buffer, cache)
    _check_written(loop, cache, copy, buffer, outer_write)
    return copy


# --- checks -----------------------------------------------------------------------------------------------------------


def _find_buffer(loop: Loop, block: Block, which: int | str, storage_scope: str, key: str) -> Buffer:
    check_scope_name(block, storage_scope)
    buffer = find_buffer(block, which, key)
    related = is_inside(block.op, loop.op) or is_inside(loop.op, block.op)
    text = f'loop {loop.name} is not around block "{block.name}", nor in it'
    check(related, loop, text, fix=PASS_OWN_LOOP)
    if not _users(loop, buffer, writes=key == attrs.WRITES):
        verb = "writes" if key == attrs.WRITES else "reads"
        refuse(
            loop, f'nothing in loop {loop.name} {verb} {buffer.name}; pass the loop in which block "{block.name}" does'
        )
    return buffer


def _check_redirectable(users: Sequence[ir.Operation], buffer: Buffer) -> None:
    for user in users:
        check_redirectable(user, buffer)


def _users(loop: Loop, buffer: Buffer, writes: bool | None = None) -> list[ir.Operation]:
    """The statements of a loop's body that access (read, write) a buffer."""
    return [
        op
        for op in loop.body_ops()
        if any(a.buffer == buffer.value and writes in (None, a.is_write) for a in accesses(op))
    ]


def _readers_after_writes(loop: Loop, block: Block, buffer: Buffer) -> list[ir.Operation]:
    """The statements of a loop's body that read a buffer after its last write there. Refuses to leave out `block`."""
    body, readers = loop.body_ops(), _users(loop, buffer, writes=False)
    writers = _users(loop, buffer, writes=True)
    later_readers = [r for r in readers if not writers or body.index(r) > body.index(writers[-1])]
    own_readers = [r for r in readers if r == block.op or is_inside(block.op, r)]
    if not later_readers or any(r not in later_readers for r in own_readers):
        refuse(
            writers[-1],
            f"{buffer.name} is written here after it was read in loop {loop.name}; the copy would be stale",
            fix="cache_inplace copies around a single block; or pass an inner loop, around the readers alone",
        )
    return later_readers


def _iters(loop: Loop, where: CopyRegion) -> list[Loop]:
    """The loops around the copy whose variables its region uses: they become iters."""
    region_values = {v for i in (*where.region.mins, *where.region.extents) for v in i.values}
    iter_loops = [lp for lp in [*loops_above(loop.op), loop] if lp.var in region_values]
    for iter_loop in iter_loops:
        bounds = [*iter_loop.lowers, *iter_loop.uppers]
        if len(bounds) != 2 or not all(is_symbol(v) for b in bounds for v in b.values):
            refuse(
                iter_loop,
                f"the range of loop {iter_loop.name} depends on other loops; it cannot be the domain of an iter",
                fix=use_longest_range(iter_loop),
            )
    return iter_loops


def _other_write(buffer: Buffer, loop: Loop) -> ir.Operation | None:
    """A write of a buffer outside a loop."""
    all_accesses = accesses(func_of(loop.op).op)
    return next(
        (a.op for a in all_accesses if a.is_write and a.buffer == buffer.value and not is_inside(a.op, loop.op)), None
    )


@only_reads
def _check_written(loop: Loop, cache: Buffer, copy: Block, buffer: Buffer, outer_write: ir.Operation | None) -> None:
    """Refuse to copy back elements that are not written by then, or to redirect reads of earlier contents.

    An element that an earlier iteration wrote is copied again, which changes nothing if all writes go to the copy.
    `outer_write`: a write of the buffer outside the loop, which reads in the loop may see unless they follow one in it.
    """
    copy_accesses = accesses_to(cache.value, copy.op)
    others = [a for a in accesses(loop.op) if a.buffer == cache.value and a not in copy_accesses]
    missing = find_uncovered_element(copy_accesses, [a for a in others if a.is_write], loop.op)
    if missing and not (outer_write is None and _is_written_by_then(cache, copy)):
        refuse(
            loop,
            f"the elements written in an iteration of loop {loop.name} are not a box: {missing} is left out",
            True,
            missing,
            fix="pass an inner loop, in one iteration of which they are",
        )
    if all(a.is_write for a in others):
        return
    readers = [enclosing_block(a.op) for a in others if not a.is_write]
    scope = scope_of(copy).op if outer_write is None else loop.op
    try:
        with question(f"whether {cache.name} is written before it is read"):
            unwritten = unwritten_reads(cache.value, scope, loop.op)
        example = None if unwritten is None or outer_write is not None else unwritten_example(unwritten, scope)
    except NotProvable as error:
        refuse(loop, str(error), False, fix=COPY_IN if all(_writes(r, others) for r in readers) else COPY_ALL)
    if unwritten is not None and outer_write is not None:
        refuse(
            outer_write,
            f"{buffer.name} is written here and read under loop {loop.name}, where the copy lacks "
            "that value; use cache_read and cache_write, or a loop around both",
        )
    if unwritten is not None:
        touch, point = unwritten
        way = COPY_IN if _writes(enclosing_block(touch.access.op), others) else ""
        text = f"{touch.iteration_at(point)} reads the earlier contents of the buffer, which the copy does not have"
        refuse(loop, text, True, example, fix=way)


def _is_written_by_then(cache: Buffer, copy: Block) -> bool:
    """Whether all that a block copies back has been written, in this iteration or an earlier one."""
    try:
        with question(f"whether what is copied of {cache.name} is written before"):
            return unwritten_reads(cache.value, scope_of(copy).op, copy.op) is None
    except NotProvable:
        return False


def _writes(owner: Scope, candidates: Sequence[Access]) -> bool:
    """Whether one of some accesses is a write of a block."""
    return any(a.is_write and is_inside(a.op, owner.op) for a in candidates)


# --- the copy ---------------------------------------------------------------------------------------------------------


def _copy(name: str, source: Buffer, target: Buffer, where: CopyRegion, iters: Sequence[Loop]) -> Block:
    """Create the block that copies the region by loops of its own, under a condition where it exceeds the buffer."""
    specs = [IterSpec(f"v{n}", "S", lp.lower, lp.extent, Index.from_value(lp.var)) for n, lp in enumerate(iters)]
    with ir.InsertionPoint(where.before):
        block = create.block(name, specs, {"auto_copy": True})
    mapping = {lp.var: Index.from_value(it.var) for lp, it in zip(iters, block.iters, strict=True)}
    ip = create.at_end(block.body)
    indices: list[Index] = []
    for number, (low, extent) in enumerate(zip(where.region.mins, where.region.extents, strict=True)):
        with ip:
            loop = create.loop(f"ax{number}", 0, extent.substitute(mapping))
        indices.append((low.substitute(mapping) + Index.from_value(loop.var)).simplify())
        ip = create.at_end(loop.body)
    parts = list(zip(where.whole.mins, where.whole.extents, indices, strict=True))
    conditions = unproved_conditions(ip, [c for low, size, i in parts for c in (i - low, low + size - i - 1)])
    with ip:
        if conditions:
            ip = create.at_end(create.guard(conditions).regions[0].blocks[0])
        with ip:
            create.store(create.load(source.value, indices), target.value, indices)
    _make_overlap_opaque(block)
    return block


def _make_overlap_opaque(block: Block) -> None:
    """Make iters opaque whose copies overlap."""
    try:
        with freeze_modules():
            iter_kinds(block)
    except VerifyError:
        attrs.put(block.op, attrs.ITERS, ["O"] * len(block.iters))
