"""merge: fuse adjacent loop nests of equal shape into one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import AccessRelation, dependences, relations_of, same_element
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Index, Loop, create, edit, is_loop, only_reads, parents, walk
from tir_mlir.dialect.ir.op_views import AffineIfOp, isa
from tir_mlir.dialect.presburger import dim_type, question
from tir_mlir.passes.schedule.edits import keeps_region_order
from tir_mlir.passes.schedule.registry import (
    MOVE_UNDER_ONE_LOOP,
    check,
    check_from_zero,
    check_only_inner,
    check_plain,
    primitive,
    refuse,
    warn_serial,
)

Nest = list[Loop]  # from the child of the common ancestor of all nests down to the given loop


@primitive("merge", moves="in place")
@keeps_region_order
def merge(*loops: Loop) -> Loop:
    """Merge adjacent loop nests of equal shape into one that runs their bodies one after the other.

        for i in range(n):                      for i_m in range(n):
            first(i)                                first(i_m)
        for j in range(n):              ->          second(i_m)
            second(j)

    The new nest has the shape of the first one, replaces the nest of the last loop, and contains the bodies in the
    order of the arguments. All its loops are serial; the innermost is returned.

    Requires: at least two loops at equal depth below their common ancestor, with equal extents from there down; each
    loop is the only op in its parent's body, has no annotation or thread binding, and starts at 0. No dependence may be
    reversed, neither between the nests nor with the ops between them.
    """
    if len(loops) < 2:
        raise ValueError(f"merge needs at least two loops, not {len(loops)}")
    check(len({lp.id for lp in loops}) == len(loops), loops[0], "a loop is passed twice; merge needs distinct loops")
    top = walk.common_parent([lp.op for lp in loops])
    nests = [_nest(top, lp) for lp in loops]
    for nest in nests[1:]:
        _check_same_shape(nests[0], nest)
    _check_order(top, nests)
    names = ", ".join(f"`{loop.name}`" for loop in loops)
    emit_remark(f"the nests of {names} have one shape, and no access of one comes before what it depends on in another")
    warn_serial([lp for nest in nests for lp in nest], "merge")
    return _rewrite(nests)


def _nest(top: ir.Operation, loop: Loop) -> Nest:
    """The loops from the child of `top` down to `loop`, a perfect nest of plain loops."""
    nest: Nest = []
    for op in [loop.op, *parents(loop.op)]:
        if op == top:
            break
        if not is_loop(op):
            what = "a condition" if isa(op, AffineIfOp) else "a block"
            refuse(
                loop,
                f"there is {what} between loop {loop.name} and the common ancestor of the loops; merge "
                "needs loops only",
                fix="merge loops further out, or apply this before the step that made it" if what == "a block" else "",
            )
        nest.insert(0, Loop(op))
    for outer, inner in itertools.pairwise(nest):
        check_only_inner(outer, inner, "; merge needs a perfect nest")
    for nest_loop in nest:
        check_plain(nest_loop, "merge")
        check_from_zero(nest_loop, "merge")
    return nest


def _check_same_shape(first: Nest, second: Nest) -> None:
    """Refuse unless the loops of two nests have pairwise equal extents."""
    if len(first) != len(second):
        refuse(
            second[-1],
            f"loop {second[-1].name} is {len(second)} deep below its common ancestor with loop "
            f"{first[-1].name}, which is {len(first)} deep; merge needs equal depths",
            fix=_fix_depth(*sorted((first, second), key=len)),
        )
    renamed = {lp.var: Index.from_value(new.var) for lp, new in zip(second, first, strict=True)}
    for first_loop, two in zip(first, second, strict=True):
        extent = two.upper.substitute(renamed)
        if not first_loop.upper.is_equal_to(extent):
            sizes = [
                n if n is not None else "a symbolic number of" for n in (first_loop.const_extent, two.const_extent)
            ]
            refuse(
                two,
                f"loop {two.name} runs {sizes[1]} times, loop {first_loop.name} {sizes[0]} times; merge needs equal "
                "extents",
                fix=_fix_extent(first_loop, two),
            )


def _fix_depth(short: Nest, long: Nest) -> str:
    """Fix for loops of different depth: the parent of the deeper one at the depth of the other."""
    outer = long[len(short) - 1]
    if outer == short[-1]:
        return "fuse combines loops that are nested in one another"
    return f"pass loop {outer.name} instead of {long[-1].name}"


def _fix_extent(first: Loop, two: Loop) -> str:
    """Fix for loops of different extent: split the longer one."""
    sizes = first.const_extent, two.const_extent
    if sizes[0] is None or sizes[1] is None:
        return "compute_at or reverse_compute_at moves a block under a loop of another extent"
    longer = first if sizes[0] > sizes[1] else two
    return f"split loop {longer.name} by [{min(sizes)}, None] and merge its outer part"  # type: ignore[type-var]


# --- dependences ------------------------------------------------------------------------------------------------------


@only_reads
def _check_order(top: ir.Operation, nests: Sequence[Nest]) -> None:
    """Refuse to reverse a dependence."""
    depth = len([p for p in [top, *parents(top)] if is_loop(p)])
    tops = [walk.position(nest[0].op) for nest in nests]
    body = list(nests[0][0].op.block.operations)
    written = {a.buffer for nest in nests for a in accesses(nest[0].op) if a.is_write}
    for position in range(min(tops), max(tops) + 1):
        if position not in tops:
            written |= {a.buffer for a in accesses(body[position].operation) if a.is_write}
    touches = [_touches(nest[0].op, written) for nest in nests]
    for p in range(len(nests)):
        for q in range(len(nests)):
            if tops[p] < tops[q]:
                _check_pair(touches[p], touches[q], depth, len(nests[0]), swapped=q < p)
    for p, nest in enumerate(nests):
        for position in range(min(tops[p], tops[-1]) + 1, max(tops[p], tops[-1])):
            if position not in tops:
                _check_crossing(
                    nest, touches[p], _touches(body[position].operation, written), depth, tops[p] < position
                )


def _touches(root: ir.Operation, buffers: set[ir.Value]) -> list[AccessRelation]:
    return [t for buffer in buffers for t in relations_of(root, buffer)]


def _clash(a: AccessRelation, b: AccessRelation, depth: int) -> isl.Map | None:
    """Pairs of iterations of a and b that access the same element, within one iteration of their common loops."""
    if a.access.buffer != b.access.buffer or not (a.access.is_write or b.access.is_write):
        return None
    clash = same_element(a, b)
    for level in range(depth):
        clash = clash.equate(dim_type.in_, level, dim_type.out, level)
    return clash


def _check_pair(
    first: Sequence[AccessRelation], second: Sequence[AccessRelation], depth: int, count: int, swapped: bool
) -> None:
    """Dependences from `first` to `second`: in the merged nest an iteration of `first` may not run after its target."""
    dims = [depth + n for n in range(count)]
    for a in first:
        for b in second:
            with question("whether the merged loops keep every dependence"):
                clash = _clash(a, b, depth)
                if clash is None:
                    continue
                late = dependences.lex_lt(clash, dims, swap=True)
                if swapped:
                    equal = isl.Map.universe(clash.get_space())
                    for dim in dims:
                        equal = equal.equate(dim_type.in_, dim, dim_type.out, dim)
                    late = late.union(equal)
                clash = clash.intersect(late)
                if clash.is_empty():
                    continue
            witness = dependences.witness(a, b, clash)
            text = f"merged, a dependence would run backwards: {witness}"
            refuse(
                walk.enclosing_block(b.access.op),
                text,
                counterexample=witness,
                fix="pass the loops in program order" if swapped else MOVE_UNDER_ONE_LOOP,
            )


def _check_crossing(
    nest: Nest, nest_relations: Sequence[AccessRelation], passed: Sequence[AccessRelation], depth: int, down: bool
) -> None:
    """Dependences between a nest and the ops it moves across."""
    for a in nest_relations:
        for b in passed:
            with question("whether a nest may move to the last one"):
                clash = _clash(a, b, depth)
                if clash is None or clash.is_empty():
                    continue
            where = "after" if down else "before"
            witness = dependences.witness(a, b, clash)
            refuse(
                walk.enclosing_block(b.access.op),
                f"the nest of loop {nest[0].name} would move to {where} the ops between it and the last "
                f"one, and the two depend on each other: {witness}",
                counterexample=witness,
                fix="merge the loops of those ops as well, or inline them",
            )


# --- the rewrite ------------------------------------------------------------------------------------------------------


def _rewrite(nests: Sequence[Nest]) -> Loop:
    variables: dict[ir.Value, Index] = {}
    ip = ir.InsertionPoint(nests[-1][0].op)
    merged: Nest = []
    for old in nests[0]:
        with ip, old.op.location:
            upper, wide = old.upper.substitute(variables), old.is_wide
            merged.append(create.loop(f"{old.name}_m", 0, upper, wide=wide))
        variables[old.var] = Index.from_value(merged[-1].var)
        ip = create.at_end(merged[-1].body)
    for nest in nests:
        edit.move_body(nest[-1].body, merged[-1].body)
        edit.substitute({lp.var: Index.from_value(new.var) for lp, new in zip(nest, merged, strict=True)})
        edit.erase(nest[0].op)
    return merged[-1]
