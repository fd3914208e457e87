"""Name resolution, and the state of the parser within a function."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mlir import ir

from tir_mlir.dialect.ir import Func, Loop, is_size
from tir_mlir.script.parser.source import ParseError, Source

MISSING = object()
T = TypeVar("T")


@dataclass
class Binding:
    """What a name is bound to, the line of the definition, and the nesting depth of blocks with iters there."""

    item: Any
    line: int
    kind: str  # parameter, buffer, loop, iter, value, size
    depth: int = 0


class Scope:
    """Nested frames of names, on top of the names of the surrounding Python program."""

    def __init__(self, python: Mapping[str, Any], assigned: Mapping[str, int]):
        self.python = python
        self.assigned = assigned  # every name the function defines, with the first line that does
        self.frames: list[dict[str, Binding]] = [{}]
        self.ended: dict[str, Binding] = {}
        self.depth = 0
        self.in_header = False
        self.unrolled: set[str] = set()  # names assigned in static loops, which may be bound again

    def define(self, name: str, item: Any, node: ast.AST, kind: str) -> None:
        old = self.frames[-1].get(name)
        if old is not None and old.kind in ("parameter", "buffer", "iter") and old.item is not item:
            raise ParseError(f"{name} is already a {old.kind} (line {old.line}); choose another name")
        self.frames[-1][name] = Binding(item, getattr(node, "lineno", 0), kind, self.depth)

    def python_value(self, name: str) -> Any:
        """The value of a name in the surrounding Python program, or MISSING."""
        if name in self.python:
            return self.python[name]
        return getattr(builtins, name, MISSING)

    def find(self, name: str) -> Binding | None:
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        return None

    def lookup(self, name: str) -> Any:
        """Resolve a name. Raises ParseError if it is unknown, not yet defined, or out of scope."""
        binding = self.find(name)
        if binding is not None:
            if binding.kind == "loop" and binding.depth < self.depth and not self.in_header:
                raise ParseError(
                    f"loop variable {name} is used inside a block that has iters; a block sees its own iters and the "
                    f"loops inside it: bind it first, v{name} = T.axis.spatial(extent, {name})"
                )
            return binding.item
        value = self.python_value(name)
        if value is not MISSING and name not in self.assigned:
            return value
        raise ParseError(self._unknown(name))

    def _unknown(self, name: str) -> str:
        if name in self.ended:
            old = self.ended[name]
            return f"{name} is out of scope: the {old.kind} of line {old.line} ended with its loop or block"
        if name in self.assigned:
            return f"{name} is used before its definition in line {self.assigned[name]}"
        return f"unknown name {name}: not a parameter, buffer, loop or iter, and not a Python name outside the function"

    @contextmanager
    def frame(self, block_with_iters: bool = False) -> Iterator[None]:
        self.frames.append({})
        self.depth += block_with_iters
        try:
            yield
        finally:
            self.depth -= block_with_iters
            self.ended.update(self.frames.pop())


@dataclass
class AllocationScope:
    """A function or block that owns buffers; allocations are emitted at the start of its body, in order."""

    body: ir.Block
    last: ir.Operation | None = None

    @staticmethod
    def of(buffer: ir.Value) -> ir.Block | None:
        """The body that contains an allocation or view."""
        owner = buffer.owner
        return None if isinstance(owner, ir.Block) else owner.operation.block

    def point(self) -> ir.InsertionPoint:
        """The insertion point after the ops already emitted at the start of the body, and products of sizes."""
        point = _behind(self.body, self.last)
        while (op := point.ref_operation) is not None and is_size(op.operation):
            point = ir.InsertionPoint.after(op)
        return point

    def prologue(self, make: Callable[[], T]) -> T:
        """Run `make` at `point()` and keep its ops in the prologue."""
        point = self.point()
        with point:
            emitted = make()
        end = point.ref_operation
        while (op := _behind(self.body, self.last).ref_operation) != end and op is not None:
            self.last = op.operation
        return emitted


def _behind(body: ir.Block, op: ir.Operation | None) -> ir.InsertionPoint:
    """The insertion point after an op of a body; None: at its start."""
    return ir.InsertionPoint.at_block_begin(body) if op is None else ir.InsertionPoint.after(op)


@dataclass
class BlockNodes:
    """The AST nodes of the parts of a block, for errors found by the verifier."""

    block: ast.AST
    iters: dict[str, ast.AST] = field(default_factory=dict)
    reads: ast.AST | None = None
    writes: ast.AST | None = None


@dataclass
class ParserState:
    """The state of the parser within one function."""

    source: Source
    scope: Scope
    module: ir.Module
    func: Func | None = None
    allocation_scopes: list[AllocationScope] = field(default_factory=list)
    loops: dict[ir.Value, Loop] = field(default_factory=dict)
    blocks: list[Any] = field(default_factory=list)
    block_nodes: dict[int, BlockNodes] = field(default_factory=dict)
    run: Callable[[Sequence[ast.stmt]], None] | None = None  # parses statements
    inlined: int = 0  # calls being inlined
    programs: Collection[str] = ()  # the functions of the module
    homes: Collection[str] = ()  # the names of the module in them

    def error(self, node: ast.AST | None, message: str) -> Exception:
        return self.source.error(node, message)


_LEAVES = (int, str, type(None), ast.Constant, ast.Load, ast.Store, float, bytes, bool)


def assigned_names(func: ast.FunctionDef) -> dict[str, int]:
    """Every name that the function's body or parameters define, with the first line."""
    first_lines: dict[str, int] = {a.arg: a.lineno for a in func.args.args}
    waiting: list[Any] = [func]
    while waiting:  # ast.walk takes longer by half
        node = waiting.pop()
        kind = type(node)
        if kind is ast.Name:
            if type(node.ctx) is ast.Store:
                first_lines[node.id] = min(first_lines.get(node.id, node.lineno), node.lineno)
        else:
            parts = node if kind is list else node.__dict__.values()
            waiting += [part for part in parts if type(part) not in _LEAVES]
    return first_lines
