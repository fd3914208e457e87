"""The tree behind a drawing: functions, loops, branches and blocks of a program, as plain text.

Names are those of the printed program, so that they match in a drawing and the text next to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mlir import ir

from tir_mlir.dialect.analysis import as_written
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Loop,
    attrs,
    cache_while_frozen,
    enter_context,
    funcs,
    is_block,
    is_init,
    is_size,
    is_where,
    only_reads,
    ops,
)
from tir_mlir.dialect.ir.op_views import AffineForOp, AllocLikeOp, CallOp, IfOp, SubviewOp, isa
from tir_mlir.dialect.ir.size_products import is_product
from tir_mlir.script.printer.buffers import BufferPrinter
from tir_mlir.script.printer.expressions import ValuePrinter
from tir_mlir.script.printer.value_names import ValueNames


@dataclass(frozen=True)
class BufferNode:
    """A parameter or an allocation: name, extents, element type and storage scope."""

    name: str
    shape: tuple[str, ...]
    dtype: str
    scope: str

    def __str__(self) -> str:
        scope = "" if self.scope == "global" else f" in {self.scope}"
        return f"{self.name} {' × '.join(self.shape) or 'scalar'} {self.dtype}{scope}"


@dataclass(frozen=True)
class IterNode:
    """An iter of a block: `vi = i_0 * 16 + i_1`, of kind S, R or O, with a domain such as `0..128`."""

    name: str
    kind: str
    binding: str
    domain: str


@dataclass(frozen=True)
class NestNode:
    """A function, a loop, a branch or a block. `id` is that of the op, -1 for a branch."""

    id: int
    name: str
    children: tuple[NestNode, ...] = field(default=(), kw_only=True)

    def walk(self) -> Iterator[NestNode]:
        """This node and its descendants, pre-order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class LoopNode(NestNode):
    """A loop over `span`, such as `0..128`."""

    span: str
    kind: str
    annotations: tuple[str, ...] = ()


@dataclass(frozen=True)
class BranchNode(NestNode):
    """A branch of an if; `name` is `if i < 5` or `else`."""


