"""The printer: a module as TVMScript text. Entry points: `script`, `render`."""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import entered, funcs
from tir_mlir.script.printer.functions import FunctionPrinter, header
from tir_mlir.script.printer.precedence import Writer
from tir_mlir.script.printer.print_options import Options


def script(
    module: ir.Module,
    *,
    show_meta: bool = False,
    syntax_sugar: bool = True,
    spelling: str = "block",
    mark: Mapping[int, str] | None = None,
) -> str:
    """The module as TVMScript: a class `Module` with one `@T.prim_func` for each function that has a body.

    syntax_sugar: use `T.grid` and `T.axis.remap` and omit the root block.
    spelling: "block", or "sblock" for the names of newer TVM (`T.sblock`, `T.sblock_alloc_buffer`).
    mark: {`tir.id`: text}; underlines that function, loop or block. The result does not parse.
    show_meta: accepted for compatibility; metadata is always printed.

    Raises TirError for an op that has no TVMScript form, as after lowering.
    """
    if spelling not in ("block", "sblock"):
        raise TirError(f'script(spelling="{spelling}"): the spellings are "block" and "sblock"')
    return render(module, Options(syntax_sugar, spelling, mark=dict(mark or {})))


def render(module: ir.Module, options: Options) -> str:
    """The text of a module under the given options."""
    writer = Writer(options.mark)
    with entered():
        for line in header(options):
            writer.line(line)
        writer.line("")
        writer.line("@I.ir_module")
        writer.line("class Module:")
        found = funcs(module)
        with writer.indented():
            for number, func in enumerate(found):
                if number:
                    writer.line("")
                FunctionPrinter(func, writer, options).write()
            if not found:
                writer.line("pass")
    return "\n".join(line.rstrip() for line in writer.lines)
