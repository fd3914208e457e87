"""The trace of a schedule: its steps and the choices its sampling steps made; prints as Python, replays anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tir_mlir.schedule.trace import json_text, python_text, replay
from tir_mlir.schedule.trace.instruction import Instruction
from tir_mlir.schedule.trace.replay import DecisionProvider, HasExecutor, StepRunner

_POSTPROC = "enter_postproc"


class Trace:
    """Steps in order, and the decisions of those that sample."""

    def __init__(self, insts: Iterable[Instruction] = (), decisions: Mapping[Instruction, Any] | None = None):
        self.insts: list[Instruction] = list(insts)
        self.decisions: dict[Instruction, Any] = dict(decisions or {})

    @property
    def instructions(self) -> list[Instruction]:
        return self.insts

    def __len__(self) -> int:
        return len(self.insts)

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.insts)

    # --- editing ------------------------------------------------------------------------------------------------------

    def get_decision(self, inst: Instruction) -> Any:
        """What a sampling step chose; None for other steps."""
        return self.decisions.get(inst)

    def append(self, inst: Instruction, decision: Any = None) -> None:
        """Add a step at the end."""
        self.insts.append(inst)
        if decision is not None:
            self.decisions[inst] = decision

    def pop(self) -> Instruction | None:
        """Take the last step away and give it back; None when there is none."""
        if not self.insts:
            return None
        inst = self.insts.pop()
        self.decisions.pop(inst, None)
        return inst

    def copy(self) -> Trace:
        return Trace(self.insts, self.decisions)

    def with_decision(self, inst: Instruction, decision: Any, remove_postproc: bool = False) -> Trace:
        """A trace in which one sampling step makes another choice. Errors: ValueError when it is no such step."""
        if inst not in self.decisions:
            raise ValueError(f"{inst.name} is no sampling step of this trace; only those have a decision")
        steps = self._kept(remove_postproc)
        return Trace(steps, {i: decision if i is inst else d for i, d in self.decisions.items() if i in set(steps)})

    def simplified(self, remove_postproc: bool = False) -> Trace:
        """A trace without the steps that only look or sample and whose results nothing uses."""
        used: set[int] = set()
        kept: list[Instruction] = []
        for inst in reversed(self._kept(remove_postproc)):
            given = {h.serial for h in inst.outputs if h is not None}
            if inst.kind.is_pure and not given & used:
                continue
            kept.append(inst)
            used |= {h.serial for h in inst.handles()}
        kept.reverse()
        return Trace(kept, {i: self.decisions[i] for i in kept if i in self.decisions})

    def _kept(self, remove_postproc: bool) -> list[Instruction]:
        """The steps, up to post-processing when that is to go."""
        names = [i.name for i in self.insts]
        end = names.index(_POSTPROC) if remove_postproc and _POSTPROC in names else len(names)
        return self.insts[:end]

    # --- replaying ----------------------------------------------------------------------------------------------------

    def apply_to_schedule(
        self, sch: HasExecutor, remove_postproc: bool = False, decision_provider: DecisionProvider | None = None
    ) -> None:
        """Run the steps on another schedule, all of them or none.

        Sampling steps repeat their decisions, repaired where the sizes differ; `decision_provider(inst, inputs, attrs,
        decision)` may give others (None: choose anew). Errors: TraceError for a trace that does not fit, and those of
        the steps.
        """
        replay.run(self._kept(remove_postproc), self.decisions, sch.executor, decision_provider)

    def replay(self, sch: HasExecutor) -> None:
        """Run all steps on another schedule."""
        self.apply_to_schedule(sch)

    def run_on(self, executor: StepRunner) -> None:
        """Run all steps on the executor of a schedule."""
        replay.run(self.insts, self.decisions, executor, None)

    # --- text ---------------------------------------------------------------------------------------------------------

    def as_python(self, remove_postproc: bool = False) -> str:
        """`def apply_trace(sch): ...`: run it on a fresh schedule of the same module for the same result."""
        return python_text.python_text(python_text.python_lines(self._kept(remove_postproc), self.decisions))

    def as_json(self, remove_postproc: bool = False) -> list[Any]:
        """`[[[kind, inputs, attrs, outputs], ...], [[index, decision], ...]]`, as TVM writes traces."""
        return json_text.encoded(self._kept(remove_postproc), self.decisions)

    @staticmethod
    def from_json(json_obj: Any) -> Trace:
        """The trace that `as_json` wrote, as an object or as text. Errors: TraceError with the place."""
        return Trace(*json_text.decoded(json_obj))

    @staticmethod
    def apply_json_to_schedule(json_obj: Any, sch: HasExecutor) -> None:
        """Read a trace and run it on a schedule, all of it or nothing."""
        Trace.from_json(json_obj).apply_to_schedule(sch)

    def show(self, style: str | None = None, black_format: bool | None = None) -> None:
        """Print the trace as Python, in colour where that can be shown."""
        from tir_mlir.script.display import show

        _ = style, black_format  # TVM's; ours is always in order
        show(self.as_python())

    def _repr_html_(self) -> str:
        from tir_mlir.script.display import html

        return html(self.as_python())

    def __str__(self) -> str:
        return self.as_python()

    __repr__ = __str__
