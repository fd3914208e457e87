"""rolling_buffer: shrink a buffer to a circular window, and skip recomputing the overlap of consecutive iterations.

Legal where a kept element equals the recomputed one, and is not overwritten before it is read. Relations are over the
iterations t of the common loops of writer and readers, and elements e. Within one t all writes come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, Region, access_domain, box, lex_lt
from tir_mlir.dialect.analysis.accesses import accesses, accesses_to
from tir_mlir.dialect.analysis.certainty import require_certain
from tir_mlir.dialect.diagnostics import Counterexample, Element, Iteration, NotProvable, emit_remark
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
    freeze_modules,
    func_of,
    is_loop,
    owner_op,
    parents,
    walk,
)
from tir_mlir.dialect.ir.op_traits import stored_value
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, DimOp, isa
from tir_mlir.dialect.presburger import (
    dim_factors,
    dim_type,
    disjunction,
    domain,
    has_division,
    intervals,
    nonneg,
    question,
    region_map,
    smallest_point,
    to_aff,
)
from tir_mlir.passes.schedule.edits import declaring, drop_regions, find_buffer
from tir_mlir.passes.schedule.legality import (
    common_ancestor,
    consumers,
    elements_over,
    is_output,
    readers,
    runs_before,
    scope_of,
    writers,
    writes_of,
)
from tir_mlir.passes.schedule.placement.needed_region import check_finished
from tir_mlir.passes.schedule.registry import check, copy_view, primitive, refuse, use_words


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
    with freeze_modules():
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
        _fix_order(Block(walk.op_with_id(func_of(block.op).op, number)), rolling.loop)
    _add_guards(block, guards)
    _shrink(buffer, rolling)


# --- rolling dimensions -----------------------------------------------------------------------------------------------


def _check_plain(buffer: Buffer) -> None:
    """Refuse other uses than loads and stores of single elements."""
    for use in buffer.value.uses:
        user = use.owner.operation
        if not isa(user, AffineElementAccessOp, DimOp):
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
        if user != block and (user not in users or buffer.value in writes_of(user)):
            refuse(
                user,
                f'block "{user.name}" also uses {buffer.name}, other than to read what block '
                f'"{block.name}" wrote before it; a rolling buffer has one writer, before all readers',
            )
    level = walk.common_parent([block.op, *(u.op for u in users)])
    if not is_loop(level):
        refuse(
            block, f'block "{block.name}" and its consumers are not under a common loop; compute_at moves them there'
        )
    _check_plain(buffer)
    writes = accesses_to(buffer.value, block.op, True)
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


def _roll(block: Block, region: Region, writes: Sequence[Access], dim: int) -> Roll | None:
    """How one dimension rolls, if it does: [low(loop), ... + extent), low never falls, and moves by less than that."""
    low, extent = region.mins[dim], _constant(region.extents[dim], block)
    loops = {v: lp for v in low.values if (lp := _loop_of(v)) is not None}
    units = {v: lp.lower for v, lp in loops.items() if lp.const_extent == 1}  # these move nothing
    low = low.substitute(units).simplify()
    if extent is None or len(low.values) != 1 or region.buffer.shape[dim] is None:
        return None
    loop = loops.get(low.values[0])
    if loop is None or not loop.const_extent or loop.lower.as_constant() is None:
        return None
    steps = _steps(low, loop)
    if steps is None or steps[0] < 0 or steps[1] == 0 or steps[0] >= extent:
        return None
    bound = {i.var: i.binding for i in block.iters}
    if any(not a.mins[dim].substitute(bound).is_equal_to(writes[0].mins[dim].substitute(bound)) for a in writes):
        return None
    return Roll(dim, loop, low, extent)


def _steps(low: Index, loop: Loop) -> tuple[int, int] | None:
    """The least and the greatest difference of `low` between consecutive iterations of a loop."""
    step = (low - previous_index(low, loop)).simplify()
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
    write = accesses_to(buffer.value, block.op, True)[0]
    position = write.mins[roll.dim].substitute({i.var: i.binding for i in block.iters})
    value = (position - roll.previous_end).simplify()
    first = Constraint(roll.loop.lower - Index.from_value(roll.loop.var))
    guard = disjunction(first, Constraint(value), intervals.enclosing_ranges(block.outermost))
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
        if isa(op, DimOp):
            continue
        indices = [index % roll.extent if d == roll.dim else index for d, index in enumerate(walk.access_indices(op))]
        map_, operands = emit_map(indices)
        value = stored_value(op)
        edit.rebuild(
            op, [*([] if value is None else [value]), buffer.value, *operands], {"map": ir.AffineMapAttr.get(map_)}
        )


# --- legality ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Roll:
    """A dimension whose window [low(loop), ... + extent) moves by less than its extent."""

    dim: int
    loop: Loop
    low: Index
    extent: int

    @property
    def previous_end(self) -> Index:
        """The end of the previous window: elements from there on are new."""
        return (previous_index(self.low, self.loop) + self.extent).simplify()


def previous_index(index: Index, loop: Loop) -> Index:
    """An expression in the previous iteration of a loop."""
    return index.substitute({loop.var: Index.from_value(loop.var) - 1}).simplify()


@dataclass(frozen=True)
class Slots:
    """Elements of one dimension that share memory: those equal modulo `count`."""

    dim: int
    count: int


def check_window(block: Block, buffer: Buffer, slots: Slots | None, rolls: Sequence[Roll]) -> None:
    """Refuse unless every read of `buffer` finds its element with `slots` sharing memory, and with the block running,
    for each of `rolls`, only in the first iteration or beyond the overlap.
    """
    readers_ = [r for r in readers(scope_of(block), buffer.value) if r != block]
    level = _loop_around(block, readers_, buffer)
    check_finished(block, Loop(level))
    dims = [Loop(p).var for p in [level, *parents(level)] if is_loop(p)][::-1]
    with question(f"which elements of {buffer.name} are written and read"):
        written = _accessed_elements(block, buffer, slots, level, True)
        read = _union([_accessed_elements(r, buffer, slots, level, False) for r in readers_])
        for number in reversed(_unit_loops(dims, rolls)):
            del dims[number]
            written = written.project_out(dim_type.in_, number, 1)
            read = read.project_out(dim_type.in_, number, 1)
        moving = {r.dim for r in rolls} | ({slots.dim} if slots else set())
        written, read, projected = _project(written, read, [d for d in range(buffer.rank) if d not in moving])
        names = [d for d in range(buffer.rank) if d in projected]
        runs = _guarded_writes(written, dims, names, rolls)
    what = f"whether the elements read of {buffer.name} are still in the buffer"
    with question(what):
        last_writes = _last_writes(runs, _flat(read), len(dims))
        lost = _flat(read).subtract(last_writes.domain())
    reason = "is not written yet when it is read"
    if lost.is_empty() and slots is not None:
        with question(what):
            lost = _overwritten_points(
                runs, read, last_writes, len(dims), len(dims) + names.index(slots.dim), slots.count
            )
        reason = (
            f"shares its memory ({slots.count} elements in dimension {slots.dim}) with an element "
            "written before it is read"
        )
    if not lost.is_empty():
        require_certain([a for r in readers_ for a in accesses_to(buffer.value, r.op)], what)
        example = _lost_element_example(readers_[0], lost, buffer, dims, names)
        iteration = ", ".join(f"{name}={n}" for name, n in example.iterations[0].values)
        refuse(readers_[0], f"{example.element} {reason} at {iteration}", counterexample=example)
    positions = f"{slots.count} slots in dimension {slots.dim}" if slots else "a position for each element"
    emit_remark(f"every read of `{buffer.name}` finds its element, with {positions}: nothing overwrites it before")


def _loop_around(block: Block, readers_: Sequence[Block], buffer: Buffer) -> ir.Operation:
    """The loop around all uses of a buffer. Refuses readers that are not next to its writer there."""
    level = walk.common_parent([block.op, *(r.op for r in readers_)])
    for reader in readers_:
        if common_ancestor(block.op, reader.op)[0] != level or not runs_before(block.op, reader.op):
            text = f'blocks "{block.name}" and "{reader.name}" are not adjacent in the loop around all uses'
            refuse(reader, f"{text} of {buffer.name}", provable=False)
    return level


def _unit_loops(dims: Sequence[ir.Value], rolls: Sequence[Roll]) -> list[int]:
    """The positions of loops that run once and do not roll, but for the innermost."""
    once = [n for n, v in enumerate(dims[:-1]) if Loop(owner_op(v)).const_extent == 1]
    return [n for n in once if all(r.loop.var != dims[n] for r in rolls)]


def _lost_element_example(
    reader: Block, lost: isl.Set, buffer: Buffer, dims: Sequence[ir.Value], names: Sequence[int]
) -> Counterexample:
    point = smallest_point(lost) or []
    point = point[len(point) - len(dims) - len(names) :]
    iteration = Iteration.from_point(reader.name, [Loop(owner_op(v)).name for v in dims], point)
    coordinates = dict(zip(names, point[len(dims) :], strict=True))
    return Counterexample(
        (iteration,), Element.from_indices(buffer.name, [coordinates.get(d, ":") for d in range(buffer.rank)])
    )


def check_recomputable(block: Block, seen: frozenset[int] = frozenset()) -> None:
    """Refuse unless iterations with equal iters compute equal values, so that one can replace the others.

    An input must be final before the enclosing loops, or written by one block for which the same holds.
    """
    if block.id in seen:
        return
    func = func_of(block.op)
    outputs = writes_of(block)
    for value in dict.fromkeys(a.buffer for a in accesses(block.op) if not a.is_write and a.buffer not in outputs):
        makers = [a.op for a in accesses_to(value, func.op, True)]
        if not any(_under_one_loop(m, block.op) for m in makers):
            continue
        writing = writers(scope_of(block), value)
        reads_itself = len(writing) == 1 and writing[0].init is None and writing[0] in readers(scope_of(block), value)
        if len(writing) != 1 or reads_itself or any(not walk.is_inside(m, writing[0].op) for m in makers):
            refuse(
                block,
                f"{Buffer(value).name}, which the block reads, is not written by one block that "
                "overwrites it; recomputing an element may give another value than keeping it",
                provable=False,
            )
        slots = _slots(func.op, Buffer(value))
        check_written_once(writing[0], Buffer(value), slots)
        check_window(writing[0], Buffer(value), slots, [])
        check_recomputable(writing[0], seen | {block.id})


def check_written_once(block: Block, buffer: Buffer, slots: Slots | None = None) -> None:
    """Refuse if a block writes an element for several values of its iters (reduce iters excepted)."""
    free = {i.var for i in block.iters if i.kind != "R"}
    group = accesses_to(buffer.value, block.op, True)
    with question(f'whether block "{block.name}" writes each element of {buffer.name} once'):
        good = all(_is_plain(a, free) or _is_one_to_one(block, a, slots) for a in group)
    if not good:
        refuse(
            block,
            f'block "{block.name}" writes an element of {buffer.name} in several iterations, so its '
            "value depends on when it is read; recomputing it may give another value than keeping it",
        )
    emit_remark(f"block `{block.name}` writes each element of `{buffer.name}` for one value of its spatial iters")


def _is_plain(access: Access, free: set[ir.Value]) -> bool:
    alone = {v for m in access.mins if (v := m.is_value()) is not None}
    return free <= alone and access.is_point


def _is_one_to_one(block: Block, access: Access, slots: Slots | None) -> bool:
    plain = _drop_modulo(access, slots)
    dom = access_domain(plain, block.op)
    relation = region_map(dom, plain.mins, plain.extents)
    dims = [dom.index_of(i.var) for i in block.iters if i.kind != "R"]
    for position in reversed(range(dom.free, len(dom.dims))):
        if position not in dims:
            relation = relation.project_out(dim_type.in_, position, 1)
    return relation.is_injective()


def _under_one_loop(first: ir.Operation, second: ir.Operation) -> bool:
    level = walk.common_parent([first, second])
    return any(is_loop(p) for p in [level, *parents(level)])


# --- relations --------------------------------------------------------------------------------------------------------


def _slots(root: ir.Operation, buffer: Buffer) -> Slots | None:
    """The dimension that all accesses index modulo its extent, if any."""
    buffer_accesses = accesses_to(buffer.value, root)
    for dim, size in enumerate(buffer.shape):
        if size is not None and all(_undo_modulo(a.mins[dim], size) is not None for a in buffer_accesses):
            return Slots(dim, size)
    return None


def _undo_modulo(index: Index, count: int) -> Index | None:
    """x of `x % count`."""
    expr = index.expr.maybe_downcast()
    if isinstance(expr, ir.AffineModExpr) and ir.AffineConstantExpr(expr.rhs).value == count:
        return Index(expr.lhs, index.values).drop_unused_values()
    return None


def _accessed_elements(block: Block, buffer: Buffer, slots: Slots | None, level: ir.Operation, writes: bool) -> isl.Map:
    """{ iterations of the common loops -> elements } that a block writes or reads, with the modulo of the slots
    undone.
    """
    group = accesses_to(buffer.value, block.op, writes)
    return _union([_relation(a, slots, level) for a in group])


def _drop_modulo(access: Access, slots: Slots | None) -> Access:
    """An access with the modulo in the slots' dimension undone."""
    inner = _undo_modulo(access.mins[slots.dim], slots.count) if slots else None
    if slots is None or inner is None:
        return access
    return replace(access, mins=(*access.mins[: slots.dim], inner, *access.mins[slots.dim + 1 :]))


