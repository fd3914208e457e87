"""How a schedule makes a step: arguments to views, the primitive on a copy, the rules, the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

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
from tir_mlir.schedule import pickling
from tir_mlir.schedule.arguments import BlockName, alternatives, bound, variadic
from tir_mlir.schedule.arguments import rank as rank_of
from tir_mlir.schedule.call_text import Words
from tir_mlir.schedule.dead_handles import Graves, view_of
from tir_mlir.schedule.handle_text import view_text
from tir_mlir.schedule.handles import BlockHandle, ExprHandle, Handle, LoopHandle, new_serial, register
from tir_mlir.schedule.history import MOST_REFUSALS, Entry, Refusal
from tir_mlir.schedule.refusal import culprit_id, user_line
from tir_mlir.schedule.refusal import refusal as refusal_text
from tir_mlir.schedule.trace import Trace
from tir_mlir.schedule.trace.instruction import DECISION, Instruction, handles_in

if TYPE_CHECKING:
    from tir_mlir.equivalence.result import Result
from tir_mlir.schedule.handles import new_owner

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """A call of the user: where, which step comes first in it, the random numbers before, and when it started."""

    place: tuple[str, int] | None
    first: int
    random: int
    start: float


class Executor:
    """The state of a schedule, and the only code that changes it.

    `check`, where set, compares the program with the original after every step that changed it.
    """

    check: Callable[[], Result] | None = None

    def __init__(self, module: ir.Module, random: Random, detail: str, debug: bool):
        self.original = module
        self.module = module
        self.random = random
        self.working: str | None = None
        self.history: list[Entry] = []
        self.trace = Trace()
        self._owner = new_owner()
        self._detail = detail
        self._debug = debug
        self._graves = Graves()
        self._known: set[int] = set()  # serials of the handles that are valid here
        self._values: dict[int, int] = {}  # the integers behind ExprHandles
        self.refused: list[Refusal] = []
        self._undone: dict[int, str] = {}  # serial of a handle -> the undone step that returned it
        register(self._owner, self)

    def twin(self) -> Executor:
        """An executor in the same state, random numbers included, that checks no steps."""
        other = object.__new__(Executor)
        other.__dict__ |= self._state()
        other.check = None
        return other

    def describe(self, handle: Handle) -> str:
        """What a handle of this schedule stands for now, in a line; a dead one says which step took it."""
        word = handle.word.capitalize()
        if isinstance(handle, ExprHandle):
            dead = f"({self._undone.get(handle.serial, 'not known here')})"
            return f"{word} {self._values.get(handle.id, dead)}"
        if handle.serial in self._undone:
            return f"{word} (dead: {self._undone[handle.serial]})"
        if isinstance(handle, LoopHandle) and handle.is_mark:
            return f"{word} (none: sample_compute_location chose {SpecialLocation(handle.id).name.lower()})"
        with entered():
            op = walk.find(self.module, handle.id)
            return f"{word} (dead: {self._graves.story(handle.id)})" if op is None else view_text(view_of(op))

    def __getstate__(self) -> dict[str, Any]:
        return pickling.dumped(self.__dict__)

    def __setstate__(self, data: dict[str, Any]) -> None:
        self.__dict__ |= pickling.loaded(data)
        register(self._owner, self)

    def _state(self) -> dict[str, Any]:
        """The state, copied where a step would change it in place."""
        return self.__dict__ | {
            "random": Random(self.random.state),
            "_graves": self._graves.copy(),
            "_known": set(self._known),
            "_values": dict(self._values),
            "history": list(self.history),
            "refused": list(self.refused),
            "_undone": dict(self._undone),
            "trace": self.trace.copy(),
        }

    def all_or_nothing(self, steps: Callable[[], T]) -> T:
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

    def apply(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Run one primitive: on a copy, verified, recorded. Errors leave everything as it was."""
        primitive = PRIMITIVES[name]
        check = self.check
        try:
            if check is None or primitive.pure:
                return self._applied(primitive, args, kwargs)
            return self.all_or_nothing(lambda: self._checked(primitive, args, kwargs, check))
        except ScheduleError as error:
            self._note(error)
            raise

    def _note(self, error: ScheduleError) -> None:
        """Remember a refusal; one that comes out of the look-up of a name, or again at the same line, once."""
        refusal = Refusal.of(error, len(self.history), user_line(), self.module)
        if refusal.call and refusal not in self.refused[-1:]:
            self.refused = [*self.refused[1 - MOST_REFUSALS :], refusal]

    def _checked(
        self, primitive: Primitive, args: tuple[Any, ...], kwargs: dict[str, Any], check: Callable[[], Result]
    ) -> Any:
        """Run one primitive and compare. Errors: StepError when the program is not equal to the first one."""
        before = self.module
        result = self._applied(primitive, args, kwargs)
        if self.module is before:
            return result
        answer = check()
        if answer:
            return result
        step = self.trace.insts[-1]
        call = Words(before, self._values).call(step.name, step.arguments)
        reason = f"the step changes what the program computes: {answer.difference}"
        text = refusal_text(call, f"{reason}\n{answer}", before, None, self._detail, True)
        error = StepError(reason, answer, text)
        error.call = call
        raise error

    def _applied(self, primitive: Primitive, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arguments = bound(primitive, args, kwargs)
        module, steps, state, first = self.module, len(self.trace), self.random.state, len(self.history)
        place = user_line()
        try:
            with entered(), entered(_location(place)):
                named = {k: self._named(primitive, k, v) for k, v in arguments.items()}
                return self._step(primitive, named, Call(place, first, state, perf_counter()))
        except BaseException:  # Ctrl-C, too: it may come after any line
            for step in self.trace.insts[steps:]:  # looking a block up by its name was a step
                self.trace.decisions.pop(step, None)
                self._known -= {h.serial for h in handles_in(step.outputs)}
            del self.trace.insts[steps:]
            del self.history[first:]
            self.module, self.random.state = module, state
            self._graves.rise(module)
            raise

    def _step(self, primitive: Primitive, arguments: dict[str, Any], user: Call) -> Any:
        module = self.module if primitive.pure else create.clone_module(self.module)
        try:
            result = self._run(primitive, arguments, module)
            if not primitive.pure:
                verify(module, before=self.module)
                check_concurrency(primitive.name, self.module, module)
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
        number, before = len(self.trace) + 1, self.module
        words = Words(before, self._values)
        call, lost = words.short(instruction.name, instruction.arguments), ()
        if module is not before:
            lost = self._graves.bury(before, module, f"step {number}, {call}", list(handles_in(instruction.outputs)))
        self.module = module
        self.trace.append(instruction, decision)
        spent = 1e3 * (perf_counter() - user.start)
        kept = number, call, user.place, spent, instruction, decision, before, module, user.random, user.first, lost
        self.history.append(Entry(*kept))

    def _run(self, primitive: Primitive, arguments: dict[str, Any], module: ir.Module) -> Any:
        call = {k: self._argument(primitive, k, v, module) for k, v in arguments.items()}
        many = variadic(primitive)
        positional = call.pop(many) if many else ()
        parameters = primitive.signature.parameters.items()
        call |= {k: self.random for k, p in parameters if p.annotation is Random}
        return primitive.run(*positional, **call)

    def rank(self, index_map: Any, block: Any, buffer: Any = None) -> int | None:
        with entered():
            return rank_of(self.module, index_map, block, buffer)

    def _raise(self, name: str, arguments: dict[str, Any], error: Exception) -> None:
        call = Words(self.module, self._values).short(name, arguments)
        provable = not isinstance(error, NotProvable) and getattr(error, "provable", True)
        reason = getattr(error, "reason", None) or getattr(error, "message", None) or str(error)
        if isinstance(error, VerifyError):
            reason = f"the result would break the rule '{error.rule}': {reason}"
        culprit = getattr(error, "culprit", None)
        if culprit is None and isinstance(error, VerifyError):
            culprit = error.op_id
        culprit = self._shown_culprit(culprit, arguments)
        fix, example = getattr(error, "fix", ""), getattr(error, "counterexample", None)
        text = refusal_text(call, reason, self.module, culprit, self._detail, provable, fix)
        kind = type(error) if isinstance(error, ScheduleError) else ScheduleError
        refusal = kind(reason, culprit, provable, text, example, fix)
        refusal.call = call
        raise refusal from (error if self._debug else None)

    def _shown_culprit(self, culprit: Any, arguments: dict[str, Any]) -> int | None:
        """What to mark: the culprit, or, if the program before the step has it not, what the step was asked for."""
        number = culprit_id(culprit)
        asked = [h.id for h in handles_in(list(arguments.values())) if not isinstance(h, ExprHandle)]
        return next((n for n in (number, *asked) if n is not None and walk.find(self.module, n) is not None), None)

    def take_back(self, count: int) -> None:
        """Undo every step of the history from an entry on."""
        gone = self.history[count:]
        steps = {e.instruction for e in gone}
        self.trace.insts[:] = [i for i in self.trace.insts if i not in steps]
        self.trace.decisions = {i: d for i, d in self.trace.decisions.items() if i not in steps}
        for entry in gone:
            self._graves.forget(entry.lost)
            for handle in handles_in(entry.instruction.outputs):
                self._known.discard(handle.serial)
                self._values.pop(handle.serial, None)
                self._undone[handle.serial] = f"step {entry.number}, {entry.call}, which gave it, was undone"
        self.module, self.random.state = gone[0].before, gone[0].random
        del self.history[count:]
        self.refused = [r for r in self.refused if r.after <= count]

    # --- arguments ----------------------------------------------------------------------------------------------------

    def _named(self, primitive: Primitive, key: str, value: Any) -> Any:
        """Names of blocks become handles, by a get_block step; the function worked on is written down."""
        if primitive.signature.parameters[key].annotation is Func:
            return working_function(funcs(self.module), value).name
        if isinstance(value, BlockName):
            return self.apply("get_block", str(value), self.working)
        if isinstance(value, (list, tuple)):
            return type(value)(self._named(primitive, key, v) for v in value)
        return value

    def _argument(self, primitive: Primitive, key: str, value: Any, module: ir.Module) -> Any:
        """What a primitive gets: views for handles, the integer for one that was sampled."""
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
                    f"this handle stands for no loop: sample_compute_location chose {view.name.lower()}; only"
                    " compute_at and reverse_compute_at take it",
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
        return value

    def view(self, handle: Handle, module: ir.Module) -> Loop | Block | Func | SpecialLocation | int:
        """What a handle stands for. Errors: IndexError for a handle not known here, ValueError for a dead one."""
        if isinstance(handle, ExprHandle):
            return self.integer(handle)
        self.check_known(handle)
        if isinstance(handle, LoopHandle) and handle.is_mark:
            return SpecialLocation(handle.id)
        op = walk.find(module, handle.id)
        if op is None:
            story, left = self._graves.story(handle.id), self._graves.left(handle.id)
            alive = next((n for n in left if walk.find(self.module, n) is not None), None)
            fix = f"use what it left, or look the {handle.word} up anew" if left else f"look the {handle.word} up anew"
            raise HandleError(f"the {handle.word} behind this handle is gone: {story}", alive, fix=fix)
        return view_of(op)

    def integer(self, handle: ExprHandle) -> int:
        self.check_known(handle)
        return self._values[handle.id]

    def forget(self, handle: Handle) -> None:
        """Invalidate a handle. Errors: IndexError when it is not valid here."""
        self.check_known(handle)
        self._known.discard(handle.serial)

    def check_known(self, handle: Handle) -> None:
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
