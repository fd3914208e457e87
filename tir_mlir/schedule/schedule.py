"""Schedule: a module, and the primitives that rewrite it."""

from __future__ import annotations

import inspect
import itertools
from copy import deepcopy
from typing import Any

from mlir import ir

from tir_mlir.dialect import attrs, create, walk
from tir_mlir.dialect.context import entered
from tir_mlir.dialect.errors import NotAffine, NotProvable, ScheduleError, VerifyError
from tir_mlir.dialect.regions import regions
from tir_mlir.dialect.verify import verify
from tir_mlir.dialect.views import Block, Func, Loop, View, funcs, is_block
from tir_mlir.passes.schedule import PRIMITIVES, Primitive
from tir_mlir.passes.schedule.concurrency import check_concurrency
from tir_mlir.passes.schedule.lookup import working_function
from tir_mlir.script.module import IRModule, PrimFunc

from . import render
from .handles import BlockHandle, BlockInfo, Handle, LoopHandle, LoopInfo
from .methods import Methods
from .trace import Instruction, Trace

_owners = itertools.count()


class Schedule(Methods):
    """A copy of a module that primitives rewrite, step by step.

    Every step works on a copy and is held to the rules of `dialect/verify.py` before it counts: a step that raises
    leaves `mod`, the trace and all handles as they were. `mod` may be an IRModule, a PrimFunc or an MLIR module.
    """

    def __init__(
        self,
        mod: IRModule | PrimFunc | ir.Module,
        *,
        seed: int | None = None,
        debug_mask: str | int = "none",
        error_render_level: str = "detail",
        enable_check: bool = True,
    ):
        if error_render_level not in ("detail", "fast", "none"):
            raise ValueError(f'error_render_level is "detail", "fast" or "none", not {error_render_level!r}')
        if seed is not None and not 1 <= seed < 2**31 - 1:
            raise ValueError(f"a seed lies in [1, 2**31 - 1), {seed} does not")
        alone = IRModule({"main": mod}) if isinstance(mod, PrimFunc) else mod  # TVM looks a lone function up as main
        source = alone.mlir if isinstance(alone, IRModule) else alone
        if not isinstance(source, ir.Module):
            raise TypeError(f"Schedule takes an IRModule, a PrimFunc or an MLIR module, not {type(mod).__name__}")
        with entered():
            self._module = create.clone_module(source)
        self._owner = next(_owners)
        self._seed = seed
        self._detail = error_render_level
        self._debug = debug_mask not in ("none", 0)
        self._working: str | None = None
        self._graves: dict[int, str] = {}
        self.trace = Trace()
        _ = enable_check  # accepted for TVM's sake: our checks are proofs and cannot be switched off

    # --- the module ---------------------------------------------------------------------------------------------------

    @property
    def mod(self) -> IRModule:
        """The module as it stands now. It does not change under you: later steps work on copies."""
        return IRModule(self._module)

    def show(self, **options: Any) -> None:
        """Print the module as TVMScript."""
        self.mod.show(**options)

    def copy(self) -> Schedule:
        """A schedule in the same state; the two go separate ways, handles are good for both."""
        other = object.__new__(Schedule)
        other.__dict__ |= self.__dict__
        other._graves = dict(self._graves)
        other.trace = self.trace.copy()
        return other

    def work_on(self, func_name: str) -> None:
        """Choose the function in which `get_block` looks from now on."""
        with entered():
            working_function(funcs(self._module), func_name)
        self._working = func_name

    @property
    def func_working_on(self) -> str | None:
        return self._working

    def get(self, handle: Handle) -> LoopInfo | BlockInfo:
        """The block or loop behind a handle as it is now."""
        with entered():
            view = self._view(handle, self._module)
            if isinstance(view, Loop):
                return LoopInfo(view.name, view.const_extent, view.kind, view.annotations)
            if isinstance(view, Func):
                return BlockInfo("root", [], [], [], view.annotations)
            reads, writes = regions(view)
            iters = [(i.name, i.kind) for i in view.iters]
            return BlockInfo(
                view.name, iters, [r.buffer.name for r in reads], [w.buffer.name for w in writes], view.annotations
            )

    def remove_rv(self, handle: Handle) -> None:
        """Forget a handle."""
        self._graves[handle.id] = "it was removed with remove_rv"

    # --- steps --------------------------------------------------------------------------------------------------------

    def _apply(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Run one primitive: on a copy, verified, recorded. Errors leave everything as it was."""
        primitive = PRIMITIVES[name]
        bound = primitive.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        with entered(self._user_location()):
            arguments = self._resolve_names(primitive, dict(bound.arguments))
            module = self._module if primitive.pure else create.clone_module(self._module)
            try:
                call = {k: self._argument(primitive, k, v, module) for k, v in arguments.items()}
                variadic = _variadic(primitive)
                positional = call.pop(variadic) if variadic else ()
                result = primitive.run(*positional, **call)
                outputs = self._handles(result)
                if not primitive.pure:
                    verify(module)
                    check_concurrency(name, self._module, module)
            except (ScheduleError, VerifyError, NotProvable, NotAffine) as error:
                self._raise(name, arguments, error)
            self._bury(module, name, arguments, outputs)
            self._module = module
            self.trace.append(Instruction(name, arguments, variadic, tuple(_flat(outputs)), isinstance(outputs, list)))
            return outputs

    def _user_location(self) -> ir.Location | None:
        place = render.user_frame()
        with entered():
            return ir.Location.file(place[0], place[1], 1) if place else None

    def _raise(self, name: str, arguments: dict[str, Any], error: Exception) -> None:
        call = f"{name}({self._shown(arguments)})"
        provable = not isinstance(error, NotProvable) and getattr(error, "provable", True)
        reason = getattr(error, "reason", None) or getattr(error, "message", None) or str(error)
        if isinstance(error, VerifyError):
            reason = f"the result would break the rule '{error.rule}': {reason}"
        culprit = getattr(error, "culprit", None)
        if culprit is None and isinstance(error, VerifyError):
            culprit = error.op_id
        text = render.refusal(call, reason, self._module, culprit, self._detail, provable)
        raise ScheduleError(reason, None, provable, text) from (error if self._debug else None)

    def _shown(self, arguments: dict[str, Any]) -> str:
        parts = []
        for key, value in arguments.items():
            parts.append(f"{key}={self._name_of(value)}")
        return ", ".join(parts)

    def _name_of(self, value: Any) -> str:
        if isinstance(value, Handle):
            op = walk.find(self._module, value.id)
            if op is None:
                return f"<{value.word}>"
            return Loop(op).name if op.name == "affine.for" else repr(Block(op).name if is_block(op) else "root")
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self._name_of(v) for v in value) + "]"
        text = repr(value)
        return text if len(text) <= 80 else text[:60] + "..." + text[-10:]

    # --- handles and views --------------------------------------------------------------------------------------------

    def _resolve_names(self, primitive: Primitive, arguments: dict[str, Any]) -> dict[str, Any]:
        """Block names where a block is expected become handles (by a get_block step); types are checked."""
        for key, value in arguments.items():
            wanted = primitive.signature.parameters[key].annotation
            if value is None and "None" in str(wanted):
                continue
            arguments[key] = self._resolve(primitive.name, key, value, _handle_types(wanted))
        return arguments

    def _resolve(self, name: str, key: str, value: Any, wanted: tuple[type[Handle], ...]) -> Any:
        if not wanted:
            return deepcopy(value)  # the trace keeps the value of the call, whatever becomes of the caller's list
        if isinstance(value, (list, tuple)):
            return type(value)(self._resolve(name, key, v, wanted) for v in value)
        if isinstance(value, str) and BlockHandle in wanted:
            return self.get_block(value)
        if not isinstance(value, wanted):
            expected = " or ".join(w.__name__ for w in wanted)
            raise TypeError(
                f'In "Schedule.{name}", "{key}" has wrong type. Expected "{expected}", but gets:'
                f' "{type(value).__name__}"'
            )
        return value

    def _argument(self, primitive: Primitive, key: str, value: Any, module: ir.Module) -> Any:
        if primitive.signature.parameters[key].annotation is Func:
            return working_function(funcs(module), value)
        view = self._views(value, module)
        if isinstance(view, Func) and "Func" not in str(primitive.signature.parameters[key].annotation):
            raise ScheduleError("this is the root block; name a block with a computation", None)
        return view

    def _views(self, value: Any, module: ir.Module) -> Any:
        if isinstance(value, Handle):
            return self._view(value, module)
        if isinstance(value, (list, tuple)):
            return type(value)(self._views(v, module) for v in value)
        return value

    def _view(self, handle: Handle, module: ir.Module) -> Loop | Block | Func:
        if handle.owner != self._owner:
            raise IndexError(
                f"this {handle.word} handle was given out by another schedule; look the {handle.word} up in this one"
            )
        op = walk.find(module, handle.id)
        if op is None or handle.id in self._graves:
            why = self._graves.get(handle.id, "an unknown step removed it")
            raise ValueError(f"the {handle.word} behind this handle is gone: {why}")
        return _view_of(op)

    def _handles(self, result: Any) -> Any:
        if isinstance(result, View):
            return (LoopHandle if isinstance(result, Loop) else BlockHandle)(result.id, self._owner)
        if isinstance(result, (list, tuple)):
            return [self._handles(r) for r in result]
        return result

    def _bury(self, module: ir.Module, name: str, arguments: dict[str, Any], outputs: Any) -> None:
        """Remember which step took the blocks and loops that are gone, and what it left in their place."""
        if module is self._module:
            return
        before, after = _ids(self._module), _ids(module)
        lost = before.keys() - after.keys()
        if not lost:
            return
        made = [self._new_name(module, h) for h in _flat(outputs)]
        into = f", which left {', '.join(made)}" if made else ""
        for gone in lost:
            what = repr(_view_of(before[gone]))
            self._graves[gone] = f"step {len(self.trace) + 1}, {name}({self._shown(arguments)}), consumed {what}{into}"

    def _new_name(self, module: ir.Module, handle: Handle) -> str:
        op = walk.find(module, handle.id)
        return "?" if op is None else repr(_view_of(op))


def _ids(module: ir.Module) -> dict[int, ir.Operation]:
    """Every op of a module that has an id."""
    return {attrs.get(op, attrs.ID): op for op in walk.ops(module.operation) if attrs.ID in op.attributes}


def _view_of(op: ir.Operation) -> Loop | Block | Func:
    return Loop(op) if op.name == "affine.for" else Block(op) if is_block(op) else Func(op)


def _flat(outputs: Any) -> list[Handle]:
    if isinstance(outputs, list):
        return [h for o in outputs for h in _flat(o)]
    return [outputs] if isinstance(outputs, Handle) else []


def _variadic(primitive: Primitive) -> str | None:
    kinds = primitive.signature.parameters.values()
    return next((p.name for p in kinds if p.kind is inspect.Parameter.VAR_POSITIONAL), None)


def _handle_types(annotation: Any) -> tuple[type[Handle], ...]:
    """Which handles an argument of this annotation takes: Loop, Block, a union or list of them."""
    if annotation is Func:  # a function goes by its name
        return ()
    text = (
        annotation.__name__ if isinstance(annotation, type) and not hasattr(annotation, "__args__") else str(annotation)
    )
    found: list[type[Handle]] = []
    if "Block" in text or "Func" in text:
        found.append(BlockHandle)
    if "Loop" in text:
        found.append(LoopHandle)
    return tuple(found)
