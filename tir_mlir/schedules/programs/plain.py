"""Schedules that are made and compiled in little time: a fixed tile for products and convolutions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedule.primitives import BlockLike
from tir_mlir.schedules.block_queries import (
    block_handle,
    block_info,
    extents,
    iters,
    last_axis,
    loops_by_iter,
    widest_bits,
)
from tir_mlir.schedules.products.packing import WeightPanels
from tir_mlir.schedules.programs.auto import AutoSchedule, scheduled_functions
from tir_mlir.schedules.programs.block_kinds import kind_of
from tir_mlir.schedules.programs.cpu_rules import CpuRules
from tir_mlir.schedules.programs.prepack import FLOATS, read_in_panels
from tir_mlir.schedules.programs.rules import HEAVY, Attempt, Program
from tir_mlir.schedules.steps import all_or_nothing, attempt, check_schedule, parallelize
from tir_mlir.target import Target, chosen

VECTORS = 2
"""The number of vectors of a row of a tile."""
ROWS = 12
"""The maximum number of rows of a tile, of a CPU with 32 registers."""
MANY_REGISTERS = 32


def plain(sch: Schedule, target: Target | str | None = None, threads: int | None = None) -> dict[str, str | None]:
    """Schedule every block of a program as `auto` does, but products and convolutions by `tile`, without what computes
    their results further: fewer steps and less code, for programs that are to be ready soon.

    target, threads, result: as for `auto`.
    """
    check_schedule(sch, "plain")
    target = chosen(target)
    picked: dict[str, str | None] = {}
    for name in scheduled_functions(sch):
        picked |= AutoSchedule(sch, name, PlainRules(target, threads, reciprocal=True, free=False)).run()
    return picked


@dataclass(frozen=True)
class PlainRules(CpuRules):
    """The rules for a CPU, with `tile` first for products and convolutions."""

    epilogues: bool = False

    def attempts(self, program: Program, name: str, epilogue: BlockHandle | None) -> Iterator[Attempt]:
        if program.kinds[name] in HEAVY:
            yield "tile", lambda: tile(program.sch, program.blocks[name], self.target, self.threads)
        yield from super().attempts(program, name, epilogue)


@all_or_nothing
def tile(sch: Schedule, block: BlockLike, target: Target | str | None = None, threads: int | None = None) -> None:
    """Schedule a product or a convolution in tiles of the result that remain in registers, without packing.

        for i, j, k: Y[i, j] += X[i, k] * W[k, j]
    ->  for j_0 (parallel), i_0:
            for i_1 (unrolled), j_1 (vectorized): Y[i, j] = 0
            for k: for i_1 (unrolled), j_1 (vectorized): Y[i, j] += X[i, k] * W[k, j]

    j: the last axis of the result, along which each operand is contiguous, or the same for all. i: the axis before it.
    Raises ScheduleError for operands that are neither, sizes that are symbolic, and results of one axis of size 1.
    """
    target, block = chosen(target), block_handle(sch, block)
    info, loops = block_info(sch, block), loops_by_iter(sch, block)
    lanes = last_axis(info)
    if lanes is None or not _reads_along(info, lanes, width := _width(info, lanes, target)):
        raise ScheduleError(f'block "{info.name}" reads operands that are not contiguous along its result')
    if len({r.buffer.dtype for r in (*info.reads, *info.writes)}) > 1 or info.writes[0].buffer.dtype not in FLOATS:
        raise ScheduleError(f'block "{info.name}" has operands of other types than its result, or integers')
    sizes, sums = extents(info), iters(info, "R")
    outer = [name for name in loops if name not in (*sums, lanes)]
    row = next((name for name in reversed(outer) if sizes[name] != 1), None)
    tiled = [name for name in (row, lanes) if name is not None]
    if any(sizes[name] is None for name in tiled):
        raise ScheduleError(f'block "{info.name}" has a symbolic size')
    inner, blocks = {}, {}
    for name in tiled:
        rows = ROWS if target.registers >= MANY_REGISTERS else ROWS // 2
        size = width if name == lanes else divisor(int(sizes[name] or 1), rows)
        blocks[name], inner[name] = sch.split(loops[name], [None, size])
    others = [loops[name] for name in outer if name != row]
    above = [blocks[lanes], *others, *(blocks[name] for name in tiled[:-1])]
    sch.reorder(*above, *(loops[name] for name in sums), *(inner[name] for name in tiled))
    sch.vectorize(inner[lanes])
    for name in tiled[:-1]:
        sch.unroll(inner[name])
    sch.decompose_reduction(block, loops[sums[0]])
    parallelize(sch, above, threads or target.cores)


def _width(info: BlockInfo, lanes: str, target: Target) -> int:
    """The columns of a tile."""
    return panel_width(extents(info)[lanes] or 1, target.lanes(widest_bits(info)))


def panel_width(extent: int, vector: int) -> int:
    """The columns of a tile, and of a panel: whole vectors of so many elements, which divide the extent if some do."""
    most = VECTORS * vector
    if extent <= most:
        return extent
    return next((size for size in range(most, 0, -vector) if extent % size == 0), most)


def _reads_along(info: BlockInfo, lanes: str, width: int) -> bool:
    """Whether each operand of a block is contiguous along an iter, in panels of `width`, or does not depend on it."""
    written = {str(w) for w in info.writes}
    for read in (r for r in info.reads if str(r) not in written):
        last = len(read.axes) - 1
        where = [n for n, axis in enumerate(read.axes) if lanes in axis]
        panels = where == [0, last] and list(read.axes[0]) == [lanes] and read.buffer.shape[-1] == width
        if where and not ((where == [last] or panels) and list(read.axes[last]) == [lanes]):
            return False
    return True


def divisor(extent: int, most: int) -> int:
    """The tile of an extent: its largest divisor up to `most`; where all are small, as of a prime, `most`, or the
    extent if that is less."""
    if extent <= most:
        return extent
    best = max(size for size in range(1, most + 1) if extent % size == 0)
    return best if 3 * best >= most else most


def plain_panels(
    sch: Schedule, function: str, weights: Sequence[str], target: Target | str | None = None, threads: int | None = None
) -> dict[str, WeightPanels]:
    """Change parameters of a function to panels as wide as the tiles of `tile`; callers pack them once. See `prepack`.

        def dense(X, W: [3072, 768], Y):          def dense(X, W: [96, 768, 32], Y):
            Y += X[i, k] * W[j, k]          ->        Y += X[i, k] * W[j // 32, k, j % 32]

    weights: names of parameters; threads: changes nothing. Returns the panels by name. Parameters that no single
    product or convolution reads, or that do not depend on the last axis of its result, remain as they are.
    """
    check_schedule(sch, "plain_panels")
    target = chosen(target)
    blocks = sch.get_child_blocks(sch.get_block("root", function))
    infos = {block: block_info(sch, block) for block in blocks}
    panels: dict[str, WeightPanels] = {}
    for name in weights:
        readers = [block for block, info in infos.items() if name in map(str, info.reads)]
        if len(readers) == 1 and kind_of(sch, readers[0]) in HEAVY:
            weight = _panel(infos[readers[0]], name, target)
            if weight is not None and attempt(sch, lambda b=readers[0], w=weight: read_in_panels(sch, b, w)):
                panels[name] = weight
    return panels


def _panel(info: BlockInfo, name: str, target: Target) -> WeightPanels | None:
    """The panels of a weight along the last axis of the result; None if it does not depend on it."""
    lanes = last_axis(info)
    (read,) = (r for r in info.reads if str(r) == name)
    along = [n for n, axis in enumerate(read.axes) if list(axis) == [lanes]]
    shape = tuple(int(size) for size in read.buffer.shape if size is not None)
    if any(not axis and size != 1 for axis, size in zip(read.axes, read.buffer.shape, strict=True)):
        return None  # data choose the part that is read
    if lanes is None or len(along) != 1 or len(shape) != len(read.axes) or read.buffer.dtype not in FLOATS:
        return None
    inner = tuple(n for n in range(len(shape)) if n != along[0])
    return WeightPanels(name, shape, read.buffer.dtype, along[0], inner, _width(info, lanes, target))
