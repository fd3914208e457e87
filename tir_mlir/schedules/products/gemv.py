"""Schedule for matrix-vector products, which are bound by memory bandwidth."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, prod
from typing import TYPE_CHECKING

from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import LARGE, block_handle, block_info, even_tile, loops_by_iter
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.products.contraction import MatVec, matrix_vector
from tir_mlir.schedules.products.dequantization import LaneSplit, inline_dequantizer, lane_split
from tir_mlir.schedules.rows.reduction import reduction
from tir_mlir.schedules.steps import all_or_nothing, place_epilogue, split_sums
from tir_mlir.target import Target, chosen
from tir_mlir.target.work_cost import matrix_cycles, stream_cycles, worth_threads

if TYPE_CHECKING:
    from tir_mlir.schedule.primitives import BlockLike

STREAMS = 8
"""The number of matrix rows read concurrently: enough for prefetching, few enough for registers."""
MOST_ADDING = 0.05
"""The part of a thread's time that adding parts of sums may take for threads to share the rows of a matrix."""
LONG = 512
"""Bytes of a row of the matrix from which on the sum of a vector at its end takes little time."""


@all_or_nothing
def gemv(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None = None,
    threads: int | None = None,
    free: bool = False,
    epilogue: BlockHandle | None = None,
) -> None:
    """Schedule a (batched) matrix-vector product for a CPU; the matrix may be transposed.

        for i, k in T.grid(n, k):              i contiguous: C[i..] += 8 rows of the matrix, vectorized over i
            with T.block("C"): C += A * x  ->  k contiguous: 8 vector accumulators at once, reduced to C at the end;
                                               one row and 4 of them where memory is best read in order

    Threads share the results, or the terms of few results that are contiguous: each then reads adjacent memory.
    A matrix that a block computes from fewer bytes, such as packed integers and scales by group, is computed again in
    registers: that block is inlined. The product may also read such arrays itself.
    block: the product, each iter bound to its own loop; axes of extent 1 are allowed, as in 1 x n. Extents may be
    symbolic. target: default this machine; threads: default its number of cores. free, epilogue: as in `gemm`.
    Raises ScheduleError if the block is not a matrix-vector product.
    """
    target = chosen(target)
    block = block_handle(sch, block)
    options = Free(sch, block, free)
    what = matrix_vector(sch, block)
    if inline_dequantizer(sch, block, what.matrix):
        what = matrix_vector(sch, block)
    threads = options.threads(_threads_worth_starting(what, threads or target.cores))
    loops = loops_by_iter(sch, block)
    sch.reorder(*(loops[a] for a in (*what.around, what.n, what.k)))
    streams = options.choice("streams", (1, 2, 4, 8, 12, 16), _streams(what, target))
    if not free and _shares_terms(what, threads):
        _gemv_of_parts(sch, block, what, target, threads, streams, options, epilogue)
        return
    if what.matrix.axes[-1] == what.n:
        outer = _vectorize_result(sch, block, what, loops, target, threads, streams, options)
    else:
        outer = _vectorize_sum(sch, block, what, loops, target, threads, streams)
    place_epilogue(sch, epilogue, outer)
    if threads > 1:
        sch.parallel(outer)


def _threads_worth_starting(what: MatVec, threads: int) -> int:
    """The number of threads that the product takes: one where starting others takes longer than they save."""
    elements = (what.extent(what.n) or LARGE) * (what.extent(what.k) or LARGE)
    size = elements * max(what.matrix.bits, what.bits) / 8  # shorter types take the time of widening them
    return worth_threads(matrix_cycles(size), threads)


def _shares_terms(what: MatVec, threads: int) -> bool:
    """Whether threads share the terms of the sums: the matrix is contiguous along the results, so that a thread then
    reads whole rows of it, in the order of memory, and adding the parts takes little of its time."""
    n, k = what.extent(what.n), what.extent(what.k)
    whole = n is not None and k is not None and k % threads == 0 and what.matrix.axes[-1] == what.n
    if threads == 1 or not whole or any(what.extent(a) != 1 for a in what.around):
        return False
    adding = stream_cycles((threads + 1) * (n or 1) * what.bits / 8)
    return adding <= MOST_ADDING * matrix_cycles((n or 1) * (k or 1) * what.matrix.bits / 8) / threads


def _gemv_of_parts(
    sch: Schedule, block: BlockHandle, what: MatVec, target: Target, threads: int, streams: int, free: Free,
    epilogue: BlockHandle | None,
) -> None:  # fmt: skip
    """Schedule a product whose terms threads share, and the sum of their parts."""
    part = split_sums(sch, block, what.k, threads)
    reduction(sch, block, target, threads)
    place_epilogue(sch, epilogue, sch.get_loops(block)[0])
    iters, loops = block_info(sch, part).iter_vars, loops_by_iter(sch, part)
    number, terms = iters[0].name, iters[-1].name
    extents = {it.name: it.dom.extent for it in iters}
    product = replace(what, around=(number, *what.around), k=terms, extents=extents)
    sch.reorder(*(loops[a] for a in (*product.around, product.n, product.k)))
    _vectorize_result(sch, part, product, loops, target, 1, streams, free)
    sch.parallel(loops[number])


