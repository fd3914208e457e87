"""Region of a block's domain that is needed under a loop; used by compute_at and reverse_compute_at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, AccessRelation, access_boxes, relations_of
from tir_mlir.dialect.analysis.accesses import accesses_to
from tir_mlir.dialect.diagnostics import Counterexample, Iteration, NotProvable, emit_remark
from tir_mlir.dialect.ir import Block, Buffer, Index, Iter, Loop, is_inside, is_loop, parents, symbols_by_name, walk
from tir_mlir.dialect.presburger import Domain, dim_type, intervals, question, sets, smallest_point, to_index
from tir_mlir.dialect.verify import covers, half_summed, point_of, point_text
from tir_mlir.passes.schedule.legality import children, full_iters, is_child, is_output, scope_of, writes_of
from tir_mlir.passes.schedule.registry import (
    DECOMPOSE_REDUCTION,
    RUN_FULL_REDUCTION,
    WRAP_IN_BLOCK,
    cache_write_first,
    check,
    refuse,
)


@dataclass(frozen=True)
class IterSpan:
    """The range of an iter under the loop: [low, low + extent), restricted by a guard to its domain if `guarded`, and
    up to each of `last`.
    """

    iter: Iter
    low: Index
    extent: Index
    guarded: bool
    last: tuple[Index, ...] = ()


def note_spans(block: Block, loop: Loop, spans: Sequence[IterSpan], what: str) -> None:
    """Say what a block runs in one iteration of a loop."""
    parts = []
    for span in spans:
        count, total = span.extent.as_constant(), span.iter.extent.as_constant()
        values = "values" if count is None else f"{count} values" if count != 1 else "one value"
        of_total = f" of {total}" if total is not None and count is not None else ""
        parts.append(f"{values}{of_total} of `{span.iter.name}`" + (", inside its domain" if span.guarded else ""))
    ranges = " and ".join(parts) or "one point"
    emit_remark(f"in one iteration of `{loop.name}`, block `{block.name}` runs for {ranges}: {what}")


def check_target(block: Block, loop: Loop) -> None:
    """Refuse unless block and loop share a scope and the loop is not around the block."""
    check(
        is_child(block, scope_of(block)),
        block,
        f'block "{block.name}" is in an init region; only blocks of a body can move',
        DECOMPOSE_REDUCTION,
    )
    if is_inside(block.op, loop.op):
        way = "pass a loop around a consumer of the block, or for reverse_compute_at around a producer"
        text = f'loop {loop.name} is already around block "{block.name}"; the target may not be an ancestor of block '
        refuse(loop, f'{text}"{block.name}"', fix=way)
    if walk.enclosing_block(loop.op) != scope_of(block):
        text = f'loop {loop.name} is not in the scope of block "{block.name}"; both must be under the same block scope'
        refuse(loop, text, fix=_fix_scope(block, loop))
    _check_known_conditions(block, loop)


def _check_known_conditions(block: Block, loop: Loop) -> None:
    """Refuse a condition around one of the two positions that isl cannot express: where the block runs is not known."""
    level = walk.common_parent([block.op, loop.op])
    positions = ((block, f'block "{block.name}"', block.op), (loop, f"loop {loop.name}", loop.op))
    for culprit, name, op in positions:
        if not sets.domain(op, level).exact:
            text = (
                f"{name} is under a condition that depends on data; the moved block might run where it did not before"
            )
            refuse(culprit, text, False, fix="in the program, put the condition into the body of the block")


def _fix_scope(block: Block, loop: Loop) -> str:
    """Fix for a loop inside another block of the scope."""
    outer = next((b for b in children(scope_of(block)) if b != block and is_inside(loop.op, b.op)), None)
    return f'pass a loop around block "{outer.name}", which contains loop {loop.name}' if outer else ""


def check_only_blocks(block: Block, allowed: Sequence[Block]) -> None:
    """Refuse when anything but the given blocks of its scope accesses what `block` writes, and could observe the move.

    Outside the scope, all accesses come before or after all of its body, wherever the block is in it.
    """
    for buffer in writes_of(block):
        for access in accesses_to(buffer, scope_of(block).op):
            if not any(is_inside(access.op, b.op) for b in allowed):
                user = walk.enclosing_block(access.op)
                where = f"by {user}" if user != scope_of(block) else "outside any block"
                refuse(
                    user,
                    f"{Buffer(buffer).name} is also used {where}, which would observe that block "
                    f'"{block.name}" has moved',
                    fix=cache_write_first(block) if user != scope_of(block) else WRAP_IN_BLOCK,
                )


def check_full_reduction(block: Block) -> None:
    """Refuse a reduction of which only some iterations run (under `k <= i`): under other loops all of them would."""
    skipped = half_summed(block, full_iters(block))
    if skipped is not None:
        refuse(
            block,
            f'block "{block.name}" runs only part of its reduction: not {point_text(block, skipped)}; '
            "moved, it would run all of it",
            counterexample=Counterexample((point_of(block, skipped),)),
            fix=RUN_FULL_REDUCTION,
        )


def unfinished_iter(producer: Block, loop: Loop) -> tuple[Iter, Loop] | None:
    """A reduce iter of the producer run by `loop` or a parent of it, and that loop: values may not be final there."""
    loops = [lp for p in [loop.op, *parents(loop.op)] if is_loop(p) and (lp := Loop(p)).const_extent != 1]
    for it in producer.iters:
        for outer in loops:
            if it.kind == "R" and outer.var in it.binding.values and is_inside(producer.op, outer.op):
                return it, outer
    return None


def check_finished(
    producer: Block, loop: Loop, consequence: str = "", counterexample: Counterexample | None = None
) -> None:
    """Refuse if `loop` or a parent of it runs a reduction of the producer. `consequence`: why that matters here."""
    unfinished = unfinished_iter(producer, loop)
    if unfinished is not None:
        it, outer = unfinished
        text = f'under loop {outer.name} the reduction of block "{producer.name}" is not finished: it runs over iter '
        way = f"choose a loop outside {outer.name}"
        refuse(
            loop, f"{text}{it.name}{f'; {consequence}' if consequence else ''}; {way}", counterexample=counterexample
        )


# --- regions as relations over the loops around the new position ------------------------------------------------------


@dataclass
class LoopSpace:
    """The loops around (and including) a loop as dimensions of the relations below."""

    loop: Loop
    dims: list[ir.Value]
    dom: Domain

    @staticmethod
    def from_loop(loop: Loop) -> LoopSpace:
        inner = loop.body.operations[0].operation
        dom = sets.domain(inner)
        return LoopSpace(loop, dom.dims, dom)


def accessed_under(
    space: LoopSpace, relations: Sequence[AccessRelation], exact: bool, free: Sequence[ir.Value] = ()
) -> isl.Map:
    """{ loops of `space` -> elements } of some accesses under it; without guards and ranges unless `exact`.

    `free`: variables of loops in `space`; accesses of any of their iterations count for all of them.
    """
    count = len(space.dims)
    result: isl.Map | None = None
    for touch in relations:
        relation = _touch_map(touch, exact, [n for n, dim in enumerate(space.dims) if dim not in free])
        part = relation.project_out(dim_type.in_, count, relation.dim(dim_type.in_) - count)
        for number in (n for n, dim in enumerate(space.dims) if dim in free):
            part = part.project_out(dim_type.in_, number, 1).insert_dims(dim_type.in_, number, 1)
        result = part if result is None else result.union(part)
    assert result is not None
    return result


def _touch_map(touch: AccessRelation, exact: bool, fixed: Sequence[int]) -> isl.Map:
    access = touch.access
    if exact:
        return sets.region_map(touch.dom, access.mins, access.extents)
    dom = sets.domain(access.op, extra=access.indices, guards=False)
    for number in fixed:
        dom.set = dom.set.drop_constraints_involving_dims(dim_type.set, number, 1)
    return sets.region_map(dom, access.mins, access.extents)


def iter_map(block: Block, touch_list: Sequence[AccessRelation], iters: Sequence[Iter], bounded: bool) -> isl.Map:
    """{ iters of the block -> elements accessed }, over the domains of the iters when `bounded`."""
    result: isl.Map | None = None
    for touch in touch_list:
        access = touch.access
        dom = sets.domain(access.op, block.op, access.indices)
        keep = [dom.index_of(i.var) for i in iters]
        if not bounded:
            for position in keep:
                dom.set = dom.set.drop_constraints_involving_dims(dim_type.set, position, 1)
        relation = sets.region_map(dom, access.mins, access.extents)
        for position in reversed(range(len(dom.dims))):
            if position not in keep:
                relation = relation.project_out(dim_type.in_, position, 1)
        result = relation if result is None else result.union(relation)
    assert result is not None
    return result


def needed_spans(
    space: LoopSpace, needed: isl.Map, loose: isl.Map, iters: Sequence[Iter], body_domain: Domain
) -> list[IterSpan]:
    """The bounding box of the iter values in { loops -> iter values }, one span for each iter.

    Bounds of `needed`, which is exact, are used if they are single expressions with a constant extent; else those of
    `loose` (without ranges and guards). Either gets a guard if it may exceed the iter's domain. Exact bounds may do so
    in iterations that need nothing, so if there are such iterations `loose` is preferred.
    """
    spans = []
    always = space.dom.set.is_subset(needed.domain())
    symbols = symbols_by_name(space.loop.op)
    for number, it in enumerate(iters):
        bounds = _preferred_bounds(needed, loose, always, lambda r, n=number: _bounds(r, n, space.dims, symbols))
        if bounds is None:
            spans.append(IterSpan(it, it.min, it.extent, False))
        else:
            spans.append(IterSpan(it, *bounds, leaves_domain(bounds, it, body_domain)))
    return spans


def _preferred_bounds(
    needed: isl.Map, loose: isl.Map, always: bool, bounds_of: Callable[[isl.Map], tuple[Index, Index] | None]
) -> tuple[Index, Index] | None:
    """The bounds of `needed` or `loose`, see `needed_spans`; isl is asked only for those that may be used."""
    wide = None if always else bounds_of(loose)
    if wide is not None and wide[1].as_constant() is not None:
        return wide
    tight = bounds_of(needed)
    if tight is not None and tight[1].as_constant() is not None:
        return tight
    wide = bounds_of(loose) if always else wide
    return tight if wide is None else wide


def run_by_spans(space: LoopSpace, spans: Sequence[IterSpan]) -> isl.Map:
    """{ loops -> iter values } of the instances that the spans run, within the iters' domains."""
    runs = sets.region_map(space.dom, [s.low for s in spans], [s.extent for s in spans])
    return runs.intersect(sets.region_map(space.dom, [s.iter.min for s in spans], [s.iter.extent for s in spans]))