def _relation(access: Access, slots: Slots | None, level: ir.Operation) -> isl.Map:
    plain = _drop_modulo(access, slots)
    dom = access_domain(plain)
    if access.is_write and not (dom.exact and access.exact):
        raise NotProvable("a write has a condition or an index that isl cannot express")
    return elements_over(dom, plain, level)


def _union(parts: Sequence[isl.Map]) -> isl.Map:
    result = parts[0]
    for part in parts[1:]:
        result = result.union(part)
    return result.coalesce()


def _project(written: isl.Map, read: isl.Map, plain: Sequence[int]) -> tuple[isl.Map, isl.Map, list[int]]:
    """Both relations without the `plain` dimensions that are always written in full, and the dimensions that remain."""
    remaining = list(range(written.dim(dim_type.out)))
    for dim in reversed(plain):
        full = _free_other_dims(written.range(), dim)
        filled = written.project_out(dim_type.out, dim, 1).insert_dims(dim_type.out, dim, 1).intersect_range(full)
        if filled.is_subset(written) and read.range().is_subset(full):
            written, read = written.project_out(dim_type.out, dim, 1), read.project_out(dim_type.out, dim, 1)
            remaining.remove(dim)
    return written, read, remaining


def _free_other_dims(points: isl.Set, dim: int) -> isl.Set:
    """All points whose coordinate `dim` occurs in a set."""
    trailing = points.dim(dim_type.set) - dim - 1
    line = points.project_out(dim_type.set, dim + 1, trailing).project_out(dim_type.set, 0, dim)
    return line.insert_dims(dim_type.set, 1, trailing).insert_dims(dim_type.set, 0, dim)


