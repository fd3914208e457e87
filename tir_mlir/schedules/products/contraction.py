"""Match matrix products: find the row, column and reduction iters and the layout of the operands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import bits, enter_context
from tir_mlir.schedule import Schedule
from tir_mlir.schedule.handles import BlockHandle
from tir_mlir.schedule.info import BlockInfo, BufferInfo, RegionInfo
from tir_mlir.schedule.primitives import BlockLike
from tir_mlir.schedules.block_queries import LARGE, block_handle, block_info, block_view
from tir_mlir.schedules.operand_types import is_product, reads_only_as


@dataclass(frozen=True)
class ContractionOperand:
    """An operand: buffer name, iter that indexes each dimension, dtype, index in the reads of the block.

    dequantized: whether a block computes it from a smaller array, so that it is best computed again where it is read.
    panel: the width of its panels, if it is laid out in panels, W[n // 48, k, n % 48]; else 0.
    group: the adjacent terms of a sum, if they are in groups within a panel, W[n // 48, k // 2, n % 48, k % 2], perhaps
        behind axes of a batch; else 0.
    copy_dtype: the type of copies of it: that of the sums, if the block reads it only cast to that, see
        `reads_only_as`; else its own.
    """

    name: str
    axes: tuple[str, ...]
    dtype: str
    position: int
    dequantized: bool = False
    panel: int = 0
    group: int = 0
    copy_dtype: str = ""

    @property
    def bits(self) -> int:
        return bits(self.dtype)

    @property
    def is_widened(self) -> bool:
        """Whether copies of it have a wider type."""
        return self.copy_dtype not in ("", self.dtype)

    @property
    def must_copy(self) -> bool:
        """Whether it must be copied, as copies of it have a wider type, or as it is dequantised."""
        return self.is_widened or self.dequantized


@dataclass(frozen=True)
class Contraction:
    """`C[batch.., m, n] += left[.. m, k ..] * right[.. k, n ..]`: iter names and their extents (None if symbolic).

    batch: the axes of both operands, and other axes of extent 1.
    plain: whether each term is the product of an element of each operand, see `is_product`; else it is any function of
        them.
    """

    batch: tuple[str, ...]
    m: str
    n: str
    k: str
    extents: dict[str, int | None]
    left: ContractionOperand
    right: ContractionOperand
    out: str
    dtype: str
    plain: bool = False

    @property
    def bits(self) -> int:
        return bits(self.dtype)

    def extent(self, axis: str) -> int | None:
        return self.extents[axis]

    @property
    def is_unbatched(self) -> bool:
        """Whether there is one product, not a batch of them."""
        return all(self.extents[a] == 1 for a in self.batch)

    @property
    def must_pack(self) -> bool:
        """Whether the right operand cannot be read in place: by columns, of a narrower type, or dequantised."""
        return not self.right.panel and (self.right.axes[-1] != self.n or self.right.must_copy)


@dataclass(frozen=True)
class MatVec:
    """`C[.. n ..] += matrix[.. n, k ..] * vector[.. k ..]`. `around`: batch axes and axes of extent 1."""

    around: tuple[str, ...]
    n: str
    k: str
    extents: dict[str, int | None]
    matrix: ContractionOperand
    bits: int

    def extent(self, axis: str) -> int | None:
        return self.extents[axis]


def contraction(sch: Schedule, block: BlockLike) -> Contraction:
    """Match a block with a (batched) matrix product. Raises ScheduleError if it is not one."""
    block = block_handle(sch, block)
    info, extents, k, operands = _product(sch, block)
    result = [a for a in _axes(info.writes[0], info) if a]
    single = _rows_and_columns([a for a in result if not all(a in x.axes for x in operands)], extents)
    batch = [a for a in result if a not in single]
    if len(single) != 2:
        raise _not_a_product(info, "each operand must be indexed by the reduction and one of two iters of the result")
    m, n = single
    lhs, rhs = operands if m in operands[0].axes else operands[::-1]
    if m not in lhs.axes or n not in rhs.axes or n in lhs.axes:
        raise _not_a_product(info, "one operand must be indexed by the rows of the result, the other by the columns")
    out = info.writes[0].buffer
    with enter_context():
        view = block_view(sch, block)
        casts = [reads_only_as(view, x.name, out.dtype) for x in (lhs, rhs)]
        plain = is_product(view, (lhs.name, rhs.name), out.name, out.dtype)
    lhs, rhs = (
        replace(x, copy_dtype=out.dtype if cast else x.dtype) for x, cast in zip((lhs, rhs), casts, strict=True)
    )
    return Contraction(tuple(batch), m, n, k, extents, lhs, rhs, out.name, out.dtype, plain)


def _rows_and_columns(axes: list[str], extents: dict[str, int | None]) -> list[str]:
    """The last two axes, if the others have extent 1: of those with another extent, if there are two."""
    wide = [a for a in axes if extents[a] != 1]
    return wide if len(wide) >= 2 else [a for a in axes if a in wide or a in axes[-2:]][-2:]


def matrix_vector(sch: Schedule, block: BlockLike) -> MatVec:
    """Match a block with a (batched) matrix-vector product. Raises ScheduleError if it is not one.

    The elements of the matrix may be expressions of several arrays, such as integers and scales by group: `matrix` is
    then the largest array.
    """
    info, extents, k, operands = _product(sch, block_handle(sch, block), several=True)
    result = [a for a in _axes(info.writes[0], info) if a]
    batch = [a for a in result if all(a in x.axes for x in operands) or extents[a] == 1]
    along = [a for a in result if a not in batch] or batch[-1:]
    matrix = [x for x in operands if along and along[0] in x.axes]
    if along and not matrix and extents[along[0]] == 1:
        matrix = operands  # an axis of extent 1 that no index has
    if len(along) != 1 or not matrix:
        raise _not_a_product(info, "the result must have one axis with an extent other than 1", "matrix-vector")
    batch = tuple(a for a in result if a != along[0])
    largest = max(matrix, key=lambda x: num_elements(info.reads[x.position].buffer))
    return MatVec(batch, along[0], k, extents, largest, bits(info.writes[0].buffer.dtype))


def num_elements(buffer: BufferInfo) -> int:
    """The number of elements of an array; symbolic extents count as `LARGE`."""
    return prod(LARGE if e is None else e for e in buffer.shape)


def _product(
    sch: Schedule, block: BlockHandle, several: bool = False
) -> tuple[BlockInfo, dict[str, int | None], str, list[ContractionOperand]]:
    """Match a sum of products: returns the block info, the extents, the reduction iter and the two operands.

    `several`: there may be more operands, of which those indexed by the reduction are returned. Their indices may be
    constant, as those by axes of extent 1 are.
    """
    info = block_info(sch, block)
    extents = {i.name: i.dom.extent for i in info.iter_vars}
    sums = [i.name for i in info.iter_vars if i.kind == "R"]
    inputs = [(n, r) for n, r in enumerate(info.reads) if str(r) not in map(str, info.writes)]
    extra_inputs = several and len(inputs) > 2
    if len(info.writes) != 1 or len(inputs) < 2 or (len(inputs) > 2 and not several) or len(sums) != 1:
        raise _not_a_product(info, "it must have one output, two inputs and one reduction iter")
    operands = [_operand(r, n, _axes(r, info, extra_inputs)) for n, r in inputs]
    if extra_inputs:
        operands = [x for x in operands if sums[0] in x.axes]
    if len(operands) < 2 or not all(sums[0] in x.axes for x in operands):
        raise _not_a_product(info, "each operand must be indexed by the reduction iter")
    return info, extents, sums[0], operands


def _operand(region: RegionInfo, position: int, axes: tuple[str, ...]) -> ContractionOperand:
    """An operand, with the width of its panels, and of the groups in them, if it has any."""
    shape, panel, group = region.buffer.shape, 0, 0
    if _has_groups(axes):
        axes = (*axes[:-4], axes[-2], *axes[-3:])  # one panel has no index
        panel, group = shape[-2] or 0, shape[-1] or 0
    elif axes.count(axes[-1]) == 2:
        panel = shape[-1] or 0
    return ContractionOperand(str(region), axes, region.buffer.dtype, position, panel=panel, group=group)


def _has_groups(axes: tuple[str, ...]) -> bool:
    """Whether the last axes are those of panels with groups of terms, W[n // 48, k // 2, n % 48, k % 2]."""
    if len(axes) < 4:
        return False
    n, k, lane, term = axes[-4:]
    return n in ("", lane) and k == term != lane and lane != ""


def _axes(region: RegionInfo, info: BlockInfo, constant: bool = False) -> tuple[str, ...]:
    """The iter that indexes each dimension; "" if none does: of a dimension of extent 1, or `constant`."""
    sizes = region.buffer.shape
    if any(len(a) > 1 or (not a and not constant and e != 1) for a, e in zip(region.axes, sizes, strict=True)):
        raise _not_a_product(info, f"each dimension of {region} must be indexed by one iter")
    return tuple(a[0] if a else "" for a in region.axes)


def _not_a_product(info: BlockInfo, why: str, kind: str = "matrix") -> ScheduleError:
    return ScheduleError(f'block "{info.name}" is not a {kind} product: {why}')
