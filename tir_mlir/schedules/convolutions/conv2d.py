"""Schedule for convolutions, as implicit matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.attempt import all_or_nothing
from tir_mlir.schedules.block_queries import block_info, extent_of
from tir_mlir.schedules.convolutions import depthwise_conv
from tir_mlir.schedules.convolutions.conv_tile_sizes import ConvTiles, conv_tiles, free_conv_tiles
from tir_mlir.schedules.convolutions.convolution import Convolution, convolution
from tir_mlir.schedules.convolutions.padding import Pad, decompose_pad, find_pads, join_rows
from tir_mlir.schedules.even_tiles import LARGE
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.products.epilogue import merge_epilogue, place_epilogue
from tir_mlir.schedules.products.gemm import THREAD_WORK
from tir_mlir.target import Target, chosen


@all_or_nothing
def conv2d(
    sch: Schedule,
    block: Any,
    target: Target | str | None = None,
    threads: int | None = None,
    free: bool = False,
    epilogue: Any | None = None,
) -> None:
    """Schedule a convolution for a CPU: NCHW or NHWC, any stride, dilation, window and order of axes.

        for n, o, h, w, c, y, x in T.grid(...):              for n, p_0, c_0: pack the patches of pixels p
            with T.block("Y"):                        ->         for o_0, p_1:
                Y[n, o, h, w] += X[n, c, h * s + y,                  for c_1, y, x: a tile of Y in registers
                                   w * s + x] * W[o, c, y, x]        Y tile += registers

    The pixels of an image, in row-major order, are the columns of a matrix product (its rows in NHWC). The patches that
    they read are packed in access order, for as many pixels as fit in L2. A producer that pads the image is decomposed
    into a fill and a copy; padding inside the convolution block is not supported.
    block: the convolution, each iter bound to its own loop; channels, batches and height may be symbolic. Depthwise and
    grouped convolutions are only vectorized. target: default this machine; threads: default its number of cores.
    free, epilogue: as in `gemm`. Raises ScheduleError if the block is not a convolution.
    """
    target = chosen(target)
    block = sch.get_block(block) if isinstance(block, str) else block
    what = convolution(sch, block)
    options, work = Free(sch, block, free), prod(e or LARGE for e in what.extents.values())
    least = THREAD_WORK if what.is_product else depthwise_conv.THREAD_WORK
    threads = options.threads(min(threads or target.cores, max(1, work // least)))
    padding = find_pads(sch, block, what)
    if what.is_product:
        plan = free_conv_tiles(options, what, conv_tiles(what, target, threads), target)
        Conv2d(sch, block, what, plan, threads, epilogue).run(padding)
    else:
        padding = depthwise_conv.depthwise(sch, block, what, target, threads, options, epilogue, padding)
    for pad in padding:
        decompose_pad(sch, pad, target.lanes(what.bits), threads)


class Conv2d:
    """The state of scheduling one convolution."""

    def __init__(
        self, sch: Schedule, block: Any, what: Convolution, plan: ConvTiles, threads: int, epilogue: Any | None
    ):
        self.epilogue = epilogue
        self.sch, self.block, self.what, self.plan, self.threads = sch, block, what, plan, threads
        full_passes = (what.extents[what.deep] or LARGE) % plan.depth == 0
        self.sums = (what.sums,) if what.as_one and full_passes else tuple((a,) for a in what.sums)

    def run(self, padding: Sequence[Pad]) -> None:
        """Schedule the block. The first step reorders its iters to outer, row, column, reductions."""
        sch, plan, what = self.sch, self.plan, self.what
        sch.transform_block_layout(self.block, lambda *iters: self._product_iters(*iters))
        panel_iters, packed = ([], None) if 0 < what.panel <= plan.nr else self._packed()
        for pad in padding:
            join_rows(sch, pad)
        parts, write_back, passes = self._passes()
        if not passes:
            merge_epilogue(sch, write_back, self.epilogue)
        loops = sch.get_loops(parts)
        outer, sums = loops[: len(what.outer)], loops[-len(self.sums) :]
        row, column = loops[len(outer) : len(outer) + 2]
        i_0, i_1 = sch.split(row, [None, plan.mr])
        j_0, j_1, j_2 = sch.split(column, [None, plan.panels, plan.nr])
        first = [x for n, x in enumerate(outer) if n in panel_iters]
        sch.reorder(*first, j_0, *passes, *[x for x in outer if x not in first], i_0, j_1, *sums, i_1, j_2)
        sch.reverse_compute_at(write_back, j_1, preserve_unit_loops=True)
        copies = [self._pack(packed, passes[0] if passes else j_0, panel_iters)] if packed else []
        self._unroll(sums)
        sch.unroll(i_1)
        sch.vectorize(j_2)
        sch.decompose_reduction(parts, sums[0])
        *_, rows, columns = sch.get_loops(write_back)
        sch.unroll(rows)
        sch.vectorize(columns)
        if passes:
            place_epilogue(sch, self.epilogue, j_0)
        if self.threads > 1:
            self._parallelize([*first, j_0], [i_0, *copies])

    def _parallelize(self, outer: Sequence[Any], inner: Sequence[Any]) -> None:
        """Parallelize an outer loop with at least one iteration per thread, else all inner loops."""
        enough = [x for x in outer if (extent_of(self.sch, x) or 1) >= self.threads]
        for loop in enough[:1] or inner:
            self.sch.parallel(loop)

    def _unroll(self, sums: Sequence[Any]) -> None:
        """Unroll the innermost reduction loops, up to those of the plan."""
        steps = 1
        for loop in reversed(sums):
            steps *= extent_of(self.sch, loop) or LARGE
            if steps > self.plan.unrolled:
                return
            self.sch.unroll(loop)

    # --- the product --------------------------------------------------------------------------------------------------

    def _product_iters(self, *iters: Any) -> tuple:
        """The index map of the iters: outer, one fused row, one fused column, fused reductions (in row-major order)."""
        what = self.what
        by_axis = dict(zip(what.extents, iters, strict=True))
        row, column = (self._fused(axes, by_axis) for axes in (what.rows, what.columns))
        return (*(by_axis[a] for a in what.outer), row, column, *(self._fused(group, by_axis) for group in self.sums))

    def _fused(self, axes: Sequence[str], by_axis: dict[str, Any]) -> Any:
        first, *inner = axes
        value = by_axis[first]
        for axis in inner:
            value = value * self.what.extents[axis] + by_axis[axis]
        return value

    def _passes(self) -> tuple[Any, Any, list]:
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

    def _join_axes(self, parts: Any) -> None:
        """Fuse the pixel dimensions of the partial results, as in the register tile."""
        what = self.what
        dims = ("passes", *what.result)
        joined = {g[0]: g for g in (what.rows, what.columns) if len(g) > 1}
        inner = {a for g in joined.values() for a in g[1:]}

        def layout(*index: Any) -> tuple:
            by_axis = dict(zip(dims, index, strict=True))
            return tuple(self._fused(joined.get(a, (a,)), by_axis) for a in dims if a not in inner)

        if joined:
            self.sch.transform_layout(parts, ("write", 0), layout)

    # --- packing of the right operand ---------------------------------------------------------------------------------

    def _packed(self) -> tuple[list[int], Any]:
        """Cache the right operand in panels of nr columns. Returns the indices of the iters that it depends on, and the
        copy block."""
        sch, what, nr = self.sch, self.what, self.plan.nr
        info = block_info(sch, self.block)
        region = next(r for r in info.reads if str(r) == what.right)
        read_iters = {name for axis in region.axes for name in axis}
        column = len(what.outer) + 1
        panel_iters = [n for n, (name, _) in enumerate(info.iters) if name in read_iters or n == column]
        outer, inner = [n for n in panel_iters if n < column], [n for n in panel_iters if n > column]

        def panels(*i: Any) -> tuple:
            return (*(i[n] for n in outer), i[column] // nr, *(i[n] for n in inner), i[column] % nr)

        try:
            return panel_iters, sch.reindex_cache_read(self.block, what.right, "global", panels)
        except ScheduleError as error:
            why = str(error).splitlines()[0]
            raise ScheduleError(
                f'block "{info.name}" reads {what.right} in a form that cannot be packed; move padding inside the block'
                f" to a separate producer: {why}"
            ) from error

    def _pack(self, packed: Any, pass_loop: Any, dims: Sequence[int]) -> Any:
        """Compute the panels of a pass at its start, and return the outermost loop of the copy.

        `dims`: indices of the iters that the copy depends on. The outermost loops are the reduction for channels, as in
        memory, and the panels for pixels, for simpler boundary masks.
        """
        sch, column = self.sch, sum(n < len(self.what.outer) for n in dims)
        sch.compute_at(packed, pass_loop, preserve_unit_loops=True)
        loops = sch.get_loops(packed)[-len(block_info(sch, packed).iters) :]
        panel, lanes = sch.split(loops[column], [None, self.plan.nr])
        groups = [self.sums[n - len(self.what.outer) - 2] for n in dims if n > len(self.what.outer) + 1]
        steps = []
        for loop, (_, *inner) in zip(loops[column + 1 :], groups, strict=True):
            steps += sch.split(loop, [None, *(self.what.extents[a] for a in inner)]) if inner else [loop]
        order = [panel, *steps, lanes] if len(self.what.columns) > 1 else [*steps, panel, lanes]
        sch.reorder(*order)
        sch.vectorize(lanes)
        return order[0]
