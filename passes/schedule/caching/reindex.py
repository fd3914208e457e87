"""reindex: access a buffer through a copy that is indexed by the iters of a block."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses_to
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, Buffer, Index, IterSpec, attrs, create, freeze_modules
from tir_mlir.passes.schedule.caching.copy_block import next_op, unproved_conditions
from tir_mlir.passes.schedule.caching.copy_placement import (
    check_not_in_init,
    check_not_written_by_others,
    check_write_back,
)
from tir_mlir.passes.schedule.caching.point_access import (
    PointAccess,
    check_single_cell,
    fold_access_indices,
    point_access,
    redirect_access,
)
from tir_mlir.passes.schedule.edits import BufferChoice, alloc_like, find_accessed_buffer, keeps_region_order
from tir_mlir.passes.schedule.legality import PrivateNest, check_self_contained, scope_of
from tir_mlir.passes.schedule.registry import check, primitive, refuse


@primitive("reindex", moves="in place")
@keeps_region_order
def reindex(block: Block, buffer: BufferChoice) -> Block:
    """Let a block access a copy of a buffer that is indexed by its iters.

        for i, j, k in T.grid(n, m, l):             B_reindex = T.alloc_buffer((m, l))
            with T.block("b"):                      for ax0, ax1 in T.grid(m, l):
                ... B[vk, vj] ...           ->          with T.block("B_reindex_reindex"): B_reindex[v0, v1] = B[v1, v0]
                                                    for i, j, k in T.grid(n, m, l):
                                                        with T.block("b"): ... B_reindex[vj, vk] ...

    The copy `<buffer>_reindex` has one dimension for each iter that the index depends on, in the order of the iters. A
    buffer that is read is copied before the loops that contain nothing but the block, one that is written after them;
    in a loop shared with other blocks, the part that one iteration accesses. Every read sees the same value as before.

    Requires: no nested blocks; the block accesses the buffer at one affine index; in one iteration of shared loops each
    iter of the index takes an interval of values. For a read: the block does not write the buffer. For a write:
    each element belongs to one value of the iters in its index, all of them run, and none reads earlier contents, or
    what another block writes in a shared loop. `buffer` is ("read", index), ("write", index) or a name: the write
    of a buffer that the block also reads.
    """
    with freeze_modules():
        chosen, key = find_accessed_buffer(block, buffer)
        if isinstance(buffer, str) and accesses_to(chosen.value, block.op, True):
            key = attrs.WRITES  # an accumulator is also listed among the reads
        scope = scope_of(block)
        check_not_in_init(block, scope)
        check_self_contained(block)
        access = fold_access_indices(point_access(block, chosen))
        nest = PrivateNest.from_block(block)
        spans = _spans(access, nest, "cache_read" if key == attrs.READS else "cache_write")
        cell = [Index.from_value(i.var) for i in access.used]
        if key == attrs.READS:
            _check_only_read(block, chosen)
        else:
            check_single_cell(access, cell)
            check_not_written_by_others(nest, chosen)

    shape = [i.min + i.extent for i in access.used]
    cache = alloc_like(chosen, scope, f"{chosen.name}_reindex", shape, chosen.scope)
    copy = _copy(access, cache, nest.top, spans, key)
    redirect_access(access, cache, cell)
    if key == attrs.WRITES:
        check_write_back(scope, cache, block, copy)
    return copy


def _check_only_read(block: Block, buffer: Buffer) -> None:
    text = f'block "{block.name}" also writes {buffer.name}, which a copy made before would miss'
    check(not accesses_to(buffer.value, block.op, True), block, f'{text}; reindex the write: ("write", number)')
    emit_remark(f"block `{block.name}` reads `{buffer.name}` at one index, and does not write it")


def _spans(access: PointAccess, nest: PrivateNest, way: str) -> list[tuple[Index, Index]]:
    """First value and number of values that each iter of the index has in one iteration of the shared loops."""
    intervals = [nest.interval(it) for it in access.used]
    if None in intervals:
        it, outer = access.used[intervals.index(None)], nest.shared[-1]
        refuse(
            outer,
            f'{outer!r} contains more than block "{access.block.name}", and what iter {it.name} is in one iteration of '
            "it is not an interval",
            fix=f"reindex_{way} copies the region that a loop accesses, or split by a factor that divides the extent",
        )
    return [span for span in intervals if span is not None]


def _copy(
    access: PointAccess, cache: Buffer, top: ir.Operation, spans: Sequence[tuple[Index, Index]], key: str
) -> Block:
    """Create the copy block over the spans of the iters, before or after the loops of the block."""
    is_read = key == attrs.READS
    ip = ir.InsertionPoint(top if is_read else next_op(top))
    specs: list[IterSpec] = []
    bounds: list[Index] = []
    for number, (it, (low, extent)) in enumerate(zip(access.used, spans, strict=True)):
        first = it.min if low.is_equal_to(it.min) else Index.constant(0)
        with ip:
            loop = create.loop(f"ax{number}", first, (first + extent).simplify())
        binding = (low - first + Index.from_value(loop.var)).simplify()
        specs.append(IterSpec(f"v{number}", "S", it.min, it.extent, binding))
        bounds += [binding - it.min, it.min + it.extent - binding - 1]
        ip = create.at_end(loop.body)
    name = f"{cache.name if is_read else access.buffer.name}_reindex"
    conditions = unproved_conditions(ip, bounds)
    with ip:
        if conditions:
            ip = create.at_end(create.where(conditions).regions[0].blocks[0])
    with ip:
        copy = create.block(name, specs)
    iters = [Index.from_value(i.var) for i in copy.iters]
    through = {old.var: new for old, new in zip(access.used, iters, strict=True)}
    indices = [i.substitute(through).simplify() for i in access.indices]
    source, target = (
        ((access.buffer, indices), (cache, iters)) if is_read else ((cache, iters), (access.buffer, indices))
    )
    with create.at_end(copy.body):
        create.store(create.load(source[0].value, source[1]), target[0].value, target[1])
    return copy
