"""The handles of a schedule: which are valid, what each refers to, why one is dead; the text of handles and calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import HandleError, ScheduleError, check_type
from tir_mlir.dialect.incremental import Version
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import (
    Block,
    Func,
    Index,
    Loop,
    View,
    enclosing_loop_name,
    enter_context,
    freeze_modules,
    func_of,
    funcs,
    is_block,
    only_reads,
    symbol_name,
)
from tir_mlir.dialect.ir.op_views import AffineForOp, isa
from tir_mlir.dialect.ir.size_products import is_product
from tir_mlir.dialect.symbolic import Formula
from tir_mlir.passes.schedule import PRIMITIVES, Primitive
from tir_mlir.passes.schedule.placement.move_under_loop import SpecialLocation
from tir_mlir.passes.schedule.queries.lookup import working_function
from tir_mlir.schedule.handles import (
    BlockHandle,
    ExprHandle,
    Handle,
    LoopHandle,
    is_dict,
    is_list,
    is_other,
    new_owner,
    new_serial,
)
from tir_mlir.schedule.info import Info, info_of
from tir_mlir.schedule.step_arguments import alternatives
from tir_mlir.script.printer.expression_text import ATOM, MUL, ExprText
from tir_mlir.script.printer.index_exprs import IndexPrinter


@only_reads
def view_text(view: Loop | Block | Func) -> str:
    """`Loop 'i_0' (0..128, parallel) of main`, `Block 'C' (vi: S 0..128, vk: R 0..64) of main`."""
    if isinstance(view, Func):
        return f"Block 'root' of {view.name}"
    where = f"of {func_of(view.op).name}"
    if isinstance(view, Loop):
        span = f"{_bound_text(view.lowers, 'max')}..{_bound_text(view.uppers, 'min')}"
        return f"Loop {view.name!r} ({span}{'' if view.kind == 'serial' else f', {view.kind}'}) {where}"
    iters = [f"{it.name}: {it.kind} {_text(it.min)}..{_text((it.min + it.extent).simplify())}" for it in view.iters]
    return f"Block {view.name!r} ({', '.join(iters) or 'no iters'}) {where}"


def _bound_text(bounds: Sequence[Index], function: str) -> str:
    texts = [_text(bound) for bound in bounds]
    return texts[0] if len(texts) == 1 else f"{function}({', '.join(texts)})"


def _text(index: Index) -> str:
    return IndexPrinter(_name, lambda _: 0).text(index).text


def _name(value: ir.Value) -> ExprText:
    """The name of a loop variable, an iter or a shape variable."""
    loop = enclosing_loop_name(value)
    if loop is not None:
        return ExprText(loop)
    owner = value.owner
    if isinstance(owner, ir.Block) and is_block(owner.owner.operation):
        return ExprText(next(it.name for it in Block(owner.owner).iters if it.var == value))
    return ExprText(symbol_name(value), MUL if is_product(value) else ATOM)


def name_in_call(view: View) -> str:
    """How the text of a call names a loop or block."""
    if isinstance(view, Loop):
        return view.name
    return repr(view.name if isinstance(view, Block) else "root")


def _op_text(version: Version, number: int) -> str:
    """A loop, block or function of a version in words."""
    nest = version.nest(number)
    if nest is not None:
        is_block, name = nest.labels[number]
        return f'block "{name}"' if is_block else f"loop {name}"
    op = version.find(number)
    return "?" if op is None else repr(view_of(op))


class CallPrinter:
    """Prints calls of primitives: loops and blocks by name, sampled integers by value. names: those known, by id."""

    def __init__(self, version: Version, values: Mapping[int, int], names: Mapping[int, str] | None = None):
        self.version, self.values, self.names = version, values, names or {}

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        return f"{name}({', '.join(f'{key}={self.value(value)}' for key, value in arguments.items())})"

    def short(self, name: str, arguments: Mapping[str, object]) -> str:
        """The call without arguments that equal their defaults."""
        parameters = PRIMITIVES[name].parameters
        return self.call(name, {k: v for k, v in arguments.items() if not _is(v, parameters[k].default)})

    def value(self, value: object) -> str:
        if isinstance(value, ExprHandle):
            return str(self.values.get(value.id, "<integer>"))
        if isinstance(value, (Formula, IndexMap)):
            return value.text(self.value)
        if isinstance(value, Handle):
            if value.id in self.names:
                return self.names[value.id]
            op = self.version.find(value.id)
            return f"<{value.word}>" if op is None else name_in_call(view_of(op))
        if is_list(value):
            return "[" + ", ".join(self.value(v) for v in value) + "]"
        text = repr(value)
        return text if len(text) <= 80 else text[:60] + "..." + text[-10:]


def _is(value: object, default: object) -> bool:
    """Whether an argument is a default. Arrays and the like have no truth value."""
    return value is default or (type(value) is type(default) and value == default)


def view_of(op: ir.Operation) -> Loop | Block | Func:
    """The view of an op that has a handle."""
    return Loop(op) if isa(op, AffineForOp) else Block(op) if is_block(op) else Func(op)


class DeadHandles:
    """Maps the ids of consumed loops and blocks to the step that consumed them."""

    def __init__(self, reasons: Mapping[int, str] | None = None):
        self._reasons: dict[int, str] = dict(reasons or {})
        self._results: dict[int, tuple[int, ...]] = {}
        self._last: Version | None = None  # that after the previous step

    def copy(self) -> DeadHandles:
        duplicate = DeadHandles(self._reasons)
        duplicate._results = dict(self._results)
        return duplicate

    def __reduce__(self) -> tuple[object, ...]:
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

    def revive(self, version: Version) -> None:
        """Remove the ids in a version, after an interrupted step recorded them."""
        if self._last is not None and self._last is not version:
            self.forget(version.ids())

    def record(self, old: Version, new: Version, step: str, outputs: list[Handle]) -> tuple[int, ...]:
        """Record the ids that a step consumed, and return them. `step`: its number and call."""
        lost = old.ids() - new.ids() if new.lost is None else new.lost
        self._last = new
        if not lost:
            return ()
        results = tuple(h.id for h in outputs if h.id in new)
        into = f" and returned {', '.join(_op_text(new, n) for n in results)}" if results else ""
        for gone in lost:
            self._results[gone] = results
            self._reasons[gone] = f"{step}, consumed {_op_text(old, gone)}{into}"
        return tuple(lost)


class HandleTable:
    """The valid handles of a schedule, and the integers behind those of samples. `version`: the program as it is
    now."""

    def __init__(self, version: Version):
        self.version = version
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
        with enter_context():
            op = self.version.find(handle.id)
            return f"{word} (dead: {self._dead.reason(handle.id)})" if op is None else view_text(view_of(op))

    def name(self, handle: Handle) -> str:
        """The name of a block or loop. Errors: IndexError for an unknown handle, HandleError for a dead one."""
        with enter_context():
            view = self.view(handle, self.version)
            return "root" if isinstance(view, Func) else getattr(view, "name", "")

    # --- what a handle refers to --------------------------------------------------------------------------------------

    def _argument(self, primitive: Primitive, key: str, value: Any, version: Version) -> object:
        """Convert an argument to what the primitive takes: views for handles, values for sampled integers."""
        annotation = primitive.parameters[key].annotation
        if annotation is Func:
            return working_function(funcs(version.module), value)
        if isinstance(value, Handle):
            view = self.view(value, version)
            if isinstance(view, Func) and Func not in alternatives(annotation):
                raise ScheduleError("this is the root block; name a block with a computation", None)
            if isinstance(view, SpecialLocation) and SpecialLocation not in alternatives(annotation):
                raise ScheduleError(
                    f"this handle is not a loop: sample_compute_location chose {view.name.lower()}; only compute_at and"
                    " reverse_compute_at accept it",
                    None,
                )
            return view
        return self._views(value, version)

    def _views(self, value: object, version: Version) -> object:
        if isinstance(value, Handle):
            return self.view(value, version)
        if is_list(value):
            return type(value)(self._views(v, version) for v in value)
        if is_dict(value):
            return {k: self._views(v, version) for k, v in value.items()}
        if isinstance(value, Formula):
            return value.value(self.integer)
        if isinstance(value, IndexMap):
            return self.resolve_map(value)
        return value

    def view(self, handle: Handle, version: Version) -> Loop | Block | Func | SpecialLocation | int:
        """The view that a handle refers to. Errors: IndexError for an unknown handle, HandleError for a dead one."""
        if isinstance(handle, ExprHandle):
            return self.integer(handle)
        self.check_known(handle)
        if isinstance(handle, LoopHandle) and handle.is_mark:
            return SpecialLocation(handle.id)
        op = version.find(handle.id)
        if op is None:
            reason, results = self._dead.reason(handle.id), self._dead.results(handle.id)
            alive = next((n for n in results if n in self.version), None)
            lookup_hint = f"look the {handle.word} up again"
            fix = f"use a handle that the step returned, or {lookup_hint}" if results else lookup_hint
            raise HandleError(f"the {handle.word} behind this handle is gone: {reason}", alive, fix=fix)
        return view_of(op)

    def info(self, handle: Handle) -> Info:
        """A snapshot of a loop or block, not to be modified. Errors: as `view`; ValueError for a special location."""
        self.check_known(handle)
        nest, queries = self.version.nest(handle.id), self.version.query_cache()
        infos: dict[Any, Any] = queries.known if nest is None else nest.infos  # that of all versions with the nest
        key = (info_of, handle.id) if nest is None else handle.id
        info = infos.get(key)
        if info is None:
            with enter_context(), freeze_modules(queries):
                view = self.view(handle, self.version)
                if not isinstance(view, View):
                    what = SpecialLocation(view).name.lower()
                    raise ValueError(f"this handle is not a loop: sample_compute_location chose {what}")
                info = infos[key] = info_of(view)
        return info

    def is_alive(self, handle: Handle) -> bool:
        """Whether what a handle refers to is still in the program. Errors: IndexError for an unknown handle."""
        self.check_known(handle)
        with enter_context():
            return handle.id in self.version

    def resolve_map(self, map_: IndexMap) -> IndexMap:
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
        if is_other(handle, Handle):
            check_type(handle, Handle, "Schedule", "handle", "a block or loop of this schedule (get_block, get_loops)")
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

    def _to_handles(self, result: object) -> object:
        """Create handles for the results of a step."""
        if is_list(result):
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
