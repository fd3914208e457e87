"""How a schedule makes a step: arguments to views, the primitive on a copy, the rules, the trace."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import HandleError, NotAffine, NotProvable, ScheduleError, StepError, VerifyError
from tir_mlir.dialect.index_maps import Formula
from tir_mlir.dialect.ir import Block, Func, Loop, View, create, entered, funcs, walk
from tir_mlir.dialect.verify import verify
from tir_mlir.passes.schedule import PRIMITIVES, Primitive
from tir_mlir.passes.schedule.legality import check_concurrency
from tir_mlir.passes.schedule.placement.location import SpecialLocation
from tir_mlir.passes.schedule.queries.lookup import working_function
from tir_mlir.passes.schedule.queries.rng import Random
from tir_mlir.passes.schedule.registry import Sample
from tir_mlir.schedule.arguments import BlockName, alternatives, bound, rank, variadic
from tir_mlir.schedule.call_text import Words
from tir_mlir.schedule.can import Questions
from tir_mlir.schedule.dead_handles import Graves, view_of
from tir_mlir.schedule.handles import BlockHandle, ExprHandle, Handle, LoopHandle, new_serial
from tir_mlir.schedule.history import Entry
from tir_mlir.schedule.refusal import culprit_id, user_frame
from tir_mlir.schedule.refusal import refusal as refusal_text
from tir_mlir.schedule.trace import Trace
from tir_mlir.schedule.trace.instruction import DECISION, Instruction, handles_in

_owners = itertools.count()
T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A call of the user: where, which step comes first in it, the random numbers before, and when it started."""

    place: tuple[str, int] | None
    first: int
    random: int
    start: float