@dataclass(frozen=True)
class BlockNode(NestNode):
    """A block; `calls`: the external functions called in its own body."""

    iters: tuple[IterNode, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    where: str = ""
    has_init: bool = False
    annotations: tuple[str, ...] = ()
    allocs: tuple[BufferNode, ...] = ()
    calls: tuple[str, ...] = ()


@dataclass(frozen=True)
class FuncNode(NestNode):
    """A function, with its buffer parameters and the allocations of its root block."""

    params: tuple[BufferNode, ...] = ()
    allocs: tuple[BufferNode, ...] = ()


@only_reads
def nests(module: ir.Module) -> list[FuncNode]:
    """One tree per function with a body, in the order of the module."""
    with enter_context():
        return [_NestReader(func).tree() for func in funcs(module)]


@only_reads
@cache_while_frozen
def buffer_names(func: Func) -> dict[ir.Value, str]:
    """The name of each buffer of a function in the printed program, parameters first."""
    reader = _NestReader(func)
    reader.tree()
    return reader.buffers


class _NestReader:
    """Walks a function in the order of the printer, for the same names."""

    def __init__(self, func: Func):
        self.func = func
        self.names = ValueNames()
        self.values = ValuePrinter(self.names)
        self.printer = BufferPrinter(self.values)
        self.buffers: dict[ir.Value, str] = {}

    def tree(self) -> FuncNode:
        func = self.func
        for buffer in func.params:
            self.buffers[buffer.value] = self.names.bind(buffer.value, buffer.name, "buf")
            if self.printer.needs_handle(buffer):
                self.names.fresh(f"var_{buffer.name}")
        for position, arg in enumerate(func.args):
            if not isinstance(arg.type, ir.MemRefType):
                self.names.bind(arg, func.arg_name(position))
        for op in func.body_ops():
            if is_size(op) and not is_product(op.results[0]):
                self.names.bind(op.results[0], attrs.get(op, attrs.NAME), "n")
        for name, value in func.symbols.items():
            if self.names.get(value) is None and not is_product(value):
                self.names.bind(value, name)
        params = tuple(map(self._buffer, func.params))
        allocs, children = self._scope(func.body_ops())
        return FuncNode(func.id, func.name, params, allocs, children=children)

    def _scope(self, body: Sequence[ir.Operation]) -> tuple[tuple[BufferNode, ...], tuple[NestNode, ...]]:
        """The allocations and the body of a block or function."""
        owned = []
        for op in body:
            if isa(op, AllocLikeOp, SubviewOp):
                buffer = Buffer(op.results[0])
                name = self.names.bind(buffer.value, buffer.name, "buf")
                if not isa(op, SubviewOp):
                    self.buffers[buffer.value] = name
                    owned.append(self._buffer(buffer))
        return tuple(owned), self._body(body)

    def _body(self, body: Sequence[ir.Operation]) -> tuple[NestNode, ...]:
        nodes: list[NestNode] = []
        for op in body:
            if isa(op, AffineForOp):
                nodes.append(self._loop(Loop(op)))
            elif is_block(op):
                nodes.append(self._block(Block(op), None))
            elif isa(op, IfOp) and not is_init(op):
                nodes += self._branches(op)
        return tuple(nodes)

    def _branches(self, op: ir.Operation) -> list[NestNode]:
        sides = [[o.operation for o in region.blocks[0].operations] for region in op.regions if len(region.blocks)]
        if is_where(op) and len(inner := [o for o in sides[0] if is_block(o)]) == 1:
            return [self._block(Block(inner[0]), op)]
        nodes: list[NestNode] = []
        for side, word in zip(sides, (f"if {self.values.condition(op).text}", "else"), strict=False):
            with self.names.scope():
                children = self._body(side)
            if children:
                nodes.append(BranchNode(-1, word, children=children))
        return nodes

    def _loop(self, loop: Loop) -> NestNode:
        with self.names.scope():
            low, high = self._bound_text(loop.lowers, "max"), self._bound_text(loop.uppers, "min")
            name = self.names.bind(loop.var, loop.name, "i")
            notes = _annotations(loop)
            return LoopNode(loop.id, name, f"{low}..{high}", loop.kind, notes, children=self._body(loop.body_ops()))

    def _bound_text(self, bounds: Sequence, function: str) -> str:
        texts = [self.values.index(b).text for b in bounds]
        return texts[0] if len(texts) == 1 else f"{function}({', '.join(texts)})"

    def _block(self, block: Block, guard: ir.Operation | None) -> NestNode:
        with self.names.scope():
            # as in the printer, bindings are read before the iters get names
            bound = [(it, self.values.index(it.binding).text) for it in block.iters]
            where = self.values.condition(guard).text if guard is not None else ""
            iters = [self._iter(it, binding) for it, binding in bound]
            reads, writes = (tuple(map(self.printer.region, regions)) for regions in as_written(block))
            allocs, children = self._scope(block.body_ops())
            facts = (tuple(iters), reads, writes, where, block.init is not None)
            calls = tuple(_calls(block))
            return BlockNode(block.id, block.name, *facts, _annotations(block), allocs, calls, children=children)

    def _iter(self, it, binding: str) -> IterNode:
        low, high = self.values.index(it.min).text, self.values.index((it.min + it.extent).simplify()).text
        return IterNode(self.names.bind(it.var, it.name), it.kind, binding, f"{low}..{high}")

    def _buffer(self, buffer: Buffer) -> BufferNode:
        shape = tuple(self.values.index(d).text for d in buffer.dims)
        return BufferNode(self.names.get(buffer.value) or buffer.name, shape, buffer.dtype, buffer.scope)


def _annotations(view: Loop | Block) -> tuple[str, ...]:
    """Annotations as `key = value`, with long values truncated."""
    return tuple(f"{key} = {_short(value)}" for key, value in view.annotations.items())


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 32 else f"{text[:29]}..."


def _calls(block: Block) -> list[str]:
    body = ops(block.op, skip=lambda o: o != block.op and is_block(o))
    return [ir.FlatSymbolRefAttr(o.attributes["callee"]).value for o in body if isa(o, CallOp)]
