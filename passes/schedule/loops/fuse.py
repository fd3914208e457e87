"""fuse: collapse nested loops into one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import NotAffine, emit_remark
from tir_mlir.dialect.ir import Index, Loop, create, edit
from tir_mlir.dialect.presburger import domain, holds, question, times
from tir_mlir.passes.schedule.edits import check_computable, emit_floormod, replace_by_computed, simplify_bindings
from tir_mlir.passes.schedule.registry import (
    ASSUME_SIZES,
    check,
    check_bounds,
    check_only_inner,
    check_plain,
    primitive,
    refuse,
    use_longest_range,
    warn_serial,
)


@primitive("fuse", moves="nothing")
def fuse(*loops: Loop, preserve_unit_iters: bool = True) -> Loop:
    """Fuse perfectly nested loops into one.

        for i, j in T.grid(n, m):       for i_j_fused in range(n * m):
            body(i, j)          ->          body(i_j_fused // m, i_j_fused % m)

    The iterations and their order do not change. The new loop is serial: a ScheduleWarning says so if one of the loops
    was not.

    A loop that starts at `low` becomes `low + i_j_fused // m`, or `low + i_j_fused % m`: the new loop starts at 0.

    Requires: each loop is the only op in the body of the previous one, has one start and one end, and no annotation or
    thread binding; no bound depends on another one of the loops. Where an extent other than that of the outermost loop
    is symbolic, `i_j_fused // m` is not affine: it may stand in bindings and in guards of blocks, not in bounds of
    loops. Extents may be quotients that are not negative, as of `split`: `(n + 63) // 64 * ((m + 15) // 16)`.
    """
    if not loops:
        raise ValueError("fuse needs at least one loop")
    for loop in loops:
        check_plain(loop, "fuse")
        check_bounds(loop, "fuse")
    for outer, inner in itertools.pairwise(loops):
        check_nested(outer, inner)
    _check_independent(loops)
    outermost = next((n for n, lp in enumerate(loops) if lp.const_extent != 1), 0)  # unit loops need no division
    symbolic = any(lp.const_extent is None for lp in loops[outermost + 1 :])
    if symbolic:
        _check_symbolic(loops, outermost)

    size = math.prod(loop.const_extent if loop.const_extent is not None else 1 for loop in loops)
    check(size < 2**63, loops[0], f"the fused extent {size} does not fit an index (64 bits)")
    total, wide = _total(loops), any(lp.is_wide for lp in loops)
    warn_serial(loops, "fuse")
    with ir.InsertionPoint(loops[0].op), loops[0].op.location:
        fused = create.loop("_".join(lp.name for lp in loops) + "_fused", 0, total, wide=wide)
    _move_into(fused, loops, outermost, symbolic)
    simplify_bindings([fused], preserve_unit_iters)
    return fused


def _move_into(fused: Loop, loops: Sequence[Loop], outermost: int, symbolic: bool) -> None:
    """Move the body of some loops into the fused one, instead of all of them."""
    edit.move_body(loops[-1].body, fused.body)
    if symbolic:
        _divide(loops[outermost:], fused)
        edit.substitute({lp.var: lp.lower for lp in loops[:outermost]})
    else:
        edit.substitute(_delinearize(loops, Index.from_value(fused.var)))
    for loop in reversed(loops):
        edit.erase(loop.op)


def _check_independent(loops: Sequence[Loop]) -> None:
    """Refuse loops whose extent depends on another one of them."""
    variables = {lp.var for lp in loops}
    for loop in loops:
        text = f"the extent of loop {loop.name} depends on a loop that it would be fused with"
        check(not variables & {*loop.lower.values, *loop.upper.values}, loop, text, fix=use_longest_range(loop))
    names = ", ".join(f"`{loop.name}`" for loop in loops)
    emit_remark(f"no extent among {names} depends on another one: their iterations run once, in the order of before")


def _check_symbolic(loops: Sequence[Loop], outermost: int) -> None:
    """Refuse what quotients and remainders by symbolic extents, which are not affine, do not allow."""
    for loop in loops[outermost + 1 :]:
        if loop.const_extent is None and not _is_size(loop, loops[0]):
            refuse(
                loop,
                f"the extent of loop {loop.name} may be negative, so that the product of the extents is not the number "
                "of iterations",
                provable=False,
                fix=ASSUME_SIZES,
            )
    check_computable([lp.var for lp in loops[outermost:]], "quotients and remainders by symbolic extents are not")


def _total(loops: Sequence[Loop]) -> Index:
    """The product of the extents."""
    total = Index.constant(1)
    for loop in loops:
        try:
            total = times(total, loop.extent)
        except NotAffine:
            refuse(
                loop,
                f"the extent of loop {loop.name} times those of the loops around it is neither affine nor a product of "
                "sizes",
                fix=f"split loop {loop.name} by a constant first, and fuse its inner part",
            )
    return total.simplify()


def _is_size(loop: Loop, outer: Loop) -> bool:
    """Whether the extent of a loop is at least 0 wherever an outer one stands, also where that has no iteration."""
    with question(f"whether the extent of loop {loop.name} may be negative"):
        return holds(domain(outer.op, extra=[loop.extent]), loop.extent)


def _divide(loops: Sequence[Loop], fused: Loop) -> None:
    """Replace each old variable by a quotient or remainder of the fused one, from the innermost loop outwards."""
    plain: dict[ir.Value, Index] = {}
    makers: dict[ir.Value, Callable[[], ir.Value]] = {}
    quotient: Index | Callable[[], ir.Value] = Index.from_value(fused.var)
    for loop in reversed(loops[1:]):
        size = loop.const_extent
        if size == 1:
            plain[loop.var] = loop.lower
        elif size is not None and isinstance(quotient, Index):
            plain[loop.var], quotient = (quotient % size + loop.lower).simplify(), quotient // size
        else:
            part = partial(create.apply, quotient) if isinstance(quotient, Index) else quotient
            makers[loop.var] = _shift_position(partial(_divide_by_extent, part, loop.extent, emit_floormod), loop.lower)
            quotient = partial(_divide_by_extent, part, loop.extent, arith.floordivsi)
    edit.substitute(plain)
    first = partial(create.apply, quotient) if isinstance(quotient, Index) else quotient
    makers[loops[0].var] = _shift_position(first, loops[0].lower)
    replace_by_computed(fused.op, makers, {})


def _shift_position(position: Callable[[], ir.Value], low: Index) -> Callable[[], ir.Value]:
    """What emits a position in a loop that starts at `low`."""
    if low.as_constant() == 0:
        return position
    return lambda: arith.addi(position(), create.apply(low))


def _divide_by_extent(
    dividend: Callable[[], ir.Value], extent: Index, divide: Callable[[ir.Value, ir.Value], ir.Value]
) -> ir.Value:
    return divide(dividend(), create.apply(extent))


def _delinearize(loops: Sequence[Loop], index: Index) -> dict[ir.Value, Index]:
    """Each old variable as an expression of the new one."""
    lower = 1
    mapping: dict[ir.Value, Index] = {}
    for loop in reversed(loops):
        size = loop.const_extent
        part = index // lower if lower != 1 else index
        if loop != loops[0] and size is not None:
            part = (index % (lower * size)) // lower
            lower *= size
        mapping[loop.var] = loop.lower if size == 1 else (part + loop.lower).simplify()
    return mapping


def check_nested(outer: Loop, inner: Loop) -> None:
    """Refuse unless `inner` is the only op in the body of `outer`."""
    parent = inner.op.parent
    if parent is None or parent.operation != outer.op:
        refuse(
            inner,
            f"loop {inner.name} is not directly inside loop {outer.name}; pass adjacent loops from outer to inner",
        )
    check_only_inner(outer, inner)
