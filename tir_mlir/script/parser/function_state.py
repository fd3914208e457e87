"""Name resolution, and the state of the parser within a function."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, TypeVar

from mlir import ir

from tir_mlir.dialect.ir import Block, Func, Loop, is_size
from tir_mlir.script.parser.items import Const, ScriptValue, dtype_of, is_expr
from tir_mlir.script.parser.source import ParseError, SourceText

MISSING = object()
T = TypeVar("T")


@dataclass
class NameBinding:
    """What a name is bound to, the line of the definition, and the nesting depth of blocks with iters there."""

    item: object
    line: int
    kind: str  # parameter, buffer, loop, iter, value, size
    depth: int = 0
    lost: str = ""  # where it is bound again: a nest that does not hand the new value on


class NameFrame(dict[str, NameBinding]):
    """The names of one nest of statements, and what is needed to tell that Python would read another value."""

    def __init__(self, local: Collection[str] = ()):
        super().__init__()
        self.local = frozenset(local)  # parameters of a macro: its own names, whatever those around it are
        self.bound: dict[str, ast.AST] = {}  # names bound by statements, in nests inside it too, and where first
        self.read: set[str] = set()  # names that were looked up in a frame around it


class Scope:
    """Nested frames of names, on top of the names of the surrounding Python program."""

    def __init__(self, python: Mapping[str, object], assigned: Mapping[str, int]):
        self.python = python
        self.assigned = assigned  # every name the function defines, with the first line that does
        self.frames: list[NameFrame] = [NameFrame()]
        self.ended: dict[str, NameBinding] = {}
        self.depth = 0
        self.in_header = False
        self.in_regions = False  # T.reads and T.writes, which stand at the start of a block and are parsed after it
        self.unrolled: set[str] = set()  # names assigned in static loops, which may be bound again

    def define(self, name: str, item: object, node: ast.AST, kind: str) -> None:
        old = self.frames[-1].get(name)
        if old is not None and old.kind in ("parameter", "buffer", "iter") and old.item is not item:
            raise ParseError(f"{name} is already a {old.kind} (line {old.line}); choose another name")
        self.frames[-1][name] = NameBinding(item, getattr(node, "lineno", 0), kind, self.depth)
        if kind != "stride" and name not in self.frames[-1].local:
            self.frames[-1].bound.setdefault(name, node)

    def python_value(self, name: str) -> object:
        """The value of a name in the surrounding Python program, or MISSING."""
        if name in self.python:
            return self.python[name]
        return getattr(builtins, name, MISSING)

    def find(self, name: str) -> NameBinding | None:
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        return None

    def lookup(self, name: str) -> object:
        """Resolve a name. Raises ParseError if it is unknown, not yet defined, or out of scope."""
        binding = self.find(name)
        if binding is not None:
            for frame in takewhile(lambda frame: name not in frame, reversed(self.frames)):
                frame.read.add(name)
            if binding.lost and not self.in_regions:
                raise ParseError(f"{name} is bound again in {binding.lost}: {self.rebinding_advice(name, binding)}")
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
    def frame(self, block_with_iters: bool = False) -> Iterator[NameFrame]:
        """Names of their own, for as long as the context lasts."""
        frame = NameFrame()
        self.frames.append(frame)
        self.depth += block_with_iters
        try:
            yield frame
        finally:
            self.depth -= block_with_iters
            self.ended.update(self.frames.pop())

    def rebinding_advice(self, name: str, binding: NameBinding) -> str:
        """What to write for a name that a nest binds again."""
        items = [b.item for b in (self.ended.get(name), binding) if b is not None]
        exprs = [Const(item) if isinstance(item, bool | int | float) else item for item in items]
        exprs = [item for item in exprs if is_expr(item)]
        if binding.kind in ("loop", "iter", "buffer", "parameter") or len(exprs) < len(items):
            return f"choose another name there, if the {binding.kind} of line {binding.line} is meant"
        dtype = dtype_of(next((item for item in exprs if isinstance(item, ScriptValue)), exprs[0]))
        buffer = f'{name} = T.alloc_buffer((1,), "{dtype}", scope="local")'
        return f"use a buffer for a value that changes, {buffer} and {name}[0] = ...; or another name there"

    def lose(self, bound: Mapping[str, ast.AST], what: str) -> None:
        """Mark the names that a nest bound again: their old values may not be read after it."""
        for name, node in bound.items():
            frame = next((frame for frame in reversed(self.frames) if name in frame), None)
            if frame is not None:
                lost = frame[name].lost or f"line {getattr(node, 'lineno', 0)}, inside {what}"
                frame[name] = replace(frame[name], lost=lost)
            if frame is not self.frames[-1]:
                self.frames[-1].bound.setdefault(name, node)


@dataclass
class AllocationScope:
    """A function or block that owns buffers; allocations are emitted at the start of its body, in order."""

    body: ir.Block
    last: ir.Operation | None = None

    def point(self) -> ir.InsertionPoint:
        """The insertion point after the ops already emitted at the start of the body, and products of sizes."""
        point = _point_after(self.body, self.last)
        while (op := point.ref_operation) is not None and is_size(op.operation):
            point = ir.InsertionPoint.after(op)
        return point

    def prologue(self, make: Callable[[], T]) -> T:
        """Run `make` at `point()` and keep its ops in the prologue."""
        point = self.point()
        with point:
            emitted = make()
        end = point.ref_operation
        while (op := _point_after(self.body, self.last).ref_operation) != end and op is not None:
            self.last = op.operation
        return emitted


def _point_after(body: ir.Block, op: ir.Operation | None) -> ir.InsertionPoint:
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

    source: SourceText
    scope: Scope
    module: ir.Module
    func: Func | None = None
    allocation_scopes: list[AllocationScope] = field(default_factory=list)
    loops: dict[ir.Value, Loop] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    block_nodes: dict[int, BlockNodes] = field(default_factory=dict)
    run: Callable[[Sequence[ast.stmt]], None] | None = None  # parses statements
    inlined: int = 0  # calls being inlined
    programs: Collection[str] = ()  # the functions of the module
    class_names: Collection[str] = ()  # the names of the module in them

    def error(self, node: ast.AST | None, message: str) -> Exception:
        return self.source.error(node, message)

    @contextmanager
    def nest(self, what: str, repeats: bool = False, block_with_iters: bool = False) -> Iterator[NameFrame]:
        """A frame of the statements of `what`. Python has none: a name of the frames around that it binds is lost.

        Raises ScriptError if a nest that repeats reads such a name before it binds it: its second run would read what
        the first one bound.
        """
        with self.scope.frame(block_with_iters) as frame:
            yield frame
        for name in frame.bound.keys() & frame.read if repeats else ():
            if (binding := self.scope.find(name)) is not None:
                before = f"{name} of line {binding.line} is read in {what} that binds it again here"
                raise self.error(frame.bound[name], f"{before}: {self.scope.rebinding_advice(name, binding)}")
        self.scope.lose(frame.bound, what)


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
