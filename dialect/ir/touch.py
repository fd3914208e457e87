"""What code that edits the IR must tell: which ops it edits, which shape variables it creates.

The functions of `edit`, `create` and `attrs` tell it, and primitives that change an op directly. Ops created at the top
of a function need no record: they were not there before. `dialect/incremental` listens, so that only what a step
edits is verified again.
"""

from __future__ import annotations

import threading

from mlir import ir

from tir_mlir.dialect.ir.op_traits import BODIES

_state = threading.local()


class Listener:
    """Told of edits while entered; this one keeps none.

    names: those given to new buffers. sizes: those of new shape variables.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.sizes: set[str] = set()
        self._outer: Listener | None = None

    def add(self, op: ir.Operation) -> None:
        """An op is edited, moved or erased."""

    def add_users(self, value: ir.Value) -> None:
        """All uses of a value change."""

    def size_names(self, _func: ir.Operation) -> set[str] | None:
        """The shape variables that a function defines; None if unknown."""
        return None

    def __enter__(self) -> Listener:
        self._outer = listener()
        _state.listener = self
        return self

    def __exit__(self, *_: object) -> None:
        _state.listener = self._outer


def listener() -> Listener | None:
    """The listener that was entered last."""
    return getattr(_state, "listener", None)


def touch(*edited: ir.Operation) -> None:
    """Record that ops are edited, moved or erased: call it before, and after a move to another place."""
    current = listener()
    if current is not None:
        for op in edited:
            current.add(op)


def touch_users(*values: ir.Value) -> None:
    """Record that all uses of values change."""
    current = listener()
    if current is not None:
        for value in values:
            current.add_users(value)


def touch_here() -> None:
    """Record that an op is created at the insertion point. At the top of a function that needs no record."""
    current = listener()
    if current is not None:
        owner = ir.InsertionPoint.current.block.owner
        if owner.operation.name not in BODIES:
            current.add(owner.operation)


def touch_size(name: str) -> None:
    """Record that a shape variable is created at the top of a function."""
    current = listener()
    if current is not None:
        current.sizes.add(name)


def new_names() -> set[str]:
    """The names that the current step gave to new buffers."""
    current = listener()
    return set() if current is None else current.names


def size_names(func: ir.Operation) -> set[str] | None:
    """The shape variables that ops in the body of a function define, or defined before the step; None if unknown."""
    current = listener()
    return None if current is None else current.size_names(func)


def top_of(op: ir.Operation) -> ir.Operation:
    """The op in the body of a function that contains `op`; else the outermost op around it."""
    current = op.operation
    while (parent := current.parent) is not None and parent.name != "func.func":
        current = parent.operation
    return current
