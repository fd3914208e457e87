"""Bounding boxes of accesses whose indices are sums of loop variables, by interval arithmetic (no isl)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis.accesses import Access
from tir_mlir.dialect.ir import Block, Index, Loop, is_block, is_inside, is_loop, only_reads, owner_op, parents
from tir_mlir.dialect.ir.op_views import AffineLoopOp, isa
from tir_mlir.dialect.presburger import index_sums, intervals, span


@dataclass(frozen=True)
class AccessBox:
    """[mins, mins + extents) over values defined outside; `dense` if every element is accessed."""

    mins: tuple[Index, ...]
    extents: tuple[Index, ...]
    dense: bool


@only_reads
def access_box(group: Sequence[Access], top: ir.Operation, free: Sequence[ir.Value] = ()) -> AccessBox | None:
    """The bounding box of a group of accesses, relaxed over everything nested in `top` and over the loop variables
    `free` of enclosing loops. None unless all indices are sums of loops with constant bounds and guards do not shrink
    the box."""
    always = [a for a in group if not is_guarded(a, top)]
    if not always:
        return None
    loose = _hull(group, top, free)
    tight = loose if len(always) == len(group) else _hull(always, top, free)
    if loose is None or tight is None:
        return None
    pairs = zip((*loose.mins, *loose.extents), (*tight.mins, *tight.extents), strict=True)
    return tight if all(a.is_equal_to(b) for a, b in pairs) else None


@only_reads
def covering_extents(
    group: Sequence[Access], top: ir.Operation, free: Sequence[ir.Value] = ()
) -> list[tuple[int, ...]] | None:
    """The extents of boxes that cover a group of accesses, relaxed as by `access_box`: one for all that begin at equal
    places but for a constant; guards are passed over. For an index with divisions they are those of the first iteration
    of the loops outside. None if an index is unbounded."""
    boxes: list[tuple[list[_DigitSpan], list[tuple[int, int]]]] = []
    others: set[tuple[int, ...]] = set()
    for access in group:
        spans = _spans(access, top, free)
        if spans is None:
            extents = _interval_extents(access, top, free)
            if extents is None:
                return None
            others.add(extents)
            continue
        for first, reach in boxes:
            if all(a.rest.is_equal_to(b.rest) for a, b in zip(spans, first, strict=True)):
                pairs = zip(reach, spans, strict=True)
                reach[:] = [(min(low, s.low), max(high, s.high)) for (low, high), s in pairs]
                break
        else:
            boxes.append((spans, [(s.low, s.high) for s in spans]))
    return [*(tuple(high - low + 1 for low, high in reach) for _, reach in boxes), *sorted(others)]


def _interval_extents(access: Access, top: ir.Operation, free: Sequence[ir.Value]) -> tuple[int, ...] | None:
    """The extents of an access by interval arithmetic."""
    known = intervals.enclosing_ranges(access.op)
    result = []
    for start, extent in zip(access.mins, access.extents, strict=True):
        index, count = _resolve_iters(start, top), extent.as_constant()
        ranges = {}
        for value in index.values:
            low, high = known.get(value, (None, None))
            ranges[value] = (low, high if _is_inner(value, top) or value in free else low)
        low, high = intervals.interval(index, ranges)
        if low is None or high is None or count is None:
            return None
        result.append(high - low + count)
    return tuple(result)


def is_guarded(access: Access, top: ir.Operation) -> bool:
    """Whether an iteration of `top` may skip the access: it is under a condition, or in a loop that may be empty."""
    for parent in parents(access.op):
        if parent == top:
            return False
        if is_loop(parent) and (Loop(parent).const_extent or 0) < 1:
            return True
        if not isa(parent, AffineLoopOp):
            return True
    return False


def _hull(group: Sequence[Access], top: ir.Operation, free: Sequence[ir.Value]) -> AccessBox | None:
    """The hull of the group; dense if one access alone fills it."""
    spans = []
    for access in group:
        access_spans = _spans(access, top, free)
        if access_spans is None:
            return None
        spans.append(access_spans)
    mins, extents = [], []
    full = [a.exact and _independent(span) for a, span in zip(group, spans, strict=True)]
    for column in zip(*spans, strict=True):
        if any(not s.rest.is_equal_to(column[0].rest) for s in column):
            return None
        low, high = min(s.low for s in column), max(s.high for s in column)
        mins.append((column[0].rest + low).simplify())
        extents.append(Index.constant(high - low + 1))
        full = [f and s.dense and (s.low, s.high) == (low, high) for f, s in zip(full, column, strict=True)]
    return AccessBox(tuple(mins), tuple(extents), any(full))


@dataclass(frozen=True)
class _DigitSpan:
    """One dimension: `rest` (defined outside) plus [low, high]; `digits`: the digits of inner values in it."""

    rest: Index
    low: int
    high: int
    dense: bool
    digits: tuple[int, ...]


def _independent(span: Sequence[_DigitSpan]) -> bool:
    """Whether no digit occurs in two dimensions."""
    digits = [d for s in span for d in s.digits]
    return len(set(digits)) == len(digits)


def _spans(access: Access, top: ir.Operation, free: Sequence[ir.Value]) -> list[_DigitSpan] | None:
    """The span of each dimension of an access; None if one has no constant extent over a rest."""
    mins = [_resolve_iters(i, top) for i in access.mins]
    value_ranges = intervals.enclosing_ranges(access.op)
    ranges: dict[ir.Value, tuple[int, int]] = {}
    for value in {v for i in mins for v in i.values}:
        if _is_inner(value, top) or value in free:
            least, most = value_ranges.get(value, (None, None))
            if not _has_constant_bounds(value) or least is None or most is None:
                return None
            ranges[value] = least, most
    sums, extents = index_sums(mins, ranges), [e.as_constant() for e in access.extents]
    if sums is None or None in extents:
        return None
    spans = []
    for total, extent in zip(sums, extents, strict=True):
        reach = span(total.digits, width=extent or 0)
        assert reach.low is not None and reach.high is not None  # all digits are bounded
        spans.append(_DigitSpan(total.rest, reach.low, reach.high, reach.dense, total.numbers))
    return spans


def _is_inner(value: ir.Value, top: ir.Operation) -> bool:
    """Whether a value is defined in `top`'s body (the iters of `top` itself are fixed)."""
    return owner_op(value) != top and is_inside(owner_op(value), top)


def _resolve_iters(index: Index, top: ir.Operation) -> Index:
    """An index with the iters of blocks nested in `top` replaced by their bindings."""
    bound: dict[ir.Value, Index] = {}
    for value in index.values:
        owner = value.owner
        if isinstance(owner, ir.Block) and is_block(owner.owner.operation) and _is_inner(value, top):
            bound |= {i.var: i.binding for i in Block(owner.owner).iters}
    return _resolve_iters(index.substitute(bound), top) if bound else index


def _has_constant_bounds(value: ir.Value) -> bool:
    """Whether a value is a loop variable with constant bounds."""
    owner = value.owner
    if not isinstance(owner, ir.Block) or not is_loop(owner.owner.operation):
        return False
    loop = Loop(owner.owner)
    return loop.const_extent is not None and loop.lower.as_constant() is not None
