"""transform_block_layout: apply an index map to the iters of a block and the loops around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import (
    AccessRelation,
    conflicting,
    dependences,
    is_reduction_pair,
    same_element,
    update_store,
    witness,
    written_groups,
)
from tir_mlir.dialect.diagnostics import Counterexample, Iteration, NotProvable, TirError, emit_remark
from tir_mlir.dialect.index_maps import IndexMap, by_sizes, check_start, collision_text
from tir_mlir.dialect.ir import (
    Block,
    Index,
    IterSpec,
    Loop,
    access_indices,
    attrs,
    create,
    edit,
    freeze_modules,
    is_inside,
    is_loop,
    loops_above,
    parents,
    read_apply,
    walk,
)
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineParallelOp, ApplyOp, isa
from tir_mlir.dialect.presburger import dim_type, only_where, question
from tir_mlir.dialect.symbolic import IntExpr, names_in
from tir_mlir.passes.schedule.edits import EXPANDABLE, expand_affine_op, is_affine_value, replace_iters
from tir_mlir.passes.schedule.edits.block_iters import IterMapping
from tir_mlir.passes.schedule.layout.apply_layout import LayoutChange, simplify_indices
from tir_mlir.passes.schedule.layout.layout_by_sizes import LayoutBySizes, inverse_by_digits
from tir_mlir.passes.schedule.legality.ordered_iters import is_only_declared
from tir_mlir.passes.schedule.registry import (
    AVOID_GUARD,
    SEPARATE_NESTS,
    USE_ONE_BOUND,
    check,
    check_no_thread,
    primitive,
    refuse,
    start_at_zero,
    warn,
    warn_serial,
)


@primitive("transform_block_layout", moves="in place")
def transform_block_layout(block: Block, index_map: IndexMap) -> None:
    """Apply an index map to the iters of a block, and rebuild the loops around it over the new iters.

        for i in range(64):                         for ax0, ax1 in T.grid(4, 16):
            with T.block("B"):                          with T.block("B"):
                vi = T.axis.spatial(64, i)      ->          v0, v1 = T.axis.remap("SS", [ax0, ax1])
                B[vi] = ...                                 B[v0 * 16 + v1] = ...

    Each iteration of the block still runs once. The new loops are serial, without annotations (a `ScheduleWarning` says
    so).

    Requires: the loops around the block form a perfect nest and start at 0, and each iter is bound to one of them, in
    order; the map is a bijection onto a box; each new iter depends on old iters of one kind (unit iters count as
    spatial); no dependence is reversed (except that a reduction may run in any order). A map that divides by sizes or
    multiplies with them splits spatial iters into digits (`i // n, i % n` for an extent `m * n`) or joins digits
    (`i * n + j`, n the extent of j).
    """
    with freeze_modules():
        loops = _nest(block)
        map_ = _map_over(block, index_map)
    if not map_.is_affine:
        _transform_by_sizes(block, loops, map_)
        return
    with freeze_modules():
        change = _change(block, map_)
        check(len(change.shape) > 0, block, f"the map {map_} has no results; a block needs at least one iter")
        kinds = [_kind(block, change, n) for n in range(len(change.shape))]
        _check_order(block, loops, change)
        extents = change.shape
        _warn_of_annotations(loops)

    warn_serial(loops, "transform_block_layout")
    old = [i.var for i in block.iters]

    def old_iter_values(values: Sequence[Index]) -> Mapping[ir.Value, Index]:
        return dict(zip(old, change.preimage(values), strict=True))

    _simplify(_rebuild_block(block, loops, kinds, extents, old_iter_values))


def _check_order(block: Block, loops: Sequence[Loop], change: LayoutChange) -> None:
    """Refuse an order of iterations that reverses a dependence."""
    ordered = any(i.kind != "S" and i.extent.as_constant() != 1 for i in block.iters)
    clash = _reversed_dependence(loops, change) if ordered or is_only_declared(block) else None
    if clash is not None:
        refuse(loops[0], f"in the order of {change.map} a dependence would run backwards: {clash}", True, clash)
    _note_map(block, change.map)
    emit_remark(f"in the order of {change.map} no dependence between iterations of block `{block.name}` runs backwards")


def _note_map(block: Block, map_: IndexMap) -> None:
    emit_remark(f"the map {map_} takes the iterations of block `{block.name}` one to one onto a box: each runs once")


def _rebuild_block(
    block: Block, loops: Sequence[Loop], kinds: Sequence[str], extents: Sequence[Index], back: IterMapping
) -> Block:
    """The block over new iters, in new loops instead of the old ones."""
    top = loops[0].op
    new: list[Loop] = []
    with ir.InsertionPoint(top), top.location:
        for number, extent in enumerate(extents):
            with create.at_end(new[-1].body) if new else ir.InsertionPoint(top):
                new.append(create.loop(f"ax{number}", 0, extent))
    edit.move_before(block.op, list(new[-1].body.operations)[-1])
    parts = zip(kinds, extents, new, strict=True)
    wide = any(i.is_wide for i in block.iters)
    specs = [
        IterSpec(f"v{n}", kind, 0, size, Index.from_value(lp.var), wide) for n, (kind, size, lp) in enumerate(parts)
    ]
    new_block = replace_iters(block, specs, back)
    edit.erase(top)
    return new_block


def _map_over(block: Block, map_: IndexMap) -> IndexMap:
    """The map over the iters of a block."""
    try:
        return IndexMap.wrap(map_, len(block.iters))
    except TirError as error:
        refuse(block, str(error))


# --- maps that divide by sizes ----------------------------------------------------------------------------------------


def _transform_by_sizes(block: Block, loops: Sequence[Loop], map_: IndexMap) -> None:
    """Apply a map that divides by sizes or multiplies with them: values of old iters that are not affine are computed
    in the block.
    """
    for it in block.iters:
        if it.kind != "S" or is_only_declared(block):
            text = f"the order of a map that divides by sizes, {map_}, is not compared with that of iter {it.name}"
            refuse(block, text, provable=False, fix="use a map with constants, or spatial iters alone")
    extents = [i.extent for i in block.iters]
    try:
        change = LayoutBySizes.from_extents(map_, extents, block.op)
        inverse = inverse_by_digits(map_, extents, block.op)
    except NotProvable:
        raise
    except TirError as error:
        refuse(block, str(error))
    old = [i.var for i in block.iters]
    _note_map(block, map_)
    _check_uses(block, [var for var, term in zip(old, inverse.terms, strict=True) if by_sizes(term)])
    _warn_of_annotations(loops)
    warn_serial(loops, "transform_block_layout")

    def old_iter_values(values: Sequence[Index]) -> Mapping[ir.Value, Index]:
        body = values[0].values[0].owner
        assert isinstance(body, ir.Block)  # of the block's new iters
        with create.at_end(body), block.op.location:
            mapping = dict(zip(old, LayoutBySizes(inverse, [], change.symbols).image(values), strict=True))
        for op in walk.ops(block.op)[1:]:
            if isa(op, *EXPANDABLE) and not all(map(is_affine_value, _values(op, mapping))):
                expand_affine_op(op, mapping)
        return mapping

    _rebuild_block(block, loops, ["S"] * len(change.shape), change.shape, old_iter_values)


def _values(op: ir.Operation, mapping: Mapping[ir.Value, Index]) -> list[ir.Value]:
    """The values in the indices of an access, or in the expression of an `affine.apply`, after the change."""
    indices = [read_apply(op.results[0])] if isa(op, ApplyOp) else access_indices(op)
    return [v for index in indices for v in index.substitute(mapping).values]


def _check_uses(block: Block, variables: Sequence[ir.Value]) -> None:
    """Refuse where iters that are computed are used by more than accesses and computations in the block."""
    for key in (attrs.READS, attrs.WRITES):
        if key in block.op.attributes:
            refuse(block, f'block "{block.name}" declares its regions, which would not be affine in the new iters')
    for variable in variables:
        for use in variable.uses:
            user = use.owner.operation
            if isa(user, ApplyOp):
                _check_uses(block, [user.results[0]])
            elif not isa(user, *EXPANDABLE) and not user.name.startswith("arith."):
                refuse(user, f"{user.name} uses an iter whose value would not be affine any more")


def _warn_of_annotations(loops: Sequence[Loop]) -> None:
    """Warn of annotations that end with the loops."""
    for loop in loops:
        if loop.annotations:
            keys = ", ".join(sorted(loop.annotations))
            warn(f"transform_block_layout replaces loop {loop.name} and drops its annotations ({keys})")


def _nest(block: Block) -> list[Loop]:
    """The loops around a block: plain, perfectly nested, each bound to the iter at its position."""
    loops, iters = loops_above(block.op), block.iters
    check(
        block.where is None,
        block,
        f'block "{block.name}" has a guard (T.where); its iterations are not a box',
        AVOID_GUARD,
    )
    check(
        len(loops) == len(iters) > 0,
        block,
        f'block "{block.name}" has {len(iters)} iters in {len(loops)} loops; each iter must be bound to its own loop',
        "apply this before split or fuse; in the program, bind each iter to a loop of its own",
    )
    bodies = [*[lp.op for lp in loops[1:]], block.op]
    for loop, it, inner in zip(loops, iters, bodies, strict=True):
        check_no_thread(loop, "transform_block_layout")
        if loop.body_ops() != [inner]:
            text = f'the body of loop {loop.name} contains more than the nest of block "{block.name}"'
            refuse(loop, text, fix=SEPARATE_NESTS)
        plain = len(loop.lowers) == len(loop.uppers) == 1 and loop.lower.as_constant() == 0
        way = USE_ONE_BOUND if len(loop.uppers) > 1 else start_at_zero(loop)
        check(plain, loop, f"loop {loop.name} does not run from 0 to one extent", way)
        var = it.binding.is_value()
        bound = var is not None and var == loop.var and it.min.as_constant() == 0 and it.extent.is_equal_to(loop.upper)
        text = f"iter {it.name} is not bound to loop {loop.name} over its whole range; blockize first"
        turned = var is not None and var != loop.var
        check(bound, block, text, "reorder_block_iter_var lists the iters in the order of the loops" if turned else "")
    return loops


def _change(block: Block, map_: IndexMap) -> LayoutChange:
    """The map over the domain of a block. Refuses one that is not a bijection onto a box."""
    iters = block.iters
    try:
        change = LayoutChange.from_extents(map_, [i.extent for i in iters], block.op)
        with question(f"where {map_} maps the iterations of block {block.name}"):
            check_start(map_, change.layout)
            collision = change.layout.collision
            holes = change.layout.holes
    except NotProvable:
        raise
    except TirError as error:
        refuse(block, str(error))
    if collision is not None:
        text = collision_text(map_, collision)
        names = [i.name for i in iters]
        pair = tuple(Iteration.from_point(block.name, names, p) for p in (collision.first, collision.second))
        example = Counterexample(pair, sizes=tuple(collision.sizes.items()))
        refuse(
            block,
            f'the map {map_} maps two iterations of block "{block.name}" to the same point: {text}',
            True,
            example,
        )
    if not holes.is_empty():
        where = change.holes_text()
        why = f"leaves points without an iteration, where {where}{only_where(holes, block.op)}"
        refuse(block, f"the map {map_} {why}; a block runs over a box: use a map that fills one")
    return change


def _kind(block: Block, change: LayoutChange, number: int) -> str:
    """The kind of a new iter: that of the old iters it depends on."""
    if change.shape[number].as_constant() == 1:
        return "S"
    term: IntExpr = change.map.terms[number]
    names = names_in(term)
    parts = [i for i, name in zip(block.iters, change.map.names, strict=True) if name in names]
    kinds = {i.kind for i in parts if i.extent.as_constant() != 1}
    if len(kinds) > 1:
        words = {"S": "spatial", "R": "reduce", "O": "ordered"}
        listed = ", ".join(f"{i.name} is {words[i.kind]}" for i in parts)
        refuse(block, f"the new iter {term} mixes kinds: {listed}; a new iter must depend on iters of one kind")
    return kinds.pop() if kinds else "S"


# --- dependences ------------------------------------------------------------------------------------------------------


def _reversed_dependence(loops: Sequence[Loop], change: LayoutChange) -> Counterexample | None:
    """A dependence that the new order reverses, or None.

    Iterations that differ in a spatial iter are independent, and those of one reduction may run in any order.
    """
    depth = len([p for p in parents(loops[0].op) if is_loop(p)])
    order = [Index.wrap(i) for i in change.image([Index.from_value(lp.var) for lp in loops])]
    inits = [init for block in walk.blocks_below(loops[-1].op) if (init := block.init) is not None]
    for group in written_groups(loops[-1].op):
        starts = [any(is_inside(t.access.op, init) for init in inits) for t in group]
        sums = {update_store(t.access.op) for t, start in zip(group, starts, strict=True) if not start}
        if len(sums) == 1 and None not in sums:
            continue
        for a, b in conflicting(group):
            if is_reduction_pair(a, b):
                continue
            with question("whether the new order keeps every dependence"):
                clash = same_element(a, b)
                for level in range(depth):
                    clash = clash.equate(dim_type.in_, level, dim_type.out, level)
                clash = clash.intersect(dependences.lex_lt(clash, [depth + i for i in range(len(loops))]))
                clash = clash.intersect(_ordered_after(a, b, order))
                if not clash.is_empty():
                    return witness(a, b, clash)
    return None


def _ordered_after(a: AccessRelation, b: AccessRelation, order: Sequence[Index]) -> isl.Map:
    """{ iteration of a -> iteration of b } where the map orders the first after the second."""
    order_of_a, order_of_b = a.dom.map(order), b.dom.map(order)
    later = isl.Map.lex_gt(order_of_a.range().get_space())
    return order_of_a.apply_range(later).apply_range(order_of_b.reverse())


def _simplify(block: Block) -> None:
    """Simplify indices and bindings in the body under the ranges of the new iters."""
    for op in walk.ops(block.op)[1:]:
        if isa(op, AffineElementAccessOp):
            better = iter(simplify_indices(op, walk.access_indices(op)))
        elif isa(op, AffineParallelOp):
            better = iter(simplify_indices(op, Block(op).bindings or [Index.constant(0)]))
        else:
            continue
        edit.rewrite_indices(op, lambda _, better=better: next(better))
