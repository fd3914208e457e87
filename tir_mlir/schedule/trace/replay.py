"""Replay of a trace on another schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from tir_mlir.dialect.diagnostics import TraceError
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.symbolic import Formula
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.handles import Handle, is_dict, is_list
from tir_mlir.schedule.trace.instruction import DECISION, Instruction
from tir_mlir.schedule.trace.python_text import unknown

T = TypeVar("T")
DecisionProvider = Callable[[Instruction, list[object], list[object], object], object]


class StepRunner(Protocol):
    """The part of an executor that replay needs."""

    def apply(self, name: str, /, *args: object, **kwargs: object) -> object: ...

    def all_or_nothing(self, steps: Callable[[], T], /) -> T: ...


class HasExecutor(Protocol):
    """Anything with an executor: a schedule."""

    @property
    def executor(self) -> StepRunner: ...


def run(
    steps: Sequence[Instruction],
    decisions: Mapping[Instruction, object],
    target: StepRunner,
    provider: DecisionProvider | None,
) -> None:
    """Replay steps on a schedule. An error leaves the schedule unchanged."""
    handle_map = HandleMap()

    def replay_steps() -> None:
        for number, step in enumerate(steps):
            where = f"step {number + 1} of the trace, {step.name}"
            if step.name not in PRIMITIVES:
                raise TraceError(f"{where}: unknown primitive")
            arguments: dict[str, Any] = {k: handle_map.map_handles(v, where) for k, v in step.arguments.items()}
            if PRIMITIVES[step.name].samples:
                arguments[DECISION] = _decision(step, arguments, decisions.get(step), provider)
            positional = arguments.pop(step.variadic) if step.variadic else ()
            handle_map.learn(step, target.apply(step.name, *positional, **arguments), where)

    target.all_or_nothing(replay_steps)


def _decision(
    step: Instruction, arguments: dict[str, object], recorded: object, provider: DecisionProvider | None
) -> object:
    if provider is None:
        return recorded
    replayed = Instruction(step.name, arguments, step.outputs)
    return provider(step, replayed.inputs, replayed.attrs, recorded)


class HandleMap:
    """Maps the handles of a trace to those of the schedule that it is replayed on."""

    def __init__(self) -> None:
        self._by_serial: dict[int, object] = {}
        self._latest: dict[tuple[int, int], object] = {}

    def learn(self, step: Instruction, result: object, where: str) -> None:
        """Map the outputs of a step to its results. Errors: TraceError if their numbers differ."""
        got = list(result) if is_list(result) else [] if result is None else [result]
        if len(got) != len(step.outputs):
            raise TraceError(
                f"{where}, returns {len(got)} results but returned {len(step.outputs)} when it was traced; the programs"
                " differ in structure"
            )
        for handle, value in zip(step.outputs, got, strict=True):
            if handle is not None:
                self._by_serial[handle.serial] = self._latest[handle.key] = value

    def map_handles(self, value: object, where: str) -> object:
        """A value with its handles mapped."""
        if isinstance(value, Handle):
            if value.serial not in self._by_serial and value.key not in self._latest:
                raise TraceError(f"{where}, {unknown(value)}")
            return self._by_serial[value.serial] if value.serial in self._by_serial else self._latest[value.key]
        if is_list(value):
            return type(value)(self.map_handles(v, where) for v in value)
        if isinstance(value, (Formula, IndexMap)):
            if any(self.map_handles(side, where) is None for side in value.sides()):
                raise TraceError(f"{where}, computes with a factor that is to be inferred")
            return value.with_sides(lambda side: self.map_handles(side, where))
        if is_dict(value):
            return {k: self.map_handles(v, where) for k, v in value.items()}
        return value
