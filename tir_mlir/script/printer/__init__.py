"""The printer: a module as TVMScript text. Entry points: `script`, `render`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.graph import TensorFunc, is_tensor_func
from tir_mlir.dialect.ir import Func, direct_ops, enter_context, is_program
from tir_mlir.script.printer.expression_text import ScriptWriter
from tir_mlir.script.printer.functions import FunctionPrinter, header
from tir_mlir.script.printer.graphs import GraphPrinter, Metadata
from tir_mlir.script.printer.print_options import Options
from tir_mlir.script.printer.value_names import function_names


def script(
    module: ir.Module,
    *,
    show_meta: bool = False,
    syntax_sugar: bool = True,
    spelling: str = "block",
    mark: Mapping[int, str] | None = None,
) -> str:
    """The module as TVMScript: a class `Module` with one `@T.prim_func` or `@R.function` for each function with a body.

    syntax_sugar: use `T.grid` and `T.axis.remap` and omit the root block.
    spelling: "block", or "sblock" for the names of newer TVM (`T.sblock`, `T.sblock_alloc_buffer`).
    mark: {`tir.id`: text}; underlines that function, loop or block. The result does not parse.
    show_meta: print the elements of constants of graphs that are larger than 1024 elements, after the program. Without
    them the text of a graph with such constants does not parse.

    Raises TirError for an op that has no TVMScript form, as after lowering.
    """
    if spelling not in ("block", "sblock"):
        raise TirError(f'script(spelling="{spelling}"): the spellings are "block" and "sblock"')
    return render(module, Options(syntax_sugar, spelling, mark=dict(mark or {}), show_meta=show_meta))


def render(module: ir.Module, options: Options) -> str:
    """The text of a module under the given options."""
    writer = ScriptWriter(options.mark)
    metadata = Metadata()
    with enter_context():
        functions = _printed_functions(module)
        options = replace(options, functions=function_names([f.name for f in functions]))
        for line in header(options, any(isinstance(f, TensorFunc) for f in functions)):
            writer.line(line)
        writer.line("")
        writer.line("@I.ir_module")
        writer.line("class Module:")
        with writer.indent():
            for number, func in enumerate(functions):
                if number:
                    writer.line("")
                if isinstance(func, Func):
                    FunctionPrinter(func, writer, options).write()
                else:
                    GraphPrinter(func, writer, options, metadata).write()
            if not functions:
                writer.line("pass")
        if options.show_meta:
            metadata.write(writer)
    return "\n".join(line.rstrip() for line in writer.lines)


def _printed_functions(module: ir.Module) -> list[Func | TensorFunc]:
    """The functions that a user wrote: programs, then graphs, which call them."""
    ops = direct_ops(module.operation)
    tensor_funcs = [TensorFunc(op) for op in ops if is_tensor_func(op)]
    return [*(Func(op) for op in ops if is_program(op)), *(f for f in tensor_funcs if f.is_graph)]
