"""Schedule for matrix products."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir import te
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.prediction.cores import core_or_typical
from tir_mlir.runtime.aligned_arrays import empty
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import LARGE, block_handle, block_info, loops_by_iter
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.gpu.product import product
from tir_mlir.schedules.gpu.tensor_cores import has_tensor_types, tensor_core_product
from tir_mlir.schedules.products.contraction import Contraction, ContractionOperand, contraction
from tir_mlir.schedules.products.dequantization import inline_each, is_along, mark_dequantized, vectorize_dequantizer
from tir_mlir.schedules.products.few_rows import FEW_ROWS, few_rows_dots, few_rows_gemm, unpacked_gemm
from tir_mlir.schedules.products.free_products import free_panels, free_tiles
from tir_mlir.schedules.products.gemm_amx import tile_gemm, tile_unit
from tir_mlir.schedules.products.gemm_dots import dot_for, dot_gemm
from tir_mlir.schedules.products.gemm_panels import (
    MANY_REGISTERS,
    PanelGemm,
    Panels,
    few_rows_panels,
    near_rows,
    panels,
)
from tir_mlir.schedules.products.gemv import gemv
from tir_mlir.schedules.products.packing import (
    exceeds_l2,
    in_place_tiles,
    pack_left,
    pack_right,
    packs_left,
    packs_right,
)
from tir_mlir.schedules.products.row_versions import (
    MOST_THIN,
    SUMMED,
    THIN,
    gemm_by_columns,
    reads_in_place,
    shared_thin_gemm,
    sums_in_place,
    thin_gemm,
    version_axis,
)
from tir_mlir.schedules.products.split_terms import num_parts, product_of_parts
from tir_mlir.schedules.products.tile_sizes import Tiles, tiles
from tir_mlir.schedules.products.unpacked_weights import MOST_ROWS
from tir_mlir.schedules.rows.reduction import reduction
from tir_mlir.schedules.steps import (
    CHUNKS_PER_THREAD,
    all_or_nothing,
    give_reasons,
    inline,
    merge_epilogue,
    parallelize,
    place_epilogue,
)
from tir_mlir.script import PrimFunc
from tir_mlir.target import CUDA, AnyTarget, Target, chosen, resolved
from tir_mlir.target.work_cost import matrix_cycles, product_cycles, worth_threads

if TYPE_CHECKING:
    from tir_mlir.runtime.library import Library
    from tir_mlir.schedule.primitives import BlockLike

PANEL_ROWS = 48
"""The number of rows from which on packing a panel of few vectors, whose rows are far apart, takes little time."""
NEAR = 8
"""The part of L3 that a left operand may fill to be read from there by each panel, not packed by blocks."""


@all_or_nothing
def gemm(
    sch: Schedule,
    block: BlockLike,
    target: AnyTarget | str | None = None,
    threads: int | None = None,
    packed: str | None = None,
    free: bool = False,
    epilogue: BlockHandle | None = None,
) -> Packing | None:
    """Schedule a (batched) matrix product for a CPU; operands may be transposed. For a GPU, see
    `tir_mlir.schedules.gpu.product`.

        for i, j, k in T.grid(m, n, k):                  for j_0, k_0: pack B[k_0, j_0]
            with T.block("C"): C += A * B      ->            for i_0 (parallel), j_1, i_1:
                                                                 for k_1: a tile of C in registers += A * B
                                                                 C tile += registers

    Parallel over the products of a batch if there are enough, over parts of a long sum of few rows and columns (see
    `num_parts`), else over row blocks.
    A symbolic number of rows gets versions (`version_loop`) for few and for many rows; few rows are not packed. So does
    one of columns, if several threads share them.
    An operand that a block computes from fewer bytes, such as packed integers and scales by group, is computed in
    registers or while it is packed.
    block: the product, each iter bound to its own loop; extents may be symbolic. target: default this machine;
    threads: default its number of cores. packed: the name of a parameter, such as a weight, that callers pass packed;
    returns the `Packing` that packs it. free: sample the sizes of the tiles and panels, what is packed, unrolled
    and prefetched, versions, and how threads share the work, as decisions for a search, whose defaults are those
    chosen otherwise. epilogue: an elementwise block that is the only reader of the product (bias, activation, residual,
    a reshaped result): computed where tiles are written, or by slices in the cache, with no array between them; where
    that is not possible it remains as it is. Raises ScheduleError if the block is not a matrix product, or if `packed`
    is not a parameter of constant shape that a product of floats reads.
    """
    block = block_handle(sch, block)
    if (gpu := resolved(target).nvidia) is not None:
        _refuse_for_gpus(gpu, threads=threads, packed=packed, free=free or None)
        schedule = tensor_core_product if has_tensor_types(sch, block, gpu) else product
        return schedule(sch, block, gpu, epilogue)
    target = chosen(target)
    what = contraction(sch, block)
    options = Free(sch, block, free)
    worth = _threads(what, target, threads)
    if what.right.panel and not (what.right.group and _shares_products(what, worth)):
        _packed_gemm(sch, block, what, target, worth, packed, options, epilogue)
        return None
    if packed is None and not what.right.panel and _schedule_few_rows(sch, block, what, target, threads):
        return None
    if 1 in (what.extent(what.m), what.extent(what.n)):
        _refuse_packed(packed, "a product with one row or column reads each element once")
        gemv(sch, block, target, threads, free, epilogue)
        return None
    threads = options.threads(worth)
    if _shares_products(what, threads):
        outs = {str(w) for b in (block, epilogue) if b is not None for w in block_info(sch, b).writes}
        packing = gemm(sch, block, target, 1, packed, free, epilogue)
        parallelize(sch, _loops_that_write(sch, outs)[: len(what.batch)], threads)  # instructions replace the block
        return packing
    return _schedule_by_units(sch, block, what, target, threads, packed, options, epilogue)


def _schedule_by_units(
    sch: Schedule, block: BlockHandle, what: Contraction, target: Target, threads: int, packed: str | None,
    options: Free, epilogue: BlockHandle | None,
) -> Packing | None:  # fmt: skip
    """Schedule a product by matrix or dot-product instructions if they take it, else by multiply-adds."""
    batched = all(a in x.axes for a in what.batch for x in (what.left, what.right))
    unit = tile_unit(what, target) if packed is None and batched else None  # its operands are packed in the call
    if unit and tile_gemm(sch, block, what, unit, target, threads, epilogue):
        return None
    dot = dot_for(what, target) if batched else None
    if dot:
        why = f"dot-product instructions have panels of their own; fix: schedules.prepack(sch, function, ['{packed}'])"
        _refuse_packed(packed, why)
        what, producers = mark_dequantized(sch, block, what)
        if _dequantizes_in_registers(sch, what, producers):
            _dequantized_gemm(sch, block, what, producers[-1], target, threads, options, epilogue)
            return None
        if dot_gemm(sch, block, what, dot, target, threads, options, epilogue):
            inline_each(sch, producers)
            return None
    return _float_gemm(sch, block, what, target, threads, packed, options, epilogue)


def _gemm_of_parts(
    sch: Schedule, block: BlockHandle, what: Contraction, target: Target, threads: int, parts: int,
    epilogue: BlockHandle | None,
) -> None:  # fmt: skip
    """Schedule a product whose terms threads share, and the sum of their parts."""
    part, product = product_of_parts(sch, block, what, parts)
    reduction(sch, block, target, threads)
    place_epilogue(sch, epilogue, sch.get_loops(block)[0])
    _tiled_gemm(sch, part, product, target, 1, Free(sch, part, False))
    sch.parallel(sch.get_loops(part)[0])


def _refuse_for_gpus(gpu: CUDA, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise ScheduleError(f"{name} is for products on CPUs, and {gpu.chip} is a GPU; fix: leave it out")


def _packed_gemm(
    sch: Schedule, block: BlockHandle, what: Contraction, target: Target, threads: int, packed: str | None, free: Free,
    epilogue: BlockHandle | None,
) -> None:  # fmt: skip
    """Schedule a product whose right operand has panels already, see `prepack`: a tile is as wide as a panel."""
    _refuse_packed(packed, f"{what.right.name} is in panels already")
    if what.right.group:
        unit = tile_unit(what, target, fewest=1)
        if unit and tile_gemm(sch, block, what, unit, target, free.threads(threads), epilogue):
            return
        dot = dot_for(what, target)
        if dot is None or not dot_gemm(sch, block, what, dot, target, free.threads(threads), free, epilogue):
            raise ScheduleError(f"no dot product of the target takes the groups of {what.right.name}")
        return
    _tiled_gemm(sch, block, what, target, free.threads(threads), free, packed=what.right.name, epilogue=epilogue)


def _threads(what: Contraction, target: Target, threads: int | None) -> int:
    """The number of threads that are worth it."""
    work, rows = prod(what.extent(a) or LARGE for a in what.extents), what.extent(what.m) or LARGE
    cycles = product_cycles(work, what.left.dtype, target)
    if rows <= SUMMED:
        cycles = max(cycles, matrix_cycles(work / rows * what.right.bits / 8))
    return worth_threads(cycles, threads or target.cores)


def _schedule_few_rows(
    sch: Schedule, block: BlockHandle, what: Contraction, target: Target, threads: int | None
) -> bool:
    """Schedule few rows of int8 times unpacked weights by dot products, if that is what the product is."""
    if what.dtype != "int32" or (what.extent(what.m) or LARGE) > MOST_ROWS:
        return False
    what, producers = mark_dequantized(sch, block, what)
    if not what.right.dequantized:
        return False
    return few_rows_dots(sch, block, what, producers[-1], target, _threads(what, target, threads))


def _float_gemm(
    sch: Schedule, block: BlockHandle, what: Contraction, target: Target, threads: int, packed: str | None, free: Free,
    epilogue: BlockHandle | None,
) -> Packing | None:  # fmt: skip
    what, producers = mark_dequantized(sch, block, what)
    if packed is None:
        parts = num_parts(what, target, threads, _shares_columns(what, target, threads))
        if parts > 1 and free.flag("parts", True):
            _gemm_of_parts(sch, block, what, target, threads, parts, epilogue)
            return None
    if packed is None and _dequantizes_in_registers(sch, what, producers):
        _dequantized_gemm(sch, block, what, producers[-1], target, threads, free, epilogue)
        return None
    unpacks = packed is None and what.right.dequantized and not free
    if unpacks and unpacked_gemm(sch, block, what, producers[-1], target, threads, epilogue):
        return None
    if what.right.dequantized and is_along(sch, producers[-1], what.right, what.k):
        vectorize_dequantizer(sch, producers.pop(), target.lanes(what.bits), threads)
        what = replace(what, right=replace(what.right, dequantized=False))
    if packed is None and sums_in_place(what) and free.flag("in_place", True):
        few_rows_gemm(sch, block, what, target, threads, free, epilogue)
        return None
    thin = (what.extent(what.m) or LARGE) <= thin_rows(what, target)
    if packed is None and what.is_unbatched and reads_in_place(what) and (not thin or free.flag("thin", True)):
        _gemm_by_rows(sch, block, what, target, threads, free, epilogue)
        return None
    packing = _tiled_gemm(sch, block, what, target, threads, free, packed=packed, epilogue=epilogue)
    inline_each(sch, producers)
    return packing


def _gemm_by_rows(
    sch: Schedule,
    block: BlockHandle,
    what: Contraction,
    target: Target,
    threads: int,
    free: Free,
    epilogue: BlockHandle | None,
) -> None:
    """Schedule a product for its number of rows; if it is known when it runs, versions for few and for more."""
    rows = what.extent(what.m)
    if rows is not None and rows > thin_rows(what, target):
        _tiled_gemm(sch, block, what, target, threads, free, epilogue=epilogue)
    elif rows is not None:
        thin_gemm(sch, block, what, target, threads, epilogue)
    else:
        *few, some, many = version_axis(sch, block, what, what.m, [1, THIN, SUMMED])
        _gemm_by_sums(sch, *many, target, threads, free)
        shared = _threads(some[1], target, threads)
        PanelGemm(sch, *some, few_rows_panels(some[1], target, shared), target, shared).run()
        for part, product in few:
            shared_thin_gemm(sch, part, product, target, _threads(product, target, threads))


def thin_rows(what: Contraction, target: Target) -> int:
    """The most rows of a product that is read best by whole rows of its right operand, as that comes from memory more
    slowly than it is multiplied. With many registers, tiles are wide, and read long parts of rows, too."""
    n, k, size = what.extent(what.n), what.extent(what.k), max(1, what.bits // 8)
    if n is None or k is None or target.registers >= MANY_REGISTERS:
        return THIN
    core = core_or_typical(target)
    waited = size * core.multiply_adds(what.dtype, target) / core.rate_of(n * k * size, target)
    return max(THIN, min(MOST_THIN, int(waited)))


def _gemm_by_sums(
    sch: Schedule, block: BlockHandle, what: Contraction, target: Target, threads: int, free: Free
) -> None:
    """Schedule a product of many rows. If the number of terms is known when it runs, a version for sums that one pass
    over a panel computes, all of it in registers: that a sum has terms must be known. One of no or one term is thin."""
    wide = panels(what, target, threads)
    if not free.flag("versions", True):
        _tiled_gemm(sch, block, what, target, threads, free)
    elif (terms := what.extent(what.k)) is not None:
        gemm_by_columns(sch, block, what, wide, target, threads, terms)
    else:
        none, short, many = version_axis(sch, block, what, what.k, [1, wide.kc])
        gemm_by_columns(sch, *many, wide, target, threads, wide.kc)
        gemm_by_columns(sch, *short, wide, target, threads, 0)
        thin_gemm(sch, *none, target, threads)


def _dequantizes_in_registers(sch: Schedule, what: Contraction, producers: Sequence[BlockHandle]) -> bool:
    """Whether to dequantise the right operand in registers: few rows use it, and it is contiguous along the sum."""
    few = (what.extent(what.m) or LARGE) <= FEW_ROWS and what.extent(what.k) is not None
    return few and what.right.dequantized and is_along(sch, producers[-1], what.right, what.k)


def _dequantized_gemm(
    sch: Schedule, block: BlockHandle, what: Contraction, producer: BlockHandle, target: Target, threads: int,
    free: Free, epilogue: BlockHandle | None,
) -> None:  # fmt: skip
    """Schedule a product of few rows with a matrix that a block dequantises: once for all of them, or in registers."""
    if not free.flag("in_registers", False) and unpacked_gemm(sch, block, what, producer, target, threads, epilogue):
        return
    inline(sch, producer)
    few_rows_gemm(sch, block, what, target, threads, free, epilogue)


def _tiled_gemm(
    sch: Schedule, block: BlockHandle, what: Contraction, target: Target, threads: int, free: Free, *,
    packed: str | None = None, epilogue: BlockHandle | None = None,
) -> Packing | None:  # fmt: skip
    def packing(plan: Panels | Tiles) -> Packing | None:
        if packed is None or what.right.panel:
            return None
        return pack_parameter(sch, block, what, packed, plan.mr, plan.nr)

    m, n, k = (what.extent(a) for a in (what.m, what.n, what.k))
    plan = tiles(m, n, k, what.bits, target, threads, what.right.panel)
    packs = packed is not None and not what.right.panel
    whole = target.registers >= MANY_REGISTERS or (not packs and _pays_off_by_panels(what, plan, target, threads))
    if whole and not free.flag("blocked", False):
        wide = panels(what, target, threads)
        if _sums_any_rows(what) and target.registers < MANY_REGISTERS:
            wide = near_rows(wide, what, target.l3 // NEAR, threads)
        wide = free_panels(free, what, wide, target, threads) if free else wide
        result = packing(wide)
        PanelGemm(sch, block, what, wide, target, threads, packed=packed, epilogue=epilogue).run()
    else:
        plan = in_place_tiles(what, plan, target, threads) if packed is None else plan
        plan = free_tiles(free, what, plan, target) if free else plan
        result = packing(plan)
        give_reasons(sch, what.out, () if free else plan.why)
        Gemm(sch, block, what, plan, target, threads, packed, free, epilogue).run()
    return result


def _shares_columns(what: Contraction, target: Target, threads: int) -> bool:
    """Whether threads share the columns of a product, not its rows."""
    m, n, k = (what.extent(a) for a in (what.m, what.n, what.k))
    if sums_in_place(what) or (reads_in_place(what) and (m or LARGE) <= thin_rows(what, target)):
        return True
    plan = tiles(m, n, k, what.bits, target, threads, what.right.panel)
    whole = target.registers >= MANY_REGISTERS or _pays_off_by_panels(what, plan, target, threads)
    return whole and panels(what, target, threads).by_columns


def _sums_any_rows(what: Contraction) -> bool:
    """Whether callers pass the right operand in panels, and any number of rows: these are in `near_rows`."""
    return bool(what.right.panel) and what.extent(what.m) is None


def _pays_off_by_panels(what: Contraction, plan: Tiles, target: Target, threads: int) -> bool:
    """Whether panels that L2 holds are faster than blocks with few registers, too: the right operand exceeds L2 and
    many rows use a panel, or panels that are there already are longer than the sums of blocks; and the left operand,
    which each reads from behind L2, is read seldom or is a small part of L3, as `near_rows` of any number are."""
    m, n, k = (what.extent(a) or LARGE for a in (what.m, what.n, what.k))
    in_place = what.left.axes[-1] == what.k and not (what.must_pack or what.left.must_copy)
    if not in_place or threads > max(m // plan.mr, n // plan.nr):
        return False
    near = _sums_any_rows(what) or m * k * what.bits // 8 <= target.l3 // NEAR
    gains = plan.kc < k if what.right.panel else m >= PANEL_ROWS and n * k * what.bits // 8 > target.l2
    return gains and (near or not packs_left(what, plan, target))


def _refuse_packed(packed: str | None, why: str) -> None:
    if packed is not None:
        raise ScheduleError(f'packed="{packed}": {why}')


def _loops_that_write(sch: Schedule, buffers: Collection[str]) -> list[LoopHandle]:
    """The loops around a block that writes one of these buffers."""
    blocks = sch.get_child_blocks(sch.get_block("root", sch.func_working_on))
    return sch.get_loops(next(b for b in blocks if any(str(w) in buffers for w in block_info(sch, b).writes)))


def _shares_products(what: Contraction, threads: int) -> bool:
    """Whether threads share the products of a batch: they can be distributed evenly."""
    products = prod(what.extent(a) or LARGE for a in what.batch)
    even = products % threads == 0 or products >= CHUNKS_PER_THREAD * threads
    return threads > 1 and products < LARGE and even


class Gemm:
    """The state of scheduling one matrix product."""

    def __init__(
        self, sch: Schedule, block: BlockHandle, what: Contraction, plan: Tiles, target: Target, threads: int,
        packed: str | None, free: Free, epilogue: BlockHandle | None = None,
    ):  # fmt: skip
        self.sch, self.block, self.what, self.plan, self.target, self.threads = sch, block, what, plan, target, threads
        self.packed, self.free, self.epilogue = packed, free, epilogue
        self.k = what.extent(what.k) or LARGE

    def run(self) -> None:
        sch, plan, what = self.sch, self.plan, self.what
        batch, i, j, k = self._loops(self.block)
        k_0, in_place = None, True
        if plan.kc < self.k:
            k_0, _ = sch.split(k, [None, plan.kc])
            parts, write_back = sch.rfactor(k_0, 0), self.block
            batch, i, j, k_0, k = self._nest(parts)
        else:
            parts = self.block
            write_back = sch.cache_write(parts, 0, "local")
            in_place = self.epilogue is None or merge_epilogue(sch, write_back, self.epilogue)
        i_0, i_1, i_2 = sch.split(i, [None, ceil(plan.mc / plan.mr), plan.mr])
        j_0, j_1, j_2 = sch.split(j, [None, ceil(plan.nc / plan.nr), plan.nr])
        blocks = [j_0, *([] if k_0 is None else [k_0])]
        once = k_0 is not None and self._shares_once()
        sch.reorder(*batch, *([i_0, *blocks] if once else [*blocks, i_0]), j_1, i_1, k, i_2, j_2)
        sch.reverse_compute_at(write_back, i_1, preserve_unit_loops=True)
        packs_rhs = what.must_pack or self.free.flag("pack_right", packs_right(what, plan, self.target))
        packs_lhs = what.left.must_copy or self.free.flag("pack_left", packs_left(what, plan, self.target))
        if what.right.name != self.packed and packs_rhs:
            whole = batch[-1] if batch else None
            pack_right(sch, what, plan, parts, whole if once else blocks[-1], self.threads)
        if what.left.name != self.packed and packs_lhs:
            pack_left(sch, what, plan, parts, blocks[-1] if once else i_0, self.target.lanes(what.left.bits))
        sch.unroll(i_2)
        sch.vectorize(j_2)
        sch.decompose_reduction(parts, k)
        *_, rows, columns = sch.get_loops(write_back)
        sch.unroll(rows)
        sch.vectorize(columns)
        if self.free.flag("prefetch", exceeds_l2(what, self.target)) and in_place:  # as in gemm_dots
            sch.annotate(i_1, "prefetch", str(block_info(sch, write_back).writes[0]))
        if k_0 is not None:
            place_epilogue(sch, self.epilogue, j_0)
        if self.threads > 1:
            sch.parallel(i_0)

    def _shares_once(self) -> bool:
        """Whether threads start once, each for its rows, and not for each block of the sum: the right operand is packed
        as a whole, in half of L3."""
        what = self.what
        n, k = (what.extent(a) or LARGE for a in (what.n, what.k))
        return self.threads > 1 and 2 * n * k * what.bits // 8 <= self.target.l3

    def _loops(self, block: BlockHandle) -> tuple[list[LoopHandle], LoopHandle, LoopHandle, LoopHandle]:
        what = self.what
        by_name = loops_by_iter(self.sch, block)
        order = [by_name[a] for a in (*what.batch, what.m, what.n, what.k)]
        self.sch.reorder(*order)
        return order[:-3], order[-3], order[-2], order[-1]

    def _nest(self, parts: BlockHandle) -> tuple[list[LoopHandle], LoopHandle, LoopHandle, LoopHandle, LoopHandle]:
        *batch, i, j, k_0, k = self.sch.get_loops(parts)
        return batch, i, j, k_0, k


@dataclass(frozen=True)
class Packing:
    """The layout of a packed parameter: panels of `width` along one axis; within a panel, reduction-major.

    `program` copies the parameter `name` of `shape` to `packed_shape`, with zeros after the last column. Calling the
    packing runs it: `packing(b)` returns the packed array, on a boundary of a cache line. adjacent: whether the
    elements of a row of a panel are adjacent in the parameter.
    """

    name: str
    program: PrimFunc
    shape: tuple[int, ...]
    packed_shape: tuple[int, ...]
    dtype: str
    adjacent: bool

    def __call__(self, array: np.ndarray) -> np.ndarray:
        packed = empty(self.packed_shape, self.dtype)
        self._run(array, packed)
        return packed

    @functools.cached_property
    def _run(self) -> Library:
        sch = Schedule(self.program)
        if self.adjacent:
            sch.vectorize(sch.get_loops("packed")[-1])
        return build(sch)


def pack_parameter(sch: Schedule, block: BlockHandle, what: Contraction, name: str, rows: int, columns: int) -> Packing:
    """Change the layout of a parameter to panels: `rows` wide if it is the left operand, `columns` wide if the right.

    Raises ScheduleError if it is not a parameter that the block reads, or if one of its extents is symbolic.
    """
    operand = _operand(sch, block, what, name)
    shape = tuple(e for e in (what.extent(axis) for axis in operand.axes) if e is not None)
    if len(shape) < len(operand.axes):
        raise ScheduleError(f'packed="{name}": its shape must be constant, as it is packed before the call')
    along, width = (what.n, columns) if operand is what.right else (what.m, rows)
    width = min(width, what.extent(along) or width)
    sch.transform_layout(block, name, _layout(operand, what, along, width), assume_injective_transform=True)
    program, packed_shape = _program(operand, what, along, width, shape)
    return Packing(name, program, shape, packed_shape, operand.dtype, adjacent=operand.axes[-1] == along)


def _operand(sch: Schedule, block: BlockHandle, what: Contraction, name: str) -> ContractionOperand:
    operand = next((x for x in (what.left, what.right) if x.name == name), None)
    if operand is None:
        raise ScheduleError(f'packed="{name}": the operands are {what.left.name} and {what.right.name}')
    if any(name in map(str, block_info(sch, p).writes) for p in sch.get_producers(block)):
        raise ScheduleError(f'packed="{name}": a block writes it; only a parameter can be packed before the call')
    return operand


def _layout(operand: ContractionOperand, what: Contraction, along: str, width: int) -> Callable[..., tuple]:
    n, k = operand.axes.index(along), operand.axes.index(what.k)
    outer_dims = [d for d in range(len(operand.axes)) if d not in (n, k)]
    return lambda *index: (*(index[d] for d in outer_dims), index[n] // width, index[k], index[n] % width)


def _program(
    operand: ContractionOperand, what: Contraction, along: str, width: int, shape: tuple[int, ...]
) -> tuple[PrimFunc, tuple[int, ...]]:
    """The function that packs an array, and the shape of its result."""
    n, k = operand.axes.index(along), operand.axes.index(what.k)
    outer_dims = [d for d in range(len(shape)) if d not in (n, k)]
    packed_shape = (*(shape[d] for d in outer_dims), -(-shape[n] // width), shape[k], width)
    source = te.placeholder(shape, operand.dtype, name=operand.name)

    def element(*index: te.Var) -> te.Expr:
        *outer, panel, step, lane = index
        column = panel * width + lane
        by_axis = {**dict(zip(outer_dims, outer, strict=True)), n: column, k: step}
        value = source[tuple(by_axis[d] for d in range(len(shape)))]
        full = shape[n] % width == 0
        return value if full else te.if_then_else(column < shape[n], value, 0.0 if "float" in operand.dtype else 0)

    packed = te.compute(packed_shape, element, name="packed")
    return te.create_prim_func([source, packed]), packed_shape
