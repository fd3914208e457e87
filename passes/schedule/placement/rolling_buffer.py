"""rolling_buffer: a buffer keeps only what the next iterations still need, and what it holds is not computed again."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import Access, Region, box
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Constraint,
    Index,
    Loop,
    attrs,
    create,
    edit,
    emit_map,
    frozen,
    func_of,
    is_loop,
    walk,
)
from tir_mlir.dialect.presburger import dim_factors, either, intervals
from tir_mlir.passes.schedule.edits import drop_declared, pick
from tir_mlir.passes.schedule.legality import consumers, is_output, readers, scope_of, to_copy, writers
from tir_mlir.passes.schedule.placement.rolling_legality import Roll, Slots, check_determined, check_kept, check_repeats
from tir_mlir.passes.schedule.registry import check, primitive, refuse


@primitive("rolling_buffer")
def rolling_buffer(block: Block, write_buffer_index: int | str) -> None:
    """Let a buffer hold just the part that a consumer needs at a time, and compute only what is new of it.

        B = T.alloc_buffer((130,))                     B = T.alloc_buffer((3,))
        for i in range(128):                           for i in range(128):
            for ax0 in range(3):                           for ax0 in range(3):
                with T.block("B"):                             with T.block("B"):
                    vi = S(130, i + ax0)        ->                 vi = opaque(130, i + ax0)
                    B[vi] = A[vi]                                  T.where(i < 1 or 2 <= ax0)
            with T.block("C"):                                     B[vi % 3] = A[vi]
                uses B[vi : vi + 3]                        with T.block("C"):
                                                               uses B[vi % 3], B[(vi + 1) % 3], ...

    The buffer rolls in the dimension that the outermost such loop drives; there it gets the extent of the part needed
    at a time, and indices are taken modulo that. Every dimension in which parts overlap gets a guard: the first
    iteration of its loop, or beyond the overlap. Iters bound to the loop of the rolling dimension become opaque: their
    order is fixed now. Every read sees the value that it saw before.

    Requires: the block is the only writer of an allocated buffer, its consumers stand with it under a loop (compute_at
    brings it there), the part that it writes in one iteration of that loop begins at a multiple of one loop (plus a
    constant) in some dimension and is longer than that step; constant bounds of the loops that drive; computing an
    element again gives the same value.
    """
    with frozen():
        buffer = pick(block, write_buffer_index, attrs.WRITES)
        rolls = _plan(block, buffer)
        rolling = min(rolls, key=lambda r: len(walk.parents(r.loop.op)))
        guards = [_guard(block, buffer, r) for r in rolls]
        check_determined(block, buffer)
        check_repeats(block)
        check_kept(block, buffer, Slots(rolling.dim, rolling.extent), rolls)
        users = list(dict.fromkeys([*writers(scope_of(block), buffer.value), *readers(scope_of(block), buffer.value)]))
        numbers = [b.id for b in users]

    for number in numbers:
        _fix_order(Block(walk.find(func_of(buffer.op).op, number)), rolling.loop)  # type: ignore[arg-type]
    _add_guards(block, guards)
    _shrink(buffer, rolling)


# --- which dimensions roll --------------------------------------------------------------------------------------------


def _plan(block: Block, buffer: Buffer) -> list[Roll]:
    if is_output(block):
        refuse(
            block,
            f'block "{block.name}" writes {buffer.name}, which lives outside its scope; only an allocated buffer can'
            " roll",
            fix=f"cache_read of {buffer.name} for its reader, and compute_at of the copy, which can roll",
        )
    scope = scope_of(block)
    users = consumers(block)
    check(bool(users), block, f'block "{block.name}" has no consumer; its buffer rolls along with one')
    for user in [*writers(scope, buffer.value), *readers(scope, buffer.value)]:
        if user != block and (user not in users or buffer.value in _written(user)):
            refuse(
                user,
                f'block "{user.name}" also uses {buffer.name}, other than to read what block "{block.name}" wrote'
                " before it; a rolling buffer has one writer, ahead of all readers",
            )
    level = walk.common_parent([block.op, *(u.op for u in users)])
    if not is_loop(level):
        refuse(
            block,
            f'block "{block.name}" and its consumers do not stand under a common loop; compute_at brings them there',
        )
    for use in buffer.value.uses:
        user = use.owner.operation
        if user.name not in ("affine.load", "affine.store", "memref.dim"):
            text = f"{buffer.name} is also used by {user.name}; only plain loads and stores can be rolled"
            refuse(user, text, fix=to_copy(buffer.name))
    writes = [a for a in accesses(block.op) if a.is_write and a.buffer == buffer.value]
    region = box(writes, level)
    rolls = [r for d in range(buffer.rank) if (r := _roll(block, region, writes, d)) is not None]
    if not rolls:
        refuse(
            block,
            f"no dimension of the part of {buffer.name} that one iteration of loop {Loop(level).name} needs moves by a"
            " constant step with one loop and overlaps with the part before, so there is nothing to keep",
        )
    return rolls


def _written(block: Block) -> set[ir.Value]:
    return {a.buffer for a in accesses(block.op) if a.is_write}


def _roll(block: Block, region: Region, writes: Sequence[Access], dim: int) -> Roll | None:
    """How one dimension rolls, if it does: [loop * step + constant, ... + extent), extent > step."""
    low, extent = region.mins[dim].simplified(), region.extents[dim].as_constant()
    found = dim_factors(low.expr)
    if found is None or extent is None or len(found[0]) != 1 or region.buffer.shape[dim] is None:
        return None
    ((position, step),) = found[0].items()
    loop = _loop_of(low.values[position])
    if loop is None or not 0 < step < extent or loop.const_extent is None or loop.lower.as_constant() is None:
        return None
    bound = {i.var: i.binding for i in block.iters}
    if any(not a.mins[dim].substitute(bound).same(writes[0].mins[dim].substitute(bound)) for a in writes):
        return None
    return Roll(dim, loop, step, found[1], extent)


def _loop_of(value: ir.Value) -> Loop | None:
    owner = value.owner
    if not isinstance(owner, ir.Block) or not is_loop(owner.owner.operation):
        return None
    return Loop(owner.owner)


def _guard(block: Block, buffer: Buffer, roll: Roll) -> Constraint:
    """The first iteration of the loop, or beyond what the one before left."""
    write = next(a for a in accesses(block.op) if a.is_write and a.buffer == buffer.value)
    place = write.mins[roll.dim].substitute({i.var: i.binding for i in block.iters})
    value = (place - Index.of(roll.loop.var) * roll.step - roll.start).simplified()
    first = Constraint(roll.loop.lower - Index.of(roll.loop.var))
    found = either(first, Constraint(value - roll.overlap), intervals.around(block.outermost))
    if found is None:
        refuse(
            block,
            f'the bounds of the loops of block "{block.name}" are not constant, so its guard has no affine form',
            provable=False,
        )
    return found


# --- the rewrite ------------------------------------------------------------------------------------------------------


def _fix_order(block: Block, loop: Loop) -> None:
    """Iters bound to the loop become opaque."""
    kinds = ["O" if loop.var in i.binding.values else i.kind for i in block.iters]
    block.op.attributes[attrs.ITERS] = attrs.to_attr(kinds)


def _add_guards(block: Block, guards: Sequence[Constraint]) -> None:
    if (old := block.where) is not None:
        edit.rebuild_guard(old, [*walk.constraints(old), *guards])
        return
    with ir.InsertionPoint(block.op), block.op.location:
        made = create.where(guards)
    block.op.move_before(list(made.regions[0].blocks[0].operations)[-1])


def _shrink(buffer: Buffer, roll: Roll) -> None:
    """Give the buffer its new extent, and take indices modulo that."""
    type_ = buffer.type
    shape = list(type_.shape)
    shape[roll.dim] = roll.extent
    drop_declared(func_of(buffer.op).op, buffer)  # type: ignore[arg-type]
    buffer.value.set_type(ir.MemRefType.get(shape, type_.element_type, memory_space=type_.memory_space))
    for op in dict.fromkeys(use.owner.operation for use in buffer.value.uses):
        if op.name == "memref.dim":
            continue
        indices = [index % roll.extent if d == roll.dim else index for d, index in enumerate(walk.access_indices(op))]
        map_, used = emit_map(indices)
        value = list(op.operands)[:1] if "store" in op.name else []
        edit.rebuild(op, [*value, buffer.value, *used], {"map": ir.AffineMapAttr.get(map_)})
