"""Reductions on a GPU: the threads of a warp or of a block share a row; or each has columns of its own."""

from __future__ import annotations

from math import prod

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import bits
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedules.block_queries import LARGE, along_memory, block_info, extents, iters, loops_by_iter
from tir_mlir.schedules.gpu.elementwise import row_fits
from tir_mlir.schedules.gpu.threads import PROCESSORS, THREADS, WARP, bind_shared, fuse_all

PARTS = 8
"""The threads that share the sum of a column."""


def reduction(sch: Schedule, block: BlockHandle) -> None:
    """Schedule a reduction over any axes, of one result or of several (argmax).

        for i, k: S[i] += X[i, k]  ->  for i_0 (blockIdx.x), i_1 (threadIdx.y): for k_0, k_1 (threadIdx.x): S[i] += ..
        for j, k: S[j] += X[k, j]  ->  for j_0 (blockIdx.x), j_1 (threadIdx.x): for k_0, k_1 (threadIdx.y): S[j] += ..

    What threads read at once is adjacent in the largest input. Errors: ScheduleError for what is not a reduction.
    """
    info, loops = block_info(sch, block), loops_by_iter(sch, block)
    sums, results = iters(info, "R"), iters(info, "S")
    if not sums:
        raise ScheduleError(f'block "{info.name}" is not a reduction')
    inner = along_memory(info, list(loops))[-1]
    sums, results = along_memory(info, sums), [n for n in along_memory(info, results)] if inner in results else results
    sch.reorder(*(loops[n] for n in (*results, *sums)))
    sizes = extents(info)
    count, length = (prod(sizes[n] or LARGE for n in names) for names in (results, sums))
    terms = fuse_all(sch, [loops[n] for n in sums])
    lanes = _vector_lanes(info, sums, length)
    threads = row_threads(count, length // lanes)
    if not results:
        sch.bind(sch.add_unit_loop(terms), "blockIdx.x")
        _sum_rows(sch, block, terms, threads, lanes)
        return
    outer = [loops[n] for n in results]
    if inner in sums:
        bind_shared(sch, outer, "threadIdx.y", max(1, min(THREADS // threads, count)))
        _sum_rows(sch, block, terms, threads, lanes)
    else:
        _sum_columns(sch, outer, terms, count, length)


def row_threads(count: int, length: int) -> int:
    """The threads that share a row of so many terms, if there are so many rows: a warp, or more for few long rows."""
    threads = WARP
    while threads < THREADS * 2 and length >= 8 * threads and count * threads < THREADS * PROCESSORS * 4:
        threads *= 2
    while threads > 1 and threads >= 2 * length:
        threads //= 2
    return threads


def _vector_lanes(info: BlockInfo, sums: list[str], length: int) -> int:
    """The adjacent terms that a thread loads at once: 16 bytes of rows that start at multiples of 16 bytes."""
    regions = [r for r in info.reads if any(sums[-1] in axis for axis in r.axes)]
    lanes = max(1, 128 // max([8, *(bits(r.buffer.dtype) for r in regions)]))
    last = extents(info)[sums[-1]] or 1
    while lanes > 1 and (
        last % lanes or length < lanes * WARP or not all(row_fits(r, sums[-1], lanes) for r in regions)
    ):
        lanes //= 2
    return lanes


def _sum_rows(sch: Schedule, block: BlockHandle, terms: LoopHandle, threads: int, lanes: int) -> None:
    """Share a row among threads, which load vectors of it to registers."""
    if lanes == 1:
        sch.bind(sch.split(terms, [None, threads])[1], "threadIdx.x")
        return
    _, inner, _ = sch.split(terms, [None, threads, lanes])
    sch.bind(inner, "threadIdx.x")
    info = block_info(sch, block)
    sums = iters(info, "R")
    for name in dict.fromkeys(str(r) for r in info.reads if any(n in axis for axis in r.axes for n in sums)):
        copy = sch.cache_read(block, name, "local")
        sch.compute_at(copy, inner)
        sch.vectorize(sch.get_loops(copy)[-1])


def _sum_columns(sch: Schedule, results: list[LoopHandle], terms: LoopHandle, count: int, length: int) -> None:
    """A column a thread; for few columns several threads, whose parts are added in the end."""
    few = count < THREADS * PROCESSORS
    bind_shared(sch, results, "threadIdx.x", min(WARP if few else THREADS, count))
    if few and 2 * PARTS <= length < LARGE:
        _, inner = sch.split(terms, [None, PARTS if length < 64 * PARTS else 4 * PARTS])
        sch.bind(inner, "threadIdx.y")
