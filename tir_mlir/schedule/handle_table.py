"""The handles of a schedule: which are valid, what each refers to, and why one is dead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import HandleError, ScheduleError
from tir_mlir.dialect.incremental import versions
from tir_mlir.dialect.incremental.versions import Version
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import Block, Func, Loop, View, entered, funcs, is_block
from tir_mlir.dialect.symbolic import Formula
from tir_mlir.passes.schedule import Primitive
from tir_mlir.passes.schedule.placement.location import SpecialLocation
from tir_mlir.passes.schedule.queries.lookup import working_function
from tir_mlir.schedule.call_text import view_text
from tir_mlir.schedule.handles import BlockHandle, ExprHandle, Handle, LoopHandle, new_owner, new_serial
from tir_mlir.schedule.step_arguments import alternatives


def view_of(op: ir.Operation) -> Loop | Block | Func:
    """The view of an op that has a handle."""
    return Loop(op) if op.name == "affine.for" else Block(op) if is_block(op) else Func(op)


class DeadHandles:
    """Maps the ids of consumed loops and blocks to the step that consumed them."""

    def __init__(self, reasons: Mapping[int, str] | None = None):
        self._reasons: dict[int, str] = dict(reasons or {})
        self._results: dict[int, tuple[int, ...]] = {}
        self._last: ir.Module | None = None  # the module after the previous step

    def copy(self) -> DeadHandles:
        duplicate = DeadHandles(self._reasons)
        duplicate._results = dict(self._results)
        return duplicate

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
            self.forget(versions.ids_of(module))

    def record(self, old: ir.Module, new: ir.Module, step: str, outputs: list[Handle]) -> tuple[int, ...]:
        """Record the ids that a step consumed, and return them. `step`: its number and call."""
        lost = versions.lost_ids(old, new)
        self._last = new
        if not lost:
            return ()
        results = tuple(h.id for h in outputs if versions.find(new, h.id) is not None)
        into = f" and returned {', '.join(_shown(new, n) for n in results)}" if results else ""
        for gone in lost:
            self._results[gone] = results
            self._reasons[gone] = f"{step}, consumed {_shown(old, gone)}{into}"
        return tuple(lost)


def _shown(module: ir.Module, number: int) -> str:
    op = versions.find(module, number)
    return "?" if op is None else repr(view_of(op))


class HandleTable:
    """The valid handles of a schedule of `module`, and the integers behind those of samples."""

    def __init__(self, module: ir.Module):
        self.version = Version(module)
        self._owner = new_owner()
        self._dead = DeadHandles()
        self._known: set[int] = set()  # serials of the valid handles
        self._values: dict[int, int] = {}  # the integers behind ExprHandles
        self._undone: dict[int, str] = {}  # serial of a handle -> the undone step that returned it

    @property
    def module(self) -> ir.Module:
        """The program as it is now."""
        return self.version.module

    def describe(self, handle: Handle) -> str:
        """One line on what a handle refers to; for a dead handle, the step that consumed it."""
        word = handle.word.capitalize()
        if isinstance(handle, ExprHandle):
            dead = f"({self._undone.get(handle.serial, 'unknown')})"
            return f"{word} {self._values.get(handle.id, dead)}"
        if handle.serial in self._undone:
            return f"{word} (dead: {self._undone[handle.serial]})"
        if isinstance(handle, LoopHandle) and handle.is_mark:
            return f"{word} (none: sample_compute_location chose {SpecialLocation(handle.id).name.lower()})"
        with entered():
            op = versions.find(self.module, handle.id)
            return f"{word} (dead: {self._dead.reason(handle.id)})" if op is None else view_text(view_of(op))

    def name(self, handle: Handle) -> str:
        """The name of a block or loop. Errors: IndexError for an unknown handle, HandleError for a dead one."""
        with entered():
            view = self.view(handle, self.module)
            return "root" if isinstance(view, Func) else getattr(view, "name", "")

    # --- what a handle refers to --------------------------------------------------------------------------------------

    def _argument(self, primitive: Primitive, key: str, value: Any, module: ir.Module) -> Any:
        """Convert an argument to what the primitive takes: views for handles, values for sampled integers."""
        annotation = primitive.signature.parameters[key].annotation
        if annotation is Func:
            return working_function(funcs(module), value)
        if isinstance(value, Handle):
            view = self.view(value, module)
            parts = alternatives(annotation)
            if isinstance(view, Func) and Func not in parts:
                raise ScheduleError("this is the root block; name a block with a computation", None)
            if isinstance(view, SpecialLocation) and SpecialLocation not in parts:
                raise ScheduleError(
                    f"this handle is not a loop: sample_compute_location chose {view.name.lower()}; only compute_at and"
                    " reverse_compute_at accept it",
                    None,
                )
            return view
        return self._views(value, module)

    def _views(self, value: Any, module: ir.Module) -> Any:
        if isinstance(value, Handle):
            return self.view(value, module)
        if isinstance(value, (list, tuple)):
            return type(value)(self._views(v, module) for v in value)
        if isinstance(value, dict):
            return {k: self._views(v, module) for k, v in value.items()}
        if isinstance(value, Formula):
            return value.value(self.integer)
        if isinstance(value, IndexMap):
            return self.resolved(value)
        return value

    def view(self, handle: Handle, module: ir.Module) -> Loop | Block | Func | SpecialLocation | int:
        """The view that a handle refers to. Errors: IndexError for an unknown handle, HandleError for a dead one."""
        if isinstance(handle, ExprHandle):
            return self.integer(handle)
        self.check_known(handle)
        if isinstance(handle, LoopHandle) and handle.is_mark:
            return SpecialLocation(handle.id)
        op = versions.find(module, handle.id, self.module)
        if op is None:
            reason, results = self._dead.reason(handle.id), self._dead.results(handle.id)
            alive = next((n for n in results if versions.find(self.module, n) is not None), None)
            lookup_hint = f"look the {handle.word} up again"
            fix = f"use a handle that the step returned, or {lookup_hint}" if results else lookup_hint
            raise HandleError(f"the {handle.word} behind this handle is gone: {reason}", alive, fix=fix)
        return view_of(op)

    def resolved(self, map_: IndexMap) -> IndexMap:
        """The map with the values of its sampled integers."""
        return map_.with_sides(
            lambda side: side.value(self.integer) if isinstance(side, Formula) else self.integer(side)
        )

    def integer(self, handle: ExprHandle) -> int:
        self.check_known(handle)
        return self._values[handle.id]

    def forget(self, handle: Handle) -> None:
        """Invalidate a handle. Errors: IndexError if it is not valid in this schedule."""
        self.check_known(handle)
        self._known.discard(handle.serial)

    def check_known(self, handle: Handle) -> None:
        if handle.owner != self._owner:
            raise IndexError(
                f"this {handle.word} handle belongs to another schedule; look the {handle.word} up in this one"
            )
        if handle.serial in self._undone:
            raise HandleError(
                f"the {handle.word} behind this handle is gone: {self._undone[handle.serial]}",
                fix="repeat the step and use the handle that it returns",
            )
        if handle.serial != -1 and handle.serial not in self._known:
            raise IndexError(
                f"this {handle.word} handle is unknown to this schedule: it was removed with remove_rv, or created by a"
                " copy of the schedule"
            )

    # --- new handles --------------------------------------------------------------------------------------------------

    def _to_handles(self, result: Any) -> Any:
        """Create handles for the results of a step."""
        if isinstance(result, (list, tuple)):
            return [self._to_handles(r) for r in result]
        if result is None:
            return None
        serial = new_serial()
        self._known.add(serial)
        if isinstance(result, SpecialLocation):
            return LoopHandle(int(result), self._owner, serial)
        if isinstance(result, int):
            self._values[serial] = result
            return ExprHandle(serial, self._owner, serial)
        if isinstance(result, View):
            return (LoopHandle if isinstance(result, Loop) else BlockHandle)(result.id, self._owner, serial)
        raise TypeError(f"a primitive returns views and sampled integers, not {type(result).__name__}")
