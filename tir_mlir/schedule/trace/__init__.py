"""The trace of a schedule: its steps and sampling decisions. Prints as Python or JSON, replays on other schedules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tir_mlir.dialect.diagnostics import TraceError, short_repr
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.handles import is_other
from tir_mlir.schedule.trace import json_text, python_text, replay
from tir_mlir.schedule.trace.instruction import Instruction, check_step
from tir_mlir.schedule.trace.replay import DecisionProvider, HasExecutor, StepRunner

_POSTPROC = "enter_postproc"


class Trace:
    """The steps of a schedule in order, and the decisions of its sampling steps."""

    def __init__(self, insts: Iterable[Instruction] = (), decisions: Mapping[Instruction, object] | None = None):
        """decisions: of sampling steps. Errors: TraceError for what is not a step, and for decisions of other steps."""
        self.insts: list[Instruction] = []
        self.decisions: dict[Instruction, object] = {}
        if is_other(insts, Iterable) or is_other(decisions, Mapping, type(None)):
            raise TraceError("a trace is made of a list of steps and a dictionary of decisions by step")
        for inst in insts:
            self.append(inst)
        for inst, decision in (decisions or {}).items():
            self._check_decision(inst)
            self.decisions[inst] = decision

    @staticmethod
    def _from_steps(insts: Iterable[Instruction], decisions: Mapping[Instruction, object]) -> Trace:
        """Of steps and decisions of a trace, which are checked."""
        trace = Trace()
        trace.insts, trace.decisions = list(insts), dict(decisions)
        return trace

    @property
    def instructions(self) -> list[Instruction]:
        return self.insts

    def __len__(self) -> int:
        return len(self.insts)

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.insts)

    # --- editing ------------------------------------------------------------------------------------------------------

    def get_decision(self, inst: Instruction) -> object:
        """The decision of a sampling step; None for other steps."""
        return self.decisions.get(inst) if not is_other(inst, Instruction) else None

    def append(self, inst: Instruction, decision: object = None) -> None:
        """Append a step. Errors: TraceError for what is not a step, and for a decision of one that does not sample."""
        check_step(inst, len(self.insts) + 1)
        self.insts.append(inst)
        if decision is not None:
            try:
                self._check_decision(inst)
            except TraceError:
                self.insts.pop()
                raise
            self.decisions[inst] = decision

    def _check_decision(self, inst: Any) -> None:
        if not any(inst is step for step in self.insts):
            raise TraceError(f"a decision is of {short_repr(inst)}, which is not a step of the trace")
        if not PRIMITIVES[inst.name].samples:
            raise TraceError(f"{inst.name} is not a sampling step, so it has no decision")

    def pop(self) -> Instruction | None:
        """Remove the last step and return it; None if the trace is empty."""
        if not self.insts:
            return None
        inst = self.insts.pop()
        self.decisions.pop(inst, None)
        return inst

    def copy(self) -> Trace:
        return Trace._from_steps(self.insts, self.decisions)

    def with_decision(self, inst: Instruction, decision: object, remove_postproc: bool = False) -> Trace:
        """A copy with another decision for one sampling step. Errors: TraceError if `inst` is not one of this trace."""
        if is_other(inst, Instruction) or inst not in self.decisions:
            name = inst.name if not is_other(inst, Instruction) else short_repr(inst)
            raise TraceError(f"{name} is not a sampling step of this trace, so it has no decision")
        steps = self._steps_before_postproc(remove_postproc)
        return Trace._from_steps(
            steps, {i: decision if i is inst else d for i, d in self.decisions.items() if i in set(steps)}
        )

    def simplified(self, remove_postproc: bool = False) -> Trace:
        """A copy without the lookups and sampling steps whose results are unused."""
        used_serials: set[int] = set()
        insts: list[Instruction] = []
        for inst in reversed(self._steps_before_postproc(remove_postproc)):
            serials = {h.serial for h in inst.outputs if h is not None}
            if inst.kind.is_pure and not serials & used_serials:
                continue
            insts.append(inst)
            used_serials |= {h.serial for h in inst.handles()}
        insts.reverse()
        return Trace._from_steps(insts, {i: self.decisions[i] for i in insts if i in self.decisions})

    def _steps_before_postproc(self, remove_postproc: bool) -> list[Instruction]:
        """The steps; with `remove_postproc`, those before `enter_postproc`."""
        names = [i.name for i in self.insts]
        end = names.index(_POSTPROC) if remove_postproc and _POSTPROC in names else len(names)
        return self.insts[:end]

    # --- replaying ----------------------------------------------------------------------------------------------------

    def apply_to_schedule(
        self, sch: HasExecutor, remove_postproc: bool = False, decision_provider: DecisionProvider | None = None
    ) -> None:
        """Replay the steps on another schedule. An error leaves that schedule unchanged.

        Sampling steps repeat their decisions, adjusted if the sizes differ. `decision_provider(inst, inputs, attrs,
        decision)` may return others, or None to sample again. Errors: TraceError for a trace that does not match the
        program, and those of the steps.
        """
        if not hasattr(sch, "executor"):
            raise TraceError(f"a trace is replayed on a schedule, not on {short_repr(sch)}; fix: Schedule(module)")
        if not (decision_provider is None or callable(decision_provider)):
            raise TraceError(f"decision_provider is {short_repr(decision_provider)}; fix: a function or None")
        replay.run(self._steps_before_postproc(remove_postproc), self.decisions, sch.executor, decision_provider)

    def replay(self, sch: HasExecutor) -> None:
        """Replay all steps on another schedule."""
        self.apply_to_schedule(sch)

    def run_on(self, executor: StepRunner) -> None:
        """Replay all steps on an executor."""
        replay.run(self.insts, self.decisions, executor, None)

    # --- text ---------------------------------------------------------------------------------------------------------

    def as_python(self, remove_postproc: bool = False) -> str:
        """The trace as a Python function `apply_trace(sch)`, to be called on a new schedule of the same module."""
        return python_text.python_text(
            python_text.python_lines(self._steps_before_postproc(remove_postproc), self.decisions)
        )

    def as_json(self, remove_postproc: bool = False) -> list[object]:
        """The trace in the JSON format of TVM: `[[[kind, inputs, attrs, outputs], ...], [[index, decision], ...]]`."""
        return json_text.encode_trace(self._steps_before_postproc(remove_postproc), self.decisions)

    @staticmethod
    def from_json(json_obj: object) -> Trace:
        """Read a trace written by `as_json`, from an object or text. Errors: TraceError, which names the step."""
        return Trace(*json_text.decode_trace(json_obj))

    @staticmethod
    def apply_json_to_schedule(json_obj: object, sch: HasExecutor) -> None:
        """Read a trace and replay it on a schedule. An error leaves the schedule unchanged."""
        Trace.from_json(json_obj).apply_to_schedule(sch)

    def show(self, style: str | None = None, black_format: bool | None = None) -> None:
        """Print the trace as `str` gives it, in color if the terminal supports it."""
        from tir_mlir.script.display import show

        _ = style, black_format  # accepted for compatibility with TVM
        show(str(self))

    def _repr_html_(self) -> str:
        from tir_mlir.script.display import html

        return html(str(self))

    def __str__(self) -> str:
        """As `as_python`, with texts of thousands of characters, such as imported LLVM IR, cut."""
        lines = [python_text.shorten_arguments(step) for step in self.insts]
        return python_text.python_text(python_text.python_lines(lines, self.decisions))

    __repr__ = __str__
