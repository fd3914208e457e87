"""Products whose sizes are known when they run: versions for few rows, which read the operands in place."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import LARGE, even_tile, loops_by_iter
from tir_mlir.schedules.products.contraction import Contraction
from tir_mlir.schedules.products.gemm_panels import (
    LONG_SHARE,
    STEPS,
    PanelGemm,
    Panels,
    sharing_rows,
)
from tir_mlir.schedules.products.split_terms import TERMS, product_of_parts
from tir_mlir.schedules.rows.reduction import reduction
from tir_mlir.schedules.steps import CHUNKS_PER_THREAD, place_epilogue, put_in_order
from tir_mlir.target import Target

THIN, MOST_THIN = 3, 4
"""The maximum number of rows of a product that is bound by memory bandwidth: of any, and of one whose matrix is far."""
SUMMED = 16
"""The maximum number of rows of a product whose right operand it does not pay off to transpose or to pack."""
PART = 128
"""Terms of a part of one row's sums that threads share: writing and adding parts moves 1/64 of the bytes read."""
SHARED_BYTES = 1024
"""Bytes of the columns of one row that a thread takes at once, if their number is symbolic."""
COLUMNS_PER_THREAD = 2
"""The maximum number of panels of columns per thread at which it is rows or terms that threads share."""
SHARES_PER_THREAD = 8
"""Shares of rows per thread from which on rows are shared as evenly as terms."""
STREAMS = 8
"""Rows of the right operand that a thin product reads at once: as many as the kernel of a matrix and a vector."""


def reads_in_place(what: Contraction) -> bool:
    """Whether products of few rows can read their operands in place, by vectors."""
    plain = all(x.dtype == what.dtype and not x.dequantized for x in (what.left, what.right))
    return plain and what.right.axes[-1] == what.n


def sums_in_place(what: Contraction) -> bool:
    """Whether a product of few rows sums vectors of both operands, which are contiguous along the sum, in place."""
    plain = all(x.dtype == what.dtype and not x.dequantized for x in (what.left, what.right))
    static_sum = what.extent(what.k) is not None and what.is_unbatched
    few = 1 < (what.extent(what.m) or LARGE) <= SUMMED
    return plain and static_sum and few and what.left.axes[-1] == what.right.axes[-1] == what.k


def version_axis(
    sch: Schedule, block: BlockHandle, what: Contraction, axis: str, limits: list[int]
) -> list[tuple[BlockHandle, Contraction]]:
    """Make versions of a product for at most so many rows or columns (axis: which), and one for more. Returns the block
    and the product of each, whose number of them is the largest one."""
    loops = loops_by_iter(sch, block)
    put_in_order(sch, loops, (*what.batch, axis, *(a for a in (what.m, what.n, what.k) if a != axis)))
    versions = [sch.get_child_blocks(x)[0] for x in sch.version_loop(loops[axis], limits)]
    sizes = [replace(what, extents={**what.extents, axis: limit}) for limit in limits]
    return list(zip(versions, [*sizes, what], strict=True))


def thin_gemm(
    sch: Schedule,
    block: BlockHandle,
    what: Contraction,
    target: Target,
    threads: int,
    epilogue: BlockHandle | None = None,
) -> None:
    """Schedule a product of a few rows.

        for i, j, k in T.grid(m, n, k):             for j_0 (parallel), k_0, j_1, i:
            with T.block("C"): C += A * B    ->         for k_1 (8, unrolled), j_2 (vectors): C += A * B

    Vectors of 8 rows of B remain in registers for all rows of A, and a slice of C in L1. Of one row, its 8 elements
    remain there for all vectors: i is outside j_1.
    """
    loops = loops_by_iter(sch, block)
    i, j, k = (loops[a] for a in (what.m, what.n, what.k))
    put_in_order(sch, loops, (*what.batch, what.m, what.n, what.k))
    rows = what.extent(what.m) or THIN
    width = target.lanes(what.bits) * (2 if target.registers > 3 * STREAMS else 1)
    most = target.l1 * 8 // (2 * rows * what.bits)
    if threads > 1 and what.extent(what.n) is None:
        # pieces for all threads, if there are not many columns
        most = SHARED_BYTES * 8 // what.bits if rows == 1 else most // CHUNKS_PER_THREAD
    piece = even_tile(what.extent(what.n) or LARGE, max(width, most), width, threads)
    j_0, j_1, j_2 = sch.split(j, [None, ceil(piece / width), width])
    k_0, k_1 = sch.split(k, [None, STREAMS])
    sch.reorder(j_0, k_0, *((i, j_1) if rows == 1 else (j_1, i)), k_1, j_2)
    sch.unroll(k_1)
    sch.vectorize(j_2)
    init = sch.decompose_reduction(block, k_0)
    sch.vectorize(sch.get_loops(init)[-1])
    place_epilogue(sch, epilogue, j_0)
    if threads > 1:
        sch.parallel(j_0)


