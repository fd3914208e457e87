"""read_at and write_at: one block copies all that is read or written of a buffer in an iteration of a loop."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import Access, box, unwritten_reads
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.analysis.dataflow import unwritten_example
from tir_mlir.dialect.diagnostics import VerifyError
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    IterSpec,
    Loop,
    attrs,
    create,
    enclosing_block,
    frozen,
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
from tir_mlir.passes.schedule.edits import alloc_buffer, check_scope_name, find_buffer, keeps_region_order
from tir_mlir.passes.schedule.legality import (
    PASS_OWN_LOOP,
    Scope,
    scope_of,
    sharing_threads,
    uncovered,
    use_longest_range,
)
from tir_mlir.passes.schedule.registry import check, primitive, refuse


@primitive("read_at")
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
    copies by plain loops inside. It is inserted before the first statement of the loop's body that reads the buffer;
    all reads in the body use the copy, which has the shape of the buffer. Threads that share the storage scope copy the
    needs of all of them: for `shared`, enclosing loops bound to threadIdx and vthread count as inner loops; for `warp`,
    those bound to threadIdx.x. Every read sees the same value as before.

    Requires: the block is under the loop; in the loop's body nothing writes the buffer after the first read.
    """
    with frozen():
        buffer = _find_buffer(loop, block, read_buffer_index, storage_scope, attrs.READS)
        readers = _users(loop, buffer, writes=False)
        writers = _users(loop, buffer, writes=True)
        body = loop.body_ops()
        late = [w for w in writers if body.index(w) >= body.index(readers[0])]
        if late:
            refuse(
                late[0],
                f"{buffer.name} is written here after it was read in loop {loop.name}; the copy would be stale",
                fix="cache_inplace copies around a single block; or pass an inner loop, around the readers alone",
            )
        for reader in readers:
            check_redirectable(reader, buffer)
        found = [a for r in readers for a in accesses(r) if a.buffer == buffer.value]
        where = CopyRegion(readers[0], box(found, loop.op, sharing_threads(storage_scope, loop)), whole_buffer(buffer))
        iters = _iters(loop, where)

    scope = scope_of(block)
    cache = alloc_buffer(scope, f"{buffer.name}_{storage_scope}", buffer.dims, buffer.dtype, storage_scope)
    made = _copy(f"{buffer.name}_{storage_scope}", buffer, cache, where, iters)
    for reader in readers:
        redirect(reader, buffer, cache)
    return made


@primitive("write_at")
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

    Requires: the block is under the loop; in the loop's body nothing reads the buffer after the last write; the
    elements written in an iteration fill a box; elements read there were written by the same statements, which are the
    only writers.
    """
    with frozen():
        buffer = _find_buffer(loop, block, write_buffer_index, storage_scope, attrs.WRITES)
        users = _users(loop, buffer)
        writers = _users(loop, buffer, writes=True)
        if users[-1] != writers[-1]:
            refuse(users[-1], f"{buffer.name} is read here after the last write in loop {loop.name}; use cache_write")
        for user in users:
            check_redirectable(user, buffer)
        found = [a for w in writers for a in accesses(w) if a.buffer == buffer.value and a.is_write]
        region = written_region(found, loop.op)
        where = CopyRegion(next_op(writers[-1]), region, written_region(found, func_of(loop.op).op))
        iters = _iters(loop, where)
        _check_only_there(buffer, loop, users)

    scope = scope_of(block)
    cache = alloc_buffer(scope, f"{buffer.name}_{storage_scope}", buffer.dims, buffer.dtype, storage_scope)
    made = _copy(f"{buffer.name}_{storage_scope}", cache, buffer, where, iters)
    for user in users:
        redirect(user, buffer, cache)
    _check_written(loop, cache, made)
    return made


# --- checks -----------------------------------------------------------------------------------------------------------


def _find_buffer(loop: Loop, block: Block, which: int | str, storage_scope: str, key: str) -> Buffer:
    check_scope_name(block, storage_scope)
    buffer = find_buffer(block, which, key)
    check(is_inside(block.op, loop.op), loop, f'loop {loop.name} is not around block "{block.name}"', fix=PASS_OWN_LOOP)
    if enclosing_block(loop.op) != scope_of(block):
        refuse(loop, f'loop {loop.name} is not in the scope of block "{block.name}"; pass a loop directly around it')
    return buffer


def _users(loop: Loop, buffer: Buffer, writes: bool | None = None) -> list[ir.Operation]:
    """The statements of a loop's body that access (read, write) a buffer."""
    return [
        op
        for op in loop.body_ops()
        if any(a.buffer == buffer.value and writes in (None, a.is_write) for a in accesses(op))
    ]


