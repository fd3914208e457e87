"""The record of a pair: its program, its steps, the programs after them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fuzzing.pairs.arrays import Arrays
from fuzzing.programs import Sample
from tir_mlir import Schedule
from tir_mlir.schedule.handles import BlockHandle, LoopHandle
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.script.module import IRModule


@dataclass(frozen=True)
class State:
    """The program after a step, with its inputs and expected outputs."""

    step: str
    module: IRModule
    arrays: Arrays
    expected: Arrays


@dataclass
class Story:
    """A program, its states, the last step tried; counts by (what, of what); whether a step is for another CPU, whose
    instructions this machine may not have."""

    sample: Sample
    states: list[State] = field(default_factory=list)
    last: str = ""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    foreign: bool = False

    @property
    def now(self) -> State:
        return self.states[-1]

    def families(self, sch: Schedule, target: Any) -> list[str]:
        """Return the families of the stages that a step's block, or the blocks in its loop, belong to."""
        target = target[0] if isinstance(target, list) and target else target
        if not isinstance(target, BlockHandle | LoopHandle):
            return []
        held = [target] if isinstance(target, BlockHandle) else sch.get_child_blocks(target)
        names = [info.name for b in held if isinstance(info := sch.get(b), BlockInfo)]
        return list(dict.fromkeys(f for name in names for f in self.sample.families(name)))

    def applied(self, name: str) -> int:
        return self.counts["applied", name]

    def text(self, problem: str = "") -> str:
        """Format the problem, the program, the applied steps, the last step tried, and the program before it."""
        steps = [s.step for s in self.states[1:]]
        head = [problem] if problem else []
        tail = [f"last: {self.last}"] if self.last else []
        if self.states and len(self.states) > 1:
            tail.append(self.now.module.script())
        return "\n".join([*head, self.sample.text, *steps, *tail])
