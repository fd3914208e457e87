"""Which top-level ops of a function a step edits, so that only they are verified again.

Everything that edits the IR calls `touch` on the op it edits: the functions of `edit`, `create` and `attrs`, and
primitives that change an op directly. Ops created at the top of a function need no record: they were not there before.
"""

from __future__ import annotations

import threading

from mlir import ir

_state = threading.local()


class Touched:
    """The ops in the bodies of a module's functions, and which of them were edited, erased or use an edited buffer.

    `whole`: something outside the body of a function was edited, so nothing is known to be unchanged.

    The hash of an op is that of its contents, equality is identity. An op is looked up before its first edit, so it is
    found; one that is not found is new, or was edited before without a record.
    """

    def __init__(self, module: ir.Module):
        self.functions = [op.operation for op in module.body.operations]
        self.tops = tops(module)
        self.places = {op: (f, n) for f, body in enumerate(self.tops) for n, op in enumerate(body)}
        self.edited: set[tuple[int, int]] = set()
        self.whole = False
        self._new: set[int] = set()

    def add(self, op: ir.Operation) -> None:
        top = top_of(op)
        if top.parent is None:
            self.whole |= top.name in ("builtin.module", "func.func")  # else it is in no module yet
            return
        place = self.places.get(top) or self._searched(top)
        if place is not None and place not in self.edited:
            self.edited.add(place)
            for result in top.results:
                self.add_users(result)

    def _searched(self, top: ir.Operation) -> tuple[int, int] | None:
        found = hash(top)
        if found in self._new:
            return None
        for f, body in enumerate(self.tops):
            for n, op in enumerate(body):
                if op == top:
                    return f, n
        self._new.add(found)
        return None

    def add_users(self, value: ir.Value) -> None:
        for use in value.uses:
            self.add(use.owner.operation)

    def __enter__(self) -> Touched:
        _state.current = self
        return self

    def __exit__(self, *_: object) -> None:
        _state.current = None


def touch(*edited: ir.Operation) -> None:
    """Record that ops are edited, moved or erased: call it before, and after a move to another place."""
    current: Touched | None = getattr(_state, "current", None)
    if current is not None:
        for op in edited:
            current.add(op)


def touch_users(*values: ir.Value) -> None:
    """Record that all uses of values change."""
    current: Touched | None = getattr(_state, "current", None)
    if current is not None:
        for value in values:
            current.add_users(value)


def touch_here() -> None:
    """Record that an op is created at the insertion point. At the top of a function that needs no record."""
    current: Touched | None = getattr(_state, "current", None)
    if current is not None:
        owner = ir.InsertionPoint.current.block.owner
        if owner.operation.name not in ("func.func", "builtin.module"):
            current.add(owner.operation)


def top_of(op: ir.Operation) -> ir.Operation:
    """The op in the body of a function that contains `op`; else the outermost op around it."""
    current = op.operation
    while (parent := current.parent) is not None and parent.name != "func.func":
        current = parent.operation
    return current


def tops(module: ir.Module | ir.Operation) -> list[list[ir.Operation]]:
    """The ops in the body of each function of a module that has one, in order."""
    found = []
    for func in module.operation.regions[0].blocks[0].operations:
        if func.operation.name == "func.func" and len(func.operation.regions[0].blocks):
            found.append([op.operation for op in func.operation.regions[0].blocks[0].operations])
    return found