def _flat(relation: isl.Map) -> isl.Set:
    return relation.wrap().flatten().reset_tuple_id()


def _guarded_writes(written: isl.Map, dims: Sequence[ir.Value], names: Sequence[int], rolls: Sequence[Roll]) -> isl.Set:
    """The points (t, e) at which elements are still written under the guards."""
    points = _flat(written)
    local = isl.LocalSpace.from_space(points.get_space())
    for roll in rolls:
        time = isl.Aff.var_on_domain(local, dim_type.set, list(dims).index(roll.loop.var))
        element = isl.Aff.var_on_domain(local, dim_type.set, len(dims) + list(names).index(roll.dim))
        new = element.sub(to_aff(roll.previous_end.expr, [time], isl.Aff.zero_on_domain(local)))
        first = time.neg().add_constant_val(isl.Val(roll.loop.lower.as_constant() or 0))
        points = points.intersect(nonneg(new).union(nonneg(first)))
    return points.coalesce()


def _overwritten_points(
    written: isl.Set, read: isl.Map, last_writes: isl.Map, times: int, position: int, count: int
) -> isl.Set:
    """The points (t, e) read at which the memory of e may not hold e.

    Between the last write of e and the read, no element may be written that differs by `count` or more in the dimension
    at `position`, and is equal in all others: only such elements share memory with e.
    """
    foreign = _aliasing_writes(written, _flat(read), times, position, count)
    return _keep_not_before(last_writes.flat_range_product(foreign), times).domain()


