"""Schedule for products whose sums remain in integers within a group of terms, and get one scale a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.intrin.dot_products import Dot, dot_product
from tir_mlir.prediction.cores import core_or_typical
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo, RegionInfo
from tir_mlir.schedules.block_queries import LARGE, block_info, iters
from tir_mlir.schedules.products.contraction import num_elements
from tir_mlir.schedules.products.packing import WeightPanels
from tir_mlir.schedules.products.tile_sizes import room
from tir_mlir.schedules.steps import merge_epilogue
from tir_mlir.target import Target

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr

VECTORS = 2
"""Vectors of columns in a panel, if they divide the columns."""
ROWS = 8
"""The maximum number of rows of a register tile: 16 sums of a group, 16 totals in L1."""
UNROLLED = 64
"""Dot products in the code of the inner loop."""
AHEAD = 1 << 12
"""Bytes of weights between what is multiplied and what is prefetched, where each weight is read once."""
WAITING = 2
"""The most rows that wait for memory rather than for dot products: a core that fetches ahead by itself takes them at
the rate of memory without prefetches, which take their time from loads."""
WEIGHTS_PER_THREAD = 1 << 20
"""The minimum number of weights of a thread."""


@dataclass(frozen=True)
class GroupSums:
    """Totals `Y[.., i, j] += f(P[.., i, j, g], ..)` of sums by group, `P[.., i, j, g] += X[.., i, k] * Q[j, k]` for k =
    g * G + t.

    block: of Y.
    parts: of P.
    unpacks: the block that computes Q from bytes.
    weight: where these are read.
    by_group: the other arrays with an element for each column and group.
    group: G.
    left: X.
    halves: the numbers in a byte.
    """

    block: BlockHandle
    parts: BlockHandle
    unpacks: BlockHandle
    weight: RegionInfo
    by_group: tuple[RegionInfo, ...]
    group: int
    left: RegionInfo
    halves: int
    rows: int
    columns: int

    @property
    def panel(self) -> int:
        """The width of the panels of the weights; 0 without."""
        in_panels = all(len(r.buffer.shape) == 3 for r in self.by_group) and len(self.weight.buffer.shape) == 4
        return self.weight.buffer.shape[2] or 0 if in_panels else 0


@dataclass(frozen=True)
class PanelReader:
    """A parameter, the block that reads it, and the panels to read it in."""

    name: str
    block: BlockHandle
    panels: WeightPanels


def group_sums(sch: Schedule, block: BlockHandle) -> GroupSums:
    """Match a block with the totals of a product by groups. Raises ScheduleError if it is not one."""
    info = block_info(sch, block)
    parts = [p for p in sch.get_producers(block) if _is_part(info, block_info(sch, p))]
    if len(parts) != 1 or len(iters(info, "R")) != 1 or len(info.writes) != 1:
        raise _not_group_sums(info)
    part = block_info(sch, parts[0])
    signed, unsigned = (next((r for r in part.reads if r.buffer.dtype == t), None) for t in ("int8", "uint8"))
    extents = {i.name: i.dom.extent for i in part.iter_vars}
    (term,) = iters(part, "R")
    group = extents[term]
    if signed is None or unsigned is None or group is None or group % 8 or len(unsigned.axes[0]) != 1:
        raise _not_group_sums(info)
    unpacks = [p for p in sch.get_producers(parts[0]) if str(block_info(sch, p).writes[0]) == str(unsigned)]
    if len(unpacks) != 1 or len(block_info(sch, unpacks[0]).reads) != 1:
        raise _not_group_sums(info)
    (weight,) = block_info(sch, unpacks[0]).reads
    totals = {i.name: i.dom.extent for i in info.iter_vars}
    *outer, column = (a[0] for a in info.writes[0].axes if len(a) == 1)
    columns, rows = totals[column], [totals[a] for a in outer if totals[a] != 1]
    by_group = tuple(r for r in info.reads if any(column in a for a in r.axes) and r.buffer.dtype != "int32")
    if len(rows) > 1 or None in rows or columns is None or not by_group or totals[iters(info, "R")[0]] is None:
        raise _not_group_sums(info)
    halves = num_elements(unsigned.buffer) // num_elements(weight.buffer)
    count = prod(r for r in rows if r is not None)
    return GroupSums(block, parts[0], unpacks[0], weight, by_group, group, signed, halves, count, columns)


def _is_part(total: BlockInfo, part: BlockInfo) -> bool:
    """Whether a block computes sums of products in int32, of which another one adds one a group."""
    written = part.writes[0]
    read = next((r for r in total.reads if str(r) == str(written)), None)
    is_sum = len(iters(part, "R")) == 1 and len(part.writes) == 1 and written.buffer.dtype == "int32"
    dtypes = sorted(r.buffer.dtype for r in part.reads if str(r) != str(written))
    return is_sum and read is not None and dtypes == ["int8", "uint8"]


def _not_group_sums(info: BlockInfo) -> ScheduleError:
    return ScheduleError(f'block "{info.name}" is not a total of integer sums by group')


def group_panels(what: GroupSums, target: Target) -> list[PanelReader]:
    """The panels in which weights and what belongs to their groups are read by dot products. Raises ScheduleError if no
    instruction of the target takes them, or they fill no vectors."""
    dot = _dot(target)
    width = next((dot.lanes * v for v in (VECTORS, 1) if dot and what.columns % (dot.lanes * v) == 0), 0)
    if dot is None or not width or len(what.weight.buffer.shape) != 2:
        raise ScheduleError(f"{what.columns} columns in groups of {what.group}: no dot product takes them")
    panel_reads = [(what.weight, what.unpacks, dot.group), *((r, what.block, 1) for r in what.by_group)]
    return [
        PanelReader(str(r), block, WeightPanels(str(r), _shape(r), r.buffer.dtype, 0, (1,), width, group))
        for r, block, group in panel_reads
    ]


def _shape(region: RegionInfo) -> tuple[int, ...]:
    return tuple(int(e or 0) for e in region.buffer.shape)


def _dot(target: Target) -> Dot | None:
    return dot_product(target, "int8", "uint8", unpacked=True)


def schedule_groups(
    sch: Schedule, block: BlockHandle, target: Target, threads: int | None = None, epilogue: BlockHandle | None = None
) -> None:
    """Schedule a product that sums by groups, whose weights are in panels, see `prepack`.

        for i, j, g, t: P[i, j, g] += X * Q        for a block of rows, j_0 (parallel), i_0, g:
        for i, j, g: Y[i, j] += P * S        ->        for k_0, k_1 (unrolled): unpack vectors of Q[j_0]
                                                           a tile of P in registers: dot products
                                                       a tile of totals += P * S

    Each vector of weights is unpacked once for the rows of a tile. Raises ScheduleError if the block is not such a
    product, or if no instruction of the target takes its panels.
    """
    what, dot = group_sums(sch, block), _dot(target)
    if dot is None or not what.panel or what.panel % dot.lanes or what.columns % what.panel:
        raise ScheduleError(f'block "{block_info(sch, block).name}": its weights are in no panels of dot products')
    weights = what.columns * what.group * prod(e or LARGE for e in what.by_group[0].buffer.shape) // what.columns
    count = min(threads or target.cores, max(1, weights * ceil(what.rows / ROWS) // WEIGHTS_PER_THREAD))
    _Groups(sch, what, dot, count, target, epilogue).run()


class _Groups:
    """The state of scheduling one product."""

    def __init__(
        self, sch: Schedule, what: GroupSums, dot: Dot, threads: int, target: Target, epilogue: BlockHandle | None
    ):
        self.sch, self.what, self.dot, self.threads, self.epilogue = sch, what, dot, threads, epilogue
        self.target = target
        self.vectors = what.panel // dot.lanes
        self.rows = row_tile(what.rows)
        self.block = row_block(what.rows, self.rows, what.left, target)

    def run(self) -> None:
        sch, what = self.sch, self.what
        if self.rows > 1:
            self._pack_rows()
        totals = sch.cache_write(what.block, 0, "local")
        merge_epilogue(sch, totals, self.epilogue)
        outermost, i_0, g, tile = self._tile_totals()
        sch.reverse_compute_at(totals, i_0, preserve_unit_loops=True)
        sch.compute_at(what.parts, g, preserve_unit_loops=True)
        steps, dots = self._tile_parts()
        self._unpack_weights(what.unpacks, steps[-1])
        init = sch.decompose_reduction(what.parts, steps[0])
        self._vectorize_tile(sch.get_loops(init)[-3:])
        for loop in (*steps[1:], *dots[:-1]):
            sch.unroll(loop)
        self._vectorize_tile(sch.get_loops(sch.decompose_reduction(what.block, g))[-3:])
        self._vectorize_tile(tile)
        *_, row, column = sch.get_loops(totals)
        self._vectorize_tile([row, *sch.split(column, [None, self.dot.lanes])])
        waits = what.rows <= WAITING and core_or_typical(self.target).fetches_ahead
        if what.rows <= self.rows and not waits:
            self._prefetch(g)
        if self.threads > 1:
            sch.parallel(outermost)
        sch.tensorize(dots[-1], self.dot.name)  # last, as in gemm_dots

    def _pack_rows(self) -> None:
        """Copy the rows in the order in which a tile reads them: rows that are 4 KB apart share a set of L1.

        X[i, k]  ->  X_global[i // rows, k // 4, i % rows, k % 4]
        """
        sch, height, group = self.sch, self.rows, self.dot.group
        copy = sch.cache_read(self.what.parts, str(self.what.left), "global")
        info = block_info(sch, copy)
        extents = [i.dom.extent for i in info.iter_vars]
        of_row = max(range(len(extents) - 1), key=lambda d: extents[d] or LARGE)

        def tiles(*x: IntExpr) -> tuple:
            outer = (*x[:of_row], *x[of_row + 1 : -1])
            return *outer, x[of_row] // height, x[-1] // group, x[of_row] % height, x[-1] % group

        sch.transform_layout(copy, ("write", 0), tiles, assume_injective_transform=True)
        *outer, k = sch.get_loops(copy)
        (i_0, i_1), (k_0, k_1) = sch.split(outer[of_row], [None, height]), sch.split(k, [None, group])
        sch.reorder(i_0, k_0, i_1, k_1)
        sch.unroll(i_1)
        sch.vectorize(k_1)
        if self.threads > 1 and self.what.rows > height:
            sch.parallel(i_0)

    def _tile_totals(self) -> tuple[LoopHandle, LoopHandle, LoopHandle, list[LoopHandle]]:
        """Tile the totals. Returns the loops j_0, i_0, g and those of a tile: rows, vectors, lanes."""
        sch = self.sch
        *outer, j, g = sch.get_loops(self.what.block)
        i = sch.fuse(*outer) if len(outer) > 1 else outer[0]
        block, i_0, i_1 = sch.split(i, [None, self.block // self.rows, self.rows])
        j_0, j_1, j_2 = sch.split(j, [None, self.vectors, self.dot.lanes])
        sch.reorder(block, j_0, i_0, g, i_1, j_1, j_2)
        outermost = j_0 if self.block >= self.what.rows else sch.fuse(block, j_0)
        return outermost, i_0, g, [i_1, j_1, j_2]

    def _tile_parts(self) -> tuple[list[LoopHandle], list[LoopHandle]]:
        """Tile the sums of a group. Returns the loops of steps: in the code of a loop, unrolled, the halves of bytes;
        and of dot products: rows, vectors, lanes."""
        sch, dot, group = self.sch, self.dot, self.what.group
        *_, i, j, g, t = sch.get_loops(self.what.parts)
        halves = self.what.halves
        steps = group // (halves * dot.group)
        most = max(1, UNROLLED // (halves * self.rows * self.vectors))
        unrolled = max(d for d in range(1, most + 1) if steps % d == 0)
        j_1, j_2 = sch.split(j, [self.vectors, dot.lanes])
        h, k_0, k_1, term = sch.split(t, [halves, None, unrolled, dot.group])
        sch.reorder(g, k_0, k_1, h, i, j_1, j_2, term)
        outer = len(self.what.left.axes) - 1
        sch.transform_layout(
            self.what.parts, ("write", 0), lambda *x: (*x[:outer], x[-1], x[-2]), assume_injective_transform=True
        )
        sch.set_scope(self.what.parts, 0, "local")
        return [k_0, k_1, h], [i, j_1, j_2]

    def _unpack_weights(self, unpacks: BlockHandle, step: LoopHandle) -> None:
        """Unpack the weights of a step in registers."""
        sch, dot = self.sch, self.dot
        sch.transform_layout(
            unpacks, ("write", 0), lambda j, k: (k // dot.group, j, k % dot.group), assume_injective_transform=True
        )
        sch.compute_at(unpacks, step, preserve_unit_loops=True)
        sch.set_scope(unpacks, 0, "local")
        *_, j, term = sch.get_loops(unpacks)
        j_1, j_2 = sch.split(j, [self.vectors, dot.lanes])
        sch.unroll(j_1)
        sch.vectorize(sch.fuse(j_2, term))

    def _prefetch(self, groups: LoopHandle) -> None:
        """Prefetch the weights of a later group, which come from memory: what most cores prefetch by themselves stops
        at pages. Larger groups are left to them."""
        what = self.what
        size = what.panel * what.group // what.halves
        if size <= AHEAD // 2:
            names = (str(r) for r in (what.weight, *what.by_group))
            self.sch.annotate(groups, "prefetch", dict.fromkeys(names, AHEAD // size))

    def _vectorize_tile(self, loops: Sequence[LoopHandle]) -> None:
        rows, vectors, lanes = loops
        self.sch.unroll(rows)
        self.sch.unroll(vectors)
        self.sch.vectorize(lanes)


def row_tile(rows: int) -> int:
    """The rows of a tile: as even as possible, without a rest if there is such a number."""
    even = ceil(rows / ceil(rows / ROWS))
    return next((d for d in range(even, even // 2, -1) if rows % d == 0), even)


def row_block(rows: int, tile: int, left: RegionInfo, target: Target) -> int:
    """The rows, whole tiles, that pass over a panel of weights before the next one: they remain in half of L2."""
    most = max(1, room(target, "l2") // (int(left.buffer.shape[-1] or LARGE) * tile))
    tiles = ceil(rows / tile)
    return tile * ceil(tiles / ceil(tiles / most))
