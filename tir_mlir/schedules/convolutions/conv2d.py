"""Schedules for convolutions, as products and depthwise ones, and the padding blocks before them: a fill and a copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import bits
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import (
    LARGE,
    block_handle,
    block_info,
    even_tile,
    extent_of,
    kind_of_loop,
    loops_by_iter,
)
from tir_mlir.schedules.convolutions.conv_shares import ConvShares, ConvWork
from tir_mlir.schedules.convolutions.conv_tile_sizes import ConvTiles, conv_tiles, free_conv_tiles
from tir_mlir.schedules.convolutions.convolution import Convolution, convolution
from tir_mlir.schedules.convolutions.depthwise_dots import depthwise_dots, rows_in_groups
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.operand_types import store_as
from tir_mlir.schedules.steps import all_or_nothing, give_reasons, merge_epilogue, parallelize, place_epilogue
from tir_mlir.target import Target, chosen
from tir_mlir.target.work_cost import product_cycles, worth_threads

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr
    from tir_mlir.schedule.info import RegionInfo
    from tir_mlir.schedule.primitives import BlockLike


@all_or_nothing
def conv2d(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None = None,
    threads: int | None = None,
    free: bool = False,
    epilogue: BlockHandle | None = None,
) -> None:
    """Schedule a convolution for a CPU: NCHW or NHWC, any stride, dilation, window and order of axes.

        for n, o, h, w, c, y, x in T.grid(...):              for n, p_0, c_0: pack the patches of pixels p
            with T.block("Y"):                        ->         for o_0, p_1:
                Y[n, o, h, w] += X[n, c, h * s + y,                  for c_1, y, x: a tile of Y in registers
                                   w * s + x] * W[o, c, y, x]        Y tile += registers

    The pixels of an image, in row-major order, are the columns of a matrix product (its rows in NHWC). The patches that
    they read are packed in access order, for as many pixels as fit in L2; or all of them first, if threads start less
    often so, as they take pieces of rows, or of both, once for all sums (see `conv_shares`). A producer that pads the
    image is decomposed into a fill and a copy; padding inside the convolution block is not supported.
    block: the convolution, each iter bound to its own loop; channels, batches and height may be symbolic.
    Convolutions in groups are a product for each group; depthwise ones, and those of groups of less than 4 results,
    are only vectorized; depthwise ones whose weights have rows in groups (layout "HWOI4h") are dot products.
    target: default this machine; threads: default its number of cores.
    free, epilogue: as in `gemm`. Raises ScheduleError if the block is not a convolution.
    """
    target = chosen(target)
    block = block_handle(sch, block)
    what = divide_groups(sch, block, convolution(sch, block))
    options, work = Free(sch, block, free), prod(e or LARGE for e in what.extents.values())
    cycles = product_cycles(work, what.dtype, target) * (1 if what.is_product else DEPTHWISE)
    threads = options.threads(worth_threads(cycles, threads or target.cores))
    if what.is_product:
        padding = tile_product(sch, block, what, target, threads, options, epilogue, cycles)
    else:
        padding = depthwise(sch, block, what, target, threads, options, epilogue, find_pads(sch, block, what))
    for pad in padding:
        decompose_pad(sch, pad, target.lanes(what.bits), threads)


def divide_groups(sch: Schedule, block: BlockHandle, what: Convolution) -> Convolution:
    """Divide the channels of a convolution in groups into groups and channels of a group: a product for each group."""
    if what.grouped is None or what.grouped[1] < FEWEST_OF_GROUP:
        return what
    return divide_iter(sch, block, what, *what.grouped)


def divide_iter(sch: Schedule, block: BlockHandle, what: Convolution, axis: str, each: int) -> Convolution:
    """Divide an iter into an outer one and one of `each` iterations. Returns the convolution that the block is then."""
    position = list(what.extents).index(axis)
    sch.transform_block_layout(
        block, lambda *i: (*i[:position], i[position] // each, i[position] % each, *i[position + 1 :])
    )
    return convolution(sch, block, joined=True)


FEWEST_OF_GROUP = 4
"""The minimum number of channels of the result in a group that is computed as a product."""


def tile_product(
    sch: Schedule, block: BlockHandle, what: Convolution, target: Target, threads: int, free: Free,
    epilogue: BlockHandle | None, cycles: float,
) -> Sequence[Pad]:  # fmt: skip
    """Schedule a convolution as a product. cycles: of one thread. Returns the blocks that pad its image."""
    plan = free_conv_tiles(free, what, conv_tiles(what, target, threads), target)
    work = conv_work(sch, block, what, plan, target, threads, cycles, divisible=not free)
    shares = work.best_shares()
    ahead = work.fetches_panels(shares)
    if shares.image_rows > 1:
        rows, plan = what.columns[0], shares.plan or plan
        what = divide_iter(sch, block, what, rows, (what.extents[rows] or 1) // shares.image_rows)
    give_reasons(sch, block_info(sch, block).name, () if free else plan.why)
    padding = find_pads(sch, block, what)
    Conv2d(sch, block, what, plan, threads, shares, target, epilogue, ahead).run(padding)
    return padding


def conv_work(
    sch: Schedule, block: BlockHandle, what: Convolution, plan: ConvTiles, target: Target, threads: int, cycles: float,
    divisible: bool,
) -> ConvWork:  # fmt: skip
    """What threads share of a convolution."""
    region = next(r for r in block_info(sch, block).reads if str(r) == what.right)
    read = {name for axis in region.axes for name in axis}
    along, across = (tuple(a for a in what.outer if (a in read) is there) for there in (True, False))
    copies = not reads_columns_in_place(what, plan)
    return ConvWork(what, plan, target, threads, cycles, along, across, copies, divisible)


def reads_columns_in_place(what: Convolution, plan: ConvTiles) -> bool:
    """Whether the right operand is in panels of at most the width of a tile, and not to be copied for its type."""
    return 0 < what.panel <= plan.nr and not widens_columns(what, plan)


def widens_columns(what: Convolution, plan: ConvTiles) -> bool:
    """Whether to copy the right operand for its type: for few rows, it is widened in registers."""
    return what.right in what.widened and (what.size(what.rows) or LARGE) >= MANY_TILES * plan.mr


class Conv2d:
    """The state of scheduling one convolution."""

    def __init__(
        self,
        sch: Schedule,
        block: BlockHandle,
        what: Convolution,
        plan: ConvTiles,
        threads: int,
        shares: ConvShares,
        target: Target,
        epilogue: BlockHandle | None,
        fetches_panels: bool,
    ):
        self.fetches_panels = fetches_panels
        self.epilogue, self.target, self.lanes, self.shares = epilogue, target, target.lanes(what.bits), shares
        self.sch, self.block, self.what, self.plan, self.threads = sch, block, what, plan, threads
        full_passes = (what.extents[what.deep] or LARGE) % plan.depth == 0
        self.sums = (what.sums,) if what.as_one and full_passes else tuple((a,) for a in what.sums)

    def run(self, padding: Sequence[Pad]) -> None:
        """Schedule the block. The first step reorders its iters to outer, row, column, reductions."""
        sch, plan, what = self.sch, self.plan, self.what
        sch.transform_block_layout(self.block, lambda *iters: self._product_iters(*iters))
        panel_iters, packed = ([], None) if reads_columns_in_place(what, plan) else self._cache_panels()
        rows_copy = self._copied_rows(padding)
        for pad in padding:
            join_rows(sch, pad)
        parts, write_back, passes = self._passes()
        if not passes:
            merge_epilogue(sch, write_back, self.epilogue)
        loops = sch.get_loops(parts)
        outer, sums = loops[: len(what.outer)], loops[-len(self.sums) :]
        row, column = loops[len(outer) : len(outer) + 2]
        j_0, j_1, j_2 = sch.split(column, [None, plan.panels, plan.nr])
        first = [x for n, x in enumerate(outer) if n in panel_iters]
        around = [x for x in outer if x not in first]
        shares = self.shares
        *pieces, i_0, i_1 = sch.split(row, [shares.pieces, None, plan.mr] if shares.pieces else [None, plan.mr])
        sch.reorder(*first, *pieces, j_0, *passes, *around, i_0, j_1, *sums, i_1, j_2)
        sch.reverse_compute_at(write_back, j_1, preserve_unit_loops=True)
        start = first[: shares.outside][-1:] if shares.pieces > 1 else passes or [j_0]
        copied = self._pack(packed, start, panel_iters) if packed else []
        if rows_copy:
            sch.compute_at(rows_copy, i_0, preserve_unit_loops=True)
            sch.vectorize(sch.split(sch.get_loops(rows_copy)[-1], [None, self.lanes])[1])
        self._unroll(sums)
        if self.fetches_panels:
            sch.annotate(sums[-1], "prefetch", {what.right: sch.get(j_0).loop_var.name})
        sch.unroll(i_1)
        sch.vectorize(j_2)
        sch.decompose_reduction(parts, sums[0])
        *_, rows, columns = sch.get_loops(write_back)
        sch.unroll(rows)
        sch.vectorize(columns)
        if passes:
            place_epilogue(sch, self.epilogue, j_0)
        if self.threads > 1:
            in_rows = [*first[shares.outside :], *pieces] if pieces else [i_0]
            self._share(in_rows if shares.loop is None else [[*first, j_0][shares.loop]], copied)

    def _share(self, loops: Sequence[LoopHandle], copied: Sequence[LoopHandle]) -> None:
        """Let threads share loops together, and those of the copy before, unless each thread packs its own."""
        self.sch.parallel(self.sch.fuse(*loops) if len(loops) > 1 else loops[0])
        if self.shares.loop is None and self.shares.pieces != 1:
            parallelize(self.sch, copied, self.threads)

    def _unroll(self, sums: Sequence[LoopHandle]) -> None:
        """Unroll the innermost reduction loops, up to those of the plan."""
        steps = 1
        for loop in reversed(sums):
            steps *= extent_of(self.sch, loop) or LARGE
            if steps > self.plan.unrolled:
                return
            self.sch.unroll(loop)

    # --- the product --------------------------------------------------------------------------------------------------

    def _product_iters(self, *iters: IntExpr) -> tuple:
        """The index map of the iters: outer, one fused row, one fused column, fused reductions (in row-major order)."""
        what = self.what
        by_axis = dict(zip(what.extents, iters, strict=True))
        row, column = (self._fused_index(axes, by_axis) for axes in (what.rows, what.columns))
        return (
            *(by_axis[a] for a in what.outer),
            row,
            column,
            *(self._fused_index(group, by_axis) for group in self.sums),
        )

    def _fused_index(self, axes: Sequence[str], by_axis: dict[str, IntExpr]) -> IntExpr:
        first, *inner = axes
        value = by_axis[first]
        for axis in inner:
            value = value * self.what.extents[axis] + by_axis[axis]
        return value

    def _passes(self) -> tuple[BlockHandle, BlockHandle, list[LoopHandle]]:
        """Split a long reduction into passes. Returns the compute block, the write-back block, the loop over passes."""
        sch, what = self.sch, self.what
        loops = sch.get_loops(self.block)
        sums = loops[-len(self.sums) :]
        if self.plan.depth < (what.extents[what.deep] or LARGE):
            position = next(n for n, group in enumerate(self.sums) if what.deep in group)
            deep, (_, *inner) = sums[position], self.sums[position]
            k_0, _ = sch.split(deep, [None, self.plan.depth * (what.size(inner) or 1)])
            sch.reorder(k_0, *[s for s in sums if s is not deep])
            parts = sch.rfactor(k_0, 0)
            self._join_axes(parts)
            return parts, self.block, [sch.get_loops(parts)[len(loops) - len(sums)]]
        info = block_info(sch, self.block)
        out_iters = {a for axis in info.writes[0].axes for a in axis}
        iter_numbers = [n for n, (name, _) in enumerate(info.iters) if name in out_iters]
        write_back = sch.reindex_cache_write(self.block, 0, "local", lambda *i: tuple(i[n] for n in iter_numbers))
        return self.block, write_back, []

    def _join_axes(self, parts: BlockHandle) -> None:
        """Let the dimensions of the partial results be as in the register tile: pixels fused, groups by themselves."""
        what = self.what
        joined = {g[0]: g for g in (what.rows, what.columns) if len(g) > 1}
        inner = {a for g in joined.values() for a in g[1:]}

        def layout(step: IntExpr, *index: IntExpr) -> tuple:
            by_axis, units = {}, []
            for axes, i in zip(what.dimensions, index, strict=True):
                if not axes:
                    units.append(i)
                for n, axis in enumerate(axes):  # a group and a channel of it: i // channels, i % channels
                    last = prod(what.extents[a] or 1 for a in axes[n + 1 :])
                    value = i // last if n + 1 < len(axes) else i
                    by_axis[axis] = value % what.extents[axis] if n else value
            return (
                step,
                *units,
                *(self._fused_index(joined.get(a, (a,)), by_axis) for a in what.result if a not in inner),
            )

        if joined or any(len(axes) > 1 for axes in what.dimensions):
            self.sch.transform_layout(parts, ("write", 0), layout)

    # --- operands of a narrower type ----------------------------------------------------------------------------------

    def _copied_rows(self, padding: Sequence[Pad]) -> BlockHandle | None:
        """Cache the left operand by row and sums, in the type of the sums, and return the copy block. None if it has
        that type, or gets it where it is padded."""
        sch, what = self.sch, self.what
        if what.left not in what.widened or any(pad.dtype for pad in padding):
            return None
        info = block_info(sch, self.block)
        region = next(r for r in info.reads if str(r) == what.left)
        read_iters = {name for axis in region.axes for name in axis}
        numbers = [n for n, (name, _) in enumerate(info.iters) if name in read_iters]
        copy = sch.reindex_cache_read(self.block, what.left, "global", lambda *i: tuple(i[n] for n in numbers))
        store_as(sch, copy, what.dtype)
        return copy

    # --- packing of the right operand ---------------------------------------------------------------------------------

    def _cache_panels(self) -> tuple[list[int], BlockHandle]:
        """Cache the right operand in panels of nr columns. Returns the indices of the iters that it depends on, and the
        copy block."""
        sch, what, nr = self.sch, self.what, self.plan.nr
        info = block_info(sch, self.block)
        region = next(r for r in info.reads if str(r) == what.right)
        read_iters = {name for axis in region.axes for name in axis}
        column = len(what.outer) + 1
        panel_iters = [n for n, (name, _) in enumerate(info.iters) if name in read_iters or n == column]
        outer, inner = [n for n in panel_iters if n < column], [n for n in panel_iters if n > column]

        def panels(*i: IntExpr) -> tuple:
            return (*(i[n] for n in outer), i[column] // nr, *(i[n] for n in inner), i[column] % nr)

        try:
            packed = sch.reindex_cache_read(self.block, what.right, "global", panels)
        except ScheduleError as error:
            why = str(error).splitlines()[0]
            raise ScheduleError(
                f'block "{info.name}" reads {what.right} in a form that cannot be packed; move padding inside the block'
                f" to a separate producer: {why}"
            ) from error
        if what.right in what.widened:
            store_as(sch, packed, what.dtype)
        return panel_iters, packed

    def _pack(self, packed: BlockHandle, start: Sequence[LoopHandle], dims: Sequence[int]) -> list[LoopHandle]:
        """Compute the panels of a pass at its start, or all of them first, and return the outermost loops of the copy:
        of all, that of channels, of which there are enough for threads.

        `dims`: indices of the iters that the copy depends on. The outermost loops are the reduction for channels, as in
        memory, and the panels for pixels, for simpler boundary masks.
        """
        sch, column = self.sch, sum(n < len(self.what.outer) for n in dims)
        if start:
            sch.compute_at(packed, start[0], preserve_unit_loops=True)
        loops = sch.get_loops(packed)[-len(block_info(sch, packed).iters) :]
        panel, lanes = sch.split(loops[column], [None, self.plan.nr])
        groups = [self.sums[n - len(self.what.outer) - 2] for n in dims if n > len(self.what.outer) + 1]
        steps = []
        for loop, (_, *inner) in zip(loops[column + 1 :], groups, strict=True):
            steps += sch.split(loop, [None, *(self.what.extents[a] for a in inner)]) if inner else [loop]
        by_panel, whole = len(self.what.columns) > 1, self.shares.pieces > 1
        first = [*steps[:1], *loops[:column], panel] if whole else [panel]
        order = [*first, *steps[whole:], lanes] if by_panel else [*steps, *loops[:column] * whole, panel, lanes]
        sch.reorder(*order)
        sch.vectorize(lanes)
        return order[: len(first)] if whole else order[:1]


MOST_VECTORS = 32
"""The maximum number of vectors of padding that are copied at once, so that no vector is partial but the last."""
MANY_TILES = 8
"""The number of tiles of rows from which on it pays off to widen the right operand in a copy."""
PIXELS = 7
"""The maximum number of pixels that share the weights in registers."""
UNROLLED = 32
"""The maximum number of weights of a channel that are unrolled."""
DEPTHWISE = 8
"""How often a depthwise convolution takes the cycles of its multiply-adds: it is bound by loads and by memory."""


def depthwise(
    sch: Schedule,
    block: BlockHandle,
    what: Convolution,
    target: Target,
    threads: int,
    free: Free,
    epilogue: BlockHandle | None = None,
    padding: Sequence[Pad] = (),
) -> list[Pad]:
    """Vectorize the innermost axis of the result with extent > 1; all reductions run inside it.

        for h, w, c: P[h, w, c] = X, or 0 at a margin          for h_0:
        for h, w, c, y, x:                               ->        for h_1, w, c: P[..]     (the rows that h_0 reads)
            Y[h, w, c] += P[h + y, w + x, c] * W[y, x, c]          for h_1, c_0, w_0:
                                                                       for y, x, w_1 (unrolled), c_1 (vectors): Y += ..

    Lanes that are channels, as in NHWC, share their weights among a few pixels; then an image is padded strip by strip,
    each of a few rows that fit in L2, which threads share. Returns the padding blocks that are left as they were.
    """
    by_name = loops_by_iter(sch, block)
    wide = [a for a in what.result if what.extents[a] != 1] or list(what.result)
    groups = rows_in_groups(sch, block, what, target)
    copy = depthwise_dots(sch, block, what, groups, target, epilogue) if groups else None
    if copy is not None:
        return _share_rows(sch, what, find_pads(sch, copy, what), wide, by_name, target, threads)
    lane = by_name[wide[-1]]
    sums = [by_name[a] for a in what.extents if a not in what.result]
    pixels = _pixels(sch, block, what, wide, free)
    outer = [by_name[a] for a in what.result if a != wide[-1]]
    lane_0, lane_1 = sch.split(lane, [None, target.lanes(what.bits) * free.choice("vectors", (1, 2, 4), 1)])
    if pixels > 1:
        tile_loop, pixel = sch.split(by_name[wide[-2]], [None, pixels])
        first = [x for x in outer if x is not by_name[wide[-2]]]
        sch.reorder(*first, lane_0, tile_loop, *sums, pixel, lane_1)
    else:
        tile_loop, pixel = lane_0, None
        sch.reorder(*outer, lane_0, *sums, lane_1)
    write_back = sch.cache_write(block, 0, "local")
    merge_epilogue(sch, write_back, epilogue)
    sch.reverse_compute_at(write_back, tile_loop, preserve_unit_loops=True)
    sch.vectorize(lane_1)
    if pixel is not None:
        _unroll(sch, [pixel, *sums[1:]])
        sch.unroll(sch.get_loops(write_back)[-2])
    init = sch.decompose_reduction(block, sums[0])
    if pixel is not None:
        _unroll(sch, [sch.get_loops(init)[-2], sums[0]])
    sch.vectorize(sch.get_loops(write_back)[-1])
    return _share_rows(sch, what, padding, wide, by_name, target, threads, strips=pixel is not None)


def _share_rows(
    sch: Schedule, what: Convolution, padding: Sequence[Pad], wide: Sequence[str], by_name: dict[str, LoopHandle],
    target: Target, threads: int, strips: bool = True,
) -> list[Pad]:  # fmt: skip
    """Let threads share the rows of a result, by strips if their image is padded so. Returns the padding that is left.
    by_name: the loops of the rows, and of what is outside of them."""
    rows = _strip(sch, what, padding, wide, target, threads) if strips else None
    if rows is None:
        if threads > 1 and len(wide) > 1:
            sch.parallel(by_name[wide[0]])
        return list(padding)
    h_0, _ = sch.split(by_name[wide[-3]], [None, rows])
    (pad,) = padding
    sch.compute_at(pad.block, h_0)
    sch.vectorize(sch.get_loops(pad.block)[-1])
    parallelize(sch, [*(by_name[a] for a in wide[:-3]), h_0], threads)
    return []


def _strip(
    sch: Schedule, what: Convolution, padding: Sequence[Pad], wide: Sequence[str], target: Target, threads: int
) -> int | None:
    """The rows of the result whose padded image fits in a quarter of L2, evenly over threads. None: the image is not
    padded strip by strip, as it is small, or as its rows are not copied whole."""
    if len(padding) != 1 or len(wide) < 3 or not has_whole_rows(sch, padding[0].block, target.lanes(what.bits)):
        return None
    (image,) = block_info(sch, padding[0].block).writes
    rows, shape = what.extents[wide[-3]], [n for n in image.buffer.shape[-3:] if n is not None]
    if rows is None or len(shape) < 3:
        return None
    high, width, channels = shape
    most = max(1, target.l2 // 4 // (width * channels * what.bits // 8) * rows // high)
    return even_tile(rows, most, 1, threads) if rows > most or threads > 1 else None


def _unroll(sch: Schedule, loops: Sequence[LoopHandle]) -> None:
    for loop in loops:
        if kind_of_loop(sch, loop) == "serial":
            sch.unroll(loop)


def _pixels(sch: Schedule, block: BlockHandle, what: Convolution, wide: list[str], free: Free) -> int:
    """The number of pixels of a row in a tile; 1 if lanes are no channels, or sums are long."""
    window = prod(what.extents[a] or LARGE for a in what.sums)
    inputs = [r for r in block_info(sch, block).reads if str(r) not in map(str, block_info(sch, block).writes)]
    channels = all(_last_axis(r) == (wide[-1],) for r in inputs)
    row = what.extents[wide[-2]] if len(wide) > 1 else None
    if not channels or window > UNROLLED or row is None:
        return 1
    return free.choice("pixels", [p for p in (1, 2, 4, 7, 14) if p <= row], even_tile(row, PIXELS))


def _last_axis(region: RegionInfo) -> tuple[str, ...]:
    """The iters that index the innermost dimension of extent > 1."""
    sizes = zip(region.axes, region.buffer.shape, strict=True)
    return next((axis for axis, size in reversed(list(sizes)) if size != 1), ())


@dataclass(frozen=True)
class Pad:
    """A padding block. If the pixel iters are fused: `rows` is the row dimension of its output, `width` the extent of
    the dimension after it. `dtype`: the wider type that its output is to have, if it is to have one."""

    block: BlockHandle
    rows: int = 0
    width: int | None = None
    dtype: str = ""


def find_pads(sch: Schedule, block: BlockHandle, what: Convolution) -> list[Pad]:
    """The padding blocks among the producers of a convolution."""
    nests = [(p, sch.get_loops(p)) for p in sch.get_producers(block)]
    return [_pad(sch, p, block, what) for p, loops in nests if loops and sch.can_decompose_padding(p, loops[0])]


def _pad(sch: Schedule, producer: BlockHandle, block: BlockHandle, what: Convolution) -> Pad:
    (image,) = block_info(sch, producer).writes
    pixels = what.columns if str(image) == what.right else what.rows
    each_in_place = what.is_product and str(image) == what.left  # else it is widened in vectors, or while it is packed
    widens = each_in_place and str(image) in what.widened and len(sch.get_consumers(producer)) == 1
    dtype = what.dtype if widens else ""
    if len(pixels) > 1:
        region = next(r for r in block_info(sch, block).reads if str(r) == str(image))
        first, last = (next(d for d, axis in enumerate(region.axes) if a in axis) for a in pixels)
        if last == first + 1:
            return Pad(producer, first, image.buffer.shape[last], dtype)
    return Pad(producer, dtype=dtype)


def join_rows(sch: Schedule, pad: Pad) -> None:
    """Fuse the row and column dimensions of the padded image: addresses are then affine in the fused pixel iter,
    except between rows."""
    rows, width = pad.rows, pad.width
    if width is not None:
        joined = lambda *i: (*i[:rows], i[rows] * width + i[rows + 1], *i[rows + 2 :])  # noqa: E731
        sch.transform_layout(pad.block, ("write", 0), joined)


@all_or_nothing
def padding(sch: Schedule, block: BlockLike, target: Target | str | None = None, threads: int | None = None) -> None:
    """Schedule a block that pads an array as a fill and a copy, both vectorized. Raises ScheduleError for others."""
    block = block_handle(sch, block)
    target, loops = chosen(target), sch.get_loops(block)
    if not loops or not sch.can_decompose_padding(block, loops[0]):
        raise ScheduleError(f'block "{block_info(sch, block).name}" does not pad an array')
    lanes = target.lanes(bits(block_info(sch, block).writes[0].buffer.dtype))
    decompose_pad(sch, Pad(block), lanes, threads or target.cores)


def decompose_pad(sch: Schedule, pad: Pad, lanes: int, threads: int) -> None:
    """Decompose a padding block into a fill and an unconditional copy, both vectorized.

    Without padding along the last axis, as of the channels in NHWC, it is only vectorized: each vector is either
    copied or filled. Of few channels, vectors are of several pixels.
    """
    adjacent = has_whole_rows(sch, pad.block)
    if adjacent and has_whole_rows(sch, pad.block, lanes):
        parts = [pad.block]
    else:
        parts = [sch.decompose_padding(pad.block, sch.get_loops(pad.block)[0]), pad.block]
    if pad.dtype:
        store_as(sch, pad.block, pad.dtype)
    for part in parts:
        sch.vectorize(_lanes_of_rows(sch, sch.get_loops(part), lanes, adjacent))
        wide = [x for x in sch.get_loops(part) if extent_of(sch, x) != 1]
        if threads > 1 and len(wide) > 1:
            sch.parallel(wide[0])


def _lanes_of_rows(sch: Schedule, loops: Sequence[LoopHandle], lanes: int, adjacent: bool) -> LoopHandle:
    """The loop over the adjacent elements of a part of padding: the last one, or some iterations of the one before it
    and all of that, if it has few, such as three channels, and the rows are `adjacent`."""
    extent = extent_of(sch, loops[-1])
    if extent is None:
        return sch.split(loops[-1], [None, lanes])[1]
    row = extent_of(sch, loops[-2]) if len(loops) > 1 and extent < lanes and adjacent else None
    most = max(1, min(row or 1, MOST_VECTORS * lanes // max(1, extent)))
    whole = [n for n in range(1, most + 1) if (row or 1) % n == 0]
    each = next((n for n in whole if n >= lanes), whole[-1])
    return sch.fuse(sch.split(loops[-2], [None, each])[1], loops[-1]) if each > 1 else loops[-1]


def has_whole_rows(sch: Schedule, block: BlockHandle, least: int = 0) -> bool:
    """Whether the rows of a padded image are those of the image, of at least as many elements."""
    info = block_info(sch, block)
    (read, *extra_reads), (written, *_) = info.reads, info.writes
    same = not extra_reads and read.axes[-1] == written.axes[-1] and read.buffer.shape[-1] == written.buffer.shape[-1]
    return same and (written.buffer.shape[-1] or 0) >= least
