"""Access pointers: address arithmetic on a buffer, printed as `T.tvm_access_ptr(...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Buffer, attrs, dtypes
from tir_mlir.script.language import operations
from tir_mlir.script.printer.buffers import stride_names
from tir_mlir.script.printer.literals import quote
from tir_mlir.script.printer.precedence import MUL, ExprText, binary, call

if TYPE_CHECKING:
    from tir_mlir.script.printer.expressions import ValuePrinter

_MASKS = {mode: number for number, mode in operations.ACCESS_MASKS.items()}


def access_ptr(values: ValuePrinter, op: ir.Operation) -> ExprText:
    """`llvm.inttoptr` over base + start * bytes -> `T.tvm_access_ptr(type, A.data, start, extent, mask)`.

    A pointer further into the buffer prints as `A.access_ptr("r", offset=...)`.
    """
    buffer, start = _address(op)
    name = values.text(buffer.value).text
    access = attrs.get(op, attrs.ACCESS, "rw")
    extra = _extra_offset(start, buffer)
    if extra is not None:
        return call(f"{name}.access_ptr", quote(access), f"offset={values.text(extra).text}")
    kind, size = call("T.type_annotation", quote(buffer.dtype)), _extent(values, buffer)
    return call("T.tvm_access_ptr", kind, f"{name}.data", values.text(start), size, str(_MASKS[access]))


def _extent(values: ValuePrinter, buffer: Buffer) -> ExprText:
    """The number of elements spanned by the buffer: rows times the row stride."""
    if buffer.rank == 0:
        return ExprText("1")
    rows = values.index(buffer.dims[0])
    names = stride_names(buffer)
    strides, _ = buffer.type.get_strides_and_offset()
    if names and names[0]:
        return binary(ExprText(f"{values.text(buffer.value).text}.strides[0]"), "*", rows, MUL)
    if strides[0] == ir.ShapedType.get_dynamic_stride_or_offset():
        for dim in buffer.dims[1:]:
            rows = binary(rows, "*", values.index(dim), MUL)
        return rows
    number = buffer.dims[0].as_constant()
    return (
        ExprText(str(number * strides[0])) if number is not None else binary(rows, "*", ExprText(str(strides[0])), MUL)
    )


def _address(op: ir.Operation) -> tuple[Buffer, ir.Value]:
    """The buffer and the start (in elements) of a pointer `base + start * bytes`."""
    for address in _operands(op.operands[0], "arith.index_cast"):
        for base, scaled in _pairs(_operands(address, "arith.addi")):
            for source in _operands(base, "memref.extract_aligned_pointer_as_index"):
                for start, width in _pairs(_operands(scaled, "arith.muli")):
                    if _constant(width) == dtypes.bits(Buffer(source).dtype) // 8:
                        return Buffer(source), start
    raise TirError(f"a pointer that is not base + start * bytes of one buffer has no TVMScript form ({op.location})")


def _extra_offset(start: ir.Value, buffer: Buffer) -> ir.Value | None:
    """x of `elem_offset + x`."""
    for base, extra in _pairs(_operands(start, "arith.addi")):
        if _operands(base, "memref.extract_strided_metadata") == [buffer.value]:
            return extra
    return None


def _operands(value: ir.Value, name: str) -> list[ir.Value]:
    """The operands of the defining op of a value if it has this name, else []."""
    op = value.owner
    return [] if isinstance(op, ir.Block) or op.name != name else list(op.operands)


def _pairs(operands: list[ir.Value]) -> list[tuple[ir.Value, ir.Value]]:
    """Two operands in either order."""
    return [] if len(operands) != 2 else [(operands[0], operands[1]), (operands[1], operands[0])]


def _constant(value: ir.Value) -> int | None:
    op = value.owner
    if isinstance(op, ir.Block) or op.name != "arith.constant":
        return None
    return ir.IntegerAttr(op.attributes["value"]).value
