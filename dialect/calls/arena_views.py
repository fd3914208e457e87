"""Typed views of an arena, a buffer of bytes: where in it their elements are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine
from tir_mlir.dialect.ir import Buffer, Index, dtypes, read_value
from tir_mlir.dialect.ir.op_views import ByteViewOp, isa

VIEW = "memref.view"


def is_arena_view(op: ir.Operation | None) -> bool:
    """Whether an op makes a typed view of an arena."""
    return op is not None and isa(op, ByteViewOp)


@dataclass(frozen=True)
class ArenaView:
    """`%v = memref.view %arena[offset][sizes]`: `width` bytes an element, row-major."""

    op: ir.Operation

    @property
    def buffer(self) -> Buffer:
        return Buffer(self.op.results[0])

    @property
    def arena(self) -> Buffer:
        return Buffer(ByteViewOp(self.op).source)

    @property
    def offset(self) -> Index:
        """The byte at which the view starts."""
        return read_value(ByteViewOp(self.op).shift)

    @property
    def width(self) -> int:
        """Bytes of an element; a bool takes one."""
        return max(8, dtypes.bits(self.buffer.dtype)) // 8

    @property
    def size(self) -> Index | None:
        """The bytes of the view; None for a product of two symbolic extents."""
        try:
            return _product([Index.constant(self.width), *self.buffer.dims])
        except NotAffine:
            return None


def _product(factors: Sequence[Index]) -> Index:
    product = Index.constant(1)
    for factor in factors:
        product = product * factor
    return product.simplify()


def view_bytes(
    view: ArenaView, mins: Sequence[Index], extents: Sequence[Index]
) -> tuple[list[Index], list[Index], bool]:
    """A region of a view as the bytes of its arena [start, start + count), and whether these are exactly its bytes.

        V[i, 0:16] of (8, 16) float32 at byte 64   -->   arena[64 + i * 64 : 64 + i * 64 + 64], exact
        V[0:8, j]                                  -->   arena[64 + j * 4 : 64 + j * 4 + 452], not exact

    All of the arena, not exact, where that is not an affine expression.
    """
    try:
        start, last = _ends(view, mins, extents)
    except NotAffine:
        return [Index.constant(0)], [view.arena.dims[0]], False
    count = (last - start + view.width).simplify()
    return [(view.offset + start).simplify()], [count], _is_contiguous(view, extents)


def _ends(view: ArenaView, mins: Sequence[Index], extents: Sequence[Index]) -> tuple[Index, Index]:
    """The byte offsets of the first and the last element of a region, from the start of the view."""
    step, start, last = Index.constant(view.width), Index.constant(0), Index.constant(0)
    dims = view.buffer.dims
    for axis in reversed(range(len(dims))):
        if mins[axis].as_constant() != 0:
            start = start + mins[axis] * step
            last = last + mins[axis] * step
        if extents[axis].as_constant() != 1:
            last = last + (extents[axis] - 1) * step
        if axis and any(m.as_constant() != 0 or e.as_constant() != 1 for m, e in _outer(mins, extents, axis)):
            step = step * dims[axis]
    return start.simplify(), last.simplify()


def _outer(mins: Sequence[Index], extents: Sequence[Index], axis: int) -> list[tuple[Index, Index]]:
    return list(zip(mins[:axis], extents[:axis], strict=True))


def _is_contiguous(view: ArenaView, extents: Sequence[Index]) -> bool:
    """Whether a region is one run of elements: points in the outer axes, then a part of one axis, then whole ones."""
    remaining = list(zip(extents, view.buffer.dims, strict=True))
    while remaining and remaining[0][0].as_constant() == 1:
        remaining.pop(0)
    return all(extent.is_equal_to(size) for extent, size in remaining[1:])
