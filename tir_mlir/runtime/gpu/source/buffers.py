"""Buffers of a kernel as C pointers: where a view starts in its buffer, and its strides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import attrs
from tir_mlir.dialect.ir.op_views import NamedViewOp, ReinterpretCastOp, SameIndicesOp, SubviewOp, ViewLikeOp, isa
from tir_mlir.runtime.gpu.source.expressions import ADD, MUL, CExpression, binary

DYNAMIC = ir.ShapedType.get_dynamic_size()
_DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()
SPACES = {"global": "global", "workgroup": "shared", "private": "local"}
Number = CExpression | int


@dataclass(frozen=True)
class BufferView:
    """A buffer or view: the pointer's name, the offset of its first element, its sizes and strides, in elements.

    read_as: the type to which a loaded element is converted; "" where it has that of the pointer.
    """

    name: str
    offset: Number
    sizes: tuple[Number, ...]
    strides: tuple[Number, ...]
    space: str
    element: str
    read_as: str = ""

    @staticmethod
    def of_type(name: str, type_: ir.MemRefType) -> BufferView:
        """A whole buffer of constant strides."""
        strides, offset = type_.get_strides_and_offset()
        return BufferView(name, offset, tuple(type_.shape), tuple(strides), space_of(type_), str(type_.element_type))


def space_of(type_: ir.MemRefType) -> str:
    text = str(type_.memory_space)
    return next((space for word, space in SPACES.items() if f"<{word}>" in text), "global")


def plus(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0:
        return b
    return a if b == 0 else binary(text_of(a), "+", text_of(b), ADD)


def times(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 0 or b == 0:
        return 0
    if a == 1:
        return b
    return a if b == 1 else binary(text_of(a), "*", text_of(b), MUL)


def text_of(number: Number) -> CExpression:
    return number if isinstance(number, CExpression) else CExpression(str(number))


def view_of(op: ir.Operation, source: BufferView, text: Callable[[ir.Value], CExpression]) -> BufferView:
    """The position of the result of a view op. `text`: the expression of an index. Raises BuildError."""
    type_ = ir.MemRefType(op.results[0].type)
    if isa(op, SameIndicesOp):
        return source
    if isa(op, SubviewOp, ReinterpretCastOp):
        operands = iter(list(op.operands)[1:])
        offsets, sizes, strides = (_mixed_numbers(op, key, operands, text) for key in ("offsets", "sizes", "strides"))
        if isa(op, ReinterpretCastOp):
            return replace(source, offset=offsets[0], sizes=tuple(sizes), strides=tuple(strides))
        return _subview(op, source, offsets, sizes, strides)
    if isa(op, ViewLikeOp) and not isa(op, NamedViewOp):
        known, _ = type_.get_strides_and_offset()
        if not type_.has_static_shape or _DYNAMIC_STRIDE in known:
            raise BuildError(f"{op.name} of a buffer of symbolic size has no C; lib.assembly is the code")
        return replace(source, sizes=tuple(type_.shape), strides=tuple(known))
    raise BuildError(f"the view {op.name} has no C; lib.assembly is the code")


def _mixed_numbers(
    op: ir.Operation, key: str, operands: Iterator[ir.Value], text: Callable[[ir.Value], CExpression]
) -> list[Number]:
    marker = DYNAMIC if key == "sizes" else _DYNAMIC_STRIDE
    return [text(next(operands)) if n in (marker, DYNAMIC) else n for n in attrs.integers(op, f"static_{key}")]


def _subview(
    op: ir.Operation, source: BufferView, offsets: Sequence[Number], sizes: Sequence[Number], steps: Sequence[Number]
) -> BufferView:
    start = source.offset
    for offset, stride in zip(offsets, source.strides, strict=True):
        start = plus(start, times(offset, stride))
    strides = [times(step, stride) for step, stride in zip(steps, source.strides, strict=True)]
    rank = ir.MemRefType(op.results[0].type).rank
    kept_dims = list(range(len(sizes)))
    while len(kept_dims) > rank:  # dimensions of size 1 that the view drops, the first ones first
        kept_dims.remove(next(n for n in kept_dims if sizes[n] == 1))
    parts = tuple(sizes[n] for n in kept_dims), tuple(strides[n] for n in kept_dims)
    return replace(source, offset=start, sizes=parts[0], strides=parts[1])
