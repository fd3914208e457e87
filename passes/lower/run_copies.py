"""A loop that copies runs of elements: where its lanes read, and where a run ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect import dtypes, walk
from tir_mlir.dialect.index import Index, step
from tir_mlir.dialect.views import Buffer, Loop
from tir_mlir.passes.lower import align
from tir_mlir.passes.lower.lanes import Lanes, contiguous

STRIDES = (1, 2, 3, 4)
"""Distances between the elements of neighbouring lanes for which whole vectors are read, and shuffled."""
MASKED_BITS = (32, 64)
"""Elements that most CPUs can load under a mask."""


@dataclass(frozen=True)
class Lane:
    """Where a lane reads: `apart` elements after the lane before, `jump` more where `count floordiv width` grows."""

    apart: int
    jump: int = 0
    count: Index | None = None
    width: int = 0


@dataclass(frozen=True)
class Copy:
    """A copy of `extent` lanes from `lower` on."""

    loop: Loop
    load: ir.Operation
    store: ir.Operation
    lane: Lane

    def at(self, op: ir.Operation, lane: int, more: int = 0) -> list[Index]:
        """The place of a lane, `more` elements after it."""
        *outer, last = (i.substitute({self.loop.var: self.loop.lower + lane}) for i in walk.access_indices(op))
        return [*(i.simplified() for i in outer), (last + more).simplified()]


def match_copy(loop: Loop) -> Copy | None:
    """The loop as a copy in runs; None where it is none, or one that is contiguous anyway."""
    body = loop.body_ops()
    if loop.const_extent is None or [op.name for op in body] != ["affine.load", "affine.store"]:
        return None
    load, store = body
    source, target, lanes = load.operands[0], store.operands[1], Lanes(loop)
    indices = walk.access_indices(load)
    if store.operands[0] != load.results[0] or not indices or Buffer(source).dtype == "bool":
        return None
    if Buffer(source).root == Buffer(target).root or not contiguous(lanes, target, walk.access_indices(store)):
        return None
    strides, _ = ir.MemRefType(source.type).get_strides_and_offset()
    if strides[-1] != 1 or align.padded(source) or any(i.uses(loop.var) for i in indices[:-1]):
        return None
    lane = _lane(indices[-1], loop.var)
    if lane is None or lane.apart not in STRIDES or lane.jump < 0 or (lane.apart == 1 and lane.count is None):
        return None
    if lane.count is not None and dtypes.bits(Buffer(source).dtype) not in MASKED_BITS:
        return None
    return Copy(loop, load, store, lane)


def _lane(index: Index, var: ir.Value) -> Lane | None:
    """How an index goes from lane to lane."""
    apart = step(index, var)
    if apart is not None:
        return Lane(apart)
    rest, jump, found = Index.constant(0), 0, None
    for factor, term in _terms(index.expr):
        value = Index(term, index.values)
        if not value.trimmed().uses(var) or isinstance(term, ir.AffineDimExpr):
            rest += value * factor
            continue
        if not isinstance(term, ir.AffineFloorDivExpr | ir.AffineModExpr):
            return None
        count, width = Index(term.lhs, index.values).simplified(), ir.AffineConstantExpr(term.rhs).value
        if found is not None and not (found[1] == width and found[0].same(count)):
            return None
        found = count, width
        if isinstance(term, ir.AffineModExpr):
            rest, factor = rest + count * factor, -factor * width
        jump += factor
    apart = step(rest, var)
    if found is None or apart is None or step(found[0], var) != 1:
        return None
    return Lane(apart, jump, *found)


def _terms(expr: ir.AffineExpr) -> Iterator[tuple[int, ir.AffineExpr]]:
    """An expression as a sum of terms with factors."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineAddExpr):
        yield from _terms(expr.lhs)
        yield from _terms(expr.rhs)
    elif isinstance(expr, ir.AffineMulExpr):
        factor = ir.AffineConstantExpr(expr.rhs).value
        yield from ((factor * f, term) for f, term in _terms(expr.lhs))
    else:
        yield 1, expr
