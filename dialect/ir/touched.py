"""Which top-level ops of a function a step edits, so that only they are verified again.

Everything that edits the IR calls `touch` on the op it edits: the functions of `edit`, `create` and `attrs`, and
primitives that change an op directly. Ops created at the top of a function need no record: they were not there before.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.ir.traversal import is_program

if TYPE_CHECKING:
    from tir_mlir.dialect.ir.contents import FunctionContents, Nest

_state = threading.local()


class KnownModule:
    """A module with the contents of its functions, while entered: lookups use them (see `contents_of`)."""

    def __init__(self, module: ir.Module, contents: Sequence[FunctionContents]):
        self.functions = [op.operation for op in module.body.operations]
        self.bodies = [op for op in self.functions if is_program(op)]
        self.contents = contents
        self._numbers = {op: number for number, op in enumerate(self.bodies)}
        self._outer: KnownModule | None = None

    def function(self, op: ir.Operation) -> int | None:
        """The number of a function among those with a body."""
        return self._numbers.get(op)

    def __enter__(self) -> KnownModule:
        self._outer = getattr(_state, "known", None)
        _state.known = self
        return self

    def __exit__(self, *_: object) -> None:
        _state.known = self._outer


class Touched(KnownModule):
    """A module that a step edits, and which ops in the bodies of its functions were edited, erased or use an edited
    buffer. `contents`: those before the step.

    edited: them, by function. blind: the functions where such an op has no signature that is its own; then all those
    count. whole: something outside the body of a function was edited, so nothing is known to be unchanged. names: those
    given to new buffers. sizes: those of new shape variables.
    """

    def __init__(self, module: ir.Module, contents: Sequence[FunctionContents]):
        super().__init__(module, contents)
        self.edited: list[set[Nest]] = [set() for _ in self.bodies]
        self.blind: set[int] = set()
        self.whole = False
        self.names: set[str] = set()
        self.sizes: set[str] = set()

    def add(self, op: ir.Operation) -> None:
        top = top_of(op)
        function = top.parent
        if function is None:
            self.whole |= top.name in ("builtin.module", "func.func")  # else it is in no module yet
            return
        place = self.function(function.operation)
        if place is None:
            return
        nest, is_new = self.contents[place].lookup(top)
        if is_new or nest in self.edited[place]:
            return
        if nest is None:
            self.blind.add(place)
        else:
            self.edited[place].add(nest)
        for result in top.results:
            self.add_users(result)

    def add_users(self, value: ir.Value) -> None:
        for use in value.uses:
            self.add(use.owner.operation)


def touch(*edited: ir.Operation) -> None:
    """Record that ops are edited, moved or erased: call it before, and after a move to another place."""
    current = getattr(_state, "known", None)
    if isinstance(current, Touched):
        for op in edited:
            current.add(op)


def touch_users(*values: ir.Value) -> None:
    """Record that all uses of values change."""
    current = getattr(_state, "known", None)
    if isinstance(current, Touched):
        for value in values:
            current.add_users(value)


def touch_here() -> None:
    """Record that an op is created at the insertion point. At the top of a function that needs no record."""
    current = getattr(_state, "known", None)
    if isinstance(current, Touched):
        owner = ir.InsertionPoint.current.block.owner
        if owner.operation.name not in ("func.func", "builtin.module"):
            current.add(owner.operation)


def contents_of(func: ir.Operation) -> FunctionContents | None:
    """The contents of a function: as they were before the step, while one runs. None if they are not known."""
    current: KnownModule | None = getattr(_state, "known", None)
    place = None if current is None else current.function(func)
    return None if current is None or place is None else current.contents[place]


def is_untouched(func: ir.Operation) -> bool:
    """Whether `contents_of` a function are those it has: no step runs that may edit it."""
    current = getattr(_state, "known", None)
    return current is not None and not isinstance(current, Touched) and current.function(func) is not None


def new_names() -> set[str]:
    """The names that the current step gave to new buffers."""
    current = getattr(_state, "known", None)
    return current.names if isinstance(current, Touched) else set()


def touch_size(name: str) -> None:
    """Record that a shape variable is created at the top of a function."""
    current = getattr(_state, "known", None)
    if isinstance(current, Touched):
        current.sizes.add(name)


def size_names(func: ir.Operation) -> set[str] | None:
    """The shape variables that ops in the body of a function define, or defined before the step; None if unknown."""
    known = contents_of(func)
    if known is None:
        return None
    current = _state.known
    return {*known.sizes, *(current.sizes if isinstance(current, Touched) else ())}


def top_of(op: ir.Operation) -> ir.Operation:
    """The op in the body of a function that contains `op`; else the outermost op around it."""
    current = op.operation
    while (parent := current.parent) is not None and parent.name != "func.func":
        current = parent.operation
    return current
