"""reindex_cache_read and reindex_cache_write: a cache stage whose layout is given by an index map."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses_to
from tir_mlir.dialect.diagnostics import IndexMapError
from tir_mlir.dialect.index_maps import IndexMap, check_start
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    IterSpec,
    Loop,
    attrs,
    constraints,
    create,
    freeze_modules,
    is_loop,
    parent_op,
    parents,
    walk,
)
from tir_mlir.dialect.presburger import question
from tir_mlir.passes.schedule.caching.copy_placement import (
    check_fills_box,
    check_not_in_init,
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
from tir_mlir.passes.schedule.caching.point_access import (
    PointAccess,
    check_distinct_cells,
    check_single_cell,
    fix_map,
    iters_in,
    point_access,
    redirect_access,
)
from tir_mlir.passes.schedule.edits import alloc_like, check_scope_name, find_buffer, keeps_region_order
from tir_mlir.passes.schedule.layout.apply_layout import LayoutChange
from tir_mlir.passes.schedule.legality import Scope, check_self_contained, scope_of
from tir_mlir.passes.schedule.registry import check, copy_in_and_out, primitive, refuse

MapChoice = IndexMap | str


@primitive("reindex_cache_read", moves="in place")
@keeps_region_order
def reindex_cache_read(block: Block, read_buffer_index: int | str, storage_scope: str, index_map: MapChoice) -> Block:
    """Copy what a block reads into another storage scope, laid out by a map of its iters.

        for i, j, k in T.grid(n, m, l):             A_s = T.alloc_buffer((l, n), scope="s")
            with T.block("b"):                      for i, k in T.grid(n, l):
                ... A[vi, vk] ...           ->         with T.block("A_s"): A_s[vk, vi] = A[vi, vk]
                                                    for i, j, k in T.grid(n, m, l):
        index_map: lambda i, j, k: (k, i)               with T.block("b"): ... A_s[vk, vi] ...

    The copy has those loops and iters of the block that its index uses, and is placed as by cache_read. Only this block
    reads it. Every read sees the same value as before.

    Requires: no nested blocks; the block reads the buffer at one affine index and does not write it; elements read have
    been written before; the map takes all iters of the block and uses those that the index uses; it is injective on
    elements.
    """
    with freeze_modules():
        plan = _plan(block, read_buffer_index, storage_scope, index_map, attrs.READS)
        buffer = plan.access.buffer
        if accesses_to(buffer.value, block.op, True):
            text = f'block "{block.name}" writes {buffer.name} itself and must see its own writes'
            refuse(block, text, fix=copy_in_and_out(buffer))
        writer = only_writer(plan.scope, buffer, [block])
        readers_to_redirect(plan.scope, buffer, writer, [block])
        where = input_copy(plan.scope, buffer) if writer is None else read_copy(plan.scope, buffer, writer, [block])
        note_readers(buffer, [block], writer)

    cache = _allocate(plan, storage_scope)
    copy = _copy(plan, cache, where.before, buffer, cache)
    redirect_access(plan.access, cache, plan.cell)
    with freeze_modules():
        check_fills_box(cache, copy, block)
    return copy


@primitive("reindex_cache_write", moves="in place")
@keeps_region_order
def reindex_cache_write(block: Block, write_buffer_index: int | str, storage_scope: str, index_map: MapChoice) -> Block:
    """Let a block write into another storage scope, laid out by a map of its iters, and copy that back.

        for i, j, k in T.grid(n, m, l):             C_s = T.alloc_buffer((m, n), scope="s")
            with T.block("b"):                      for i, j, k in T.grid(n, m, l):
                C[vi, vj] = ...             ->         with T.block("b"): C_s[vj, vi] = ...
                                                    for i, j in T.grid(n, m):
        index_map: lambda i, j, k: (j, i)               with T.block("C_s"): C[vi, vj] = C_s[vj, vi]

    The copy has those loops and iters of the block that its index uses, and is placed as by cache_write. Every read
    sees the same value as before.

    Requires: no nested blocks; the block is the only writer of the buffer in its scope and accesses it at one affine
    index; the map takes all iters of the block and uses those that the index uses; it is a bijection on elements;
    nothing reads earlier contents.
    """
    with freeze_modules():
        plan = _plan(block, write_buffer_index, storage_scope, index_map, attrs.WRITES)
        buffer = plan.access.buffer
        only_writer(plan.scope, buffer)
        check_single_cell(plan.access, plan.cell)
        where = write_copy(plan.scope, buffer, block, [r for r in readers_in(plan.scope, buffer) if r != block])
        note_writer(buffer, block)

    cache = _allocate(plan, storage_scope)
    copy = _copy(plan, cache, where.before, cache, buffer)
    redirect_access(plan.access, cache, plan.cell)
    check_write_back(plan.scope, cache, block, copy)
    return copy


# --- checks -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ReindexPlan:
    """The access of the block, and the index and `shape` of the cache."""

    scope: Scope
    access: PointAccess
    cell: list[Index]
    shape: list[Index]


def _plan(block: Block, which: int | str, storage_scope: str, index_map: MapChoice, key: str) -> _ReindexPlan:
    check_scope_name(block, storage_scope)
    buffer = find_buffer(block, which, key)
    scope = scope_of(block)
    check_not_in_init(block, scope)
    check_self_contained(block)
    access = point_access(block, buffer)
    try:
        map_ = IndexMap.wrap(index_map, len(block.iters))
        with question(f"the shape of the image of {map_}"):
            mapped = LayoutChange.from_extents(map_, [(i.min + i.extent).simplify() for i in block.iters], block.op)
            check_start(map_, mapped.layout)
            shape = mapped.shape
        cell = [Index.wrap(i) for i in mapped.image([Index.from_value(i.var) for i in block.iters])]
    except IndexMapError as error:
        refuse(block, str(error))
    index_iters, map_iters = ([i.name for i in iters] for iters in (access.used, iters_in(block, cell)))
    check(
        index_iters == map_iters,
        block,
        f"the index of {buffer.name} uses the iters ({', '.join(index_iters)}), but the map {map_} uses "
        f"({', '.join(map_iters)}); they must be the same",
        fix_map(access),
    )
    check_distinct_cells(access, cell)
    return _ReindexPlan(scope, access, cell, shape)


# --- rewrite ----------------------------------------------------------------------------------------------------------


def _allocate(plan: _ReindexPlan, storage_scope: str) -> Buffer:
    like = plan.access.buffer
    return alloc_like(like, plan.scope, f"{like.name}_{storage_scope}", plan.shape, storage_scope)


def _copy(plan: _ReindexPlan, cache: Buffer, anchor: ir.Operation, source: Buffer, target: Buffer) -> Block:
    """Create the copy over those loops and iters of the block that the index uses, guarded as the block is."""
    block, level = plan.access.block, parent_op(anchor)
    iters = iters_in(block, plan.cell)
    enclosing = parents(block.op)  # with the loops that find a binding: the copy has all values of such an iter
    loops_around = [Loop(p) for p in enclosing[: enclosing.index(level)][::-1] if is_loop(p)]
    nest = walk.loops_behind(loops_around, {v for i in iters for v in i.binding.values})
    ip, loops = create.copy_loops(nest, ir.InsertionPoint(anchor), serial=True)
    dropped = {lp.var for lp in loops_around} - set(loops)
    guards = constraints(block.where) if block.where is not None else []
    conditions = [Constraint(g.index.substitute(loops), g.is_eq) for g in guards if not dropped & set(g.index.values)]
    with ip, block.op.location:
        if conditions:
            ip = create.at_end(create.where(conditions).regions[0].blocks[0])
        with ip:
            specs = [replace(IterSpec.like(i, i.binding.substitute(loops)), kind="S") for i in iters]
            copy = create.block(f"{plan.access.buffer.name}_{cache.scope}", specs)
    through = {old.var: Index.from_value(new.var) for old, new in zip(iters, copy.iters, strict=True)}
    indices = {cache: plan.cell, plan.access.buffer: list(plan.access.indices)}
    read, write = ([i.substitute(through) for i in indices[b]] for b in (source, target))
    with create.at_end(copy.body):
        create.store(create.load(source.value, read), target.value, write)
    return copy
