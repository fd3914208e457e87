"""fuse: collapse nested loops into one."""

from __future__ import annotations

import math

from mlir import ir

from tir_mlir.dialect.ir import Index, Loop, create, edit
from tir_mlir.passes.schedule.edits import simplify_bindings
from tir_mlir.passes.schedule.legality import (
    check_from_zero,
    check_plain,
    move_rest_inside,
    use_longest_range,
    warn_serial,
)
from tir_mlir.passes.schedule.registry import check, primitive, refuse


@primitive("fuse")
def fuse(*loops: Loop, preserve_unit_iters: bool = True) -> Loop:
    """Fuse perfectly nested loops into one.

        for i, j in T.grid(n, m):       for i_j_fused in range(n * m):
            body(i, j)          ->          body(i_j_fused // m, i_j_fused % m)

    The iterations and their order do not change. The new loop is serial: a ScheduleWarning says so if one of the loops
    was not.

    Requires: each loop is the only op in the body of the previous one, starts at 0, and has no annotation or thread
    binding; all extents but that of the outermost non-unit loop are constant.
    """
    if not loops:
        raise ValueError("fuse needs at least one loop")
    for loop in loops:
        check_plain(loop, "fuse")
        check_from_zero(loop, "fuse")
    for outer, inner in zip(loops, loops[1:], strict=False):
        check_nested(outer, inner)
    variables = {lp.var for lp in loops}
    for loop in loops:
        check(
            not variables & set(loop.upper.values),
            loop,
            f"the extent of loop {loop.name} depends on a loop that it would be fused with",
            fix=use_longest_range(loop),
        )
    outermost = next((n for n, lp in enumerate(loops) if lp.const_extent != 1), 0)  # unit loops need no division
    for loop in loops[outermost + 1 :]:
        check(
            loop.const_extent is not None,
            loop,
            f"loop {loop.name} has a symbolic extent, and quotients and remainders by it are not "
            f"affine; only the extent of {loops[outermost].name} may be symbolic. Split loop "
            f"{loop.name} by a constant first, and fuse its inner part",
        )

    size = math.prod(loop.const_extent if loop.const_extent is not None else 1 for loop in loops)
    check(size < 2**63, loops[0], f"the fused extent {size} does not fit an index (64 bits)")
    warn_serial(loops, "fuse")
    total = Index.constant(1)
    for loop in loops:
        total = total * loop.extent
    with ir.InsertionPoint(loops[0].op), loops[0].op.location:
        fused = create.loop("_".join(lp.name for lp in loops) + "_fused", 0, total.simplified())
    edit.move_body(loops[-1].body, fused.body)
    edit.substitute(_unfused(loops, Index.of(fused.var)))
    for loop in reversed(loops):
        edit.erase(loop.op)
    simplify_bindings([fused], preserve_unit_iters)
    return fused


def _unfused(loops: tuple[Loop, ...], index: Index) -> dict[ir.Value, Index]:
    """Each old variable as an expression of the new one."""
    lower = 1
    mapping: dict[ir.Value, Index] = {}
    for loop in reversed(loops):
        size = loop.const_extent
        part = index // lower if lower != 1 else index
        if loop != loops[0] and size is not None:
            part = (index % (lower * size)) // lower
            lower *= size
        mapping[loop.var] = Index.constant(0) if size == 1 else part.simplified()
    return mapping


def check_nested(outer: Loop, inner: Loop) -> None:
    """Refuse unless `inner` is the only op in the body of `outer`."""
    parent = inner.op.parent
    if parent is None or parent.operation != outer.op:
        refuse(
            inner,
            f"loop {inner.name} is not directly inside loop {outer.name}; pass adjacent loops from outer to inner",
        )
    if len(outer.body_ops()) != 1:
        refuse(
            outer, f"the body of loop {outer.name} contains more than loop {inner.name}", fix=move_rest_inside(inner)
        )
