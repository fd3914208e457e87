"""Match convolutions: find the row, column and reduction iters of the implicit matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import bits, enter_context
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedule.info import BlockInfo, RegionInfo
from tir_mlir.schedules.block_queries import LARGE, block_info, block_view
from tir_mlir.schedules.operand_types import reads_only_as


@dataclass(frozen=True)
class Convolution:
    """`Y[.. rows .. columns] += left[rows, sums] * right[columns, sums]`; operand indices may be expressions of several
    iters.

    columns: the contiguous axes of the result (pixels in NCHW, channels in NHWC), which index the right operand.
    outer: the other spatial iters.
    sums: the reduction iters, in the order of the left operand; both without iters of extent 1.
    as_one: whether the sums can be fused, as the left operand has them adjacent, the longest first.
    extents: of all iters, None if symbolic.
    dimensions: the iters of each dimension of the result.
    panel: the length of the rows of the right operand if they are along the columns; else 0.
    grouped: the channels of the result and how many of them are a group, which reads the same channels of the image.
    widened: the operands that are only read cast to the type of the sums, which represents their values; see
        `reads_only_as`.
    """

    outer: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    sums: tuple[str, ...]
    as_one: bool
    result: tuple[str, ...]
    left: str
    right: str
    extents: dict[str, int | None]
    dtype: str
    dimensions: tuple[tuple[str, ...], ...] = ()
    panel: int = 0
    grouped: tuple[str, int] | None = None
    widened: frozenset[str] = frozenset()

    @property
    def bits(self) -> int:
        return bits(self.dtype)

    @property
    def deep(self) -> str:
        """The longest reduction iter."""
        return _longest(self.sums, self.extents)

    def size(self, axes: Sequence[str]) -> int | None:
        """The product of the extents of axes; None if symbolic."""
        extents = [self.extents[a] for a in axes]
        return None if None in extents else prod(e for e in extents if e)

    @property
    def is_product(self) -> bool:
        """Whether there are rows and columns. False for depthwise convolutions: both operands have the channels."""
        return bool(self.rows and self.columns)


def convolution(sch: Schedule, block: BlockHandle, joined: bool = False) -> Convolution:
    """Match a block with a convolution, with any order of axes. Raises ScheduleError if it is not one.

    joined: whether several iters may index one dimension of the result: a group and a channel of it."""
    info = block_info(sch, block)
    inputs = [r for r in info.reads if str(r) not in map(str, info.writes)]
    kinds = {i.name: i.kind for i in info.iter_vars}
    sums = [n for n, kind in kinds.items() if kind == "R"]
    if len(info.writes) != 1 or len(inputs) != 2 or not sums:
        raise _not_a_convolution(info, "it must have one output, two inputs and a reduction iter")
    (out,) = info.writes
    extents = {i.name: i.dom.extent for i in info.iter_vars}
    result = [name for a in out.axes for name in a]
    if (any(len(a) > 1 for a in out.axes) and not joined) or len(set(result)) < len(result):
        raise _not_a_convolution(info, f"each dimension of {out} must be indexed by one iter")
    if not result:
        raise _not_a_convolution(info, f"{out} is a single number")
    input_iters = [{name for a in r.axes for name in a} for r in inputs]
    single = [a for a in result if sum(a in u for u in input_iters) == 1]
    right = 0 if single and single[-1] in input_iters[0] else 1
    left_axes = [name for axis in inputs[1 - right].axes for name in axis]
    columns = _adjacent(result, [a for a in single if a in input_iters[right]], extents, last=True)
    rows = _adjacent(result, [a for a in single if a in input_iters[1 - right]], extents)
    sums = [a for a in sums if extents[a] != 1] or sums[:1]
    sums.sort(key=lambda a: left_axes.index(a) if a in left_axes else -1)
    outer = [a for a in result if a not in (*rows, *columns) and extents[a] != 1]
    return Convolution(
        tuple(outer), rows, columns, tuple(sums), _is_fusible(inputs[1 - right], sums, extents),
        tuple(result), str(inputs[1 - right]), str(inputs[right]), extents, out.buffer.dtype, tuple(out.axes),
        _panel(inputs[right], columns),
        None if rows and columns else _grouped_channels(inputs, result, sums, extents),
        _widened_inputs(sch, block, inputs, out.buffer.dtype),
    )  # fmt: skip


def _widened_inputs(sch: Schedule, block: BlockHandle, inputs: Sequence[RegionInfo], dtype: str) -> frozenset[str]:
    """The operands of another type that are only read cast to the type of the sums."""
    narrow = [str(r) for r in inputs if r.buffer.dtype != dtype]
    with enter_context():
        view = block_view(sch, block)
        return frozenset(name for name in narrow if reads_only_as(view, name, dtype))


def _grouped_channels(
    inputs: Sequence[RegionInfo], result: Sequence[str], sums: Sequence[str], extents: dict[str, int | None]
) -> tuple[str, int] | None:
    """The channels of a convolution in groups and how many a group has, from `W[o, c]` and `X[o // k * (c's) + c]`."""
    for image in inputs:
        for axis, size in zip(image.axes, image.buffer.shape, strict=True):
            channels, read = [a for a in axis if a in result], [a for a in axis if a in sums]
            if len(channels) != 1 or len(read) != 1 or len(axis) != 2:
                continue
            (channel,), each, count = channels, extents[read[0]], extents[channels[0]]
            alone = all((channel,) in other.axes for other in inputs if other is not image)
            if alone and size and each and count and size % each == 0 and count % (size // each) == 0:
                return channel, count // (size // each)
    return None


def _panel(right: RegionInfo, columns: tuple[str, ...]) -> int:
    """The width of the panels of an operand: W[n // 48, .., n % 48], or W[.., n]; 0 if it has none."""
    return right.buffer.shape[-1] or 0 if right.axes[-1] == columns else 0


def _adjacent(
    result: Sequence[str], chosen: Sequence[str], extents: dict[str, int | None], last: bool = False
) -> tuple[str, ...]:
    """The last of the chosen axes, with the one before it if adjacent in the result; only the first may be symbolic.

    `last`: return nothing unless it is the last axis of the result.
    """
    if not chosen or (last and _non_unit_axes(result, extents)[-1:] != [chosen[-1]]):
        return ()
    end = result.index(chosen[-1])
    previous = result[end - 1] if end else None
    if previous in chosen and extents[result[end]] is not None:
        return (result[end - 1], result[end])
    return (result[end],)


def _is_fusible(lhs: RegionInfo, sums: list[str], extents: dict[str, int | None]) -> bool:
    """Whether the reductions can be fused: the left operand has them adjacent, the longest first."""
    positions = [n for n, axis in enumerate(lhs.axes) if any(a in axis for a in sums)]
    alone = [lhs.axes[n] for n in positions] == [(a,) for a in sums]
    is_adjacent = alone and positions[-1] - positions[0] + 1 == len(positions)
    return is_adjacent and None not in [extents[a] for a in sums[1:]] and sums[0] == _longest(sums, extents)


def _longest(axes: Sequence[str], extents: dict[str, int | None]) -> str:
    return max(axes, key=lambda a: extents[a] or LARGE)


def _non_unit_axes(axes: Sequence[str], extents: dict[str, int | None]) -> list[str]:
    return [a for a in axes if extents[a] != 1] or list(axes)


def _not_a_convolution(info: BlockInfo, why: str) -> ScheduleError:
    return ScheduleError(f'block "{info.name}" is not a convolution: {why}')
