"""split: split a loop into a nest of loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, Constraint, Index, Loop, create, edit, is_block, walk
from tir_mlir.dialect.ir.op_traits import may_write
from tir_mlir.dialect.ir.op_views import AffineParallelOp, LoadOp, isa
from tir_mlir.dialect.presburger import dim_type, fold_index, intervals, only_where, sets, sizes_without
from tir_mlir.passes.schedule.edits import (
    check_computable,
    guard_blocks,
    linear_index,
    replace_by_computed,
    simplify_bindings,
)
from tir_mlir.passes.schedule.registry import (
    WRAP_IN_BLOCK,
    check,
    check_bounds,
    check_plain,
    primitive,
    refuse,
    warn_serial,
)


@primitive("split", moves="nothing")
def split(
    loop: Loop, factors: list[int | None], preserve_unit_iters: bool = True, disable_predication: bool = False
) -> list[Loop]:
    """Split a loop into a nest of loops.

        for i in range(n):              for i_0, i_1 in T.grid(ceildiv(n, f), f):
            body(i)             ->          body(i_0 * f + i_1)        # where i_0 * f + i_1 < n

    Each iteration of each block still runs once, in the same order. A guard is added only if the factors do not divide
    the extent. One factor may be None, to be inferred. The new loops are serial: a ScheduleWarning says so if the loop
    was not.

    A loop that starts at `low` (after `loop_partition`) becomes `body(low + i_0 * f + i_1)`: the new loops start at 0.

    Requires: the loop has one start and one end, and no annotation or thread binding; the factors are positive and
    their product is at least the extent. Where an inner factor is inferred from a symbolic extent, `i_0 * f + i_1` is
    not affine: it may stand in bindings and in guards of blocks, not in bounds of loops. `disable_predication` omits
    the guard, and requires factors that divide the extent, or guards that exclude all further iterations already.
    """
    check_plain(loop, "split")
    check_bounds(loop, "split")
    extents = infer_factors(loop, factors)
    needs_guard = _needs_guard(loop, extents)
    if needs_guard and disable_predication:
        _check_no_guard(loop, factors, extents)
        needs_guard = False
    symbolic = _symbolic_factor(extents)
    if symbolic is not None:
        _check_symbolic(loop, needs_guard)
    warn_serial([loop], "split")
    _note(loop, extents, needs_guard)
    nest = _split(loop, extents, symbolic, needs_guard)
    ids = [inner.id for inner in nest]
    simplify_bindings(nest, preserve_unit_iters)
    return [Loop(walk.op_with_id(nest[0].op, number)) for number in ids]  # bounds with a quotient: rebuilt, with its id


def _split(loop: Loop, extents: Sequence[int | Index], symbolic: int | None, needs_guard: bool) -> list[Loop]:
    """Replace a loop by the nest. `symbolic`: see `_symbolic_factor`."""
    upper = loop.upper
    with ir.InsertionPoint(loop.op), loop.op.location:
        nest = _nest(loop.name, extents, loop.is_wide)
    edit.move_body(loop.body, nest[-1].body)
    if symbolic is not None:
        make = partial(_position, nest, extents, symbolic, loop.lower)
        replace_by_computed(nest[0].op, {loop.var: make}, {loop.var: upper} if needs_guard else {})
        edit.erase(loop.op)
    else:
        index = (_affine_position(nest, extents) + loop.lower).simplify()
        edit.substitute({loop.var: index})
        edit.erase(loop.op)
        if needs_guard:
            guard_blocks(nest[-1], upper - index - 1)
    return nest


def _check_no_guard(loop: Loop, factors: Sequence[int | None], extents: Sequence[int | Index]) -> None:
    """Refuse factors that do not divide the extent, unless guards exclude all further iterations already."""
    text = f"the factors {list(factors)} do not divide the extent of loop {loop.name}, so a guard is needed"
    if not _excludes_more(loop, extents):
        refuse(loop, f"{text}{_exception_text(loop, extents)}; drop disable_predication")


def _note(loop: Loop, extents: Sequence[int | Index], guarded: bool) -> None:
    numbers = [e for e in extents if isinstance(e, int)]
    product = " * ".join(map(str, numbers)) if len(numbers) == len(extents) else "the product of the factors"
    total = f"{product} = {math.prod(numbers)}" if len(extents) == len(numbers) > 1 else product
    runs = f"`{loop.name}` runs {loop.const_extent} times" if loop.const_extent is not None else f"`{loop.name}`"
    guard_text = (
        "the blocks are guarded, and run for the iterations of before alone" if guarded else "no iteration is added"
    )
    emit_remark(f"{runs}, and {total} covers it: {guard_text}")
    emit_remark("each iteration runs once, in the order of before")


def _symbolic_factor(extents: Sequence[int | Index]) -> int | None:
    """The number of a symbolic factor that makes products with other loops than unit ones; None if there is none."""
    number = next((n for n, extent in enumerate(extents) if not isinstance(extent, int)), 0)
    return number if any(extent != 1 for extent in extents[:number]) else None


def _affine_position(nest: Sequence[Loop], extents: Sequence[int | Index]) -> Index:
    """The old variable; unit loops outside a symbolic factor do not count."""
    first = next((n for n, extent in enumerate(extents) if not isinstance(extent, int)), 0)
    return linear_index(nest[first:], extents[first:])


def _check_symbolic(loop: Loop, needs_guard: bool) -> None:
    """Refuse what a product with a symbolic factor, which is not affine, does not allow."""
    check_computable([loop.var], "a product with a symbolic factor is not")
    outside = needs_guard and any(isa(op, LoadOp) for op in walk.ops(loop.op, skip=is_block))
    text = f"the body of loop {loop.name} loads outside its blocks, which the guard of a symbolic factor cannot protect"
    check(not outside, loop, text, WRAP_IN_BLOCK)


def _position(nest: Sequence[Loop], extents: Sequence[int | Index], symbolic: int, low: Index) -> ir.Value:
    """Emit the old variable, `(i_0 * f1 + i_1) * (s * f3) + i_2 * f3 + i_3` if the factor of loop 2 is symbolic."""
    outer = linear_index(nest[:symbolic], extents[:symbolic])
    inner = (linear_index(nest[symbolic:], extents[symbolic:]) + low).simplify()
    stride = _product(extents[symbolic:]).simplify()
    return arith.addi(arith.muli(create.apply(outer), create.apply(stride)), create.apply(inner))


def _needs_guard(loop: Loop, extents: Sequence[int | Index]) -> bool:
    """Whether the new loops run more iterations than the old one. Refuses fewer, or more where no guard can be
    added.
    """
    total = math.prod(e for e in extents if isinstance(e, int)) if all(isinstance(e, int) for e in extents) else None
    exact = total is not None and loop.const_extent == total
    if total is not None and total >= 2**63:
        refuse(loop, f"the factors {list(extents)} multiply to {total}, which does not fit an index (64 bits)")
    if total is not None and loop.const_extent is not None and total < loop.const_extent:
        refuse(
            loop,
            f"the factors {list(extents)} multiply to {total}, less than the extent {loop.const_extent} of loop"
            f" {loop.name}; iterations would be lost",
            fix=f"leave one factor open: {[None, *list(extents)[1:]]} infers it",
        )
    if total is not None and loop.const_extent is None:
        _check_reached(loop, total)
    needs_guard = not exact and not _divides(loop, extents)
    if needs_guard and not _only_blocks(loop):
        refuse(
            loop,
            "the factors do not divide the extent of loop "
            f"{loop.name}{_exception_text(loop, extents)}; its body has statements outside any block, "
            "which a guard cannot protect",
            fix=WRAP_IN_BLOCK
            if loop.const_extent is None
            else f"use factors that divide {loop.const_extent}; or, {WRAP_IN_BLOCK}",
        )
    return needs_guard


def infer_factors(loop: Loop, factors: Sequence[int | None]) -> list[int | Index]:
    """The factors with None replaced by the extent over the product of the others, rounded up."""
    check(len(factors) > 0, loop, "split needs at least one factor", "[None, 16] splits by 16 for any extent")
    unknown = [n for n, f in enumerate(factors) if f is None]
    check(
        len(unknown) <= 1,
        loop,
        f"split can infer one factor; {len(unknown)} of {list(factors)} are None",
        "give all factors but one",
    )
    for factor in factors:
        if factor is not None and factor <= 0:
            refuse(loop, f"the factor {factor} is not positive; use None to infer a factor")
    if not unknown:
        return [f for f in factors if f is not None]
    product = math.prod(f for f in factors if f is not None)
    inferred = create.as_size(fold_index(loop.extent.ceildiv(product).simplify(), intervals.enclosing_ranges(loop.op)))
    return [inferred if f is None else f for f in factors]


def _check_reached(loop: Loop, total: int) -> None:
    """Refuse factors whose product may be less than a symbolic extent."""
    dom = sets.domain(loop.op, extra=[loop.extent])
    enough = Constraint(Index.constant(total) - loop.extent)
    with sets.question(f"whether {total} iterations are enough"):
        longer = dom.set.subtract(sets.constraint_set(dom, enough))
    if not longer.is_empty():
        refuse(
            loop,
            f"loop {loop.name} has a symbolic extent that {total} iterations may not "
            f"cover{only_where(longer, loop.op)}; pass None for one factor",
        )


def _product(extents: Sequence[int | Index]) -> Index:
    product = Index.constant(1)
    for extent in extents:
        product = product * extent if isinstance(extent, int) else Index.wrap(extent) * product
    return product


def _divides(loop: Loop, extents: Sequence[int | Index]) -> bool:
    """Whether the new loops run exactly the old iterations for all sizes."""
    beyond = _product(extents) - loop.extent
    if beyond.simplify().as_constant() == 0:
        return True
    return sets.holds(sets.domain(loop.op, extra=[loop.extent]), -beyond)


def _excludes_more(loop: Loop, extents: Sequence[int | Index]) -> bool:
    """Whether the guards of the blocks beneath a loop exclude every iteration of the new loops beyond its extent."""
    return all(_is_excluded_beyond(block, loop, extents) for block in walk.blocks_below(loop.op, with_init=True))


def _is_excluded_beyond(block: Block, loop: Loop, extents: Sequence[int | Index]) -> bool:
    guard = walk.constraints(block.where) if block.where is not None else []
    position = Index.from_value(loop.var)
    beyond = [Constraint(position - loop.upper), Constraint(_product(extents) + loop.lower - position - 1)]
    dom = sets.domain(block.outermost, extra=[c.index for c in (*guard, *beyond)], guards=False)
    with sets.question(f'whether the guard of block "{block.name}" excludes more iterations of loop {loop.name}'):
        number = dom.index_of(loop.var)
        dom.set = dom.set.drop_constraints_involving_dims(dim_type.set, number, 1)
        for condition in (*guard, *beyond):
            dom.set = dom.set.intersect(sets.constraint_set(dom, condition))
        return dom.set.is_empty()


def _exception_text(loop: Loop, extents: Sequence[int | Index]) -> str:
    """The sizes for which the new loops run exactly the old iterations, if any."""
    beyond = Constraint(_product(extents) - loop.extent - 1)
    dom = sets.domain(loop.op, extra=[loop.extent])
    unless = sizes_without(dom.set.intersect(sets.constraint_set(dom, beyond)), loop.op)
    return f" (unless {unless})" if unless else ""


def _only_blocks(loop: Loop) -> bool:
    """Whether every side effect beneath a loop is in a block."""
    nested_ops = walk.ops(loop.op, skip=lambda op: isa(op, AffineParallelOp))
    return not any(may_write(op.name) for op in nested_ops)


def _nest(name: str, extents: Sequence[int | Index], wide: bool) -> list[Loop]:
    """A perfect nest of serial loops name_0, name_1, ... at the insertion point. wide: of int64."""
    nest: list[Loop] = []
    for number, extent in enumerate(extents):
        if nest:
            with create.at_end(nest[-1].body):
                nest.append(create.loop(f"{name}_{number}", 0, extent, wide=wide))
        else:
            nest.append(create.loop(f"{name}_{number}", 0, extent, wide=wide))
    return nest
