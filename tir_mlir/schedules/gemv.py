"""Matrix times vector at the speed of the memory."""

from __future__ import annotations

from math import ceil
from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.contraction import MatVec, matrix_vector
from tir_mlir.schedules.tile_sizes import LARGE, even
from tir_mlir.target import Target, host

THREAD_WORK = 1 << 17
"""Elements of the matrix that pay for waking a thread."""
STREAMS = 8
"""Rows of the matrix read side by side: enough to be fetched ahead, few enough for registers."""


def gemv(sch: Schedule, block: Any, target: Target | None = None, threads: int | None = None) -> None:
    """Schedule a product of a matrix and a vector (a batch of them, the matrix transposed or not) for a CPU.

        for i, k in T.grid(n, k):              rows of the matrix along i:  C[i..] += 8 rows, k by k, by vectors
            with T.block("C"): C += A * x  ->  rows along k: 8 sums beside each other, each a vector, added up at last

    `block` is the product, each iter bound to a loop of its own; axes of one element may be among them, as in 1 x n.
    Any extents, symbolic ones too. `target`: this machine when left out; `threads`: its cores. Raises ScheduleError
    where the block is no such product.
    """
    target = target or host()
    if isinstance(block, str):
        block = sch.get_block(block)
    what = matrix_vector(sch, block)
    elements = (what.extent(what.n) or LARGE) * (what.extent(what.k) or LARGE)
    threads = min(threads or target.cores, ceil(elements / THREAD_WORK))
    loops = dict(zip(what.extents, sch.get_loops(block), strict=True))
    sch.reorder(*(loops[a] for a in (*what.around, what.n, what.k)))
    (_along if what.matrix.axes[-1] == what.n else _across)(sch, block, what, loops, target, threads)


def _along(sch: Schedule, block: Any, what: MatVec, loops: dict[str, Any], target: Target, threads: int) -> None:
    """Rows of the matrix lie along the result: a piece of it stays in L1 while they are added to it."""
    lanes = target.lanes(what.bits)
    piece = even(what.extent(what.n) or LARGE, max(lanes, target.l1 * 8 // (2 * what.bits)), lanes, threads)
    n_0, n_1, n_2 = sch.split(loops[what.n], [None, ceil(piece / lanes), lanes])
    k_0, k_1 = sch.split(loops[what.k], [None, STREAMS])
    sch.reorder(n_0, k_0, n_1, k_1, n_2)
    sch.unroll(k_1)
    sch.vectorize(n_2)
    init = sch.decompose_reduction(block, k_0)
    sch.vectorize(sch.get_loops(init)[-1])
    if threads > 1:
        sch.parallel(n_0)


def _across(sch: Schedule, block: Any, what: MatVec, loops: dict[str, Any], target: Target, threads: int) -> None:
    """Rows of the matrix lie along the sum: for each row a vector of partial sums."""
    if what.extent(what.k) is None:  # may be 0: no part of the sum would be there
        sch.vectorize(loops[what.k])
        if threads > 1:
            sch.parallel(loops[what.n])
        return
    k_0, k_1 = sch.split(loops[what.k], [None, target.lanes(what.bits)])
    parts = sch.rfactor(k_1, len(what.around) + 1)
    *_, n, k_0, lanes = sch.get_loops(parts)
    piece = even(what.extent(what.n) or LARGE, LARGE, STREAMS, threads)
    n_0, n_1, n_2 = sch.split(n, [None, ceil(piece / STREAMS), STREAMS])
    sch.reorder(n_0, n_1, k_0, n_2, lanes)
    sch.reverse_compute_at(block, n_1)
    sch.set_scope(parts, 0, "local")
    sch.unroll(n_2)
    sch.vectorize(lanes)
    init = sch.decompose_reduction(parts, k_0)
    *_, rows, lanes = sch.get_loops(init)
    sch.unroll(rows)
    sch.vectorize(lanes)
    if threads > 1:
        sch.parallel(n_0)