class Stepper(Questions):
    """The state of a schedule, and the one way in which it changes."""

    def __init__(self, module: ir.Module, random: Random, detail: str, debug: bool):
        self._module = module
        self._owner = next(_owners)
        self._random = random
        self._detail = detail
        self._debug = debug
        self._working: str | None = None
        self._verify_steps = False
        self._graves = Graves()
        self._known: set[int] = set()  # the serials of the handles that are good here
        self._values: dict[int, int] = {}  # the integers behind ExprHandles
        self._history: list[Entry] = []
        self._undone: dict[int, str] = {}  # by serial of a handle: the step that gave it and is no more
        self.trace = Trace()

    def _state(self) -> dict[str, Any]:
        """The state, copied where a step would change it in place."""
        return self.__dict__ | {
            "_random": Random(self._random.state),
            "_graves": self._graves.copy(),
            "_known": set(self._known),
            "_values": dict(self._values),
            "_history": list(self._history),
            "_undone": dict(self._undone),
            "trace": self.trace.copy(),
        }

    def _all_or_nothing(self, steps: Callable[[], T]) -> T:
        """What several steps give; an error in one takes back all of them.

        No context manager: Ctrl-C between its lines would take them back late, or not at all.
        """
        before, trace = self._state(), self.trace
        try:
            return steps()
        except BaseException:
            trace.insts[:], trace.decisions = before["trace"].insts, before["trace"].decisions
            self.__dict__.update(before | {"trace": trace})
            raise

    # --- a step -------------------------------------------------------------------------------------------------------

    def _apply(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Run one primitive: on a copy, verified, recorded. Errors leave everything as it was."""
        primitive = PRIMITIVES[name]
        if not self._verify_steps or primitive.pure:
            return self._applied(primitive, args, kwargs)
        return self._all_or_nothing(lambda: self._checked(primitive, args, kwargs))

    def _checked(self, primitive: Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run one primitive and compare. Errors: StepError when the program is not equal to the first one."""
        before = self._module
        result = self._applied(primitive, args, kwargs)
        if self._module is before:
            return result
        answer = self.verify()
        if answer:
            return result
        step = self.trace.insts[-1]
        call = Words(before, self._values).call(step.name, step.arguments)
        reason = f"the step changes what the program computes: {answer.difference}"
        text = refusal_text(call, f"{reason}\n{answer}", before, None, self._detail, True)
        error = StepError(reason, answer, text)
        error.call = call
        raise error

    def verify(self, sizes: str = "auto", *, seed: int = 0) -> Any:
        raise NotImplementedError

    def _applied(self, primitive: Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arguments = bound(primitive, args, kwargs)
        module, steps, state, first = self._module, len(self.trace), self._random.state, len(self._history)
        place = user_frame()
        try:
            with entered(), entered(_location(place)):
                named = {k: self._named(primitive, k, v) for k, v in arguments.items()}
                return self._step(primitive, named, Call(place, first, state, perf_counter()))
        except BaseException:  # Ctrl-C, too: it may come after any line
            for step in self.trace.insts[steps:]:  # looking a block up by its name was a step
                self.trace.decisions.pop(step, None)
                self._known -= {h.serial for h in handles_in(step.outputs)}
            del self.trace.insts[steps:]
            del self._history[first:]
            self._module, self._random.state = module, state
            self._graves.rise(module)
            raise

    def _step(self, primitive: Primitive, arguments: dict[str, Any], user: Call) -> Any:
        module = self._module if primitive.pure else create.clone_module(self._module)
        try:
            result = self._run(primitive, arguments, module)
            if not primitive.pure:
                verify(module, before=self._module)
                check_concurrency(primitive.name, self._module, module)
        except (ScheduleError, VerifyError, NotProvable, NotAffine) as error:
            self._raise(primitive.name, arguments, error)
        if isinstance(result, bool):  # the answer to a question, no step
            return result
        decision = arguments.pop(DECISION, None) if primitive.samples else None
        if isinstance(result, Sample):
            decision, result = result.decision, result.results
        outputs = self._handed_out(result)
        flat = tuple(_flat(outputs))
        self._record(Instruction(primitive.name, arguments, flat, isinstance(outputs, list)), decision, module, user)
        return outputs

    def _record(self, instruction: Instruction, decision: Any, module: ir.Module, user: Call) -> None:
        """Make a step count."""
        number, before = len(self.trace) + 1, self._module
        words = Words(before, self._values)
        call, lost = words.short(instruction.name, instruction.arguments), ()
        if module is not before:
            lost = self._graves.bury(before, module, f"step {number}, {call}", list(handles_in(instruction.outputs)))
        self._module = module
        self.trace.append(instruction, decision)
        spent = 1e3 * (perf_counter() - user.start)
        kept = number, call, user.place, spent, instruction, decision, before, module, user.random, user.first, lost
        self._history.append(Entry(*kept))

    def _run(self, primitive: Primitive, arguments: dict[str, Any], module: ir.Module) -> Any:
        call = {k: self._argument(primitive, k, v, module) for k, v in arguments.items()}
        many = variadic(primitive)
        positional = call.pop(many) if many else ()
        parameters = primitive.signature.parameters.items()
        call |= {k: self._random for k, p in parameters if p.annotation is Random}
        return primitive.run(*positional, **call)

    def _rank(self, index_map: Any, block: Any, buffer: Any = None) -> int | None:
        with entered():
            return rank(self._module, index_map, block, buffer)

    def _raise(self, name: str, arguments: dict[str, Any], error: Exception) -> None:
        call = Words(self._module, self._values).short(name, arguments)
        provable = not isinstance(error, NotProvable) and getattr(error, "provable", True)
        reason = getattr(error, "reason", None) or getattr(error, "message", None) or str(error)
        if isinstance(error, VerifyError):
            reason = f"the result would break the rule '{error.rule}': {reason}"
        culprit = getattr(error, "culprit", None)
        if culprit is None and isinstance(error, VerifyError):
            culprit = error.op_id
        culprit = self._shown_culprit(culprit, arguments)
        fix, example = getattr(error, "fix", ""), getattr(error, "counterexample", None)
        text = refusal_text(call, reason, self._module, culprit, self._detail, provable, fix)
        kind = type(error) if isinstance(error, ScheduleError) else ScheduleError
        refusal = kind(reason, None, provable, text, example, fix)
        refusal.call = call
        raise refusal from (error if self._debug else None)

    def _shown_culprit(self, culprit: Any, arguments: dict[str, Any]) -> int | None:
        """What to mark: the culprit, or, if the program before the step has it not, what the step was asked for."""
        number = culprit_id(culprit)
        asked = [h.id for h in handles_in(list(arguments.values())) if not isinstance(h, ExprHandle)]
        return next((n for n in (number, *asked) if n is not None and walk.find(self._module, n) is not None), None)

    def _take_back(self, count: int) -> None:
        """Undo every step of the history from an entry on."""
        gone = self._history[count:]
        steps = {e.instruction for e in gone}
        self.trace.insts[:] = [i for i in self.trace.insts if i not in steps]
        self.trace.decisions = {i: d for i, d in self.trace.decisions.items() if i not in steps}
        for entry in gone:
            self._graves.forget(entry.lost)
            for handle in handles_in(entry.instruction.outputs):
                self._known.discard(handle.serial)
                self._values.pop(handle.serial, None)
                self._undone[handle.serial] = f"step {entry.number}, {entry.call}, which gave it, was undone"
        self._module, self._random.state = gone[0].before, gone[0].random
        del self._history[count:]

    # --- arguments ----------------------------------------------------------------------------------------------------

    def _named(self, primitive: Primitive, key: str, value: Any) -> Any:
        """Names of blocks become handles, by a get_block step; the function worked on is written down."""
        if primitive.signature.parameters[key].annotation is Func:
            return working_function(funcs(self._module), value).name
        if isinstance(value, BlockName):
            return self.get_block(str(value))
        if isinstance(value, (list, tuple)):
            return type(value)(self._named(primitive, key, v) for v in value)
        return value

    def _argument(self, primitive: Primitive, key: str, value: Any, module: ir.Module) -> Any:
        """What a primitive gets: views for handles, the integer for one that was sampled."""
        annotation = primitive.signature.parameters[key].annotation
        if annotation is Func:
            return working_function(funcs(module), value)
        if isinstance(value, Handle):
            view = self._view(value, module)
            parts = alternatives(annotation)
            if isinstance(view, Func) and Func not in parts:
                raise ScheduleError("this is the root block; name a block with a computation", None)
            if isinstance(view, SpecialLocation) and SpecialLocation not in parts:
                raise ScheduleError(
                    f"this handle stands for no loop: sample_compute_location chose {view.name.lower()}; only"
                    " compute_at and reverse_compute_at take it",
                    None,
                )
            return view
        return self._views(value, module)

    def _views(self, value: Any, module: ir.Module) -> Any:
        if isinstance(value, Handle):
            return self._view(value, module)
        if isinstance(value, (list, tuple)):
            return type(value)(self._views(v, module) for v in value)
        if isinstance(value, dict):
            return {k: self._views(v, module) for k, v in value.items()}
        if isinstance(value, Formula):
            return value.value(self._integer)
        return value

    def _view(self, handle: Handle, module: ir.Module) -> Loop | Block | Func | SpecialLocation | int:
        """What a handle stands for. Errors: IndexError for a handle not known here, ValueError for a dead one."""
        if isinstance(handle, ExprHandle):
            return self._integer(handle)
        self._check_known(handle)
        if isinstance(handle, LoopHandle) and handle.is_mark:
            return SpecialLocation(handle.id)
        op = walk.find(module, handle.id)
        if op is None:
            story, left = self._graves.story(handle.id), self._graves.left(handle.id)
            alive = next((n for n in left if walk.find(self._module, n) is not None), None)
            fix = f"use what it left, or look the {handle.word} up anew" if left else f"look the {handle.word} up anew"
            raise HandleError(f"the {handle.word} behind this handle is gone: {story}", alive, fix=fix)
        return view_of(op)

    def _integer(self, handle: ExprHandle) -> int:
        self._check_known(handle)
        return self._values[handle.id]

    def _check_known(self, handle: Handle) -> None:
        if handle.owner != self._owner:
            raise IndexError(
                f"this {handle.word} handle was given out by another schedule; look the {handle.word} up in this one"
            )
        if handle.serial in self._undone:
            raise HandleError(
                f"the {handle.word} behind this handle is gone: {self._undone[handle.serial]}",
                fix="repeat the step, and use the handle that it gives",
            )
        if handle.serial != -1 and handle.serial not in self._known:
            raise IndexError(
                f"this {handle.word} handle is not known here: it was removed with remove_rv, or a copy of this"
                " schedule gave it out later"
            )

    # --- results ------------------------------------------------------------------------------------------------------

    def _handed_out(self, result: Any) -> Any:
        """Handles for what a step gave."""
        if isinstance(result, (list, tuple)):
            return [self._handed_out(r) for r in result]
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
        raise TypeError(f"a primitive gives views and sampled integers, not {type(result).__name__}")


def _location(place: tuple[str, int] | None) -> ir.Location | None:
    return ir.Location.file(place[0], place[1], 1) if place else None


def _flat(outputs: Any) -> Iterator[Handle | None]:
    """The results of a step in a row; None stands for a factor to be inferred."""
    if isinstance(outputs, list):
        for output in outputs:
            yield from _flat(output) if output is not None else [None]
    elif outputs is not None:
        yield outputs
