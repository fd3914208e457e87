"""Names of a program: what they mean where, and the state that the parser carries through a function."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mlir import ir

from tir_mlir.dialect.ir import Func, Loop, create
from tir_mlir.script.parser.source import Refused, Source

MISSING = object()
T = TypeVar("T")


@dataclass
class Binding:
    """One meaning of a name: where it was given, and inside how many blocks with iters."""

    item: Any
    line: int
    kind: str  # parameter, buffer, loop, iter, value, size
    depth: int = 0


class Scope:
    """Nested frames of names over the names of the Python program around the function."""

    def __init__(self, python: Mapping[str, Any], assigned: Mapping[str, int]):
        self.python = python
        self.assigned = assigned  # every name the function gives a meaning to, with the first line that does
        self.frames: list[dict[str, Binding]] = [{}]
        self.ended: dict[str, Binding] = {}
        self.depth = 0
        self.in_header = False

    def define(self, name: str, item: Any, node: ast.AST, kind: str) -> None:
        old = self.frames[-1].get(name)
        if old is not None and old.kind in ("parameter", "buffer", "iter") and old.item is not item:
            raise Refused(f"{name} is already a {old.kind} (line {old.line}); choose another name")
        self.frames[-1][name] = Binding(item, getattr(node, "lineno", 0), kind, self.depth)

    def python_value(self, name: str) -> Any:
        """The meaning of a name in the Python program around, or MISSING."""
        if name in self.python:
            return self.python[name]
        return getattr(builtins, name, MISSING)

    def find(self, name: str) -> Binding | None:
        for frame in reversed(self.frames):
            if name in frame:
                return frame[name]
        return None

    def lookup(self, name: str) -> Any:
        """The meaning of a name here; unknown, not yet defined, out of scope: refused."""
        binding = self.find(name)
        if binding is not None:
            if binding.kind == "loop" and binding.depth < self.depth and not self.in_header:
                raise Refused(
                    f"loop variable {name} is used inside a block that has iters; a block sees its own iters and the "
                    f"loops inside it: bind it first, v{name} = T.axis.spatial(extent, {name})"
                )
            return binding.item
        value = self.python_value(name)
        if value is not MISSING and name not in self.assigned:
            return value
        raise Refused(self._unknown(name))

    def _unknown(self, name: str) -> str:
        if name in self.ended:
            old = self.ended[name]
            return f"{name} has no meaning here: the {old.kind} of line {old.line} ended with its loop or block"
        if name in self.assigned:
            return f"{name} is used before its definition in line {self.assigned[name]}"
        return f"unknown name {name}: it is no parameter, buffer, loop or iter here, and no Python name outside"

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
class Owner:
    """A function or block that owns buffers: they go to the start of its body, in order."""

    body: ir.Block
    last: ir.Operation | None = None

    @staticmethod
    def of(buffer: ir.Value) -> ir.Block | None:
        """The body that an allocation or view stands in."""
        owner = buffer.owner
        return None if isinstance(owner, ir.Block) else owner.operation.block

    def point(self) -> ir.InsertionPoint:
        """After what the owner already has at its start."""
        return create.at_start(self.body) if self.last is None else ir.InsertionPoint.after(self.last)

    def prologue(self, make: Callable[[], T]) -> T:
        """What is made when ops go after what the owner already has at its start."""
        before = len(self.body.operations)
        with self.point():
            made = make()
        added = len(self.body.operations) - before
        if added:
            operations = [op.operation for op in self.body.operations]
            start = 0 if self.last is None else operations.index(self.last) + 1
            self.last = operations[start + added - 1]
        return made


@dataclass
class Places:
    """Where the parts of a block stand in the text, for errors found later."""

    block: ast.AST
    iters: dict[str, ast.AST] = field(default_factory=dict)
    reads: ast.AST | None = None
    writes: ast.AST | None = None


@dataclass
class State:
    """What parsing one function carries along."""

    source: Source
    scope: Scope
    module: ir.Module
    func: Func | None = None
    owners: list[Owner] = field(default_factory=list)
    loops: dict[ir.Value, Loop] = field(default_factory=dict)
    blocks: list[Any] = field(default_factory=list)
    places: dict[int, Places] = field(default_factory=dict)

    def error(self, node: ast.AST | None, message: str) -> Exception:
        return self.source.error(node, message)


def assigned_names(func: ast.FunctionDef) -> dict[str, int]:
    """Every name that the function's body or parameters define, with the first line."""
    found: dict[str, int] = {a.arg: a.lineno for a in func.args.args}
    for node in ast.walk(func):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = min(found.get(node.id, node.lineno), node.lineno)
    return found