def _bounds(
    relation: isl.Map, number: int, dims: Sequence[ir.Value], symbols: dict[str, ir.Value]
) -> tuple[Index, Index] | None:
    """Lower bound and extent of one output dimension, or None if they are not single affine expressions."""
    try:
        with question("the bounds of a region"):
            context = relation.domain()
            ends: list[isl.Aff] = []
            for bound in (relation.dim_min(number), relation.dim_max(number)):
                pieces = bound.coalesce().gist(context).get_pieces()
                if len(pieces) != 1:
                    return None
                ends.append(pieces[0][1])
            low, high = (to_index(end, dims, symbols) for end in ends)
            extent = (high - low + 1).simplify()
            if extent.as_constant() is None and (last := _constant(ends[1].sub(ends[0]), context)) is not None:
                extent = Index.constant(last + 1)  # remainders that are not simplified, as i mod 2 + (i + 1) mod 2
            return low, extent
    except NotProvable:
        return None


def _constant(aff: isl.Aff, points: isl.Set) -> int | None:
    """The value of an expression if it is the same at all points."""
    values = aff.to_pw_aff().intersect_domain(points)
    low, high = values.min_val(), values.max_val()
    return low.to_python() if low.is_int() and low.eq(high) else None


def leaves_domain(span: tuple[Index, Index], it: Iter, body_domain: Domain) -> bool:
    """Whether [low, low + extent) may exceed the domain of the iter."""
    low, extent = span
    margins = (low - it.min, it.min + it.extent - low - extent)
    return not all(sets.holds(body_domain, index) for index in margins)


