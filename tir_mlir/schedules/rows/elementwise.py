"""Schedule for chains of elementwise operators, fused into one loop nest."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo, RegionInfo
from tir_mlir.schedules.block_queries import (
    LARGE,
    block_handle,
    block_info,
    even_tile,
    extent_of,
    extents,
    guards_division,
    has_conditional_values,
    is_contiguous,
    is_copy,
    iters,
    loops_by_iter,
    num_instances,
    widest_bits,
)
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.rows.repeated_values import ROWS, allow_reciprocals, is_repeated
from tir_mlir.schedules.rows.transpose import transpose, transposition
from tir_mlir.schedules.steps import all_or_nothing, inline, parallelize
from tir_mlir.target import Target, chosen
from tir_mlir.target.work_cost import stream_cycles, worth_threads

if TYPE_CHECKING:
    from tir_mlir.schedule.primitives import BlockLike

VECTORS = 8
"""The number of vectors that the innermost loop should have."""


@all_or_nothing
def elementwise(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None = None,
    threads: int | None = None,
    reciprocal: bool = True,
    free: bool = False,
) -> None:
    """Schedule a chain of elementwise operators (and broadcasts) that ends in `block`: fused, vectorized, parallel.

        for i, j: t[i, j] = X[i, j] * Y[j]            for i (parallel):
        for i, j: out[i, j] = max(t[i, j], 0)   ->        for j: out[i, j] = max(X[i, j] * Y[j], 0), vectorized

    Costly values of a column (`X[i, j] / sqrt(S[j])`) are computed once for a few rows. Each iter must be bound to its
    own loop; extents may be symbolic. Reductions and producers that cannot be inlined are left unchanged. With
    transposed inputs, same as `transpose`. target: default this machine; threads: default its number of cores;
    reciprocal: see `rowwise`; free: as in `gemm`. Raises ScheduleError if `block` itself is a reduction.
    """
    elementwise_chain(sch, block, target, threads, reciprocal, free=free)


def elementwise_chain(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None,
    threads: int | None,
    reciprocal: bool,
    fixed: Collection[str] = (),
    free: bool = False,
) -> None:
    """The same as `elementwise`, without the producers in `fixed`."""
    target = chosen(target)
    block = block_handle(sch, block)
    info = block_info(sch, block)
    if iters(info, "R"):
        raise ScheduleError(f'block "{info.name}" is a reduction; use tir_mlir.schedules.reduction')
    inline_producers(sch, block, fixed)
    info, loops = block_info(sch, block), loops_by_iter(sch, block)
    if transposition(info, is_copy(sch, block)) is not None:
        transpose(sch, block, target, threads, free)
        return
    order = [a[0] for a in info.writes[0].axes if len(a) == 1]
    order = [*(n for n in loops if n not in order), *order]
    if not order:
        return
    if order != list(loops):
        sch.reorder(*(loops[n] for n in order))
    options = Free(sch, block, free)
    moved = num_instances(info) * (len(info.reads) + len(info.writes)) * widest_bits(info) / 8
    threads = options.threads(worth_threads(stream_cycles(moved), threads or target.cores))
    guarded, lanes = has_conditional_values(sch, block), target.lanes(widest_bits(info))
    few = _loops_to_fuse(info, order, lanes, guarded)
    few = options.choice("fused", range(1, few + 1), few)
    *outer, inner = (loops[n] for n in order[: len(order) - few + 1])
    shared = bool(outer) and is_repeated(sch, block, order[-few - 1], order[-few:], reciprocal)
    if few > 1:
        inner = sch.fuse(*(loops[n] for n in order[-few:]))
    if threads > 1 and not outer:
        piece = even_tile(extent_of(sch, inner) or LARGE, target.l1, lanes, threads)
        first, inner = sch.split(inner, [None, piece])
        outer = [first]
    if shared:
        outer[-1] = _rows_inside(sch, outer[-1], inner, options.choice("rows", (1, 2, 4, 8), ROWS))
    if not guarded or few > 1:
        sch.vectorize(inner)
    else:
        _guarded_lanes(sch, block, inner, order[-1], lanes)
    if reciprocal:
        allow_reciprocals(sch, block)
    parallelize(sch, outer, threads)


def _rows_inside(sch: Schedule, row: LoopHandle, inner: LoopHandle, rows: int) -> LoopHandle:
    """Move a few rows, unrolled, into the innermost loop, so that they share its values. Returns the outer loop."""
    outer, row = sch.split(row, [None, min(rows, extent_of(sch, row) or rows)])
    sch.reorder(inner, row)
    sch.unroll(row)
    return outer


def _guarded_lanes(sch: Schedule, block: BlockHandle, loop: LoopHandle, axis: str, lanes: int) -> None:
    """Unroll, vectorize or leave the innermost loop of a block with conditional values.

    Unrolled, its conditions are gone, and LLVM makes vectors of the loop around it.
    """
    info, extent = block_info(sch, block), extent_of(sch, loop)
    if extent is not None and extent <= lanes // 2:
        sch.unroll(loop)
        return
    varying = [r for r in (*info.reads, *info.writes) if any(axis in a for a in r.axes) or _is_computed(r)]
    adjacent = all(r.axes[-1] == (axis,) and is_contiguous(r, extents(info), [axis]) for r in varying)
    if adjacent and all(axis not in a for r in varying for a in r.axes[:-1]) and not guards_division(sch, block):
        sch.vectorize(loop)


def _loops_to_fuse(info: BlockInfo, order: list[str], lanes: int, guarded: bool) -> int:
    """The number of innermost loops to fuse for enough iterations to vectorize.

    Each buffer indexed by all of their axes must have them in this order. If a buffer is indexed by some of them, or
    its elements are not contiguous, as in a crop, its accesses become gathers, and one vector of iterations is enough;
    none, if conditional values guard them: they have no vectors.
    """
    axis_extents, count, times = extents(info), 1, extents(info)[order[-1]]
    while count < len(order) and times is not None:
        axes = order[-count - 1 :]
        regions = [(r, [a[0] for a in r.axes if len(a) == 1]) for r in (*info.reads, *info.writes)]
        covering = [(r, region_axes) for r, region_axes in regions if all(a in region_axes for a in axes)]
        if any(region_axes[-count - 1 :] != axes or len(region_axes) < len(r.axes) for r, region_axes in covering):
            break
        part = any(a in region_axes for r, region_axes in regions if (r, region_axes) not in covering for a in axes)
        part = part or any(_is_computed(r) or _is_window(r, axes) for r, _ in regions)
        part = part or not all(is_contiguous(r, axis_extents, axes) for r, _ in covering)
        next_extent = axis_extents[order[-count - 1]]
        has_outer = count + 1 < len(order)
        enough = times >= lanes * (1 if part else VECTORS)
        if enough or (part and guarded) or (next_extent is None and has_outer):
            break
        count, times = count + 1, None if next_extent is None else times * next_extent
    return count


def _is_computed(region: RegionInfo) -> bool:
    """Whether an access is at a position that is computed: along more than one element, and by no iter."""
    return any(not axis and size != 1 for axis, size in zip(region.axes, region.buffer.shape, strict=True))


def _is_window(region: RegionInfo, axes: Collection[str]) -> bool:
    """Whether an index is a sum of one of these axes and another one: X[k + i]."""
    return any(not set(axis).isdisjoint(axes) and not set(axis).issubset(axes) for axis in region.axes)


def inline_producers(sch: Schedule, block: BlockHandle, fixed: Collection[str]) -> None:
    """Inline the producers of a block, nearest first."""
    visited = set(fixed)
    while True:
        for producer in sch.get_producers(block):
            info = block_info(sch, producer)
            if info.name not in visited:
                if iters(info, "R") or not inline(sch, producer):
                    visited.add(info.name)
                break
        else:
            return
