"""Buffer declarations: parameters, allocations, views of regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.analysis import Region
from tir_mlir.dialect.ir import Buffer, Index, attrs, func_of, owner_op, read_value, symbols_by_name
from tir_mlir.dialect.ir.op_views import StridedMetadataOp, ViewLikeOp, isa
from tir_mlir.script.printer.expression_text import ADD, binary, quote, sequence

if TYPE_CHECKING:
    from tir_mlir.script.printer.expressions import ValuePrinter


class BufferPrinter:
    """Prints the arguments of `T.Buffer`, `T.alloc_buffer` and `T.match_buffer`."""

    def __init__(self, values: ValuePrinter, anonymous: bool = False):
        self.values = values
        self._anonymous = anonymous
        self._strides_seen: dict[str, int] = {}  # stride variables in order of appearance

    def parameter(self, buffer: Buffer) -> str:
        """`(128, 128), "float32"`: the element type is always printed."""
        return ", ".join([self._shape(buffer), quote(buffer.dtype), *self._facts(buffer)])

    def declaration(self, buffer: Buffer) -> str:
        """`(128, 128)` and the arguments that differ from the defaults (float32, global)."""
        dtype = [] if buffer.dtype == "float32" else [quote(buffer.dtype)]
        return ", ".join([self._shape(buffer), *dtype, *self._facts(buffer)])

    def region(self, region: Region) -> str:
        """`A[i, 0:16]`."""
        wide = _has_wide_shape(region.buffer)
        parts = [self._slice(low, extent, wide) for low, extent in zip(region.mins, region.extents, strict=True)]
        return self.values.subscript(region.buffer.value, parts).text

    def source(self, view: Buffer) -> str:
        """The region of the source buffer that a view covers."""
        assert view.op is not None
        mins, extents = window(view.op)
        return self.region(Region(Buffer(ViewLikeOp(view.op).source), tuple(mins), tuple(extents)))

    def needs_handle(self, buffer: Buffer) -> bool:
        """Whether a parameter's declaration uses variables, which an annotation cannot define."""
        return None in buffer.shape or attrs.OFFSET_FACTOR in buffer.attributes or _is_strided(buffer)

    def _shape(self, buffer: Buffer) -> str:
        wide = _has_wide_shape(buffer)
        return sequence([self.values.indices.bound_text(d, wide).text for d in buffer.dims])

    def _slice(self, low: Index, extent: Index, wide: bool) -> str:
        """`i`, `0:16`, `i * 16:i * 16 + 16`; the constants have the type of the shape where the start has none."""
        size, typed = extent.as_constant(), self.values.indices.bound_text
        wide = any(map(self.values.indices.is_wide, low.values)) if low.values else wide
        start = self.values.index(low)
        if size == 1:
            return start.text
        first = low.as_constant()
        if first is not None and (size is not None or first == 0):
            return f"{typed(low, wide).text}:{typed(low + extent, wide).text}"
        return f"{start.text}:{binary(start, '+', typed(extent, wide), ADD).text}"

    def _facts(self, buffer: Buffer) -> list[str]:
        """Strides, scope, alignment and offset factor, where they are not the defaults."""
        facts = buffer.attributes
        words = []
        if (strides := self._strides(buffer, stride_names(buffer))) is not None:
            words.append(f"strides={strides}")
        if buffer.scope != "global":
            words.append(f"scope={quote(buffer.scope)}")
        if facts.get(attrs.ALIGN, attrs.DEFAULT_ALIGN) != attrs.DEFAULT_ALIGN:
            words.append(f"align={facts[attrs.ALIGN]}")
        if attrs.OFFSET_FACTOR in facts:
            words.append(f"offset_factor={facts[attrs.OFFSET_FACTOR]}")
        return words

    def _strides(self, buffer: Buffer, names: Sequence[str] | None) -> str | None:
        """`("sa", 1)`: a stride variable by its name, a known stride by its value; None when row-major."""
        if not names and (buffer.is_view or not _is_strided(buffer)):
            return None
        strides, _ = buffer.type.get_strides_and_offset()
        words = []
        for axis, stride in enumerate(strides):
            if stride != ir.ShapedType.get_dynamic_stride_or_offset() and not (names and names[axis]):
                words.append(str(stride))
            else:
                name = names[axis] if names else f"s{axis}"
                words.append(quote(self._stride(buffer, name)))
        return sequence(words)

    def _stride(self, buffer: Buffer, name: str) -> str:
        """The name of a stride variable; without names the size that it is, or its number."""
        if not self._anonymous:
            return name
        symbol = symbols_by_name(func_of(owner_op(buffer.value)).op).get(name)
        printed = None if symbol is None else self.values.names.get(symbol)
        return printed or f"s{self._strides_seen.setdefault(name, len(self._strides_seen))}"


def _has_wide_shape(buffer: Buffer) -> bool:
    return buffer.root.attributes.get(attrs.EXTENT_DTYPE) == attrs.WIDE


def stride_names(buffer: Buffer) -> list[str] | None:
    """The names of the stride variables, "" for constant strides; None for a buffer without stride variables."""
    facts = buffer.attributes
    if attrs.STRIDES in facts:
        return facts[attrs.STRIDES]
    if "strided" not in str(buffer.type.layout):
        return None
    for use in buffer.value.uses:
        op = use.owner
        if isa(op.operation, StridedMetadataOp) and attrs.STRIDES in op.attributes:
            return attrs.get(op, attrs.STRIDES)
    return None


def _is_strided(buffer: Buffer) -> bool:
    """Whether the layout of a buffer is given by strides that are not those of its shape."""
    if "strided" not in str(buffer.type.layout):
        return False
    strides, _ = buffer.type.get_strides_and_offset()
    dense = 1
    for stride, size in zip(reversed(list(strides)), reversed(buffer.shape), strict=True):
        if stride != dense:
            return True
        if size is None:
            return buffer.rank > 1
        dense *= size
    return False


def window(op: ir.Operation) -> tuple[list[Index], list[Index]]:
    """Offsets and sizes of a `memref.subview`, one per dimension of its source."""
    segments = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    operands = list(op.operands)[segments[0] :]
    dynamic = ir.ShapedType.get_dynamic_size()
    parts: list[list[Index]] = []
    for key, count in (("static_offsets", segments[1]), ("static_sizes", segments[2])):
        values, operands = iter(operands[:count]), operands[count:]
        static = ir.DenseI64ArrayAttr(op.attributes[key])
        parts.append([read_value(next(values)) if n == dynamic else Index.constant(n) for n in static])
    return parts[0], parts[1]
