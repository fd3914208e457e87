"""The axes of products, as tiles of matrices need them: batch, rows, columns and terms."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedule.info import BlockInfo, RegionInfo
from tir_mlir.schedules.block_queries import LARGE, block_info, extents, iters, last_axis


@dataclass(frozen=True)
class ProductAxes:
    """`out[batch, rows, columns] += left[batch, rows, sums] * right[batch, columns, sums]`: names of iters. Each group
    may have any number of them, at any position of the operands; a convolution has rows and sums in one index.

    left, right, out: names of buffers; sizes: extents of the iters, None if symbolic.
    """

    batch: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    sums: tuple[str, ...]
    left: str
    right: str
    out: str
    sizes: dict[str, int | None]

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        return self.batch, self.rows, self.columns, self.sums

    def extent(self, group: tuple[str, ...]) -> int:
        """The product of the extents of a group; symbolic ones count as `LARGE`."""
        return prod(self.sizes[name] or LARGE for name in group)

    def divides(self, group: tuple[str, ...], size: int) -> bool:
        """Whether a size divides the extent of a group, which is known."""
        return all(self.sizes[name] for name in group) and self.extent(group) % size == 0


def product_axes(sch: Schedule, block: BlockHandle) -> ProductAxes:
    """Match a sum of products of two buffers. Raises ScheduleError."""
    info = block_info(sch, block)
    sizes, written = extents(info), {str(w) for w in info.writes}
    operands = [r for r in info.reads if str(r) not in written]
    if len(info.writes) != 1 or len(operands) != 2:
        raise _not_a_product(info, "it must have one output and two inputs")
    used = [_iters_of(r) for r in operands]
    last = last_axis(info)
    if last in used[0] and last not in used[1]:
        operands, used = operands[::-1], used[::-1]
    both = used[0] & used[1]
    spatial, sums = iters(info, "S"), iters(info, "R")
    alone = [n for n in sums if n not in both and sizes[n] != 1]
    idle = [n for n in spatial if n not in used[0] | used[1] and sizes[n] != 1]
    if alone or idle or not sums:
        raise _not_a_product(
            info, f"{', '.join(alone or idle) or 'no iter'} is summed over or read in one operand only"
        )
    rows, columns = ([n for n in spatial if n in mine - both] for mine in used)
    batch = [n for n in spatial if n not in (*rows, *columns)]
    if not rows or not columns:
        raise _not_a_product(info, "each operand must have an axis of the result of its own")
    groups = (tuple(batch), tuple(rows), tuple(columns), tuple(sums))
    return ProductAxes(*groups, str(operands[0]), str(operands[1]), str(info.writes[0]), sizes)


def _iters_of(region: RegionInfo) -> set[str]:
    return {name for axis in region.axes for name in axis}


def _not_a_product(info: BlockInfo, why: str) -> ScheduleError:
    return ScheduleError(f'block "{info.name}" is not a product of matrices: {why}')
