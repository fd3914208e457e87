"""The strides of buffers, in elements: numbers, or products of sizes."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Index
from tir_mlir.dialect.presburger.intervals import times

DYNAMIC = ir.ShapedType.get_dynamic_stride_or_offset()


def buffer_strides(buffer: Buffer) -> list[Index]:
    """The strides of a buffer with known ones."""
    strides, _ = buffer.type.get_strides_and_offset()
    if DYNAMIC not in strides:
        return [Index.constant(s) for s in strides]
    found = [Index.constant(1)]
    for size in reversed(buffer.dims[1:]):
        found.insert(0, times(found[0], size))
    return found


def has_known_strides(buffer: Buffer) -> bool:
    """Whether the strides of a buffer are numbers, or products of its sizes."""
    strides, _ = buffer.type.get_strides_and_offset()
    return DYNAMIC not in strides or "strided" not in str(buffer.type.layout)
