"""Printing of functions: signature, attributes, matched parameters, the implicit root block."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Block, Buffer, Func, attrs, dtypes, is_block, is_size
from tir_mlir.dialect.ir.op_views import AllocOp, isa
from tir_mlir.dialect.ir.size_products import is_product
from tir_mlir.dialect.presburger.sets import assumptions
from tir_mlir.script.printer.evaluation_order import is_statement
from tir_mlir.script.printer.precedence import ScriptWriter
from tir_mlir.script.printer.print_options import Options
from tir_mlir.script.printer.statements import StatementPrinter, has_blocks
from tir_mlir.script.printer.value_names import ValueNames


class FunctionPrinter:
    """Writes one PrimFunc."""

    def __init__(self, func: Func, writer: ScriptWriter, options: Options):
        self.func = func
        self.writer = writer
        self.options = options
        self.names = ValueNames(options.anonymous)
        self.statements = StatementPrinter(writer, self.names, options)

    def write(self) -> None:
        func = self.func
        ops = func.body_ops()
        self.statements.find_wide_loops(func.op)
        self.writer.line(f"@T.prim_func{self._decorator()}")
        # handles first: a shape variable that is also a parameter keeps its own name
        handles = {b: h for b, h in ((b, self._handle(b)) for b in func.params) if h is not None}
        params = ", ".join(self._parameter(i, arg, handles) for i, arg in enumerate(func.args))
        self.writer.line(f"def {self.options.function(func.name)}({params}):", func.id)
        with self.writer.indent():
            self._attributes()
            self._sizes(ops)
            for buffer, handle in handles.items():
                declared = self.statements.buffers.declaration(buffer)
                self.writer.line(f"{self.names.get(buffer.value)} = T.match_buffer({handle}, {declared})")
            for promise in assumptions(func.op):
                self.writer.line(f"T.assume({self.statements.values.indices.constraint(promise).text})")
            self._root(ops)

    def _decorator(self) -> str:
        words = []
        if "sym_visibility" in self.func.op.attributes and self.options.symbols:
            words.append("private=True")
        if self.options.spelling == "sblock":
            words.append("s_tir=True")
        return f"({', '.join(words)})" if words else ""

    def _handle(self, buffer: Buffer) -> str | None:
        """The name of the handle parameter of a buffer that an annotation cannot declare, else None."""
        self.names.bind(buffer.value, buffer.name, "buf")
        needed = self.statements.buffers.needs_handle(buffer)
        return self.names.fresh(f"var_{buffer.name}") if needed else None

    def _parameter(self, number: int, arg: ir.Value, handles: dict[Buffer, str]) -> str:
        if not isinstance(arg.type, ir.MemRefType):
            dtype = attrs.argument_attributes(self.func.op, number).get(attrs.DTYPE) or dtypes.to_name(arg.type)
            return f"{self.names.bind(arg, self.func.arg_name(number))}: T.{dtype}"
        buffer = Buffer(arg)
        if buffer in handles:
            return f"{handles[buffer]}: T.handle"
        return f"{self.names.get(arg)}: T.Buffer({self.statements.buffers.parameter(buffer)})"

    def _attributes(self) -> None:
        symbols = self.options.symbols
        attributes = {
            k: v for k, v in self.func.attributes.items() if k != "global_symbol" or (symbols and v != self.func.name)
        }
        if attributes:
            self.writer.line(f"T.func_attr({self.options.annotation(attributes)})")

    def _sizes(self, ops: list[ir.Operation]) -> None:
        """Shape variables: `n = T.int32()`."""
        for op in ops:
            if is_size(op) and not is_product(op.results[0]):
                name = self.names.bind(op.results[0], attrs.get(op, attrs.NAME), "n")
                self.writer.line(f"{name} = T.{'int64' if attrs.is_wide(op.results[0]) else 'int32'}()")

    def _root(self, ops: list[ir.Operation]) -> None:
        """The body; the function is its own root block, printed as a comment."""
        allocs = [o for o in ops if isa(o, AllocOp)]
        body = [o for o in ops if not isa(o, AllocOp)]
        facts = self.func.annotations
        written = self.options.spelling == "sblock" and _are_bare_nests(body)  # TVM makes no root for these
        if not facts and not written and not self._has_root(body, bool(allocs)):
            self.statements.body(ops)
        elif self.options.syntax_sugar and not facts and not written:
            self.writer.line(f'# with {self.options.block}("root"):')
            self._contents(allocs, body)
        else:
            self.writer.line(f'with {self.options.block}("root"):')
            with self.writer.indent():
                self.writer.line("T.reads()")
                self.writer.line("T.writes()")
                if facts:
                    self.writer.line(f"{self.options.block_attr}({self.options.annotation(facts)})")
                self._contents(allocs, body)

    def _contents(self, allocs: list[ir.Operation], body: list[ir.Operation]) -> None:
        for op in allocs:
            self.statements.alloc(op)
        self.statements.body(body)

    def _has_root(self, ops: list[ir.Operation], allocates: bool) -> bool:
        """A root block is implied by allocations, by a block with iters, and by blocks under other statements."""
        statements = [o for o in ops if is_statement(o)]
        if allocates or len(statements) != 1:
            return allocates or any(has_blocks(o) for o in statements)
        only = statements[0]
        return bool(Block(only).iters) if is_block(only) else has_blocks(only)


def _are_bare_nests(ops: list[ir.Operation]) -> bool:
    """Whether the statements of a function are several, none of which is or holds a block."""
    statements = [o for o in ops if is_statement(o)]
    return len(statements) > 1 and not any(has_blocks(o) for o in statements)


def header(options: Options, has_graphs: bool = False) -> list[str]:
    """The comment lines above a module."""
    lines = ["# from tvm.script import ir as I", f"# from tvm.script import {options.namespace} as T"]
    return [*lines, "# from tvm.script import relax as R"] if has_graphs else lines