def _last_writes(written: isl.Set, reads: isl.Set, times: int) -> isl.Map:
    """{ (t, e) -> t' }: the last write of e at or before t."""
    pairs = isl.Map.universe(isl.Space.map_from_domain_and_range(reads.get_space(), written.get_space()))
    for d in range(times, written.dim(dim_type.set)):
        pairs = pairs.equate(dim_type.in_, d, dim_type.out, d)
    pairs = pairs.intersect_domain(reads).intersect_range(written)
    pairs = pairs.project_out(dim_type.out, times, pairs.dim(dim_type.out) - times)
    return pairs.subtract(lex_lt(pairs, list(range(times)))).lexmax()


def _aliasing_writes(written: isl.Set, reads: isl.Set, times: int, position: int, count: int) -> isl.Map:
    """{ (t, e) -> t'' }: writes at or before t to elements that may share memory with e."""
    space = isl.Space.map_from_domain_and_range(reads.get_space(), written.get_space())
    same = isl.Map.universe(space)
    for d in range(times, written.dim(dim_type.set)):
        if d != position:
            same = same.equate(dim_type.in_, d, dim_type.out, d)
    local = isl.LocalSpace.from_space(space)
    far = isl.Map.empty(space)
    for sign in (1, -1):
        gap = isl.Constraint.alloc_inequality(local)
        gap = gap.set_coefficient_val(dim_type.in_, position, isl.Val(-sign))
        gap = gap.set_coefficient_val(dim_type.out, position, isl.Val(sign)).set_constant_val(isl.Val(-count))
        far = far.union(same.add_constraint(gap))
    pairs = far.intersect_domain(reads).intersect_range(written)
    pairs = pairs.project_out(dim_type.out, times, pairs.dim(dim_type.out) - times)
    return pairs.subtract(lex_lt(pairs, list(range(times))))


def _keep_not_before(pairs: isl.Map, times: int) -> isl.Map:
    """{ (t, e) -> (t', t'') } where t'' is not before t'."""
    result = isl.Map.empty(pairs.get_space())
    equal = isl.Map.universe(pairs.get_space())
    for d in range(times):
        result = result.union(equal.order_lt(dim_type.out, d, dim_type.out, times + d))
        equal = equal.equate(dim_type.out, d, dim_type.out, times + d)
    return pairs.intersect(result.union(equal))
