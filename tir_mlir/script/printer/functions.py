"""Printing of functions (signature, attributes, implicit root block) and statements (stores, loops, guards, blocks)."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import Region, as_written
from tir_mlir.dialect.calls import ArenaView, callee_of, is_program_call
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    Iter,
    Loop,
    attrs,
    bound_value,
    dtypes,
    is_block,
    is_bound_value,
    is_data_where,
    is_init,
    is_size,
    is_where,
    signs,
    walk,
)
from tir_mlir.dialect.ir.lowering_op_views import AssumeOp
from tir_mlir.dialect.ir.op_traits import index_operands
from tir_mlir.dialect.ir.op_views import (
    AffineForOp,
    AffineStoreOp,
    AffineVectorStoreOp,
    AllocLikeOp,
    AllocOp,
    ByteViewOp,
    CallOp,
    ConditionOp,
    IfOp,
    MemrefCastOp,
    ScfForOp,
    StoreOp,
    SubviewOp,
    WhileOp,
    defining_op,
    isa,
)
from tir_mlir.dialect.ir.size_products import is_product
from tir_mlir.dialect.presburger.sets import assumptions
from tir_mlir.script.language import words
from tir_mlir.script.printer import vector_values
from tir_mlir.script.printer.buffers import BufferPrinter
from tir_mlir.script.printer.evaluation_order import is_let, is_statement, reads_to_bind
from tir_mlir.script.printer.expression_text import ExprText, ScriptWriter, call, quote, sequence
from tir_mlir.script.printer.expressions import ValuePrinter
from tir_mlir.script.printer.print_options import Options
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
        options = []
        if "sym_visibility" in self.func.op.attributes and self.options.symbols:
            options.append("private=True")
        if self.options.spelling == "sblock":
            options.append("s_tir=True")
        return f"({', '.join(options)})" if options else ""

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


_LOOPS = {kind: f"T.{name}" for name, kind in words.LOOPS.items()}
_AXES = {kind: f"T.axis.{name}" for name, kind in words.AXES.items() if name != "scan"}


class StatementPrinter:
    """Writes the bodies of functions, loops and blocks."""

    def __init__(self, writer: ScriptWriter, names: ValueNames, options: Options):
        self.writer = writer
        self.names = names
        self.options = options
        self.values = ValuePrinter(names)
        self.buffers = BufferPrinter(self.values, options.anonymous)
        self.wide_loops: set[ir.Value] = set()
        self.values.indices.is_wide = self._is_wide

    def find_wide_loops(self, func: ir.Operation) -> None:
        """Note the loops that occur in the binding of an iter of int64."""
        for op in walk.ops(func):
            if attrs.DTYPES in op.attributes:
                wide = [it.binding for it in Block(op).iters if attrs.is_wide(it.var)]
                self.wide_loops |= {value for binding in wide for value in binding.values}

    # --- sequences ------------------------------------------------------------------------------------------------

    def body(self, ops: Sequence[ir.Operation]) -> None:
        """The statements of a body; `T.evaluate(0)` for an empty one."""
        line_count = len(self.writer.lines)
        late = reads_to_bind(ops)
        grouped: set[ir.Operation] = set()
        for position, op in enumerate(statements := [o for o in ops if o in late or is_let(o) or is_statement(o)]):
            if op in late or is_let(op):
                self._let(op)
            elif op not in grouped:
                grouped |= set(lanes := vector_values.lane_stores(statements, position))
                self.writer.line(vector_values.scatter(self.values, lanes)) if lanes else self.statement(op)
        if len(self.writer.lines) == line_count:
            self.writer.line("T.evaluate(0)")

    def print_nested(self, ops: Sequence[ir.Operation]) -> None:
        """An indented body in a nested scope of names."""
        with self.writer.indent(), self.names.scope():
            self.body(ops)

    def statement(self, op: ir.Operation) -> None:
        name = op.name
        if name in AffineForOp.names:
            self._loops(op)
        elif name in ScfForOp.names:
            self._data_loop(op)
        elif name in WhileOp.names:
            self._while(op)
        elif is_block(op):
            self._block(Block(op), [])
        elif name in IfOp.names:
            self._if(op)
        elif name in StoreOp.names:
            self._store(op)
        elif is_program_call(op):
            self.writer.line(call_text(self.values, self.buffers, op, self.options), self._id(op))
        elif name in ByteViewOp.names:
            buffer, text = Buffer(op.results[0]), view_text(self.values, self.buffers, op)
            self.writer.line(f"{self.names.bind(buffer.value, buffer.name, 'buf')} = {text}", self._id(op))
        elif name in CallOp.names:
            self.writer.line(self.values.call_extern(op).text, self._id(op))
        elif name in AssumeOp.names:
            self.writer.line(f"T.assume({self.values.text(AssumeOp(op).condition).text})", self._id(op))
        elif name in AllocLikeOp.names:
            self.alloc(op)
        elif name in SubviewOp.names:
            self.match_buffer(op)
        else:
            raise TirError(f"{name} has no TVMScript form ({op.location}); print this module as MLIR (`.text()`)")

    def alloc(self, op: ir.Operation) -> None:
        buffer = Buffer(op.results[0])
        name = self.names.bind(buffer.value, buffer.name, "buf")
        self.writer.line(f"{name} = {self.options.alloc_buffer}({self.buffers.declaration(buffer)})", self._id(op))

    def match_buffer(self, op: ir.Operation) -> None:
        """A view of a region of another buffer."""
        buffer = Buffer(op.results[0])
        source, declaration = self.buffers.source(buffer), self.buffers.declaration(buffer)
        name = self.names.bind(buffer.value, buffer.name, "buf")
        self.writer.line(f"{name} = T.match_buffer({source}, {declaration})", self._id(op))

    def _let(self, op: ir.Operation) -> None:
        value = op.results[0]
        text = self.values.text(value)
        name = self.names.bind(value, attrs.get(op, attrs.NAME, "x"))
        self.writer.line(f"{name}: T.let[T.{signs.dtype_of(value) or dtypes.to_name(value.type)}] = {text.text}")

    def _store(self, op: ir.Operation) -> None:
        stored = StoreOp(op).value
        if isa(op, AffineStoreOp):
            target = self.values.affine_access(op)
        elif isa(op, AffineVectorStoreOp):
            target, stored = vector_values.target(self.values, op)
        else:
            target = self.values.access(StoreOp(op).memref, index_operands(op))
        dtype = dtypes.with_lanes(Buffer(StoreOp(op).memref).dtype, dtypes.lanes(dtypes.to_name(stored.type)))
        value = self.values.typed_text(stored, dtype)
        self.writer.line(f"{target.text} = {value.text}", self._id(op))

    def _if(self, op: ir.Operation) -> None:
        bodies = [_body_ops(region.blocks[0]) for region in op.regions if len(region.blocks)]
        if is_data_where(op):
            inner = bodies[0][0]
            block_op = _body_ops(inner.regions[0].blocks[0])[0] if is_where(inner) else inner
            self._block(Block(block_op), [op] if block_op == inner else [op, inner])
            return
        if is_where(op) and len(inner := [o for o in bodies[0] if is_statement(o)]) == 1 and is_block(inner[0]):
            self._block(Block(inner[0]), [op])
            return
        self.writer.line(f"if {self.values.condition(op).text}:", self._id(op))
        self.print_nested(bodies[0])
        if len(bodies) > 1:
            self.writer.line("else:")
            self.print_nested(bodies[1])

    # --- loops ----------------------------------------------------------------------------------------------------

    def _loops(self, op: ir.Operation) -> None:
        """A loop, or a chain of plain ones as one `T.grid`."""
        if (bound := self._bound_block(op)) is not None:
            with self.names.scope():
                self._block(*bound)
            return
        chain = self._chain(Loop(op))
        with self.names.scope():
            bounds = [self._extent(loop) for loop in chain]
            names = [self.names.bind(loop.var, loop.name, "i") for loop in chain]
            if len(chain) == 1:
                self.writer.line(f"for {names[0]} in {self._range(chain[0])}:", chain[0].id)
            else:
                self.writer.line(f"for {', '.join(names)} in T.grid({', '.join(b.text for b in bounds)}):")
            self.print_nested(chain[-1].body_ops())

    def _data_loop(self, op: ir.Operation) -> None:
        """`for k in range(P[i], P[i + 1]):`"""
        low, high, step = op.operands[:3]
        if len(op.results) or (self.values.text(step).text != "1"):
            raise TirError(f"a loop with a step or iter_args has no TVMScript form ({op.location})")
        bounds = [self.values.text(v).text for v in (low, high)]
        body = op.regions[0].blocks[0]
        with self.names.scope():
            name = self.names.bind(body.arguments[0], attrs.get(op, attrs.LOOP, "i"), "i")
            self.writer.line(f"for {name} in range({', '.join(bounds[bounds[0] == '0' :])}):", self._id(op))
            self.print_nested(_body_ops(body))

    def _while(self, op: ir.Operation) -> None:
        condition, body = (region.blocks[0] for region in op.regions)
        ops = [o.operation for o in condition.operations]
        if len(op.results) or any(is_statement(o) for o in ops[:-1]):
            raise TirError(f"a while loop with values or stores in its condition has no TVMScript form ({op.location})")
        self.writer.line(f"while {self.values.text(ConditionOp(ops[-1]).condition).text}:", self._id(op))
        self.print_nested(_body_ops(body))

    def _bound_block(self, op: ir.Operation) -> tuple[Block, list[ir.Operation]] | None:
        """The block under loops that find its bindings, which print as the values, and its guards."""
        values, guards = {}, []
        while (search := bound_value(op)) is not None:
            values[Loop(op).var], branch = search
            inner = _body_ops(branch.regions[0].blocks[0])
            if len(inner) != 1:
                return None
            op = inner[0]
        while is_where(op) or is_data_where(op):
            guards.append(op)
            op = _body_ops(op.regions[0].blocks[0])[0]
        if not values or not is_block(op):
            return None
        for variable, value in values.items():
            self.values.alias(variable, value)
        return Block(op), guards

    def _chain(self, loop: Loop) -> list[Loop]:
        """The loops that one `T.grid` can hold: perfectly nested, plain, extents free of each other's variables."""
        chain = [loop]
        while self.options.syntax_sugar and self._is_plain(chain[-1]):
            inner = [o for o in chain[-1].body_ops() if is_statement(o) or is_let(o)]
            if len(inner) != 1 or not isa(inner[0], AffineForOp):
                break
            candidate = Loop(inner[0])
            if not self._is_plain(candidate) or any(candidate.upper.uses(outer.var) for outer in chain):
                break
            chain.append(candidate)
        return chain

    def _is_plain(self, loop: Loop) -> bool:
        return (
            loop.kind == "serial"
            and not is_bound_value(loop.op)
            and len(loop.lowers) == len(loop.uppers) == 1
            and loop.lower.as_constant() == 0
            and not loop.annotations
            and loop.id not in self.options.mark
        )

    def _extent(self, loop: Loop) -> ExprText:
        return self._bounds_text(loop.uppers, "T.min", self._is_wide(loop.var))

    def _is_wide(self, var: ir.Value) -> bool:
        """Whether a loop is of int64: declared so, or part of the binding of such an iter, as after a split."""
        return var in self.wide_loops or attrs.is_wide(var)

    def _bounds_text(self, bounds: Sequence[Index], function: str, wide: bool) -> ExprText:
        result = self.values.indices.bound_text(bounds[0], wide)
        for bound in bounds[1:]:
            result = call(function, result, self.values.indices.bound_text(bound, wide))
        return result

    def _range(self, loop: Loop) -> str:
        """`range(16)`, `T.serial(2, 66, annotations={...})`, `T.thread_binding(16, thread="threadIdx.x")`."""
        args = [self._extent(loop).text]
        if len(loop.lowers) > 1 or loop.lower.as_constant() != 0:
            args.insert(0, self._bounds_text(loop.lowers, "T.max", self._is_wide(loop.var)).text)
        kind, facts = loop.kind, loop.annotations
        function = _LOOPS.get(kind, "T.thread_binding")
        if kind == "serial" and not facts:
            function = "range"
        if function == "T.thread_binding":
            args.append(f"thread={quote(kind)}")
        if facts:
            args.append(f"annotations={self.options.annotation(facts)}")
        return f"{function}({', '.join(args)})"

    # --- blocks ---------------------------------------------------------------------------------------------------

    def _block(self, block: Block, guards: Sequence[ir.Operation]) -> None:
        """A block: iters, where, reads, writes, attributes, buffers, init, body."""
        name = "" if self.options.anonymous else block.name
        self.writer.line(f"with {self.options.block}({quote(name)}):", block.id)
        ops = block.body_ops()
        owned = [o for o in ops if isa(o, AllocOp)]
        views = [o for o in ops if isa(o, SubviewOp) and attrs.NAME in o.attributes]
        init = block.init
        with self.writer.indent(), self.names.scope():
            self._iters(block)
            for guard in guards:
                if not self.values.always_holds(guard):
                    self.writer.line(f"T.where({self.values.condition(guard).text})")
            reads, writes = as_written(block)
            self._regions("T.reads", reads)
            self._regions("T.writes", writes)
            if facts := self._facts(block):
                self.writer.line(f"{self.options.block_attr}({self.options.annotation(facts)})")
            for op in owned:
                self.alloc(op)
            for op in views:
                self.match_buffer(op)
            if init is not None:
                self.writer.line("with T.init():")
                self.print_nested(_body_ops(init.regions[0].blocks[0]))
            declared = {*owned, *views}
            self.body([o for o in ops if o not in declared and not is_init(o)])

    def _facts(self, block: Block) -> dict[str, object]:
        """The annotations, and unless anonymous what is known of the regions, without which the text would not verify,
        or be another program for proofs."""
        words = {key: attrs.get(block.op, key) for key in attrs.OF_REGIONS if not self.options.anonymous}
        return {**block.annotations, **{key: value for key, value in words.items() if value is not None}}

    def _regions(self, function: str, regions: Sequence[Region]) -> None:
        self.writer.line(f"{function}({', '.join(self.buffers.region(r) for r in regions)})")

    def _iters(self, block: Block) -> None:
        """The axes; consecutive iters that equal a loop variable over its whole range are printed as one `remap`."""
        run: list[tuple[Iter, str]] = []
        for it in block.iters:
            name = self.names.bind(it.var, it.name)
            plain = _is_remap(it) and not self._is_constant(it) and self._has_type_of_loop(it)
            if self.options.syntax_sugar and plain:
                run.append((it, name))
                continue
            self._flush(run)
            run = []
            self._axis(it, name)
        self._flush(run)

    def _has_type_of_loop(self, it: Iter) -> bool:
        loop = it.binding.is_value()
        return loop is not None and self._is_wide(loop) == attrs.is_wide(it.var)

    def _flush(self, run: Sequence[tuple[Iter, str]]) -> None:
        if len(run) == 1:
            self._axis(*run[0])
        elif run:
            kinds = "".join(it.kind for it, _ in run)
            loops = ", ".join(self.values.index(it.binding).text for it, _ in run)
            self.writer.line(f'{", ".join(n for _, n in run)} = T.axis.remap("{kinds}", [{loops}])')

    def _axis(self, it: Iter, name: str) -> None:
        wide = attrs.is_wide(it.var)
        domain = self.values.indices.bound_text(it.extent, wide).text
        if it.min.as_constant() != 0:
            end = (it.min + it.extent).simplify()
            domain = sequence([self.values.indices.bound_text(bound, wide).text for bound in (it.min, end)])
        binding = it.min if self._is_constant(it) else it.binding
        self.writer.line(f"{name} = {_AXES[it.kind]}({domain}, {self.values.index(binding).text})")

    def _is_constant(self, it: Iter) -> bool:
        """Whether an iter prints as bound to its only value, rather than to an expression that is always that."""
        return it.extent.as_constant() == 1 and (self.options.canonical_units or it.binding.is_value() is None)

    @staticmethod
    def _id(op: ir.Operation) -> int | None:
        return attrs.get(op, attrs.ID)


