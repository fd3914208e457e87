"""How threads share a convolution that is computed as a product: by a loop of it, or by pieces of its rows and columns.

Chosen by the cycles of a thread: of its part of the work, of starting threads, and of waiting for what comes from L3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod
from operator import attrgetter

from tir_mlir.prediction.cores import WAITED, core_or_typical
from tir_mlir.schedules.block_queries import LARGE
from tir_mlir.schedules.convolutions.conv_tile_sizes import ConvTiles, conv_tiles
from tir_mlir.schedules.convolutions.convolution import Convolution
from tir_mlir.schedules.products.tile_sizes import FLOATS, pays_to_fetch_ahead
from tir_mlir.target import Target
from tir_mlir.target.work_cost import shared_cycles

IMAGE_ROWS = "piece of image rows"
"""The iter of the pieces into which the rows of an image are divided."""
WORTHWHILE = 0.05
"""The least part of the cycles that such pieces must save: waiting for L3 and work may overlap."""
OTHERS = 14
"""The instructions of a step of the sum beside its multiply-adds and loads, such as addresses in rows of weights."""


@dataclass(frozen=True)
class ConvShares:
    """How threads share a product, and the cycles that one of them takes so.

    loop: the position, among the outer loops of the columns and that of their blocks, of the loop that they share;
    None: they share rows.
    pieces: of rows, which a thread takes once for all blocks and passes, with all columns packed before; 1: each packs
    its own; 0: threads take tiles of rows in each block and pass.
    outside: the number of outer loops around these pieces; the others are fused with them.
    image_rows: the pieces into which the rows of an image are divided before; 1: the image remains whole.
    plan: the tiles, if they are others than those of a thread.
    """

    cycles: float
    loop: int | None = None
    pieces: int = 0
    outside: int = 0
    image_rows: int = 1
    plan: ConvTiles | None = None


@dataclass(frozen=True)
class ConvWork:
    """A convolution as a product, its tiles, and the cycles of one thread. along, across: its outer iters that the
    columns depend on, and the others. copies: whether the columns are packed. divisible: whether tiles may change."""

    what: Convolution
    plan: ConvTiles
    target: Target
    threads: int
    cycles: float
    along: tuple[str, ...]
    across: tuple[str, ...]
    copies: bool
    divisible: bool

    def best_shares(self) -> ConvShares:
        """The division among threads that leaves the fewest cycles to each."""
        whole = min([*self._loops(), self._rows_by_block(), *self._pieces()], key=attrgetter("cycles"))
        divided = min(self._image_rows(), key=attrgetter("cycles"), default=whole)
        return divided if divided.cycles < (1 - WORTHWHILE) * whole.cycles else whole

    def fetches_panels(self, shares: ConvShares) -> bool:
        """Whether tiles ask for the next panel that is read in place: a thread takes panels in turn, two of which fit
        in L2; see `pays_to_fetch_ahead`."""
        in_turn = self.threads == 1 or shares.loop is not None or shares.pieces > 0
        size, columns = self._bytes(self.what.columns), self.what.size(self.what.columns)
        if self.copies or self.along or not in_turn or not size or not columns or columns < 2 * self.plan.nr:
            return False
        tiles = ceil((self.what.size([*self.what.rows, *self.what.outer]) or LARGE) / self.plan.mr)
        return 2 * size * self.plan.nr <= self.target.l2 * columns and pays_to_fetch_ahead(size, tiles, self.target)

    def _image_rows(self) -> Iterator[ConvShares]:
        """Those by pieces after the rows of an image are divided, in each way that leaves equal numbers of them."""
        if len(self.what.columns) < 2 or not self.copies or not self.divisible:
            return
        first = self.what.columns[0]
        rows = self.what.extents[first] or 1
        for parts in (n for n in range(2, min(rows, self.threads) + 1) if rows % n == 0):
            extents = {**self.what.extents, first: rows // parts, IMAGE_ROWS: parts}
            part = replace(self.what, extents=extents, outer=(*self.what.outer, IMAGE_ROWS))
            for shares in replace(self, what=part, along=(*self.along, IMAGE_ROWS))._pieces(self._tile_cycles()):
                yield replace(shares, image_rows=parts)

    def _sizes(self, axes: Sequence[str]) -> list[int]:
        return [self.what.extents[a] or LARGE for a in axes]

    def _loops(self) -> Iterator[ConvShares]:
        """Those by a loop that depends on columns."""
        sizes = [*self._sizes(self.along), self._blocks()]
        for position, size in enumerate(sizes):
            cycles = shared_cycles(self.cycles, self.threads, size, prod(sizes[:position]))
            yield ConvShares(cycles + self._wait(self._rows_read(1, max(1, prod(sizes) / self.threads))), position)

    def _rows_by_block(self) -> ConvShares:
        """That by tiles of rows, in each block of columns and pass over the sums."""
        entries = prod([*self._sizes(self.along), self._blocks(), self._passes(), *self._sizes(self.across)])
        tiles = ceil((self.what.size(self.what.rows) or LARGE) / self.plan.mr)
        cycles = shared_cycles(self.cycles, self.threads, tiles, entries * (1 + self.copies))
        read = self._rows_read(1 / self.threads, prod([*self._sizes(self.along), self._blocks()]))
        return ConvShares(cycles + self._wait((self._bytes(self.what.columns) or 0) + read))

    def _pieces(self, whole: float = 0.0) -> Iterator[ConvShares]:
        """Those by pieces of rows. whole: the cycles of all tiles of the image, which are compared with those of pieces
        that have tiles of their own; 0: they have those of the plan."""
        rows, size = self.what.size(self.what.rows), self._bytes(self.what.columns)
        if self.threads == 1 or rows is None or size is None or any(e is None for e in self.what.extents.values()):
            return
        sizes, room = self._sizes(self.along), self.target.l3 / 2
        outside = next((n for n in range(len(sizes) + 1) if size * prod(sizes[n:]) <= room), None)
        if outside is None or (whole and outside == len(sizes)):
            return
        for parts in range(1, self.threads + 1) if whole else (self.threads,):
            plan = conv_tiles(self.what, self.target, rows=ceil(rows / parts)) if whole else self.plan
            each = ceil(ceil(rows / plan.mr) / parts) * plan.mr
            if (pieces := ceil(rows / each)) == parts or not whole:
                yield self._with_pieces(plan, pieces, min(rows, each), sizes, outside, whole)

    def _with_pieces(
        self, plan: ConvTiles, pieces: int, each: int, sizes: Sequence[int], outside: int, whole: float
    ) -> ConvShares:
        """That by so many pieces, of so many rows each, of the columns of some of the outer loops together."""
        rows = self.what.size(self.what.rows) or LARGE
        turns = ceil(pieces * prod(sizes[outside:]) / self.threads)
        if whole:
            part = turns * replace(self, plan=plan)._tile_cycles(each) / (whole * prod(sizes[outside:-1]))
        else:
            part = turns * each / (ceil(rows / plan.mr) * plan.mr * prod(sizes[outside:]))
        blocks = replace(self, plan=plan)._blocks()
        packed = 0 if pieces == 1 else self._bytes(self.what.columns) or 0
        wait = self._wait(turns * (packed + self._rows_read(each / rows, blocks)))
        once = self.cycles * part / prod(sizes[:outside]) + wait + shared_cycles(0, self.threads, 1, min(pieces, 2))
        return ConvShares(once * prod(sizes[:outside]), pieces=pieces, outside=outside, plan=plan if whole else None)

    def _tile_cycles(self, rows: int | None = None) -> float:
        """The cycles of a step of the sum in all tiles of so many rows, or of all, partial tiles included."""
        rows, columns = rows or self.what.size(self.what.rows), self.what.size(self.what.columns)
        lanes, dispatch = min(self.target.lanes(self.what.bits), self.plan.nr), core_or_typical(self.target).dispatch
        step = replace(FLOATS, cycles=lambda r, v: max(FLOATS.cycles(r, v), (r * v + r + v + OTHERS) / dispatch))
        return step.total(self.plan.mr, self.plan.nr // lanes, rows or LARGE, columns or LARGE, lanes)

    def _blocks(self) -> int:
        columns = self.what.size(self.what.columns)
        return LARGE if columns is None else ceil(columns / (self.plan.nr * self.plan.panels))

    def _passes(self) -> int:
        deep = self.what.extents[self.what.deep]
        return LARGE if deep is None else ceil(deep / self.plan.depth)

    def _bytes(self, axes: Sequence[str]) -> int | None:
        """Bytes of an operand of the product: of its rows or columns, for all sums."""
        elements = self.what.size([*axes, *self.what.sums])
        return None if elements is None else elements * self.what.bits // 8

    def _rows_read(self, part: float, blocks: float) -> float:
        """Bytes that a thread reads of a part of the rows for some blocks of columns: once if half of L2 holds them."""
        size = (self._bytes(self.what.rows) or 0) * part
        return size if 2 * size <= self.target.l2 else size * blocks

    def _wait(self, size: float) -> float:
        """The cycles for which a thread waits for bytes from L3, as others packed or read them."""
        return WAITED["L3"] * size / core_or_typical(self.target).l3_each(self.threads)
