"""rolling_buffer: shrink a buffer to a circular window, and skip recomputing the overlap of consecutive iterations."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
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
from tir_mlir.dialect.ir.op_traits import AFFINE_ELEMENT_ACCESSES, stored
from tir_mlir.dialect.presburger import dim_factors, dim_type, domain, either, has_division, intervals, question
from tir_mlir.passes.schedule.edits import declaring, drop_regions, find_buffer
from tir_mlir.passes.schedule.legality import consumers, is_output, readers, scope_of, use_words, writers
from tir_mlir.passes.schedule.placement.rolling_legality import (
    Roll,
    Slots,
    before,
    check_recomputable,
    check_window,
    check_written_once,
)
from tir_mlir.passes.schedule.registry import check, copy_view, primitive, refuse


@primitive("rolling_buffer")
def rolling_buffer(block: Block, write_buffer_index: int | str) -> None:
    """Shrink a buffer to the window that a consumer needs at a time, used circularly, and compute only its new part.

        B = T.alloc_buffer((130,))                     B = T.alloc_buffer((3,))
        for i in range(128):                           for i in range(128):
            for ax0 in range(3):                           for ax0 in range(3):
                with T.block("B"):                             with T.block("B"):
                    vi = S(130, i + ax0)        ->                 vi = opaque(130, i + ax0)
                    B[vi] = A[vi]                                  T.where(i < 1 or 2 <= ax0)
            with T.block("C"):                                     B[vi % 3] = A[vi]
                uses B[vi : vi + 3]                        with T.block("C"):
                                                               uses B[vi % 3], B[(vi + 1) % 3], ...

    The buffer rolls in the dimension driven by the outermost such loop: it gets the extent of the window, and indices
    are taken modulo that. Every dimension in which windows overlap gets a guard: the first iteration of its loop, or an
    index beyond the overlap. Iters bound to the loop of the rolling dimension become opaque, because their order must
    be kept. Every read sees the same value as before.

    Requires: the block is the only writer of an allocated buffer; block and consumers are under a common loop (see
    compute_at); in some dimension the start of the region written in one iteration of that loop depends on one loop
    with more than one iteration, never falls, and moves by less than the length; the driving loops have constant
    bounds; recomputing an element gives the same value.
    """
    with frozen():
        buffer = find_buffer(block, write_buffer_index, attrs.WRITES)
        rolls = _plan(block, buffer)
        rolling = min(rolls, key=lambda r: len(walk.parents(r.loop.op)))
        guards = [_guard(block, buffer, r) for r in rolls]
        check_written_once(block, buffer)
        check_recomputable(block)
        check_window(block, buffer, Slots(rolling.dim, rolling.extent), rolls)
        users = list(dict.fromkeys([*writers(scope_of(block), buffer.value), *readers(scope_of(block), buffer.value)]))
        numbers = [b.id for b in users]

    for number in numbers:
        _fix_order(Block(walk.find(func_of(buffer.op).op, number)), rolling.loop)  # type: ignore[arg-type]
    _add_guards(block, guards)
    _shrink(buffer, rolling)


# --- rolling dimensions -----------------------------------------------------------------------------------------------


def _check_plain(buffer: Buffer) -> None:
    """Refuse other uses than loads and stores of single elements."""
    for use in buffer.value.uses:
        user = use.owner.operation
        if user.name not in AFFINE_ELEMENT_ACCESSES and user.name != "memref.dim":
            text = (
                f"{buffer.name} is also used by {use_words(user)}; only plain loads and stores can use a rolling buffer"
            )
            refuse(user, text, fix=copy_view(buffer.name))


def _plan(block: Block, buffer: Buffer) -> list[Roll]:
    if is_output(block):
        refuse(
            block,
            f'block "{block.name}" writes {buffer.name}, which is visible outside its scope: an output block; only '
            "an allocated buffer can roll",
            fix=f"cache_read of {buffer.name} for its consumer, and compute_at of the copy, which can roll",
        )
    scope = scope_of(block)
    users = consumers(block)
    check(bool(users), block, f'block "{block.name}" has no consumer; a rolling buffer needs one')
    for user in [*writers(scope, buffer.value), *readers(scope, buffer.value)]:
        if user != block and (user not in users or buffer.value in _written(user)):
            refuse(
                user,
                f'block "{user.name}" also uses {buffer.name}, other than to read what block '
                f'"{block.name}" wrote before it; a rolling buffer has one writer, before all readers',
            )
    level = walk.common_parent([block.op, *(u.op for u in users)])
    if not is_loop(level):
        refuse(
            block,
            f'block "{block.name}" and its consumers are not under a common loop; compute_at moves them there',
        )
    _check_plain(buffer)
    writes = [a for a in accesses(block.op) if a.is_write and a.buffer == buffer.value]
    region = box(writes, level)
    rolls = [r for d in range(buffer.rank) if (r := _roll(block, region, writes, d)) is not None]
    if not rolls:
        refuse(
            block,
            f"no dimension of the region of {buffer.name} that one iteration of loop "
            f"{Loop(level).name} needs moves up with one loop and overlaps the "
            "previous region, so there is nothing to keep",
        )
    return rolls


def _written(block: Block) -> set[ir.Value]:
    return {a.buffer for a in accesses(block.op) if a.is_write}


def _roll(block: Block, region: Region, writes: Sequence[Access], dim: int) -> Roll | None:
    """How one dimension rolls, if it does: [low(loop), ... + extent), low never falls, and moves by less than that."""
    low, extent = region.mins[dim], _constant(region.extents[dim], block)
    loops = {v: lp for v in low.values if (lp := _loop_of(v)) is not None}
    units = {v: lp.lower for v, lp in loops.items() if lp.const_extent == 1}  # these move nothing
    low = low.substitute(units).simplified()
    if extent is None or len(low.values) != 1 or region.buffer.shape[dim] is None:
        return None
    loop = loops.get(low.values[0])
    if loop is None or not loop.const_extent or loop.lower.as_constant() is None:
        return None
    steps = _steps(low, loop)
    if steps is None or steps[0] < 0 or steps[1] == 0 or steps[0] >= extent:
        return None
    bound = {i.var: i.binding for i in block.iters}
    if any(not a.mins[dim].substitute(bound).same(writes[0].mins[dim].substitute(bound)) for a in writes):
        return None
    return Roll(dim, loop, low, extent)


def _steps(low: Index, loop: Loop) -> tuple[int, int] | None:
    """The least and the greatest difference of `low` between consecutive iterations of a loop."""
    step = (low - before(low, loop)).simplified()
    parts = dim_factors(step.expr)
    if parts is not None and not parts[0]:
        return parts[1], parts[1]
    return _range(step, loop.body.operations[0].operation, (loop.var, (loop.lower.as_constant() or 0) + 1))


def _constant(index: Index, block: Block) -> int | None:
    """The value of an expression that is the same in all iterations around a block."""
    if not index.values or not has_division(index.expr):
        return index.as_constant()
    ends = _range(index, block.outermost)
    return ends[0] if ends is not None and ends[0] == ends[1] else None


def _range(index: Index, op: ir.Operation, start: tuple[ir.Value, int] | None = None) -> tuple[int, int] | None:
    """The least and the greatest value of an expression at an op, optionally from an iteration of a loop on."""
    with question("in what range a region moves"):
        dom = domain(op, extra=[index])
        points = dom.set
        if start is not None:
            points = points.lower_bound_val(dim_type.set, dom.index_of(start[0]), isl.Val(start[1]))
        values = dom.map([index]).intersect_domain(points).range()
        ends = [] if values.is_empty() else [values.dim_min_val(0), values.dim_max_val(0)]
    return (ends[0].to_python(), ends[1].to_python()) if ends and all(e.is_int() for e in ends) else None


def _loop_of(value: ir.Value) -> Loop | None:
    owner = value.owner
    if not isinstance(owner, ir.Block) or not is_loop(owner.owner.operation):
        return None
    return Loop(owner.owner)


def _guard(block: Block, buffer: Buffer, roll: Roll) -> Constraint:
    """The first iteration of the loop, or an index beyond the overlap with the previous window."""
    write = next(a for a in accesses(block.op) if a.is_write and a.buffer == buffer.value)
    position = write.mins[roll.dim].substitute({i.var: i.binding for i in block.iters})
    value = (position - roll.seen).simplified()
    first = Constraint(roll.loop.lower - Index.of(roll.loop.var))
    guard = either(first, Constraint(value), intervals.around(block.outermost))
    if guard is None:
        refuse(
            block,
            f'the bounds of the loops of block "{block.name}" are not constant, so its guard is not affine',
            provable=False,
        )
    return guard


# --- rewrite ----------------------------------------------------------------------------------------------------------


def _fix_order(block: Block, loop: Loop) -> None:
    """Make iters bound to the loop opaque."""
    kinds = ["O" if loop.var in i.binding.values else i.kind for i in block.iters]
    edit.set_attribute(block.op, attrs.ITERS, attrs.to_attr(kinds))


def _add_guards(block: Block, guards: Sequence[Constraint]) -> None:
    if (old := block.where) is not None:
        edit.rebuild_guard(old, [*walk.constraints(old), *guards])
        return
    with ir.InsertionPoint(block.op), block.op.location:
        guard = create.where(guards)
    edit.move_before(block.op, list(guard.regions[0].blocks[0].operations)[-1])


def _shrink(buffer: Buffer, roll: Roll) -> None:
    """Give the buffer its new extent, and take indices modulo that."""
    type_ = buffer.type
    shape = list(type_.shape)
    shape[roll.dim] = roll.extent
    drop_regions(declaring(func_of(buffer.op).op, buffer), buffer)  # type: ignore[arg-type]
    edit.retype(buffer.value, ir.MemRefType.get(shape, type_.element_type, memory_space=type_.memory_space))
    for op in dict.fromkeys(use.owner.operation for use in buffer.value.uses):
        if op.name == "memref.dim":
            continue
        indices = [index % roll.extent if d == roll.dim else index for d, index in enumerate(walk.access_indices(op))]
        map_, operands = emit_map(indices)
        value = stored(op)
        edit.rebuild(
            op, [*([] if value is None else [value]), buffer.value, *operands], {"map": ir.AffineMapAttr.get(map_)}
        )