def _body_ops(block: ir.Block) -> list[ir.Operation]:
    return [o.operation for o in block.operations][:-1]


def _is_remap(it: Iter) -> bool:
    """Whether an iter is bound to a loop variable of the same range."""
    var = it.binding.is_value()
    if var is None or it.kind not in "SR" or not isinstance(var.owner, ir.Block):
        return False
    parent = var.owner.owner.operation
    if not isa(parent, AffineForOp) or is_bound_value(parent):
        return False
    loop = Loop(parent)
    if len(loop.lowers) != 1 or len(loop.uppers) != 1:
        return False
    return loop.lower.is_equal_to(it.min) and loop.extent.is_equal_to(it.extent)


def has_blocks(op: ir.Operation) -> bool:
    """Whether an op is or contains a block."""
    return any(is_block(o) for o in walk.ops(op, skip=is_block))


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
    while cast := defining_op(value, MemrefCastOp):
        value = cast.source
    buffer = Buffer(value)
    if buffer.is_view and attrs.NAME not in value.owner.attributes:
        return buffers.source(buffer)
    return values.text(value).text


def view_text(values: ValuePrinter, buffers: BufferPrinter, op: ir.Operation) -> str:
    """`memref.view %arena[%offset][]` -> `T.decl_buffer((1, 128), "float32", data=arena.data, byte_offset=64)`."""
    view = ArenaView(op)
    arguments = [buffers.parameter(view.buffer), f"data={values.text(view.arena.value).text}.data"]
    if view.offset.as_constant() != 0:
        arguments.append(f"byte_offset={values.index(view.offset).text}")
    return f"T.decl_buffer({', '.join(arguments)})"
