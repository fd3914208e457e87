"""Convolutions at the speed of the CPU: implicit matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.conv_tiles import conv_tiles
from tir_mlir.schedules.convolution import Convolution, block_info, convolution, extent_of
from tir_mlir.schedules.gemm import THREAD_WORK
from tir_mlir.schedules.padded import pads, unpad
from tir_mlir.schedules.plain import plain
from tir_mlir.schedules.tiles import LARGE
from tir_mlir.target import Target, host

UNROLLED = 16
"""Steps of the sum that are laid out: those over the window of a usual kernel."""


def conv2d(sch: Schedule, block: Any, target: Target | None = None, threads: int | None = None) -> None:
    """Schedule a convolution for a CPU: NCHW, NHWC, any stride, dilation, padding, window and order of axes.

        for n, o, h, w, c, y, x in T.grid(...):              for n, p_0, c_0: pack patches of 16 p
            with T.block("Y"):                        ->         for o_0, p_1:
                Y[n, o, h, w] += X[n, c, h * s + y,                  for c_1, y, x: a tile of Y in registers
                                   w * s + x] * W[o, c, y, x]        Y tile += registers

    The pixels of an image, its rows one after the other, are the columns of a matrix product (the rows, where channels
    are last); what they read of the image is packed in the order of use, for as many pixels as stay in L2. A block
    before that pads the image becomes a fill and a copy. `block` is the convolution, each iter bound to a loop of its
    own; extents of channels and batches may be symbolic. Depthwise and grouped convolutions get a plain loop over
    vectors. `target`: this machine when left out; `threads`: its cores. Raises ScheduleError where the block is no
    convolution.
    """
    target = target or host()
    block = sch.get_block(block) if isinstance(block, str) else block
    what = convolution(sch, block)
    threads = min(threads or target.cores, max(1, prod(e or LARGE for e in what.extents.values()) // THREAD_WORK))
    padding = pads(sch, block, what)
    if what.is_product:
        Conv2d(sch, block, what, target, threads).run()
    else:
        plain(sch, block, what, target, threads)
    for producer in padding:
        unpad(sch, producer, target.lanes(what.bits), threads)


class Conv2d:
    """One convolution on its way. Loops of the block, once its iters are in order: outer, row, column, sums."""

    def __init__(self, sch: Schedule, block: Any, what: Convolution, target: Target, threads: int):
        self.sch, self.block, self.what, self.target, self.threads = sch, block, what, target, threads
        self.deep = max(what.sums, key=lambda a: what.extents[a] or LARGE)  # the sum that passes divide
        self.window = prod(what.extents[a] or 1 for a in what.sums if a != self.deep)
        m, n = self._extent(what.rows), self._extent(what.columns)
        self.plan = conv_tiles(m, n, what.extents[self.deep], self.window, what.bits, target)

    def _extent(self, axes: Sequence[str]) -> int | None:
        extents = [self.what.extents[a] for a in axes]
        return None if None in extents else prod(e for e in extents if e)

    def run(self) -> None:
        sch, plan = self.sch, self.plan
        sch.transform_block_layout(self.block, lambda *iters: self._in_order(*iters))
        packed = self._packed()
        parts, write_back, passes = self._passes()
        *outer, row, column = sch.get_loops(parts)[: len(self.what.outer) + 2]
        sums = sch.get_loops(parts)[-len(self.what.sums) :]
        i_0, i_1 = sch.split(row, [None, plan.mr])
        j_0, j_1, j_2 = sch.split(column, [None, plan.panels, plan.nr])
        sch.reorder(*outer, j_0, *passes, i_0, j_1, *sums, i_1, j_2)
        sch.reverse_compute_at(write_back, j_1, preserve_unit_loops=True)
        self._pack(packed, passes[0] if passes else j_0)
        self._unroll(sums)
        sch.unroll(i_1)
        sch.vectorize(j_2)
        sch.decompose_reduction(parts, sums[0])
        *_, rows, columns = sch.get_loops(write_back)
        sch.unroll(rows)
        sch.vectorize(columns)
        if self.threads > 1:
            sch.parallel(i_0)

    # --- the product --------------------------------------------------------------------------------------------------

    def _in_order(self, *iters: Any) -> tuple:
        """The iters as one row, one column and sums; pixels are counted through the rows of the image."""
        what = self.what
        at = dict(zip(what.extents, iters, strict=True))
        row, column = (self._fused(axes, at) for axes in (what.rows, what.columns))
        return (*(at[a] for a in what.outer), row, column, *(at[a] for a in what.sums))

    def _fused(self, axes: Sequence[str], at: dict[str, Any]) -> Any:
        first, *rest = axes
        value = at[first]
        for axis in rest:
            value = value * self.what.extents[axis] + at[axis]
        return value

    def _passes(self) -> tuple[Any, Any, list]:
        """The block that computes a part, the one that adds it to the result, the loop over parts if there is one."""
        sch, what = self.sch, self.what
        loops = sch.get_loops(self.block)
        sums = loops[-len(what.sums) :]
        deep = sums[what.sums.index(self.deep)]
        if self.plan.depth < (what.extents[self.deep] or LARGE):
            k_0, _ = sch.split(deep, [None, self.plan.depth])
            sch.reorder(k_0, *[s for s in sums if s is not deep])
            parts = sch.rfactor(k_0, 0)
            self._join_axes(parts)
            return parts, self.block, [sch.get_loops(parts)[len(loops) - len(sums)]]
        info = block_info(sch, self.block)
        used = {a for axis in info.writes[0].axes for a in axis}
        kept = [n for n, (name, _) in enumerate(info.iters) if name in used]
        write_back = sch.reindex_cache_write(self.block, 0, "local", lambda *i: tuple(i[n] for n in kept))
        return self.block, write_back, []

    def _join_axes(self, parts: Any) -> None:
        """Let what is summed up in parts have the pixels in one dimension."""
        what = self.what
        joined = [axes for axes in (what.rows, what.columns) if len(axes) > 1]
        if not joined:
            return
        dims = ("passes", *what.result)

        def layout(*index: Any) -> tuple:
            at, found = dict(zip(dims, index, strict=True)), []
            for axis in dims:
                group = next((g for g in joined if axis in g), None)
                if group is None:
                    found.append(at[axis])
                elif axis == group[0]:
                    found.append(self._fused(group, at))
            return tuple(found)

        self.sch.transform_layout(parts, ("write", 0), layout)

    def _unroll(self, sums: Sequence[Any]) -> None:
        """Lay out the steps over the window."""
        steps = 1
        for loop in reversed(sums):
            steps *= extent_of(self.sch, loop) or LARGE
            if steps > UNROLLED:
                return
            self.sch.unroll(loop)

    # --- the right operand --------------------------------------------------------------------------------------------

    def _packed(self) -> Any:
        """A copy of what the columns read, panel by panel of nr, in each the steps of the sum one after the other."""
        sch, what, nr = self.sch, self.what, self.plan.nr
        info = block_info(sch, self.block)
        region = next(r for r in info.reads if str(r) == what.right)
        used = {name for axis in region.axes for name in axis}
        column = len(what.outer) + 1
        kept = [n for n, (name, _) in enumerate(info.iters) if name in used or n == column]
        before, after = [n for n in kept if n < column], [n for n in kept if n > column]

        def panels(*i: Any) -> tuple:
            return (*(i[n] for n in before), i[column] // nr, *(i[n] for n in after), i[column] % nr)

        self.packed_outer = len(before)
        return sch.reindex_cache_read(self.block, what.right, "global", panels)

    def _pack(self, packed: Any, at: Any) -> None:
        """Fill the panels that a pass needs at its start."""
        sch = self.sch
        sch.compute_at(packed, at, preserve_unit_loops=True)
        rank = len(block_info(sch, packed).iters)
        loops = sch.get_loops(packed)[-rank:]
        column = loops[self.packed_outer]
        panel, lanes = sch.split(column, [None, self.plan.nr])
        sch.reorder(panel, *loops[self.packed_outer + 1 :], lanes)
        sch.vectorize(lanes)
        if self.threads > 1:
            sch.parallel(panel)
