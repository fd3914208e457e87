"""Access pointers: address arithmetic on a buffer, printed as `T.tvm_access_ptr(...)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.analysis import address, base_of, declared_count, extra_offset
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Buffer, attrs
from tir_mlir.script.language import operations
from tir_mlir.script.printer.buffers import stride_names
from tir_mlir.script.printer.literals import quote
from tir_mlir.script.printer.precedence import MUL, ExprText, binary, call

if TYPE_CHECKING:
    from tir_mlir.script.printer.expressions import ValuePrinter

_MASKS = {mode: number for number, mode in operations.ACCESS_MASKS.items()}


def access_ptr(values: ValuePrinter, op: ir.Operation) -> ExprText:
    """`llvm.inttoptr` over base + start * bytes -> `T.tvm_access_ptr(type, A.data, start, extent, mask)`.

    The base itself prints as `A.data`. A pointer further into the buffer, or with an extent, prints as
    `A.access_ptr("r", offset=..., extent=...)`.
    """
    if (base := base_of(op)) is not None:
        return ExprText(f"{values.text(base).text}.data")
    target = address(op)
    if target is None:
        raise TirError(f"a pointer that is not base + start * bytes of a buffer has no TVMScript form ({op.location})")
    buffer, start = target
    name = values.text(buffer.value).text
    access = attrs.get(op, attrs.ACCESS, "rw")
    extra, count = extra_offset(start, buffer), declared_count(op)
    if extra is not None or count is not None:
        keywords = [] if extra is None else [f"offset={values.text(extra).text}"]
        keywords += [] if count is None else [f"extent={count}"]
        return call(f"{name}.access_ptr", quote(access), *keywords)
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
