"""reindex: a buffer is kept in the order of a block's iters."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Block, Buffer, Index, IterSpec, Loop, attrs, create, frozen, is_loop, parents
from tir_mlir.passes.schedule.caching.copy_block import op_after
from tir_mlir.passes.schedule.caching.copy_legality import check_filled, touching
from tir_mlir.passes.schedule.caching.point_access import PointAccess, check_same_element, point_access, turn
from tir_mlir.passes.schedule.edits import BufferChoice, alloc, keeps_region_order, pick_either
from tir_mlir.passes.schedule.legality import Scope, check_self_contained, children, scope_of
from tir_mlir.passes.schedule.registry import primitive, refuse


@primitive("reindex")
@keeps_region_order
def reindex(block: Block, buffer: BufferChoice) -> Block:
    """Let a block access a copy of a buffer at its iters alone, and fill or empty the copy around its loops.

        for i, j, k in T.grid(n, m, l):             B_reindex = T.alloc_buffer((m, l))
            with T.block("b"):                      for ax0, ax1 in T.grid(m, l):
                ... B[vk, vj] ...           ->          with T.block("B_reindex_reindex"): B_reindex[v0, v1] = B[v1, v0]
                                                    for i, j, k in T.grid(n, m, l):
                                                        with T.block("b"): ... B_reindex[vj, vk] ...

    The copy `<buffer>_reindex` has one dimension for each iter that occurs in the index, in the order of the iters.
    What is read is copied before the loops of the block, what is written after them. Every read sees the value it saw
    before.

    Requires: no blocks inside; the block accesses the buffer at one affine index; nothing else stands in its loops. Of
    a buffer that is read: the block does not write it. Of one that is written: every element has one instance of the
    iters in its index, all of them run, and none reads what was there before. `buffer` is ("read", number),
    ("write", number) or a name.
    """
    with frozen():
        chosen, key = pick_either(block, buffer)
        scope = scope_of(block)
        if block not in children(scope):
            refuse(block, f'block "{block.name}" stands in an init region; name the block around it')
        check_self_contained(block)
        access = point_access(block, chosen)
        top = _chain_top(block, scope, "cache_read" if key == attrs.READS else "cache_write")
        if key == attrs.READS and touching(block, chosen, writes=True):
            refuse(
                block,
                f'block "{block.name}" also writes {chosen.name}, which a copy made before would not show; reindex what'
                ' it writes: ("write", number)',
            )
        cell = [Index.of(i.var) for i in access.used]
        if key == attrs.WRITES:
            check_same_element(access, cell)

    shape = [i.min + i.extent for i in access.used]
    cache = alloc(scope, f"{chosen.name}_reindex", shape, chosen.dtype, chosen.scope)
    made = _copy(access, cache, top, key)
    turn(access, cache, cell)
    if key == attrs.WRITES:
        check_filled(scope, cache, block, made)
    return made


def _chain_top(block: Block, scope: Scope, way: str) -> ir.Operation:
    """The op of the scope's body that holds the block and nothing else."""
    top = block.outermost
    for parent in parents(top):
        if parent == scope.op:
            break
        bodies = [list(b.operations) for r in parent.regions for b in r.blocks]
        if len(bodies) != 1 or len(bodies[0]) != 2:
            what = repr(Loop(parent)) if is_loop(parent) else "a condition"
            refuse(
                parent,
                f'{what} holds more than block "{block.name}"; the copy stands around all its loops, which must'
                " hold nothing else",
                fix=f"reindex_{way} puts the copy where other blocks do no harm",
            )
        top = parent
    return top


def _copy(access: PointAccess, cache: Buffer, top: ir.Operation, key: str) -> Block:
    """The block that copies over the domain of the iters, before or after the loops of the block."""
    is_read = key == attrs.READS
    ip = ir.InsertionPoint(top if is_read else op_after(top))
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