def _streams(what: MatVec, target: Target) -> int:
    """The number of rows that are read concurrently. One, in the order of memory, of a matrix that comes from there: it
    is what CPUs prefetch best (1.3 to 1.9 times as fast as eight rows on Zen 4)."""
    row = (what.extent(what.k) or LARGE) * what.matrix.bits // 8
    far = row * (what.extent(what.n) or LARGE) > target.l2
    return 1 if what.matrix.axes[-1] != what.n and far and row >= LONG else STREAMS


def _vectorize_result(
    sch: Schedule,
    block: BlockHandle,
    what: MatVec,
    loops: dict[str, LoopHandle],
    target: Target,
    threads: int,
    streams: int,
    free: Free,
) -> LoopHandle:
    """The matrix is contiguous along the result: accumulate rows into a slice of the result that remains in L1.

    Returns the loop to run in parallel."""
    lanes = target.lanes(what.bits)
    piece = even_tile(what.extent(what.n) or LARGE, max(lanes, target.l1 * 8 // (2 * what.bits)), lanes, threads)
    vectors = [v for v in (16, 64, 256, 1024) if v * lanes <= (what.extent(what.n) or LARGE)]
    n_0, n_1, n_2 = sch.split(loops[what.n], [None, free.choice("piece", vectors, ceil(piece / lanes)), lanes])
    k_0, k_1 = sch.split(loops[what.k], [None, streams])
    sch.reorder(n_0, k_0, n_1, k_1, n_2)
    sch.unroll(k_1)
    sch.vectorize(n_2)
    init = sch.decompose_reduction(block, k_0)
    sch.vectorize(sch.get_loops(init)[-1])
    return n_0


def _vectorize_sum(
    sch: Schedule,
    block: BlockHandle,
    what: MatVec,
    loops: dict[str, LoopHandle],
    target: Target,
    threads: int,
    streams: int,
) -> LoopHandle:
    """The matrix is contiguous along the reduction: one vector of partial sums per row. Returns the outer loop."""
    if what.extent(what.k) is None:  # it may be 0, and the partial sums would be unwritten
        sch.vectorize(loops[what.k])
        return loops[what.n]
    around = len(what.around)
    plan = lane_split(block_info(sch, block).reads[what.matrix.position], target.lanes(what.bits))
    parts = sch.rfactor(sch.split(loops[what.k], plan.factors)[plan.lanes], around + 1)
    together, sums = _sums_together(what, plan, streams), parts
    if together > 1:
        parts = sch.rfactor(sch.split(sch.get_loops(parts)[around + 1], [None, together])[1], around + 1)
    n, *steps = sch.get_loops(parts)[around:]
    chains = [steps.pop(1)] if together > 1 else []
    lanes = steps[plan.lanes]
    inner = [] if plan.shared is None else [steps[plan.shared]]
    k_0, *between = (x for n, x in enumerate(steps) if n not in (plan.lanes, plan.shared))
    piece = even_tile(what.extent(what.n) or LARGE, LARGE, streams, threads)
    n_0, n_1, n_2 = sch.split(n, [None, ceil(piece / streams), streams])
    sch.reorder(n_0, n_1, k_0, *between, *chains, n_2, *inner, lanes)
    if chains:
        sch.reverse_compute_at(sums, n_1)
        sch.set_scope(sums, 0, "local")
        _vectorize_rest(sch, sums, 1)
    sch.reverse_compute_at(block, n_1)
    sch.set_scope(parts, 0, "local")
    for loop in (*chains, n_2, *inner):
        sch.unroll(loop)
    sch.vectorize(lanes)
    _vectorize_rest(sch, sch.decompose_reduction(parts, k_0), len(chains) + 1)
    return n_0


def _sums_together(what: MatVec, plan: LaneSplit, streams: int) -> int:
    """The number of vectors of sums of a row, if one row is read at once: a multiply-add waits for the one before,
    longer than for a vector of few bytes. 1 where they do not divide the sum."""
    step = prod(factor or 1 for factor in plan.factors)
    return max(n for n in (1, 2, 4) if n == 1 or (streams == 1 and (what.extent(what.k) or 1) % (n * step) == 0))


def _vectorize_rest(sch: Schedule, block: BlockHandle, count: int) -> None:
    """Vectorize the last loop of a block, and unroll so many before it."""
    *unrolled, lanes = sch.get_loops(block)[-count - 1 :]
    for loop in unrolled:
        sch.unroll(loop)
    sch.vectorize(lanes)
