"""Schedule for blocks that read an input across its rows, such as transposes: in tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo, RegionInfo
from tir_mlir.schedules.block_queries import (
    LARGE,
    block_handle,
    block_info,
    extents,
    is_copy,
    iters,
    last_axis,
    loops_by_iter,
    num_instances,
    widest_bits,
)
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.steps import all_or_nothing, parallelize
from tir_mlir.target import Target, chosen
from tir_mlir.target.work_cost import stream_cycles, worth_threads

if TYPE_CHECKING:
    from tir_mlir.schedule.primitives import BlockLike

SQUARE = 8
"""Side of the squares that are transposed in registers."""
LINES = 64
"""Rows of the result in a tile: what is read of a row of the input is whole cache lines."""


@dataclass(frozen=True)
class Transposition:
    """`out[.. across .. lane] = f(in[.. lane .. across])`.

    rest: the other iters.
    inputs: the transposed reads.
    """

    across: str
    lane: str
    rest: tuple[str, ...]
    inputs: tuple[int, ...]


def transposition(info: BlockInfo, copy: bool = False) -> Transposition | None:
    """How a block transposes its inputs; None if it does not, or if their rows are shorter than a square.

    copy: it only moves elements; then its last iter may be a part of an index: P[p, k, l] = W[p * 48 + l, k].
    """
    lane = last_axis(info)
    if lane is None or iters(info, "R") or len(info.writes) != 1:
        return None
    written = [a[0] for a in info.writes[0].axes if len(a) == 1]
    inner_axes = {n: r.axes[-1][0] for n, r in enumerate(info.reads) if _is_transposed(r, lane, copy)}
    across = next(iter(inner_axes.values()), None)
    axis_extents = extents(info)
    if across not in written or any((axis_extents[a] or LARGE) < SQUARE for a in (across, lane)):
        return None
    outer = tuple(a for a in axis_extents if a not in (across, lane))
    return Transposition(across, lane, outer, tuple(n for n, a in inner_axes.items() if a == across))


def _is_transposed(read: RegionInfo, lane: str, copy: bool) -> bool:
    last = read.axes[-1] if read.axes else ()
    in_rows = any(lane in axis if copy else axis == (lane,) for axis in read.axes[:-1])
    return len(last) == 1 and last != (lane,) and in_rows


@all_or_nothing
def transpose(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None = None,
    threads: int | None = None,
    free: bool = False,
) -> None:
    """Schedule a transpose, or an elementwise block with transposed inputs, in tiles.

        for i, j: B[i, j] = A[j, i]   ->   for i_0 (parallel), j_0:
                                               a tile of B = a tile of A, by squares in vector registers

    Inputs of a computation (`2 * A[j, i] + X[i, j]`) are transposed into a tile first, then the block is vectorized.
    Each iter must be bound to its own loop; extents may be symbolic. target: default this machine; threads: default
    its number of cores. free: as in `gemm`. Raises ScheduleError unless the block reads an input, with 8 or more rows
    and columns, along an axis other than the last one of its output.
    """
    target = chosen(target)
    block = block_handle(sch, block)
    info = block_info(sch, block)
    what = transposition(info, is_copy(sch, block))
    if what is None:
        raise ScheduleError(
            f'block "{info.name}" transposes no input of {SQUARE} x {SQUARE} elements or more; '
            "use tir_mlir.schedules.elementwise"
        )
    options = Free(sch, block, free)
    moved = 2 * num_instances(info) * widest_bits(info) / 8
    threads = options.threads(worth_threads(stream_cycles(moved), threads or target.cores))
    loops = loops_by_iter(sch, block)
    lanes = _even_tile(max(SQUARE, min(4 * SQUARE, 4 * SQUARE * 8 // widest_bits(info))), extents(info)[what.lane])
    lanes = options.choice("lanes", (SQUARE, 2 * SQUARE, 4 * SQUARE), lanes)
    lines = options.choice("lines", (16, 32, 64, 128), _even_tile(LINES, extents(info)[what.across]))
    row_0, row_1 = sch.split(loops[what.across], [None, lines])
    lane_0, lane_1 = sch.split(loops[what.lane], [None, lanes])
    outer = [*(loops[a] for a in what.rest), row_0]
    sch.reorder(*outer, lane_0, row_1, lane_1)
    if is_copy(sch, block):
        sch.unroll(row_1)
    else:
        _transpose_inputs(sch, block, info, what, lane_0)
    sch.vectorize(lane_1)
    parallelize(sch, outer, threads)


def _even_tile(most: int, extent: int | None) -> int:
    """The rows or columns of a tile: the most, or half or a quarter of it if that leaves no rest."""
    sizes = [size for size in (most, most // 2, most // 4) if size >= SQUARE]
    return next((size for size in sizes if extent is not None and extent % size == 0), most)


def _transpose_inputs(
    sch: Schedule, block: BlockHandle, info: BlockInfo, what: Transposition, loop: LoopHandle
) -> None:
    """Copy the transposed inputs into tiles in the order of the output."""
    for name in dict.fromkeys(str(info.reads[n]) for n in what.inputs):
        read = next(r for r in info.reads if str(r) == name)
        order = sorted(range(len(read.axes)), key=lambda d: _output_dimension(read.axes[d], info))
        tile = sch.cache_read(block, name, "global")
        sch.compute_at(tile, loop, preserve_unit_loops=True)
        sch.transform_layout(tile, ("write", 0), _permutation(order))
        loops = sch.get_loops(tile)[-len(order) :]
        across, lane = (loops[read.axes.index((a,))] for a in (what.across, what.lane))
        sch.reorder(*(x for x in loops if x not in (across, lane)), across, lane)
        sch.unroll(across)
        sch.vectorize(lane)


def _permutation(order: list[int]) -> Callable[..., tuple]:
    return lambda *index: tuple(index[d] for d in order)


def _output_dimension(axis: tuple[str, ...], info: BlockInfo) -> int:
    """The dimension of the output that an index of an input belongs to."""
    written = info.writes[0].axes
    return written.index(axis) if axis in written else -1
