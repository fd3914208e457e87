"""Run steps: resolve handles to views, run the primitive on a copy, verify the result, record it in the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import (
    InternalError,
    NotProvable,
    ScheduleError,
    StepError,
    TirError,
    VerifyError,
)
from tir_mlir.dialect.incremental import ChangedNests, StepJournal, Version, changed_nests
from tir_mlir.dialect.incremental.nests import KIND
from tir_mlir.dialect.ir import (
    Func,
    QueryCache,
    View,
    attrs,
    create,
    enter_context,
    freeze_modules,
    fresh_query_cache,
    funcs,
    user_line,
)
from tir_mlir.dialect.ir.context import context
from tir_mlir.dialect.verify import verify
from tir_mlir.passes.schedule import PRIMITIVES, Primitive
from tir_mlir.passes.schedule.legality import check_aliasing, check_concurrency, check_data_loops
from tir_mlir.passes.schedule.legality.every_step import index_types
from tir_mlir.passes.schedule.queries.decider import Choices, Decider, DeciderError, Random
from tir_mlir.passes.schedule.queries.lookup import working_function
from tir_mlir.passes.schedule.registry import Sample
from tir_mlir.schedule.handle_table import CallPrinter, HandleTable, name_in_call
from tir_mlir.schedule.handles import ExprHandle, Handle, handles_in, is_dict, is_list, register
from tir_mlir.schedule.history import MOST_REFUSALS, HistoryEntry, RefusedStep
from tir_mlir.schedule.refusal import culprit_id, step_error
from tir_mlir.schedule.refusal import refusal as refusal_text
from tir_mlir.schedule.step_arguments import BlockName, bind_arguments
from tir_mlir.schedule.step_arguments import rank as rank_of
from tir_mlir.schedule.trace import Trace
from tir_mlir.schedule.trace.instruction import DECISION, Instruction

if TYPE_CHECKING:
    from tir_mlir.equivalence.result import Result

T = TypeVar("T")


@dataclass(frozen=True)
class UserCall:
    """A user call: source location, index of its first history entry, RNG state before it, start time."""

    location: tuple[str, int] | None
    first: int
    random: int
    start: float


class Executor(HandleTable):
    """The state of a schedule, and the only code that changes it.

    `check`: if set, runs after every step that changed the program, and compares it with the original.
    """

    check: Callable[[], Result] | None = None
    audit: Callable[[str, ir.Module, Version, Version, ChangedNests], None] | None = None
    """If set, runs after every step with what it is said to have changed. For tests."""

    decider: Decider | None = None
    """If set, makes the decisions of sampling steps, instead of the random numbers."""

    def __init__(self, version: Version, random: Random, detail: str, debug: bool):
        super().__init__(version)
        self.first = self.version
        self.random = random
        self.working: str | None = None
        self.history: list[HistoryEntry] = []
        self.trace = Trace()
        self.names: dict[Instruction, str] = {}  # of the decisions of sampling steps
        self._detail = detail
        self._debug = debug
        self.refused: list[RefusedStep] = []
        self.reasons: list[str] = []  # of a ready-made schedule for its next step
        register(self._owner, self)

    @property
    def original(self) -> ir.Module:
        """The program before all steps."""
        return self.first.module

    def twin(self) -> Executor:
        """A copy of this executor, RNG state included, without `check` and without a decider."""
        self.version.shared = True
        duplicate = object.__new__(Executor)
        duplicate.__dict__ |= self._state()
        duplicate.check = duplicate.decider = None
        return duplicate

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("check", "decider")}

    def __setstate__(self, data: dict[str, Any]) -> None:
        self.__dict__ |= data
        register(self._owner, self)

    def _state(self) -> dict[str, Any]:
        """The state, with copies of what steps modify in place."""
        return self.__dict__ | {
            "random": Random(self.random.state),
            "_dead": self._dead.copy(),
            "_known": set(self._known),
            "_values": dict(self._values),
            "history": list(self.history),
            "refused": list(self.refused),
            "reasons": list(self.reasons),
            "_undone": dict(self._undone),
            "names": dict(self.names),
            "trace": self.trace.copy(),
        }

    def all_or_nothing(self, steps: Callable[[], T]) -> T:
        """Run several steps and return their result; roll all of them back on an error.

        Not a context manager: a KeyboardInterrupt inside `__exit__` could skip the rollback.
        """
        saved, trace = self._state(), self.trace
        try:
            return steps()
        except BaseException:
            trace.insts[:], trace.decisions = saved["trace"].insts, saved["trace"].decisions
            self.__dict__.update(saved | {"trace": trace})
            raise

    # --- a step -------------------------------------------------------------------------------------------------------

    def apply(self, name: str, /, *args: object, **kwargs: object) -> Any:
        """Run a primitive on a copy, verify the result and record the step. Errors leave the schedule unchanged."""
        primitive = PRIMITIVES.get(name)
        if primitive is None:
            raise TirError(f"no primitive {name!r}; fix: import the file that has @primitive({name!r})")
        check = self.check
        try:
            if check is None or primitive.pure:
                return self._apply_or_restore(primitive, args, kwargs)
            return self.all_or_nothing(lambda: self._apply_checked(primitive, args, kwargs, check))
        except ScheduleError as error:
            self._note(error)
            raise

    def _note(self, error: ScheduleError) -> None:
        """Record a refusal, unless it repeats the previous one, as for errors of a nested lookup."""
        refusal = RefusedStep.from_error(error, len(self.history), user_line(), self.version)
        if refusal.call and refusal not in self.refused[-1:]:
            self.refused = [*self.refused[1 - MOST_REFUSALS :], refusal]

    def _apply_checked(
        self, primitive: Primitive, args: tuple[object, ...], kwargs: dict[str, object], check: Callable[[], Result]
    ) -> object:
        """Run a primitive and `check`. Errors: StepError if the program is not equivalent to the original any more."""
        previous = self.version
        result = self._apply_or_restore(primitive, args, kwargs)
        if self.version is previous:
            return result
        answer = check()
        if answer:
            return result
        step = self.trace.insts[-1]
        call = CallPrinter(previous, self._values).call(step.name, step.arguments)
        reason = f"the step changes what the program computes: {answer.difference}"
        text = refusal_text(call, f"{reason}\n{answer}", previous, None, self._detail, True)
        error = StepError(reason, answer, text)
        error.call = call
        raise error

    def _apply_or_restore(self, primitive: Primitive, args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        arguments = bind_arguments(primitive, args, kwargs)
        version, steps, state, first = self.version, len(self.trace.insts), self.random.state, len(self.history)
        source_line = user_line()
        try:
            with enter_context(_location(source_line)):
                named = {k: self._resolve_names(primitive, k, v) for k, v in arguments.items()}
                return self._step(primitive, named, UserCall(source_line, first, state, perf_counter()))
        except BaseException:  # including KeyboardInterrupt, which can arrive at any line
            for step in self.trace.insts[steps:]:  # lookups of blocks by name are steps
                self.trace.decisions.pop(step, None)
                self._known -= {h.serial for h in handles_in(step.outputs)}
            del self.trace.insts[steps:]
            del self.history[first:]
            self.version, self.random.state = version, state
            self._dead.revive(version)
            raise

    def _step(self, primitive: Primitive, arguments: dict[str, object], user: UserCall) -> object:
        names: dict[int, str] = {}
        version, facts = self.version, ()
        try:
            if primitive.pure:
                result = self._run(primitive, arguments, names)
            else:
                version, result, facts = self._run_new_version(primitive, arguments, names)
        except DeciderError as error:
            raise (error.__cause__ or error) from None
        except Warning:  # a filter made it an error
            raise
        except Exception as error:
            self._raise(primitive.name, arguments, error)
        if isinstance(result, bool):  # a query is not recorded as a step
            return result
        decision, name = arguments.pop(DECISION, None) if primitive.samples else None, ""
        if isinstance(result, Sample):
            decision, result, name = result.decision, result.results, result.name
        outputs = self._to_handles(result)
        flat = tuple(_flat(outputs))
        step = Instruction(primitive.name, arguments, flat, isinstance(outputs, list))
        self._record(step, decision, version, user, names, tuple(facts))
        if name:
            self.names[step] = name
        return outputs

    def _run_new_version(
        self, primitive: Primitive, arguments: dict[str, object], names: dict[int, str]
    ) -> tuple[Version, object, list[str]]:
        """Run a primitive. Returns the version that it makes, its result, and what was proved."""
        old = self.version
        original = None if self.audit is None else create.clone_module(old.module)
        version = old.begin()
        try:
            with version.live.lock, StepJournal(version, old) as journal:
                call = self._call(primitive, arguments, version, names)
                first = create.next_id(version.module)
                result = self._run_with(primitive, call)
                self._verify_edits(primitive, journal, first, original)
        except BaseException:
            old.take_back(version)
            raise
        return version, result, journal.facts

    def _verify_edits(self, primitive: Primitive, journal: StepJournal, first: int, original: ir.Module | None) -> None:
        """Verify what a step changed; everything if the module before is not known to be verified. first: the first id
        of what the step created. original: for `audit`, a copy of the module before."""
        module = journal.later.module
        while True:
            journal.later.cache = QueryCache()
            with freeze_modules(journal.later.cache):
                changed = changed_nests(journal)
                nests = [f.op for f in funcs(module)] if changed is None else changed.nests
                may_be_wide = changed is None or any(f.is_wide for f in changed.contents)
                declarations = index_types(nests, first) if may_be_wide and create.next_id(module) != first else []
                if not declarations:
                    if changed is not None and self.audit is not None and original is not None:
                        with fresh_query_cache():  # what it asks of the module before would keep that module
                            self.audit(primitive.name, original, self.version, journal.later, changed)
                    self._verify(primitive, journal.later, changed)
                    return
            for op, key, value in declarations:
                attrs.put(op, key, value)
            first = create.next_id(module)  # all are declared

    def _verify(self, step: Primitive, version: Version, changed: ChangedNests | None) -> None:
        """Verify the result of a step: what it changed, if that is known."""
        ruled = replace(changed, affected=[]) if changed is not None and step.marks else changed
        verify(version.module, old_module=self._module_before, changed=ruled)
        if changed is None or any(KIND in f.index for f in changed.contents):
            check_concurrency(step.name, self._module_before, version.module, changed)
        if not step.keeps_order:
            check_aliasing(step.name, self._module_before, version.module)
        version.record(self.version, changed)

    def _module_before(self) -> ir.Module:
        """The program before the step that runs; made again when it is asked for."""
        return self.version.module

    def _record(
        self,
        instruction: Instruction,
        decision: object,
        version: Version,
        user: UserCall,
        names: Mapping[int, str],
        facts: tuple[str, ...],
    ) -> None:
        """Commit a step: update the module, trace, history and dead handles. names: of the loops and blocks of the
        arguments. facts: what was proved."""
        number, previous = len(self.trace.insts) + 1, self.version
        printer = CallPrinter(previous, self._values, names)
        call, lost = printer.short(instruction.name, instruction.arguments), ()
        if version is not previous:
            lost = self._dead.record(previous, version, f"step {number}, {call}", list(handles_in(instruction.outputs)))
            self.version = version
        before_after = previous, version
        self.trace.insts.append(instruction)
        if decision is not None:
            self.trace.decisions[instruction] = decision
        spent = 1e3 * (perf_counter() - user.start)
        reasons = () if instruction.kind.is_pure else tuple(self.reasons)
        self.reasons = self.reasons[len(reasons) :]
        self.history.append(
            HistoryEntry(
                number,
                call,
                user.location,
                ms=spent,
                instruction=instruction,
                decision=decision,
                versions=before_after,
                random=user.random,
                first=user.first,
                lost=lost,
                facts=facts,
                reasons=reasons,
            )
        )

    def _run(self, primitive: Primitive, arguments: dict[str, object], names: dict[int, str]) -> object:
        frozen = nullcontext() if primitive.samples else freeze_modules(self.version.query_cache())
        with StepJournal(self.version), frozen:  # sampling a location edits copies
            return self._run_with(primitive, self._call(primitive, arguments, self.version, names))

    def _call(
        self, primitive: Primitive, arguments: dict[str, object], version: Version, names: dict[int, str]
    ) -> dict[str, Any]:
        """The arguments that a primitive takes, of those of a call; and the names of the loops and blocks in them."""
        call = {k: self._argument(primitive, k, v, version) for k, v in arguments.items()}
        names.update((view.id, name_in_call(view)) for view in _views_in(call.values()))
        return call

    def _run_with(self, primitive: Primitive, call: dict[str, Any]) -> object:
        many = primitive.variadic
        positional = call.pop(many) if many else ()
        parameters = primitive.parameters.items()
        call |= {
            k: Choices(self.random, self.decider, set(self.names.values()))
            for k, p in parameters
            if p.annotation is Choices
        }
        if not primitive.pure and primitive.moves != "nothing":
            check_data_loops(primitive.name, [v for v in (*call.values(), *positional) if isinstance(v, View)])
        return primitive.run(*positional, **call)

    def rank(self, index_map: object, block: object, buffer: object = None) -> int | None:
        with enter_context():
            return rank_of(self.module, index_map, block, buffer)

    def _raise(self, name: str, arguments: dict[str, object], error: Exception) -> NoReturn:
        call = CallPrinter(self.version, self._values).short(name, arguments)
        provable = not isinstance(error, NotProvable) and getattr(error, "provable", True)
        reason = getattr(error, "reason", None) or getattr(error, "message", None) or str(error)
        if isinstance(error, VerifyError):
            reason = f"the result {'would' if provable else 'may'} violate the verifier rule '{error.rule}': {reason}"
        if step_error(error) is InternalError:
            reason = f"a fault in the primitive, {type(error).__name__}: {reason}"
        culprit = getattr(error, "culprit", None)
        if culprit is None and isinstance(error, VerifyError):
            culprit = error.op_id
        culprit = self._shown_culprit(culprit, arguments)
        fix, example = getattr(error, "fix", ""), getattr(error, "counterexample", None)
        text = refusal_text(call, reason, self.version, culprit, self._detail, provable, fix)
        refusal = step_error(error)(reason, culprit, provable, text, example, fix)
        refusal.call = call
        refusal.unexpected = not isinstance(error, TirError)
        raise refusal from (error if self._debug or refusal.unexpected else None)

    def _shown_culprit(self, culprit: object, arguments: dict[str, object]) -> int | None:
        """The id of the op to mark in the program before the step: the culprit, else the first handle argument."""
        number = culprit_id(culprit)
        handle_ids = [h.id for h in handles_in(list(arguments.values())) if not isinstance(h, ExprHandle)]
        candidates = (n for n in (number, *handle_ids) if n is not None)
        return next((n for n in candidates if n in self.version), None)

    def take_back(self, count: int) -> None:
        """Undo all steps of the history from index `count` on."""
        gone = self.history[count:]
        steps = {e.instruction for e in gone}
        self.trace.insts[:] = [i for i in self.trace.insts if i not in steps]
        self.trace.decisions = {i: d for i, d in self.trace.decisions.items() if i not in steps}
        self.names = {i: n for i, n in self.names.items() if i not in steps}
        for entry in gone:
            self._dead.forget(entry.lost)
            for handle in handles_in(entry.instruction.outputs):
                self._known.discard(handle.serial)
                self._values.pop(handle.serial, None)
                self._undone[handle.serial] = f"step {entry.number}, {entry.call}, which returned it, was undone"
        self.version, self.random.state = gone[0].versions[0], gone[0].random
        del self.history[count:]
        self.refused = [r for r in self.refused if r.after <= count]

    # --- arguments ----------------------------------------------------------------------------------------------------

    def _resolve_names(self, primitive: Primitive, key: str, value: Any) -> object:
        """Resolve block names to handles, by `get_block` steps, and functions to their names."""
        if primitive.parameters[key].annotation is Func:
            return working_function(funcs(self.module), value).name
        if isinstance(value, BlockName):
            return self.apply("get_block", str(value), self.working)
        if is_list(value):
            return type(value)(self._resolve_names(primitive, key, v) for v in value)
        return value


def _location(source_line: tuple[str, int] | None) -> ir.Location | None:
    return ir.Location.file(source_line[0], source_line[1], 1, context()) if source_line else None


def _views_in(values: Iterable[object]) -> Iterator[View]:
    """The views in arguments, however nested."""
    for value in values:
        if isinstance(value, View):
            yield value
        elif is_list(value):
            yield from _views_in(value)
        elif is_dict(value):
            yield from _views_in(value.values())


def _flat(outputs: Any) -> Iterator[Handle | None]:
    """The results of a step as a flat sequence; None is a factor to be inferred."""
    if is_list(outputs):
        for output in outputs:
            yield from _flat(output) if output is not None else [None]
    elif outputs is not None:
        yield outputs
