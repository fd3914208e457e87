"""Dead handles: which step consumed a loop or block, and what that step returned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mlir import ir

from tir_mlir.dialect.incremental import tables
from tir_mlir.dialect.ir import Block, Func, Loop, is_block
from tir_mlir.schedule.handles import Handle


def view_of(op: ir.Operation) -> Loop | Block | Func:
    """The view of an op that has a handle."""
    return Loop(op) if op.name == "affine.for" else Block(op) if is_block(op) else Func(op)


class DeadHandles:
    """Maps the ids of consumed loops and blocks to the step that consumed them."""

    def __init__(self, known: Mapping[int, str] | None = None):
        self._reasons: dict[int, str] = dict(known or {})
        self._results: dict[int, tuple[int, ...]] = {}
        self._last: ir.Module | None = None  # the module after the previous step

    def copy(self) -> DeadHandles:
        other = DeadHandles(self._reasons)
        other._results = dict(self._results)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (), {"_reasons": self._reasons, "_results": self._results}  # without `_last`, a cache

    def reason(self, number: int) -> str:
        return self._reasons.get(number, "an unknown step removed it")

    def results(self, number: int) -> tuple[int, ...]:
        """The ids of the results of the step that consumed it."""
        return self._results.get(number, ())

    def forget(self, numbers: Iterable[int]) -> None:
        """Remove ids, after the step that consumed them is undone."""
        for number in numbers:
            self._reasons.pop(number, None)

    def revive(self, module: ir.Module) -> None:
        """Remove the ids in a module, after an interrupted step recorded them."""
        if self._last is not None and self._last is not module:
            self.forget(tables.ids_of(module))

    def record(self, before: ir.Module, after: ir.Module, step: str, outputs: list[Handle]) -> tuple[int, ...]:
        """Record the ids that a step consumed, and return them. `step`: its number and call."""
        lost = tables.lost_ids(before, after)
        self._last = after
        if not lost:
            return ()
        results = tuple(h.id for h in outputs if tables.find(after, h.id) is not None)
        into = f" and returned {', '.join(_shown(after, n) for n in results)}" if results else ""
        for gone in lost:
            self._results[gone] = results
            self._reasons[gone] = f"{step}, consumed {_shown(before, gone)}{into}"
        return tuple(lost)


def _shown(module: ir.Module, number: int) -> str:
    op = tables.find(module, number)
    return "?" if op is None else repr(view_of(op))
