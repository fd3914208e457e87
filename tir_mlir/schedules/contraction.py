"""What kind of product a block is: which iters are rows, columns, sums, and how the operands lie in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tir_mlir.dialect.dtypes import bits
from tir_mlir.dialect.errors import ScheduleError
from tir_mlir.schedule import Schedule
from tir_mlir.schedule.infos import BlockInfo, RegionInfo


@dataclass(frozen=True)
class Operand:
    """One factor: its buffer, and the iter that indexes each dimension of it."""

    name: str
    axes: tuple[str, ...]
    bits: int


@dataclass(frozen=True)
class Contraction:
    """`C[batch.., m, n] += left[.. m, k ..] * right[.. k, n ..]`: names of iters, their extents (None: symbolic), the
    operand that has the columns."""

    batch: tuple[str, ...]
    m: str
    n: str
    k: str
    extents: dict[str, int | None]
    left: Operand
    right: Operand
    out: str
    bits: int

    def extent(self, axis: str) -> int | None:
        return self.extents[axis]


def contraction(sch: Schedule, block: Any) -> Contraction:
    """Read a block as a product of two operands. Raises ScheduleError where it is none."""
    info = sch.get(sch.get_block(block) if isinstance(block, str) else block)
    if not isinstance(info, BlockInfo):
        raise ScheduleError(f"{block} is no block")
    kinds = {i.name: i.kind for i in info.iter_vars}
    extents = {i.name: i.dom.extent for i in info.iter_vars}
    (out, *more), inputs = info.writes, [r for r in info.reads if str(r) not in map(str, info.writes)]
    sums = [n for n, kind in kinds.items() if kind == "R"]
    if more or len(inputs) != 2 or len(sums) != 1:
        raise _no_product(info, "one result, two operands and one sum are needed")
    result, axes = _axes(out, info), [_axes(r, info) for r in inputs]
    batch = [a for a in result if all(a in x for x in axes)]
    single = [a for a in result if a not in batch]
    if len(single) != 2 or not all(sums[0] in x for x in axes):
        raise _no_product(info, "each operand needs the sum and one of two further axes of the result")
    m, n = single
    order = [0, 1] if m in axes[0] else [1, 0]
    left, right = (Operand(str(inputs[i]), axes[i], bits(inputs[i].buffer.dtype)) for i in order)
    if m not in left.axes or n not in right.axes or n in left.axes:
        raise _no_product(info, "one operand must have the rows, the other the columns of the result")
    return Contraction(tuple(batch), m, n, sums[0], extents, left, right, out.buffer.name, bits(out.buffer.dtype))


def _axes(region: RegionInfo, info: BlockInfo) -> tuple[str, ...]:
    if any(len(a) != 1 for a in region.axes):
        raise _no_product(info, f"each dimension of {region} must be indexed by one iter")
    return tuple(a[0] for a in region.axes)


def _no_product(info: BlockInfo, why: str) -> ScheduleError:
    return ScheduleError(f'block "{info.name}" is no matrix product: {why}')