def _iters(loop: Loop, where: CopyRegion) -> list[Loop]:
    """The loops around the copy whose variables its region uses: they become iters."""
    used = {v for i in (*where.region.mins, *where.region.extents) for v in i.values}
    found = [lp for lp in [*loops_above(loop.op), loop] if lp.var in used]
    for one in found:
        bounds = [*one.lowers, *one.uppers]
        if len(bounds) != 2 or not all(is_symbol(v) for b in bounds for v in b.values):
            refuse(
                one,
                f"the range of loop {one.name} depends on other loops; it cannot be the domain of an iter",
                fix=use_longest_range(one),
            )
    return found


def _check_only_there(buffer: Buffer, loop: Loop, users: Sequence[ir.Operation]) -> None:
    """Refuse when the statements read a buffer that is also written elsewhere, which the copy would miss."""
    inside = [a for u in users for a in accesses(u) if a.buffer == buffer.value]
    if all(a.is_write for a in inside):
        return
    for access in accesses(func_of(loop.op).op):
        if access.is_write and access.buffer == buffer.value and not is_inside(access.op, loop.op):
            refuse(
                access.op,
                f"{buffer.name} is written here and read under loop {loop.name}, where the copy lacks "
                "that value; use cache_read and cache_write, or a loop around both",
            )


@only_reads
def _check_written(loop: Loop, cache: Buffer, copy: Block) -> None:
    """Refuse to copy back elements not written in the same iteration, or to redirect reads of earlier contents."""
    own = [a for a in accesses(copy.op) if a.buffer == cache.value]
    others = [a for a in accesses(loop.op) if a.buffer == cache.value and a not in own]
    missing = uncovered(own, [a for a in others if a.is_write], loop.op)
    if missing:
        refuse(
            loop,
            f"the elements written in an iteration of loop {loop.name} are not a box: {missing} is left out",
            True,
            missing,
            fix="pass an inner loop, in one iteration of which they are",
        )
    if all(a.is_write for a in others):
        return
    scope = scope_of(copy).op
    with question(f"whether {cache.name} is written before it is read"):
        found = unwritten_reads(cache.value, scope, loop.op)
    if found is not None:
        touch, point = found
        example = unwritten_example(found, scope)
        refuse(
            loop,
            f"{touch.at(point)} reads the earlier contents of the buffer, which the copy does not have",
            True,
            example,
            fix="cache_inplace copies in the earlier contents"
            if _writes(enclosing_block(touch.access.op), others)
            else "",
        )


def _writes(owner: Scope, found: Sequence[Access]) -> bool:
    """Whether one of some accesses is a write of a block."""
    return any(a.is_write and is_inside(a.op, owner.op) for a in found)


# --- the copy ---------------------------------------------------------------------------------------------------------


def _copy(name: str, source: Buffer, target: Buffer, where: CopyRegion, iters: Sequence[Loop]) -> Block:
    """Create the block that copies the region by loops of its own, under a condition where it exceeds the buffer."""
    specs = [IterSpec(f"v{n}", "S", lp.lower, lp.extent, Index.of(lp.var)) for n, lp in enumerate(iters)]
    with ir.InsertionPoint(where.before):
        block = create.block(name, specs, {"auto_copy": True})
    inside = {lp.var: Index.of(it.var) for lp, it in zip(iters, block.iters, strict=True)}
    ip = create.at_end(block.body)
    at: list[Index] = []
    for number, (low, extent) in enumerate(zip(where.region.mins, where.region.extents, strict=True)):
        with ip:
            loop = create.loop(f"ax{number}", 0, extent.substitute(inside))
        at.append((low.substitute(inside) + Index.of(loop.var)).simplified())
        ip = create.at_end(loop.body)
    parts = list(zip(where.whole.mins, where.whole.extents, at, strict=True))
    conditions = unproved_conditions(ip, [c for low, size, i in parts for c in (i - low, low + size - i - 1)])
    with ip:
        if conditions:
            ip = create.at_end(create.guard(conditions).regions[0].blocks[0])
        with ip:
            create.store(create.load(source.value, at), target.value, at)
    _make_overlap_opaque(block)
    return block


def _make_overlap_opaque(block: Block) -> None:
    """Make iters opaque whose copies overlap."""
    try:
        with frozen():
            iter_kinds(block)
    except VerifyError:
        attrs.put(block.op, attrs.ITERS, ["O"] * len(block.iters))