def shared_thin_gemm(sch: Schedule, block: BlockHandle, what: Contraction, target: Target, threads: int) -> None:
    """Schedule a product of a few rows whose number is known when it runs. Threads share the terms of one row: each
    reads whole rows of the right operand, in the order of memory. Of few terms, or of more rows, they share columns."""
    least, terms = PART * (CHUNKS_PER_THREAD * threads - 1), what.extent(what.k)
    if threads == 1 or what.extent(what.m) != 1 or (terms or LARGE) <= least:
        thin_gemm(sch, block, what, target, threads)
        return
    many = block, what
    if terms is None:
        few, many = version_axis(sch, block, what, what.k, [least])
        thin_gemm(sch, *few, target, threads)
    part, product = product_of_parts(sch, *many, None, PART)
    reduction(sch, many[0], target, threads)
    thin_gemm(sch, part, product, target, 1)
    sch.parallel(sch.get_loops(part)[0])


def gemm_by_columns(
    sch: Schedule, block: BlockHandle, what: Contraction, wide: Panels, target: Target, threads: int, terms: int
) -> None:
    """Schedule a product of many rows, whose columns threads share. If the number of columns is known when it runs, a
    version for few of them packs nothing, and its rows are shared; or the terms, of which there are at least so many,
    if there are few rows, too."""
    plan, narrow = wide, (block, what)
    if what.extent(what.n) is None and wide.packed and (threads == 1 or wide.by_columns):
        most = _few_columns(wide, threads)
        if wide.kc < (what.extent(what.k) or LARGE):  # then few rows, whose terms are shared, are a share for each
            most = min(most, target.l2 * 8 // (wide.mr * LONG_SHARE * threads * what.bits))
        narrow, many = version_axis(sch, block, what, what.n, [most])
        PanelGemm(sch, *many, wide, target, threads).run()
        plan = sharing_rows(wide, narrow[1])
    columns = narrow[1].extent(what.n) or LARGE
    few = min(plan.mr * plan.share * SHARES_PER_THREAD * threads, target.l2 * 8 // (columns * what.bits))
    if threads > 1 and not plan.by_columns and terms >= 2 * TERMS and few > SUMMED:
        short, narrow = version_axis(sch, *narrow, what.m, [few])
        gemm_of_terms(sch, *short, plan, target, threads)
    PanelGemm(sch, *narrow, plan, target, threads).run()


def gemm_of_terms(
    sch: Schedule, block: BlockHandle, what: Contraction, plan: Panels, target: Target, threads: int
) -> None:
    """Schedule a product of few rows and columns whose terms threads share, by tiles of panels; see `split_sums`."""
    terms = what.extent(what.k)
    steps = TERMS if terms is None else even_tile(terms, 2 * TERMS, STEPS, threads)
    part, product = product_of_parts(sch, block, what, None, steps)
    reduction(sch, block, target, threads)
    plan = replace(plan, packed=False, by_columns=False, block=0, group=1, kc=steps)
    PanelGemm(sch, part, product, plan, target, 1).run()
    sch.parallel(sch.get_loops(part)[0])


def _few_columns(plan: Panels, threads: int) -> int:
    """The most columns that are too few panels for threads to share."""
    return plan.nr * COLUMNS_PER_THREAD * threads
