"""Printing of calls of other functions of the module, and of views of arenas."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.calls import ArenaView, callee_of
from tir_mlir.dialect.ir import Buffer, attrs
from tir_mlir.script.printer.buffers import BufferPrinter
from tir_mlir.script.printer.expressions import ValuePrinter
from tir_mlir.script.printer.literals import quote
from tir_mlir.script.printer.print_options import Options


def call_text(values: ValuePrinter, buffers: BufferPrinter, op: ir.Operation, options: Options) -> str:
    """`func.call @f(...)` of a function of the module -> `T.call("f", A, B[0:4, 0:16], n)`."""
    callee = callee_of(op)
    assert callee is not None
    name = quote(options.function(callee.name))
    return f"T.call({', '.join([name, *(_argument(values, buffers, v) for v in op.operands)])})"


def _argument(values: ValuePrinter, buffers: BufferPrinter, value: ir.Value) -> str:
    if isinstance(value.type, ir.MemRefType):
        return _buffer(values, buffers, value)
    return values.text(value).text


def _buffer(values: ValuePrinter, buffers: BufferPrinter, value: ir.Value) -> str:
    """A whole buffer by its name, a view without a name as the region that it is of."""
    while not isinstance(value.owner, ir.Block) and value.owner.name == "memref.cast":
        value = value.owner.operands[0]
    buffer = Buffer(value)
    if buffer.is_view and attrs.NAME not in value.owner.attributes:
        return buffers.source(buffer)
    return values.text(value).text


def view_text(values: ValuePrinter, buffers: BufferPrinter, op: ir.Operation) -> str:
    """`memref.view %arena[%offset][]` -> `T.decl_buffer((1, 128), "float32", data=arena.data, byte_offset=64)`."""
    view = ArenaView(op)
    words = [buffers.parameter(view.buffer), f"data={values.text(view.arena.value).text}.data"]
    if view.offset.as_constant() != 0:
        words.append(f"byte_offset={values.index(view.offset).text}")
    return f"T.decl_buffer({', '.join(words)})"
