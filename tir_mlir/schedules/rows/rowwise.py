"""Schedule for row-wise operators, such as softmax and layer norm: fuse all blocks over the rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import prod
from typing import TYPE_CHECKING

from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import (
    LARGE,
    along_memory,
    block_handle,
    extent_of,
    extents,
    is_contiguous,
    is_copy,
    iters,
    last_axis,
    loops_by_iter,
    num_instances,
    widest_bits,
)
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.producers import Member, row_axes, with_producers
from tir_mlir.schedules.rows.fused_row import FUSED, fused_row, pays
from tir_mlir.schedules.rows.repeated_values import allow_reciprocals
from tir_mlir.schedules.steps import all_or_nothing, attempt, inline, parallelize
from tir_mlir.target import Target, chosen
from tir_mlir.target.work_cost import worth_threads

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr
    from tir_mlir.schedule.primitives import BlockLike

VECTORS = 8
"""The number of vectors per tile if lanes are rows."""
VECTOR_CYCLES = 16.0
"""Cycles for a vector of a block of a row, with an exponential or a quotient in some."""


@all_or_nothing
def rowwise(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None = None,
    threads: int | None = None,
    reciprocal: bool = True,
    free: bool = False,
) -> None:
    """Schedule a block and its transitive producers, with reductions along rows (softmax, norms), row by row.

        for i, k: top[i] = max(top[i], X[i, k])          for i (parallel):
        for i, j: e[i, j] = exp(X[i, j] - top[i])   ->       for k: top = max(...), vectorized
        for i, k: sum[i] += e[i, k]                          for j: e[j] = exp(...), vectorized
        for i, j: Y[i, j] = e[i, j] / sum[i]                 for k: sum += e[k] ; for j: Y[i, j] = ...

    block: the last block; each iter of every block must be bound to its own loop; extents may be symbolic. A row may
    have several axes. If rows are contiguous in the result, vectors span several rows. target: default this machine;
    threads: default its number of cores. free: as in `gemm`: rows handled together, producers inlined, axes of a row
    fused, sums joined with what they read. Raises ScheduleError without a reduction along rows.
    """
    schedule_rows(sch, block, target, threads, reciprocal, free=free)


def schedule_rows(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None,
    threads: int | None,
    reciprocal: bool,
    fixed: Collection[str] = (),
    free: bool = False,
) -> None:
    """The same as `rowwise`, without the producers in `fixed`."""
    target = chosen(target)
    block = block_handle(sch, block)
    options = Free(sch, block, free)
    _divide_groups(sch, block, fixed)
    rows = row_axes(with_producers(sch, block, fixed))
    _inline(sch, block, rows, fixed, options)
    members = with_producers(sch, block, fixed)
    work = sum(num_instances(m.info) for m in members)
    lanes = target.lanes(max(widest_bits(m.info) for m in members))
    threads = options.threads(worth_threads(VECTOR_CYCLES * work / lanes, threads or target.cores))
    outer = RowwiseSchedule(sch, members, rows, target, options).run()
    for member in members if reciprocal else ():
        allow_reciprocals(sch, member.block)
    parallelize(sch, outer, threads)


def _divide_groups(sch: Schedule, block: BlockHandle, fixed: Collection[str]) -> None:
    """Divide an axis whose groups share a row into groups and positions in a group: else a row is computed for each
    position.

    for c: Y[c] = X[c] - mean[c // 8]   ->   for g, c: Y[g * 8 + c] = X[g * 8 + c] - mean[g]
    """
    *producers, last = with_producers(sch, block, fixed)
    written = {str(w) for m in producers for w in m.info.writes}
    sizes = extents(last.info)
    for region in (r for r in last.info.reads if str(r) in written):
        for dimension, (axis, groups) in enumerate(zip(region.axes, region.buffer.shape, strict=True)):
            size = sizes[axis[0]] if len(axis) == 1 else None
            group_size = size // groups if size and groups and size % groups == 0 else 1
            if group_size > 1 and [region.index_at(dimension, n) for n in (group_size - 1, group_size)] == [0, 1]:
                position = [i.name for i in last.info.iter_vars].index(axis[0])
                sch.transform_block_layout(block, _split_iter(position, group_size))
                return


def _split_iter(position: int, factor: int) -> Callable[..., tuple[IntExpr, ...]]:
    """The index map that splits one iter by a factor."""
    return lambda *i: (*i[:position], i[position] // factor, i[position] % factor, *i[position + 1 :])


def _inline(sch: Schedule, block: BlockHandle, rows: list[str], fixed: Collection[str], free: Free) -> None:
    """Inline elementwise blocks that have a single consumer or copy elements in order; if free, any, or none."""
    for member in reversed(with_producers(sch, block, fixed)[:-1]):
        row_iters = member.own_iters(rows)
        if member.reduces or not row_iters or len(row_iters) == len(member.info.iter_vars):
            continue
        if free.flag(f"inline_{member.info.name}", member.readers == 1 or _copies_in_order(sch, member)):
            inline(sch, member.block)


def _copies_in_order(sch: Schedule, member: Member) -> bool:
    """Whether a block stores what it loads, and reads adjacent elements along the last axis of what it writes."""
    info, lane = member.info, last_axis(member.info)
    return lane is not None and is_copy(sch, member.block) and is_contiguous(info.reads[0], extents(info), [lane])


class RowwiseSchedule:
    """The state of scheduling a block and its producers."""

    def __init__(self, sch: Schedule, members: list[Member], rows: list[str], target: Target, free: Free):
        self.sch, self.members, self.rows = sch, members, rows
        self.last = members[-1]
        info = self.last.info
        lane = last_axis(info)
        tiled = lane in rows and (extents(info)[lane] or 0) > 1 and all(_adjacent(m, lane) for m in members)
        self.lane = lane if tiled else None
        vectors = free.choice("vectors", (2, 4, 8, 16), VECTORS) if tiled else VECTORS
        bits = max(widest_bits(m.info) for m in members)
        self.width = vectors * target.lanes(bits)
        self.passes = None if tiled else RowPasses(sch, rows, free, target, bits)

    def run(self) -> list[LoopHandle]:
        """Schedule all blocks. Returns the loops over rows, outer to inner."""
        sch = self.sch
        loops = loops_by_iter(sch, self.last.block)
        outer = [loops[a] for a in self.rows if a != self.lane]
        axes = [a for a in loops if a not in self.rows]
        inner = [loops[a] for a in axes]
        if self.lane is not None:
            lane_0, lane_1 = sch.split(loops[self.lane], [None, self.width])
            outer, inner = [*outer, lane_0], [*inner, lane_1]
        if len(outer) + len(inner) > 1:
            sch.reorder(*outer, *inner)
        if self.passes and outer:
            outer[-1], inner = self.passes.group_rows(outer[-1], inner)
        for member in reversed(self.members[:-1]):
            self._place_producer(member, outer)
        self._vectorize(self.last, inner, axes)
        if self.passes:
            self.passes.run()
        return outer

    def _place_producer(self, member: Member, outer: Sequence[LoopHandle]) -> None:
        """Compute a producer at the loops over rows, if it has them, and vectorize it."""
        sch = self.sch
        loops = loops_by_iter(sch, member.block)
        if outer and member.own_iters(self.rows) is not None:
            sch.compute_at(member.block, outer[-1], preserve_unit_loops=True)
            loops = loops_by_iter(sch, member.block, skipped=len(outer))
        order = list(loops)
        if self.lane is not None and (mine := member.own_iters([self.lane])) is not None:
            order = [*(a for a in order if a != mine[0]), mine[0]]
        elif self._short_sums(member, loops):
            return
        elif member.reduces:
            sums = along_memory(member.info, iters(member.info, "R"))
            order = [*(a for a in order if a not in sums), *sums]
        if len(order) > 1 and order != list(loops):
            sch.reorder(*(loops[a] for a in order))
        self._vectorize(member, [loops[a] for a in order], order)

    def _short_sums(self, member: Member, loops: dict[str, LoopHandle]) -> bool:
        """Vectorize a reduction over elements that lie next to each other, each a short sum of what its neighbours
        read, too, or of neighbours: sums in vectors have no sum over lanes.

        for c, j: for k: S[c, j] += X[c * 16 + k] if k <= j   ->   for c: for k: S[c, j] += .., vectorized over j
        """
        lane, sums = last_axis(member.info), iters(member.info, "R")
        if self.passes is None or not sums or lane not in loops or not _fits_lanes(member, lane, self.passes.lanes):
            return False
        sch = self.sch
        sch.reorder(*(loops[n] for n in sums), loops[lane])
        sch.vectorize(loops[lane])
        init = sch.decompose_reduction(member.block, loops[sums[0]])
        sch.vectorize(sch.get_loops(init)[-1])
        return True

    def _vectorize(self, member: Member, inner: Sequence[LoopHandle], axes: list[str]) -> None:
        """Vectorize the innermost loop: over the reduction, or over several rows."""
        if not inner or len(member.info.writes) != 1:
            return
        if self.passes:
            self.passes.add(member, inner, axes)
            return
        sch = self.sch
        sch.vectorize(inner[-1])
        if self.lane is not None and member.own_iters([self.lane]) is not None and member.reduces:
            first = next(x for x in inner if x is not inner[-1])
            init = sch.decompose_reduction(member.block, first)
            sch.vectorize(sch.get_loops(init)[-1])


def _adjacent(member: Member, lane: str) -> bool:
    """Whether what a reduction reads is adjacent along a row axis, as columns are, and planes of an image are not."""
    mine, written = [n for n, axis in member.along.items() if axis == lane], {str(w) for w in member.info.writes}
    reads = [r for r in member.info.reads if str(r) not in written and any(n in a for a in r.axes for n in mine)]
    largest = max(reads, key=lambda r: len(r.axes), default=None)
    return not member.reduces or largest is None or any(n in largest.axes[-1] for n in mine)


def _fits_lanes(member: Member, lane: str, lanes: int) -> bool:
    """Whether an axis fills vectors, what is read is adjacent or the same along it, and the sums are not longer."""
    info, sizes = member.info, extents(member.info)
    written = {str(w) for w in info.writes}
    size, terms = sizes[lane], [sizes[n] for n in iters(info, "R")]
    if not size or size % lanes or None in terms or prod(t or LARGE for t in terms) > size:
        return False
    for region in (r for r in info.reads if str(r) not in written):
        *others, last = region.axes
        if any(lane in axes for axes in others) or (lane in last and not is_contiguous(region, sizes, [lane])):
            return False
    return True


def softmax(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None = None,
    threads: int | None = None,
    reciprocal: bool = True,
    free: bool = False,
) -> None:
    """Schedule a softmax, or another operator that normalizes its input by reductions along rows.

    block: the last block; its producers (maximum, exponential, sum) are found from it. Same as `rowwise`.
    """
    rowwise(sch, block, target, threads, reciprocal, free)


def layer_norm(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None = None,
    threads: int | None = None,
    reciprocal: bool = True,
    free: bool = False,
) -> None:
    """Schedule a layer norm, RMS norm or group norm: rows normalized by their mean and variance.

    block: the last block; its producers (the sums) are found from it. Same as `rowwise`.
    """
    rowwise(sch, block, target, threads, reciprocal, free)


ROWS = (2, 4, 8, 16, 32)
"""Candidates for the rows that are handled together."""
TOGETHER = 8
"""The number of short rows that are handled together: the passes of one row depend on each other, those of several do
not."""
JOINED_VECTORS = (1, 4, 8)
"""Candidates for the vectors of a step of passes that are joined."""


class RowPasses:
    """The passes of a schedule over rows, each of them a block that runs along a row, with the decisions about them.

        for j: e[j] = exp(X[i, j])            for j_0:
        for k: sum[i] += e[k]          ->         for j_1: e[j] = exp(X[i, j]), vectorized
                                                  for k_1: sum[i] += e[k], vectorized

    By default, each pass is vectorized over the whole row; short rows are handled together, and axes of a row are one
    loop if that `pays`. A pass that may not join another one remains alone. bits: of the widest element.
    """

    def __init__(self, sch: Schedule, rows: list[str], free: Free, target: Target, bits: int):
        self.sch, self.rows, self.free, self.target = sch, rows, free, target
        self.lanes, self.bytes = target.lanes(bits), max(1, bits // 8)
        self.passes: list[tuple[Member, LoopHandle]] = []

    def group_rows(self, row: LoopHandle, inner: Sequence[LoopHandle]) -> tuple[LoopHandle, Sequence[LoopHandle]]:
        """Handle a few rows together, pass by pass. Returns the loop over groups and the loops inside."""
        count = extent_of(self.sch, row)
        length = prod(extent_of(self.sch, x) or LARGE for x in inner)
        short = TOGETHER * length * self.bytes <= self.target.l1 // 4
        default = TOGETHER if short and (count or 0) >= TOGETHER * self.target.cores else 1
        rows = self.free.choice("rows", [r for r in ROWS if r <= (count or LARGE)], default)
        if rows == 1:
            return row, inner
        outer, row = self.sch.split(row, [None, rows])
        return outer, [row, *inner]

    def add(self, member: Member, loops: Sequence[LoopHandle], axes: list[str]) -> None:
        """Add a pass of a block, which is placed; `loops`: those along the row, or around it, outer to inner; `axes`:
        the iters that the innermost of them are bound to."""
        along = self._row_loops(member, loops)
        default = len(along) > 1 and pays(member.info, axes[-min(len(along), FUSED) :], self.lanes)
        fuse = len(along) > 1 and self.free.flag(f"fuse_{member.info.name}", default)
        self.passes.append((member, fused_row(self.sch, member.block, along) if fuse else loops[-1]))

    def _row_loops(self, member: Member, loops: Sequence[LoopHandle]) -> Sequence[LoopHandle]:
        """The innermost loops of a pass that make up a row: of a reduction the sums, of others those inside a row."""
        sums = len(iters(member.info, "R"))
        row_depth = sums or len(member.info.iter_vars) - sum(a in self.rows for a in member.along.values())
        return loops[len(loops) - row_depth :]

    def run(self) -> None:
        """Join and vectorize the passes."""
        joined: set[str] = set()
        for n, (member, loop) in enumerate(self.passes):
            if not member.reduces and n and member.info.name not in joined:
                joined |= self._join(member, loop)
        for member, loop in self.passes:
            if member.info.name not in joined:
                self.sch.vectorize(loop)

    def _join(self, member: Member, loop: LoopHandle) -> set[str]:
        """Join the reduction that reads what a block writes with its pass. Returns the blocks joined."""
        written = {str(w) for w in member.info.writes}
        for reader, _ in self.passes:
            if not reader.reduces or len(iters(reader.info, "R")) != 1:
                continue
            if not any(str(r) in written for r in reader.info.reads):
                continue
            vectors = self.free.choice(f"join_{reader.info.name}", JOINED_VECTORS, 0)
            if vectors and self._join_reduction(reader, loop, vectors * self.lanes):
                return {reader.info.name, member.info.name}
        return set()

    def _join_reduction(self, reader: Member, loop: LoopHandle, width: int) -> bool:
        """Run a reduction with a step of the pass that it reads, if that is legal."""
        sch = self.sch

        def steps() -> bool:
            outer, inner = sch.split(loop, [None, width])
            sch.reverse_compute_at(reader.block, outer, preserve_unit_loops=True)
            sch.vectorize(inner)
            sch.vectorize(sch.get_loops(reader.block)[-1])
            return True

        return bool(attempt(sch, steps))
