"""Running the steps of a trace on another schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from tir_mlir.dialect.diagnostics import TraceError
from tir_mlir.dialect.index_maps import Formula
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.handles import Handle
from tir_mlir.schedule.trace.instruction import DECISION, Instruction

T = TypeVar("T")
DecisionProvider = Callable[[Instruction, list[Any], list[Any], Any], Any]


class StepRunner(Protocol):
    """What replaying asks of the executor of a schedule."""

    def apply(self, name: str, /, *args: Any, **kwargs: Any) -> Any: ...

    def all_or_nothing(self, steps: Callable[[], T], /) -> T: ...


class HasExecutor(Protocol):
    """A schedule."""

    @property
    def executor(self) -> StepRunner: ...


def run(
    steps: Sequence[Instruction],
    decisions: Mapping[Instruction, Any],
    target: StepRunner,
    provider: DecisionProvider | None,
) -> None:
    """Run steps on a schedule, all of them or none: an error leaves it as it was."""
    known = Translation()

    def each() -> None:
        for number, step in enumerate(steps):
            where = f"step {number + 1} of the trace, {step.name}"
            if step.name not in PRIMITIVES:
                raise TraceError(f"{where}: there is no such primitive here")
            arguments = {k: known.of(v, where) for k, v in step.arguments.items()}
            if PRIMITIVES[step.name].samples:
                arguments[DECISION] = _decision(step, arguments, decisions.get(step), provider)
            positional = arguments.pop(step.variadic) if step.variadic else ()
            known.learn(step, target.apply(step.name, *positional, **arguments), where)

    target.all_or_nothing(each)


def _decision(step: Instruction, arguments: dict[str, Any], made: Any, provider: DecisionProvider | None) -> Any:
    if provider is None:
        return made
    here = Instruction(step.name, arguments, step.outputs)
    return provider(step, here.inputs, here.attrs, made)


class Translation:
    """What the handles of a trace are in the schedule it runs on."""

    def __init__(self) -> None:
        self._by_serial: dict[int, Any] = {}
        self._latest: dict[Handle, Any] = {}

    def learn(self, step: Instruction, result: Any, where: str) -> None:
        """Take note of what a step gave. Errors: TraceError when it gave more or less than when it was traced."""
        got = list(result) if isinstance(result, (list, tuple)) else [] if result is None else [result]
        if len(got) != len(step.outputs):
            raise TraceError(
                f"{where}, gives {len(got)} results here and gave {len(step.outputs)} when it was traced; the programs"
                " differ in structure"
            )
        for handle, value in zip(step.outputs, got, strict=True):
            if handle is not None:
                self._by_serial[handle.serial] = self._latest[handle] = value

    def of(self, value: Any, where: str) -> Any:
        """A value with its handles translated."""
        if isinstance(value, Handle):
            if value.serial not in self._by_serial and value not in self._latest:
                raise TraceError(f"{where}, uses a {value.word} that no step before it gave")
            return self._by_serial[value.serial] if value.serial in self._by_serial else self._latest[value]
        if isinstance(value, (list, tuple)):
            return type(value)(self.of(v, where) for v in value)
        if isinstance(value, Formula):
            found = value.with_sides(lambda side: self.of(side, where))
            if None in found.sides():
                raise TraceError(f"{where}, computes with a factor that is left to be inferred here")
            return found
        if isinstance(value, dict):
            return {k: self.of(v, where) for k, v in value.items()}
        return value
