"""Loads that LLVM moves before the condition they stood under: their value is thrown away where the condition does
not hold.

`if p: x += S[0]` -> `ld.shared y, [S]; add z, x, y; selp x, z, x, p`. Such a load is harmless in the threads that
throw the value away, so it counts as a read in the others only: it is checked at the choice.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from tir_mlir.ptx.parser import Instruction, Kernel

LONGEST_CHAIN = 64
"""Instructions between a load and its choices; a load with more of them is an ordinary one."""
Kind = Callable[[Instruction], str]
"""An instruction -> "pure" (computes a register from others), "memory" (loads and stores), "control" or ""."""


@dataclass(frozen=True)
class Choice:
    """Where the value of a load is chosen: it is used in the lanes for which one of the predicates has its value.
    `last`: the position of the last of these instructions."""

    last: int
    predicates: tuple[tuple[str, bool], ...]


class _Uses:
    """The instructions of a kernel that read each register, and the end of the straight code that each one stands
    in."""

    def __init__(self, kernel: Kernel, kind: Kind):
        self.kernel, self.kind = kernel, kind
        self.readers: dict[str, list[int]] = defaultdict(list)
        starts = set(kernel.labels.values())
        self.ends = [0] * len(kernel.instructions)
        self.choices: list[int] = []
        end = len(kernel.instructions)
        for position in reversed(range(len(kernel.instructions))):
            ins = kernel.instructions[position]
            if kind(ins) in ("control", ""):
                end = position
            self.ends[position] = end
            if position in starts:
                end = position
            for register in self.sources(ins):
                self.readers[register].append(position)
            if _is_choice(ins):
                self.choices.append(position)

    def sources(self, ins: Instruction) -> set[str]:
        """The registers that an instruction reads."""
        operands = ins.operands if self.kind(ins) != "pure" and ins.parts[0] != "ld" else ins.operands[1:]
        named = {name for operand in operands for name in re.findall(r"[%\w$@]+", operand)}
        return {n for n in named if n in self.kernel.registers} | ({ins.guard} if ins.guard else set())


def _is_choice(ins: Instruction) -> bool:
    return ins.parts[0] == "selp" or ins.parts[0] in ("and", "or") and ins.parts[-1] == "pred"


def speculative_loads(kernel: Kernel, kind: Kind) -> dict[int, Choice]:
    """The position of each load whose value only reaches choices -> where it is chosen."""
    if not any(_is_choice(ins) for ins in kernel.instructions):
        return {}
    uses = _Uses(kernel, kind)
    loads = {}
    for position, ins in enumerate(kernel.instructions):
        if ins.parts[0] == "ld" and any(position < c < uses.ends[position] for c in uses.choices):
            choice = _followed(uses, position)
            if choice is not None:
                loads[position] = choice
    return loads


def _followed(uses: _Uses, load: int) -> Choice | None:
    """The choices that the value of a load reaches; None: it is used in another way too."""
    names = re.findall(r"[%\w$@]+", uses.kernel.instructions[load].operands[0])
    reached, queue = set(names), list(names)
    predicates: dict[int, tuple[str, bool]] = {}
    steps = 0
    while queue:
        register = queue.pop()
        for position in uses.readers[register]:
            steps += 1
            ins = uses.kernel.instructions[position]
            if not load < position < uses.ends[load] or ins.guard or steps > LONGEST_CHAIN:
                return None
            predicate = _chosen_by(ins, reached)
            if predicate is not None:
                predicates[position] = predicate
            elif uses.kind(ins) == "pure" and ins.operands[0] not in reached:
                if "|" in ins.operands[0] or ins.operands[0] in names:
                    return None
                reached.add(ins.operands[0])
                queue.append(ins.operands[0])
            elif uses.kind(ins) != "pure":
                return None
    if not predicates or any(not _chosen_by(uses.kernel.instructions[p], reached) for p in predicates):
        return None
    return Choice(max(predicates), tuple(predicates.values()))


def _chosen_by(ins: Instruction, reached: set[str]) -> tuple[str, bool] | None:
    """The predicate, and its value, with which an instruction takes the reached one of its operands."""
    if not _is_choice(ins):
        return None
    first, second = ins.operands[1:3]
    if (first in reached) == (second in reached):
        return None
    if ins.parts[0] == "selp":
        return None if ins.operands[3] in reached else (ins.operands[3], first in reached)
    return second if first in reached else first, ins.parts[0] == "and"
