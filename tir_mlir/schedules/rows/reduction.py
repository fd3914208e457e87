"""Schedule for reductions (sum, maximum, ...) over any axes, which are bound by memory bandwidth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import ops
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedules.block_queries import (
    LARGE,
    along_memory,
    block_handle,
    block_info,
    block_view,
    even_tile,
    extent_of,
    extents,
    iters,
    loops_by_iter,
    num_instances,
    widest_bits,
)
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.rows.fused_row import fused_row, pays
from tir_mlir.schedules.steps import CHUNKS_PER_THREAD, all_or_nothing, inline, parallelize
from tir_mlir.target import Target, chosen
from tir_mlir.target.work_cost import stream_cycles, worth_threads

if TYPE_CHECKING:
    from tir_mlir.schedule.primitives import BlockLike

STEPS = (1, 2, 4, 8, 16)
"""Candidates for the vectors of a step along a sum, and so for its accumulators."""
VECTORS = (4, 5, 3, 2, 1)
"""Candidates for the vectors of running results of a reduction with several."""
STREAMS = 8
"""The number of rows read concurrently if lanes are results that do not fit in registers."""


@all_or_nothing
def reduction(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None = None,
    threads: int | None = None,
    free: bool = False,
) -> None:
    """Schedule a reduction (sum, product, maximum, minimum, ...) over any axes.

        for i, k: C[i] += A[i, k]   ->   for i (parallel): C[i] += A[i, k], vectorized over k: a partial sum per lane
        for j, k: C[j] += A[k, j]   ->   for j_0 (parallel), k_0: C[j] += 8 rows of A, vectorized over j
        for i, k: C += A[i, k]      ->   for i_0 (parallel): part[i_0] += ...   ;   C += part[i_0]

    Each iter must be bound to its own loop; extents may be symbolic. Elementwise producers are inlined. A reduction
    with several outputs (argmax) has a running pair for each lane. target: default this machine; threads: default its
    number of cores. free: as in `gemm`. Raises ScheduleError if `block` is not a reduction.
    """
    target = chosen(target)
    block = block_handle(sch, block)
    info = block_info(sch, block)
    if not iters(info, "R"):
        raise ScheduleError(f'block "{info.name}" is not a reduction; use tir_mlir.schedules.elementwise')
    while any(inline(sch, p) for p in sch.get_producers(block) if _may_join(sch, p, block)):
        pass
    info, loops = block_info(sch, block), loops_by_iter(sch, block)
    options = Free(sch, block, free)
    moved = num_instances(info) * widest_bits(info) / 8
    threads = options.threads(worth_threads(stream_cycles(moved), threads or target.cores))
    order = along_memory(info, list(loops))
    rows, sums = ([n for n in order if n in iters(info, kind)] for kind in "SR")
    nest = _ReductionNest(block, info, loops, rows, sums, threads)
    if rows and _takes_results(info, order[-1] == rows[-1], sums, target, options):
        _vectorize_results(sch, nest, target, options)
        return
    if len(loops) > 1:
        sch.reorder(*(loops[n] for n in (*rows, *sums)))
    if len(info.writes) != 1:
        _vectorize_several_results(sch, nest, target)
    else:
        _vectorize_sum(sch, nest, target, options)


@dataclass(frozen=True)
class _ReductionNest:
    """A reduction: its block, the loop of each iter, the iters of results and of the sum in the order of memory, and
    the threads that share its rows."""

    block: BlockHandle
    info: BlockInfo
    loops: dict[str, LoopHandle]
    rows: list[str]
    sums: list[str]
    threads: int

    @property
    def row_loops(self) -> list[LoopHandle]:
        return [self.loops[n] for n in self.rows]


CHEAP = 4
"""The most operations of a block that is computed again for each element that a reduction reads."""


def _may_join(sch: Schedule, producer: BlockHandle, block: BlockHandle) -> bool:
    """Whether to compute an elementwise producer that nothing else reads in a reduction: it is cheap, or read once."""
    info = block_info(sch, producer)
    if iters(info, "R") or len(sch.get_consumers(producer)) != 1:
        return False
    steps = [o for o in ops(block_view(sch, producer).op) if o.name.startswith(("arith.", "math."))]
    return len(steps) <= CHEAP or num_instances(info) >= num_instances(block_info(sch, block))


def _takes_results(info: BlockInfo, default: bool, sums: list[str], target: Target, free: Free) -> bool:
    """Whether lanes are results: those along memory; if free, also those of sums shorter than a vector."""
    if default or (extents(info)[sums[-1]] or LARGE) > target.lanes(widest_bits(info)):
        return default
    return free.flag("over_results", False)


def _vectorize_sum(sch: Schedule, nest: _ReductionNest, target: Target, free: Free) -> None:
    """Vectorize over the reduction."""
    info, loops, sums, threads = nest.info, nest.loops, nest.sums, nest.threads
    axis_extents = extents(info)
    results = 1
    for n in nest.rows:
        results *= axis_extents[n] or LARGE
    first = axis_extents[sums[0]]
    if threads > 1 and results < CHUNKS_PER_THREAD * threads and first is not None and first > 1:
        part, _ = sch.split(loops[sums[0]], [min(threads, first), None])
        position = [x.id for x in sch.get_loops(nest.block)].index(part.id)
        inner = sch.get_loops(sch.rfactor(part, 0))
        lead = inner.pop(position)
        sch.reorder(lead, *inner)
        sch.vectorize(inner[-1])
        sch.parallel(lead)
        return
    lanes = target.lanes(widest_bits(info))
    lane = loops[sums[-1]]
    if len(sums) > 1 and free.flag("fused", pays(info, sums, lanes)):
        lane = fused_row(sch, nest.block, [loops[n] for n in sums])
    step = free.choice("step", [v * lanes for v in STEPS if v * lanes < (extent_of(sch, lane) or LARGE)], 0)
    sch.vectorize(sch.split(lane, [None, step])[1] if step else lane)
    parallelize(sch, nest.row_loops, threads)


def _vectorize_several_results(sch: Schedule, nest: _ReductionNest, target: Target) -> None:
    """Several results, as of argmax: those of each lane, which are combined in the end if it is known how."""
    info, rows, loop = nest.info, nest.row_loops, nest.loops[nest.sums[-1]]
    extent, most = extents(info)[nest.sums[-1]] or 0, target.lanes(widest_bits(info))
    pieces = [(v, lanes) for lanes in (most, most // 2, most // 4) for v in VECTORS if 2 * v * lanes <= extent]
    if not sch.can_rfactor(loop, -1):
        pieces = []
    whole = [(v, lanes) for v, lanes in pieces if extent % (v * lanes) == 0]
    for vectors, lanes in (whole or pieces)[:1]:
        _, loops = sch.split(loop, [None, vectors * lanes])
        parts = sch.rfactor(loops, -1)
        if rows and whole:
            sch.compute_at(parts, rows[-1])
        loops = loops_by_iter(sch, parts)[block_info(sch, parts).iter_vars[0].name]
        outer, inner = sch.get_loops(parts)[: len(rows)], sch.get_loops(parts)[len(rows) :]
        inner = [loop for loop in inner if loop.id != loops.id]
        vector, lane = sch.split(loops, [vectors, None])
        sch.reorder(*inner, vector, lane)
        sch.unroll(vector)
        sch.vectorize(lane)
        sch.vectorize(sch.get_loops(sch.decompose_reduction(parts, inner[0]))[-1])
        if not whole:
            parallelize(sch, outer, nest.threads)
    parallelize(sch, rows, nest.threads)


def _vectorize_results(sch: Schedule, nest: _ReductionNest, target: Target, free: Free) -> None:
    """Vectorize over the results: accumulate rows into a slice of the results that remains in registers or in L1."""
    info, loops, rows, threads = nest.info, nest.loops, nest.rows, nest.threads
    lanes = target.lanes(widest_bits(info))
    lane = loops[rows[-1]]
    most = max(lanes, target.l1 * 8 // (2 * widest_bits(info)))
    piece = even_tile(extents(info)[rows[-1]] or LARGE, most, lanes, threads)
    sizes = [v * lanes for v in (4, 16, 64, 256) if v * lanes <= (extents(info)[rows[-1]] or LARGE)]
    piece = free.choice("piece", sizes, piece)
    lane_0, lane_1 = sch.split(lane, [None, piece])
    outer, inner = [*(loops[n] for n in rows[:-1]), lane_0], [loops[n] for n in nest.sums]
    streams = free.choice("streams", (1, 2, 4, 8, 16), 1 if piece <= lanes * target.registers // 2 else STREAMS)
    if streams == 1:  # in registers, and memory is read in order
        sch.reorder(*outer, *inner, lane_1)
    else:
        inner[-1], row = sch.split(inner[-1], [None, streams])
        sch.reorder(*outer, *inner, lane_1, row)
        sch.unroll(row)
    sch.vectorize(lane_1)
    init = sch.decompose_reduction(nest.block, inner[0])
    sch.vectorize(sch.get_loops(init)[-1])
    parallelize(sch, outer, threads)