def box_spans(
    found_beneath: Sequence[Access],
    block_accesses: Sequence[Access],
    loop: Loop,
    iters: Sequence[Iter],
    dense: bool,
    free: Sequence[ir.Value] = (),
) -> list[IterSpan] | None:
    """Fast path: the spans if the elements under `loop` are a plain box, and the block accesses one element, indexed by
    iters alone.

    `dense`: every element of the box must be accessed (a consumer may run only where all of it has been written).
    `free`: as in `elements`.
    """
    if not found_beneath or not all(a.is_point for a in block_accesses) or len({a.mins for a in block_accesses}) != 1:
        return None
    box = access_boxes.access_box(found_beneath, loop.op, free)
    if box is None or (dense and not box.dense):
        return None
    span_of = {}
    for index, low, extent in zip(block_accesses[0].mins, box.mins, box.extents, strict=True):
        value = index.is_value()
        if value is None or value in span_of:
            return None
        span_of[value] = low, extent
    if {i.var for i in iters} != set(span_of):
        return None
    ranges = intervals.body_ranges(loop.op)
    result = []
    for it in iters:
        low, extent = span_of[it.var]
        result.append(IterSpan(it, low, extent, not intervals.is_in_range(low, extent, it.min, it.extent, ranges)))
    return None if any(s.guarded for s in result) else result


