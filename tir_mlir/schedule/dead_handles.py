"""Which step took a block or loop that is gone, and what it left: what a dead handle can tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import Block, Func, Loop, attrs, is_block, visit, walk
from tir_mlir.schedule.handles import Handle

_HANDLED = ("affine.for", "affine.parallel", "func.func")


def view_of(op: ir.Operation) -> Loop | Block | Func:
    """The view of an op that a handle stands for."""
    return Loop(op) if op.name == "affine.for" else Block(op) if is_block(op) else Func(op)


class Graves:
    """By id, how a block or loop ended."""

    def __init__(self, known: Mapping[int, str] | None = None):
        self._stories: dict[int, str] = dict(known or {})
        self._left: dict[int, tuple[int, ...]] = {}
        self._last: tuple[ir.Module, set[int]] | None = None  # the ids after the step before

    def copy(self) -> Graves:
        other = Graves(self._stories)
        other._left = dict(self._left)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), {"_stories": self._stories, "_left": self._left}  # what is remembered of a module is not

    def story(self, number: int) -> str:
        return self._stories.get(number, "an unknown step removed it")

    def left(self, number: int) -> tuple[int, ...]:
        """The ids of what the step that took it left."""
        return self._left.get(number, ())

    def forget(self, numbers: Iterable[int]) -> None:
        """What a step took away that was undone is back."""
        for number in numbers:
            self._stories.pop(number, None)

    def rise(self, module: ir.Module) -> None:
        """What is in a module has not gone, whatever an unfinished step said."""
        if self._last is not None and self._last[0] is not module:
            self.forget(_ids(module))

    def bury(self, before: ir.Module, after: ir.Module, step: str, outputs: list[Handle]) -> tuple[int, ...]:
        """Note what a step took away, and give its ids. `step` is its number and call."""
        old = self._last[1] if self._last is not None and self._last[0] is before else _ids(before)
        new = _ids(after)
        self._last = after, new
        lost = old - new
        if not lost:
            return ()
        made = [_shown(after, h.id) for h in outputs if h.id in new]
        into = f", which left {', '.join(made)}" if made else ""
        kept = tuple(h.id for h in outputs if h.id in new)
        for gone in lost:
            self._left[gone] = kept
            self._stories[gone] = f"{step}, consumed {_shown(before, gone)}{into}"
        return tuple(lost)


def _ids(module: ir.Module) -> set[int]:
    """The id of every op that a handle may stand for."""
    found: set[int] = set()

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name in _HANDLED:
            attributes = op.attributes
            if attrs.ID in attributes:
                found.add(ir.IntegerAttr(attributes[attrs.ID]).value)
        return ir.WalkResult.ADVANCE

    visit(module.operation, look)
    return found


def _shown(module: ir.Module, number: int) -> str:
    op = walk.find(module, number)
    return "?" if op is None else repr(view_of(op))
