"""Which step took a block or loop that is gone, and what it left: what a dead handle can tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mlir import ir

from tir_mlir.dialect import attrs, walk
from tir_mlir.dialect.views import Block, Func, Loop, is_block
from tir_mlir.dialect.visiting import visit
from tir_mlir.passes.schedule import PRIMITIVES

from .formulas import Formula
from .handles import ExprHandle, Handle, LoopHandle

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


class Words:
    """How the arguments of a call read: loops and blocks by their names, integers that were sampled as numbers."""

    def __init__(self, module: ir.Module, values: Mapping[int, int]):
        self.module, self.values = module, values

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        return f"{name}({', '.join(f'{key}={self.of(value)}' for key, value in arguments.items())})"

    def short(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The call without what its parameters are anyway."""
        known = PRIMITIVES[name].signature.parameters
        return self.call(name, {k: v for k, v in arguments.items() if v != known[k].default})

    def of(self, value: Any) -> str:
        if isinstance(value, ExprHandle):
            return str(self.values.get(value.id, "<integer>"))
        if isinstance(value, Formula):
            return value.text(self.of)
        if isinstance(value, Handle):
            op = walk.find(self.module, value.id)
            if op is None:
                return f"<{value.word}>"
            return Loop(op).name if isinstance(value, LoopHandle) else repr(Block(op).name if is_block(op) else "root")
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self.of(v) for v in value) + "]"
        text = repr(value)
        return text if len(text) <= 80 else text[:60] + "..." + text[-10:]
