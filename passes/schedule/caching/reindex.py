"""reindex: access a buffer through a copy that is indexed by the iters of a block."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Block, Buffer, Index, IterSpec, Loop, attrs, create, frozen, is_loop, parents
from tir_mlir.passes.schedule.caching.copy_block import next_op
from tir_mlir.passes.schedule.caching.copy_legality import accesses_to, check_write_back
from tir_mlir.passes.schedule.caching.point_access import (
    PointAccess,
    check_single_cell,
    narrowed,
    point_access,
    redirect_access,
)
from tir_mlir.passes.schedule.edits import BufferChoice, alloc_buffer, find_accessed_buffer, keeps_region_order
from tir_mlir.passes.schedule.legality import Scope, check_self_contained, children, scope_of
from tir_mlir.passes.schedule.registry import primitive, refuse


@primitive("reindex")
@keeps_region_order
def reindex(block: Block, buffer: BufferChoice) -> Block:
    """Let a block access a copy of a buffer that is indexed by its iters.

        for i, j, k in T.grid(n, m, l):             B_reindex = T.alloc_buffer((m, l))
            with T.block("b"):                      for ax0, ax1 in T.grid(m, l):
                ... B[vk, vj] ...           ->          with T.block("B_reindex_reindex"): B_reindex[v0, v1] = B[v1, v0]
                                                    for i, j, k in T.grid(n, m, l):
                                                        with T.block("b"): ... B_reindex[vj, vk] ...

    The copy `<buffer>_reindex` has one dimension for each iter that the index depends on, in the order of the iters. A
    buffer that is read is copied before the loops of the block, one that is written after them. Every read sees the
    same value as before.

    Requires: no nested blocks; the block accesses the buffer at one affine index; nothing else is in its loops. For a
    read: the block does not write the buffer. For a write: each element belongs to one value of the iters in its index,
    all of them run, and none reads earlier contents. `buffer` is ("read", index), ("write", index) or a name: the write
    of a buffer that the block also reads.
    """
    with frozen():
        chosen, key = find_accessed_buffer(block, buffer)
        if isinstance(buffer, str) and accesses_to(block, chosen, writes=True):
            key = attrs.WRITES  # an accumulator is also listed among the reads
        scope = scope_of(block)
        if block not in children(scope):
            refuse(block, f'block "{block.name}" is in an init region; pass the block around it')
        check_self_contained(block)
        access = narrowed(point_access(block, chosen))
        top = _chain_top(block, scope, "cache_read" if key == attrs.READS else "cache_write")
        if key == attrs.READS and accesses_to(block, chosen, writes=True):
            refuse(
                block,
                f'block "{block.name}" also writes {chosen.name}, which a copy made before would miss; '
                'reindex the write: ("write", number)',
            )
        cell = [Index.of(i.var) for i in access.used]
        if key == attrs.WRITES:
            check_single_cell(access, cell)

    shape = [i.min + i.extent for i in access.used]
    cache = alloc_buffer(scope, f"{chosen.name}_reindex", shape, chosen.dtype, chosen.scope)
    made = _copy(access, cache, top, key)
    redirect_access(access, cache, cell)
    if key == attrs.WRITES:
        check_write_back(scope, cache, block, made)
    return made


def _chain_top(block: Block, scope: Scope, way: str) -> ir.Operation:
    """The op of the scope's body that contains the block and nothing else."""
    top = block.outermost
    for parent in parents(top):
        if parent == scope.op:
            break
        bodies = [list(b.operations) for r in parent.regions for b in r.blocks]
        if len(bodies) != 1 or len(bodies[0]) != 2:
            what = repr(Loop(parent)) if is_loop(parent) else "a condition"
            refuse(
                parent,
                f'{what} contains more than block "{block.name}"; the copy is placed outside all its '
                "loops, which must contain nothing else",
                fix=f"reindex_{way} places the copy inside, next to other blocks",
            )
        top = parent
    return top


def _copy(access: PointAccess, cache: Buffer, top: ir.Operation, key: str) -> Block:
    """Create the copy block over the domain of the iters, before or after the loops of the block."""
    is_read = key == attrs.READS
    ip = ir.InsertionPoint(top if is_read else next_op(top))
    specs = []
    for number, it in enumerate(access.used):
        with ip:
            loop = create.loop(f"ax{number}", it.min, it.min + it.extent)
        specs.append(IterSpec(f"v{number}", "S", it.min, it.extent, Index.of(loop.var)))
        ip = create.at_end(loop.body)
    name = f"{cache.name if is_read else access.buffer.name}_reindex"
    with ip:
        made = create.block(name, specs)
    at = [Index.of(i.var) for i in made.iters]
    through = {old.var: new for old, new in zip(access.used, at, strict=True)}
    there = [i.substitute(through).simplified() for i in access.indices]
    source, target = ((access.buffer, there), (cache, at)) if is_read else ((cache, at), (access.buffer, there))
    with create.at_end(made.body):
        create.store(create.load(source[0].value, source[1]), target[0].value, target[1])
    return made
