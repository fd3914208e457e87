"""Access pointers: address arithmetic on a buffer, printed as `T.tvm_access_ptr(...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect import attrs, dtypes
from tir_mlir.dialect.errors import TirError
from tir_mlir.dialect.views import Buffer

from .literals import quote
from .text import ADD, MUL, Text, binary, call

if TYPE_CHECKING:
    from .values import ValuePrinter

MASK = {"r": 1, "w": 2, "rw": 3}


def access_ptr(values: ValuePrinter, op: ir.Operation) -> Text:
    """`llvm.inttoptr` over base + offset * bytes -> `T.tvm_access_ptr(type, A.data, offset, extent, mask)`."""
    buffer, offsets = _address(op.operands[0], op)
    name = values.text(buffer.value).text
    offset = Text("0")
    for number, part in enumerate(offsets):
        text = _elements(values, part, buffer, op)
        offset = binary(offset, "+", text, ADD) if number else text
    access = attrs.get(op, attrs.ACCESS, "rw")
    kind = call("T.type_annotation", quote(buffer.dtype))
    return call("T.tvm_access_ptr", kind, f"{name}.data", offset, extent(values, buffer), str(MASK.get(access, 3)))


def extent(values: ValuePrinter, buffer: Buffer) -> Text:
    """How many elements lie behind a pointer to the whole buffer: its rows times the row stride."""
    if buffer.rank == 0:
        return Text("1")
    rows = values.index(buffer.dims[0])
    names = buffer.attributes.get(attrs.STRIDES)
    strides, _ = buffer.type.get_strides_and_offset()
    if not (names and names[0]) and strides[0] != ir.ShapedType.get_dynamic_stride_or_offset():
        number = buffer.dims[0].as_constant()
        return Text(str(number * strides[0])) if number is not None else binary(rows, "*", Text(str(strides[0])), MUL)
    if not names and "strided" not in str(buffer.type.layout):
        size = rows
        for dim in buffer.dims[1:]:
            size = binary(size, "*", values.index(dim), MUL)
        return size
    return binary(Text(f"{values.text(buffer.value).text}.strides[0]"), "*", rows, MUL)


def _address(value: ir.Value, pointer: ir.Operation) -> tuple[Buffer, list[ir.Value]]:
    """The buffer of a sum of one base address and byte offsets, and the offsets."""
    bases: list[ir.Value] = []
    offsets: list[ir.Value] = []
    pending = [value]
    while pending:
        current = pending.pop(0)
        op = current.owner
        name = "" if isinstance(op, ir.Block) else op.name
        if name == "memref.extract_aligned_pointer_as_index":
            bases.append(op.operands[0])
        elif name == "arith.addi":
            pending += list(op.operands)
        elif name == "arith.index_cast" and not bases and not offsets and not pending:
            pending.append(op.operands[0])
        else:
            offsets.append(current)
    if len(bases) != 1:
        raise TirError(f"a pointer that is not based on one buffer has no TVMScript form ({pointer.location})")
    return Buffer(bases[0]), offsets


def _elements(values: ValuePrinter, value: ir.Value, buffer: Buffer, pointer: ir.Operation) -> Text:
    """A byte offset in elements."""
    size = dtypes.bits(buffer.dtype) // 8
    op = value.owner
    name = "" if isinstance(op, ir.Block) else op.name
    if name == "arith.muli":
        for side, other in (tuple(op.operands), tuple(op.operands)[::-1]):
            if _constant(other) == size:
                return values.text(side)
    if size == 1:
        return values.text(value)
    number = _constant(value)
    if number is not None and number % size == 0:
        return Text(str(number // size))
    raise TirError(f"a pointer offset that is no whole number of elements has no TVMScript form ({pointer.location})")


def _constant(value: ir.Value) -> int | None:
    op = value.owner
    if isinstance(op, ir.Block) or op.name != "arith.constant":
        return None
    return ir.IntegerAttr(op.attributes["value"]).value