# --- new iterations ---------------------------------------------------------------------------------------------------


def run_before(block: Block, space: LoopSpace, iters: Sequence[Iter], shared: int, guards: bool = True) -> isl.Map:
    """{ loops of `space` -> iter values } of the instances at the old position, in the same iteration of the outermost
    `shared` loops. Without `guards`, also of those that guards exclude.
    """
    dom = sets.domain(block.op, guards=guards)
    old_runs = dom.map([i.binding for i in iters]) if iters else dom.relation([dom.zero])
    old_runs = old_runs.project_out(dim_type.in_, shared, len(dom.dims) - shared)
    return space.dom.map([Index.from_value(v) for v in space.dims[:shared]]).apply_range(old_runs)


def check_no_new_iterations(block: Block, loop: Loop, spans: Sequence[IterSpan]) -> None:
    """Refuse to run additional iterations with a visible effect: on a buffer outside the scope, or on an element that
    an existing iteration writes too. A guard, or bindings with strides, may exclude such iterations today.
    """
    if covers(block):
        return
    full = {i.name for i in full_iters(block)}
    spatial_spans = [s for s in spans if s.iter.name not in full]
    space, iters, scope = LoopSpace.from_loop(loop), [s.iter for s in spatial_spans], scope_of(block)
    with question(f'whether block "{block.name}" runs the same iterations under loop {loop.name}'):
        old_runs = run_before(block, space, iters, sum(map(is_loop, parents(scope.op))))
        gained = run_by_spans(space, spatial_spans).subtract(old_runs).range()
        if not is_output(block):
            written = [t for b in writes_of(block) for t in relations_of(block.op, b) if t.access.is_write]
            same = _iters_sharing_element(block, written, iters)
            gained = gained.intersect(same.intersect_range(old_runs.range()).domain())
        point = smallest_point(gained) if spatial_spans else None
    if point is not None:
        example = Iteration.from_point(block.name, [i.name for i in iters], point[len(point) - len(iters) :])
        refuse(
            loop,
            f'block "{block.name}" skips iterations of its domain; under loop {loop.name} they would '
            f"run, as {Counterexample((example,))}",
            counterexample=Counterexample((example,)),
            fix="move it before the step that excluded them, or, in the program, shrink its domain to "
            "what its loops run",
        )


def _iters_sharing_element(block: Block, written: Sequence[AccessRelation], iters: Sequence[Iter]) -> isl.Map:
    """{ iter values -> others } that write a common element."""
    result: isl.Map | None = None
    for touch in written:
        touched = iter_map(block, [touch], iters, True)
        part = touched.apply_range(touched.reverse())
        result = part if result is None else result.union(part)
    assert result is not None
    return result.subtract(isl.Map.identity(result.get_space()))
