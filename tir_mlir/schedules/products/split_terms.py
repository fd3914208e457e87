"""Products of few rows and columns and of many terms, whose sums threads share."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from tir_mlir.prediction.cores import WAITED, core_or_typical
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import block_info
from tir_mlir.schedules.products.contraction import Contraction, ContractionOperand
from tir_mlir.schedules.products.packing import exceeds_l2, packs_right
from tir_mlir.schedules.products.tile_sizes import tiles
from tir_mlir.schedules.steps import split_sums
from tir_mlir.target import Target
from tir_mlir.target.work_cost import balance, region_cycles, stream_cycles, worth_threads

TERMS = 256
"""The least number of terms of a part: a panel, with the time of its first and last loads, is to be short in that."""
GAIN = 0.98
"""The most cycles, of those without parts, for which sums are computed in parts."""
WRITTEN = 2
"""How often bytes move that are written: their lines are read first."""


def num_parts(what: Contraction, target: Target, threads: int, by_columns: bool) -> int:
    """The parts in which threads compute the sums of a product, all of one length; 1: they share rows or columns.
    by_columns: whether threads without parts share columns, not rows.

    A thread that shares rows reads all columns from the last cache, and the rows may be too few tiles for all; one that
    shares terms reads its part of both operands, and the sums are added then.
    """
    m, n, k = (what.extent(a) for a in (what.m, what.n, what.k))
    plain = all(x.dtype == what.dtype and not x.dequantized and not x.panel for x in (what.left, what.right))
    if threads == 1 or m is None or n is None or k is None or not (plain and what.is_unbatched):
        return 1
    if exceeds_l2(what, target):  # tiles of the result would be prefetched, in the part of another thread, too
        return 1
    parts = max((p for p in range(1, min(threads, k // TERMS) + 1) if k % p == 0), default=1)
    whole, split = _shared_cycles(what, target, threads, by_columns), _split_cycles(what, target, threads, parts)
    return parts if parts > 1 and split <= GAIN * whole else 1


def product_of_parts(
    sch: Schedule, block: BlockHandle, what: Contraction, parts: int | None, steps: int | None = None
) -> tuple[BlockHandle, Contraction]:
    """Compute the sums of a product in parts, see `split_sums`: a batch of products. Returns its block and what it
    is."""
    part = split_sums(sch, block, what.k, parts, steps)
    info = block_info(sch, part)
    number, *_, terms = (it.name for it in info.iter_vars)
    sizes = {it.name: what.extents.get(it.name, it.dom.extent) for it in info.iter_vars}
    positions = {str(read): position for position, read in enumerate(info.reads)}

    def operand(x: ContractionOperand) -> ContractionOperand:
        axes = tuple(terms if axis == what.k else axis for axis in x.axes)
        return replace(x, axes=axes, position=positions[x.name])

    return part, replace(
        what, batch=(number, *what.batch), k=terms, extents=sizes, out=str(info.writes[0]),
        left=operand(what.left), right=operand(what.right),
    )  # fmt: skip


def _shared_cycles(what: Contraction, target: Target, threads: int, by_columns: bool) -> float:
    """The cycles of a product whose rows or columns threads share. If it is the rows, the right operand may be packed
    as a whole, and read again by all."""
    m, n, k = (what.extent(a) or 1 for a in (what.m, what.n, what.k))
    plan, size = tiles(m, n, k, what.bits, target, threads), what.bits // 8
    rows, columns, moved = ceil(m / plan.mr), ceil(n / plan.nr), ((m + n) * k + WRITTEN * m * n) * size
    if by_columns:
        return _cycles(what, target, threads, columns, (ceil(columns / threads) * plan.nr + m) * k * size, moved)
    copied = 2 * n * k * size // threads if packs_right(what, plan, target) else 0
    return _cycles(what, target, threads, rows, (ceil(rows / threads) * plan.mr + n) * k * size + copied, moved)


def _split_cycles(what: Contraction, target: Target, threads: int, parts: int) -> float:
    """The cycles of a product whose terms threads share, and of adding the parts."""
    m, n, k = (what.extent(a) or 1 for a in (what.m, what.n, what.k))
    size = what.bits // 8
    adding = stream_cycles((parts + 1) * m * n * size)
    sharing = worth_threads(adding, threads)
    read, moved = (m + n) * k // parts * size, ((m + n) * k + (WRITTEN + 1) * parts * m * n) * size
    return _cycles(what, target, threads, parts, read, moved) + adding / sharing + region_cycles(sharing)


def _cycles(what: Contraction, target: Target, threads: int, pieces: int, size: int, moved: int) -> float:
    """Of the threads that compute equal pieces of a product, each from so many bytes of the last cache. moved: bytes of
    all threads, which come from memory if the last caches do not hold them."""
    core = core_or_typical(target)
    work = (what.extent(what.m) or 1) * (what.extent(what.n) or 1) * (what.extent(what.k) or 1)
    computing = work / core.multiply_adds(what.dtype, target) / (threads * balance(pieces, threads))
    moving = size / core.l3_each(threads)
    fits = moved <= core.caches(threads) * core.last_cache(target)
    memory = 0.0 if fits else moved / core.dram_rate(threads)
    return max(memory, moving, computing + WAITED["L3"] * moving) + region_cycles(threads)
