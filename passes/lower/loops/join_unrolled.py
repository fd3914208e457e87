"""Join an unrolled loop with the loop around it, for LLVM to unroll: the copies need not pass through the lowering."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mlir import ir

from tir_mlir.dialect.ir import Index, Loop, edit, is_loop, walk
from tir_mlir.dialect.ir.op_views import AffineAccessOp, isa
from tir_mlir.passes.lower.loops.tail_conditions import FAST_KINDS
from tir_mlir.passes.lower.registry import Content, lowering, programs

MIN_OPS = 64
"""The number of ops from which on unrolled code is left to LLVM; a loop around less is better kept as it is."""
PREFIX = "tir.unroll="
"""Names the location of a joined loop, with the factor: upstream passes keep locations, but not attributes."""


@lowering(
    "tir-lower-join-unrolled",
    "Join long unrolled loops with the loop around them, for LLVM to unroll",
    works_on=Content(kinds={"unrolled"}),
)
def run(module: ir.Module) -> None:
    """Join an unrolled loop with the serial loop that holds only it.

        for %k_0 = 0 to 128 {                                         for %k = 0 to 511 {
          unrolled for %k_1 = 0 to min(4, 511 - 4 * %k_0) {   -->       body(%k)
            body(4 * %k_0 + %k_1)                                     } loc("tir.unroll=4")

    LLVM unrolls the joined loop by the same factor. The last iterations, if fewer, become its remainder loop rather
    than a copy of the body for each. Applies where the body uses the two variables only in this sum, has no loops but
    unrolled and vectorized ones, and would become at least `LEAST` ops. Requires `tir-lower-hoist-guards`.
    """
    for func in programs(module):
        for op in reversed([o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "unrolled"]):
            strip = _strip(Loop(op))
            if strip is not None:
                _join(strip)


def unroll_factor(op: ir.Operation) -> int | None:
    """The factor by which LLVM unrolls a joined loop, None for others."""
    location = op.location
    while location.is_a_name():
        if location.name_str.startswith(PREFIX):
            return int(location.name_str.removeprefix(PREFIX))
        location = location.child_loc
    return None


@dataclass
class _Strip:
    """A loop over strips of `factor` iterations, the unrolled loop inside a strip, and the number of iterations."""

    outer: Loop
    inner: Loop
    factor: int
    extent: Index


def _strip(inner: Loop) -> _Strip | None:
    """The strips that an unrolled loop belongs to; None if it is not to be joined with the loop around it."""
    parent = inner.op.parent
    if parent is None or not is_loop(parent.operation):
        return None
    outer = Loop(parent.operation)
    alone = outer.kind == "serial" and not len(outer.op.results) and outer.body_ops() == [inner.op]
    if not alone or outer.annotations or inner.annotations or not _start_at_zero(outer, inner):
        return None
    factor = next((n for u in inner.uppers if (n := u.as_constant()) is not None), 0)
    if (
        factor < 2
        or len(outer.uppers) != 1
        or factor * _size(inner.op) < MIN_OPS
        or not _uses_sum(outer, inner, factor)
    ):
        return None
    extent = _extent(outer, inner, factor)
    return None if extent is None else _Strip(outer, inner, factor, extent)


def _start_at_zero(*loops: Loop) -> bool:
    return all(len(loop.lowers) == 1 and loop.lower.as_constant() == 0 for loop in loops)


def _size(loop: ir.Operation) -> int:
    """The number of ops of a body once unrolled; 0 if it holds other loops than unrolled and vectorized ones."""
    size = 0
    for op in walk.ops(loop)[1:]:
        if len(op.regions) and not (is_loop(op) and Loop(op).kind in FAST_KINDS):
            return 0
        loops = [Loop(p) for p in walk.parents(op) if p != loop and walk.is_inside(p, loop)]
        size += prod(_copies(p) for p in loops)
    return size


def _copies(loop: Loop) -> int:
    """How many copies of its body a loop becomes: a vectorized one becomes vectors."""
    constants = [n for u in loop.uppers if (n := u.as_constant()) is not None]
    return 1 if loop.kind == "vectorized" else min(constants, default=1)


def _uses_sum(outer: Loop, inner: Loop, factor: int) -> bool:
    """Whether a body uses the variables only as `factor * outer + inner`, in index expressions."""
    total = Index.from_value(inner.var) - Index.from_value(outer.var) * factor  # inner.var stands for the sum
    for op in walk.ops(inner.op)[1:]:
        if not any(v in (outer.var, inner.var) for v in op.operands):
            continue
        if not isa(op, AffineAccessOp):
            return False
        if any(i.substitute({inner.var: total}).simplify().uses(outer.var) for i in walk.access_indices(op)):
            return False
    return True


def _extent(outer: Loop, inner: Loop, factor: int) -> Index | None:
    """The number of iterations of both loops together; None unless only the last strip is cut."""
    ends = [u for u in inner.uppers if u.as_constant() is None]
    if not ends:
        return outer.upper * factor if len(inner.uppers) == 1 else None
    total = (ends[0] + Index.from_value(outer.var) * factor).simplify()
    if len(inner.uppers) != 2 or total.uses(outer.var):
        return None
    return total if total.ceildiv(factor).simplify().is_equal_to(outer.upper) else None


def _join(strip: _Strip) -> None:
    outer, inner = strip.outer, Loop(edit.set_bounds(strip.inner.op, [Index.constant(0)], [Index.constant(1)]))
    edit.substitute({outer.var: Index.constant(0), inner.var: Index.from_value(outer.var)}, inner.op)
    for op in inner.body_ops():
        op.move_before(inner.op)
    inner.op.erase()
    joined = edit.set_bounds(outer.op, [Index.constant(0)], [strip.extent])
    joined.location = ir.Location.name(f"{PREFIX}{strip.factor}", joined.location)
