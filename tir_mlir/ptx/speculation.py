"""Loads that LLVM moves before the condition they stood under: threads for which it does not hold drop the value.

`if p: x += S[0]` -> `ld.shared y, [S]; add z, x, y; selp x, z, x, p`, or a load before a branch. Such a load is
harmless in the threads that drop the value, so it is not a read there. A launch that finds a fault in a load runs once
more without checks, to see which threads use the value in what memory, branches or other threads see (`Uses`), and then
again with this load checked in those threads only (`Checked`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.parser import PtxInstruction
from tir_mlir.ptx.registers import Lanes

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine

Execution = tuple[int, int, int]
"""A load as a thread executes it: the position of the load, the thread in the grid, the how manieth time."""
_WITH_RESULT = frozenset("ld ldu atom shfl vote match redux activemask elect ldmatrix movmatrix mma".split())
"""Instructions that are not pure whose first operand is a result."""
_WMMA_RESULTS = {("wmma", "load"), ("wmma", "mma")}


@dataclass
class CheckedLoads:
    """The loads that a launch checks in some threads only: those that `used` names."""

    loads: frozenset[int] = frozenset()
    used: set[Execution] = field(default_factory=set)

    def execution_filter(self, machine: Machine, position: int) -> Callable[[np.ndarray], np.ndarray] | None:
        """A function of the lanes of the next execution of a load: which of them use its value. None: all."""
        if position not in self.loads:
            return None
        count = np.zeros(machine.lanes, np.int64)
        first = machine.first_block * machine.width

        def uses(lanes: np.ndarray) -> np.ndarray:
            numbers = zip((lanes + first).tolist(), count[lanes].tolist(), strict=False)
            count[lanes] += 1
            return np.array([(position, lane, n) in self.used for lane, n in numbers], np.bool_)

        return uses


@dataclass(frozen=True, eq=False)
class _Origin:
    """The executions of loads that a value depends on: one, or those of other values."""

    execution: Execution | None
    parts: tuple[_Origin, ...] = ()


class UseTracker:
    """Follows the values of some loads through registers while a launch runs. `used`: the executions whose value
    reached more than registers."""

    def __init__(self, loads: frozenset[int]):
        self.loads = loads
        self.used: set[Execution] = set()

    def start(self, machine: Machine) -> None:
        """A batch of blocks runs on this machine now."""
        self.machine = machine
        self.counts = {load: np.zeros(machine.lanes, np.int64) for load in self.loads}
        self.origins: dict[str, dict[int, _Origin]] = {}
        self.seen: set[_Origin] = set()

    def observe(self, position: int, on: Lanes) -> None:
        """These lanes execute the instruction at a position."""
        if position not in self.loads and not any(self.origins.values()):
            return
        machine, ins = self.machine, self.machine.kernel.instructions[position]
        lanes = machine.own[on]
        if ins.guard is not None:
            self._use([ins.guard], lanes)
            guard = machine.registers.rows(ins.guard, "pred", ins)[lanes]
            lanes = lanes[~guard if ins.negated else guard]
        results, sources = self._split(ins)
        if machine.is_pure(ins):
            values = {lane: self._join(ins, sources, lane) for lane in self._reached_lanes(sources, lanes)}
            self._put(results, values, lanes)
            return
        self._use(sources, lanes)
        first = machine.first_block * machine.width
        if position in self.loads:
            count = self.counts[position]
            self._put(results, {k: _Origin((position, k + first, int(count[k]))) for k in lanes.tolist()}, lanes)
            count[lanes] += 1
        else:
            self._put(results, {}, lanes)

    def _split(self, ins: PtxInstruction) -> tuple[list[str], list[str]]:
        """The registers that an instruction writes, and those that it reads; one that it may do both with is read."""
        has_result = self.machine.is_pure(ins) or ins.parts[0] in _WITH_RESULT or ins.parts[:2] in _WMMA_RESULTS
        cut = 1 if has_result else 0
        return self._names(ins.operands[:cut]), self._names(ins.operands[cut:])

    def _names(self, operands: tuple[str, ...]) -> list[str]:
        registers = self.machine.kernel.registers
        return [n for o in operands for n in re.findall(r"[%\w$@]+", o) if n in registers]

    def _reached_lanes(self, sources: list[str], lanes: np.ndarray) -> Iterator[int]:
        """The lanes in which one of these registers has a followed value."""
        tables = [table for s in sources if (table := self.origins.get(s))]
        return (lane for lane in lanes.tolist() if any(lane in table for table in tables)) if tables else iter(())

    def _put(self, results: list[str], values: dict[int, _Origin | None], lanes: np.ndarray) -> None:
        """These registers have other values now; those of `values` are followed."""
        for name in results:
            table = self.origins.get(name)
            if table:
                for lane in lanes.tolist():
                    table.pop(lane, None)
            followed = {lane: origin for lane, origin in values.items() if origin is not None}
            if followed:
                self.origins.setdefault(name, {}).update(followed)

    def _join(self, ins: PtxInstruction, sources: list[str], lane: int) -> _Origin | None:
        """What the result of an instruction depends on, in a lane: of a choice, what is chosen."""
        origins = {s: self.origins[s][lane] for s in sources if lane in self.origins.get(s, ())}
        name = ins.parts[0]
        if name == "selp" and ins.operands[3] not in origins:
            chosen = ins.operands[1 if self._value(ins, ins.operands[3], "pred", lane) else 2]
            origins = {s: o for s, o in origins.items() if s in self._names((chosen,))}
        elif name in ("and", "or"):
            for operand in ins.operands[1:3]:
                if operand not in origins and self._decides(ins, operand, lane):
                    return None
        parts = tuple(dict.fromkeys(origins.values()))
        return parts[0] if len(parts) == 1 else _Origin(None, parts) if parts else None

    def _decides(self, ins: PtxInstruction, operand: str, lane: int) -> bool:
        """Whether an operand alone decides the result: 0 of `and`, all ones of `or`."""
        value = self._value(ins, operand, ins.parts[-1], lane)
        return not value if ins.parts[0] == "and" else bool(np.invert(value) == 0)

    def _value(self, ins: PtxInstruction, operand: str, type_: str, lane: int) -> np.generic:
        return self.machine.registers.read(operand, type_, ins)(np.array([lane]))[0]

    def _use(self, names: list[str], lanes: np.ndarray) -> None:
        """These registers reach memory, a branch or another thread."""
        for name in names:
            table = self.origins.get(name)
            queue = [table[lane] for lane in lanes.tolist() if lane in table] if table else []
            while queue:
                origin = queue.pop()
                if origin not in self.seen:
                    self.seen.add(origin)
                    queue += origin.parts
                    if origin.execution is not None:
                        self.used.add(origin.execution)
