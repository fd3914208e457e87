"""merge: nests that stand side by side become one."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import AccessRelation, dependences, relations_of, same_element
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Index, Loop, create, edit, is_loop, only_reads, parents, walk
from tir_mlir.dialect.presburger import dim_type, question
from tir_mlir.passes.schedule.edits import keeps_region_order
from tir_mlir.passes.schedule.legality import UNDER_ONE, beneath, check_from_zero, check_plain
from tir_mlir.passes.schedule.registry import check, primitive, refuse

Nest = list[Loop]  # from the child of what holds all nests down to the loop that was given


@primitive("merge")
@keeps_region_order
def merge(*loops: Loop) -> Loop:
    """Merge the loops of nests that stand side by side: one nest runs what they held, one after the other.

        for i in range(n):                      for i_m in range(n):
            first(i)                                first(i_m)
        for j in range(n):              ->          second(i_m)
            second(j)

    The new nest has the shape of the first one, stands where the nest of the last loop stood, and holds the bodies in
    the order of the arguments. All its loops are serial; the innermost is returned.

    Requires: two loops or more, equally deep below what holds them all, with the same extents from there down, each
    the only thing in the loop around it, without annotations or thread bindings, starting at 0. No two iterations that
    touch one element, one of them writing, may change places, neither among the nests nor with what stands between.
    """
    if len(loops) < 2:
        raise ValueError(f"merge takes two loops or more, not {len(loops)}")
    check(len({lp.id for lp in loops}) == len(loops), loops[0], "a loop is named twice; merge takes different loops")
    top = walk.common_parent([lp.op for lp in loops])
    nests = [_nest(top, lp) for lp in loops]
    for nest in nests[1:]:
        _check_same_shape(nests[0], nest)
    _check_order(top, nests)

    return _rewrite(nests)


def _nest(top: ir.Operation, loop: Loop) -> Nest:
    """The loops from the child of `top` down to `loop`: a perfect nest of plain loops."""
    nest: Nest = []
    for op in [loop.op, *parents(loop.op)]:
        if op == top:
            break
        if not is_loop(op):
            what = "a condition" if op.name == "affine.if" else "a block"
            refuse(
                loop,
                f"between loop {loop.name} and what it shares with the others stands {what}; merge loops only",
                fix="merge loops further out, or do so before the step that made it" if what == "a block" else "",
            )
        nest.insert(0, Loop(op))
    for outer, inner in zip(nest, nest[1:], strict=False):
        if len(outer.body_ops()) != 1:
            refuse(
                outer,
                f"the body of loop {outer.name} holds more than loop {inner.name}; merge wants it alone there",
                fix=beneath(inner),
            )
    for each in nest:
        check_plain(each, "merge")
        check_from_zero(each, "merge")
    return nest


def _check_same_shape(first: Nest, other: Nest) -> None:
    """Refuse unless the loops of two nests have the same extents, one by one."""
    if len(first) != len(other):
        refuse(
            other[-1],
            f"loop {other[-1].name} is {len(other)} deep below what it shares with loop {first[-1].name}, which is"
            f" {len(first)} deep; merge wants the same depth",
            fix=_as_deep(*sorted((first, other), key=len)),
        )
    renamed = {lp.var: Index.of(new.var) for lp, new in zip(other, first, strict=True)}
    for one, two in zip(first, other, strict=True):
        extent = two.upper.substitute(renamed)
        if not one.upper.same(extent):
            sizes = [n if n is not None else "a symbolic number of" for n in (one.const_extent, two.const_extent)]
            refuse(
                two,
                f"loop {two.name} runs {sizes[1]} times, loop {one.name} {sizes[0]} times; merge wants them equal",
                fix=_equal_part(one, two),
            )


def _as_deep(short: Nest, long: Nest) -> str:
    """Of loops that are not equally deep: the one around the deeper loop that is as deep as the other."""
    around = long[len(short) - 1]
    if around == short[-1]:
        return "fuse takes loops that are inside one another"
    return f"name loop {around.name} instead of {long[-1].name}"


def _equal_part(one: Loop, two: Loop) -> str:
    """Of loops of different lengths: a part of the longer one is as long as the shorter one."""
    sizes = one.const_extent, two.const_extent
    if sizes[0] is None or sizes[1] is None:
        return "compute_at or reverse_compute_at puts a block under a loop of another length"
    longer = one if sizes[0] > sizes[1] else two
    return f"split loop {longer.name} by [{min(sizes)}, None] and merge its outer part"  # type: ignore[type-var]


# --- the order of what meets ----------------------------------------------------------------------------------------


@only_reads
def _check_order(top: ir.Operation, nests: Sequence[Nest]) -> None:
    """Refuse when two iterations that touch one element, one writing, would run in another order."""
    depth = len([p for p in [top, *parents(top)] if is_loop(p)])
    tops = [walk.position(nest[0].op) for nest in nests]
    held = list(nests[0][0].op.block.operations)
    written = {a.buffer for nest in nests for a in accesses(nest[0].op) if a.is_write}
    for place in range(min(tops), max(tops) + 1):
        if place not in tops:
            written |= {a.buffer for a in accesses(held[place].operation) if a.is_write}
    found = [_touches(nest[0].op, written) for nest in nests]
    for p in range(len(nests)):
        for q in range(len(nests)):
            if tops[p] < tops[q]:
                _check_pair(found[p], found[q], depth, len(nests[0]), swapped=q < p)
    for p, nest in enumerate(nests):
        for place in range(min(tops[p], tops[-1]) + 1, max(tops[p], tops[-1])):
            if place not in tops:
                _check_crossing(nest, found[p], _touches(held[place].operation, written), depth, tops[p] < place)


def _touches(root: ir.Operation, buffers: set[ir.Value]) -> list[AccessRelation]:
    return [t for buffer in buffers for t in relations_of(root, buffer)]


def _clash(a: AccessRelation, b: AccessRelation, depth: int) -> isl.Map | None:
    """Iterations of a and b that touch one element in the same iteration of the loops around both."""
    if a.access.buffer != b.access.buffer or not (a.access.is_write or b.access.is_write):
        return None
    clash = same_element(a, b)
    for level in range(depth):
        clash = clash.equate(dim_type.in_, level, dim_type.out, level)
    return clash


def _check_pair(
    first: Sequence[AccessRelation], second: Sequence[AccessRelation], depth: int, count: int, swapped: bool
) -> None:
    """`first` ran before `second`; merged, an iteration of it that comes later in the loops would run after."""
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
            found = dependences.witness(a, b, clash)
            text = f"merged, a dependence would run backwards: {found}"
            refuse(
                walk.enclosing_block(b.access.op),
                text,
                counterexample=found,
                fix="name the loops in the order in which they stand" if swapped else UNDER_ONE,
            )


def _check_crossing(
    nest: Nest, own: Sequence[AccessRelation], passed: Sequence[AccessRelation], depth: int, down: bool
) -> None:
    """The nest moves past something that stands between it and the last one."""
    for a in own:
        for b in passed:
            with question("whether a nest may move to the last one"):
                clash = _clash(a, b, depth)
                if clash is None or clash.is_empty():
                    continue
            where = "after" if down else "before"
            found = dependences.witness(a, b, clash)
            refuse(
                walk.enclosing_block(b.access.op),
                f"the nest of loop {nest[0].name} would move to {where} what stands between it and the last one, and"
                f" the two depend on each other: {found}",
                counterexample=found,
                fix="merge the loops of what stands between with them, or inline it",
            )


# --- the rewrite ----------------------------------------------------------------------------------------------------


def _rewrite(nests: Sequence[Nest]) -> Loop:
    variables: dict[ir.Value, Index] = {}
    ip = ir.InsertionPoint(nests[-1][0].op)
    made: Nest = []
    for old in nests[0]:
        with ip, old.op.location:
            made.append(create.loop(f"{old.name}_m", 0, old.upper.substitute(variables)))
        variables[old.var] = Index.of(made[-1].var)
        ip = create.at_end(made[-1].body)
    for nest in nests:
        edit.move_body(nest[-1].body, made[-1].body)
        edit.substitute({lp.var: Index.of(new.var) for lp, new in zip(nest, made, strict=True)})
        edit.erase(nest[0].op)
    return made[-1]
