"""Loads that LLVM moves before the condition they stood under: threads for which it does not hold drop the value.

`if p: x += S[0]` -> `ld.shared y, [S]; add z, x, y; selp x, z, x, p`, or a load before a branch. Such a load is
harmless in the threads that drop the value, so it is not a read there; nor is one of local memory whose value is only
put back there, as where a sum that a condition guards is kept in a register during a loop. A launch that finds a fault
in a load runs once more without checks, to see which threads use the value in what other memory, branches or other
threads see (`UseTracker`), and then again with this load checked in those threads only (`CheckedLoads`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.instructions.loads import space_of
from tir_mlir.ptx.instructions.rows import types_of
from tir_mlir.ptx.parser import PtxInstruction
from tir_mlir.ptx.registers import Lanes, vector
from tir_mlir.ptx.types import size_of

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine

Execution = tuple[int, int, int, int]
"""An element as a thread loads it: the position of the load, the thread in the grid, how often it did so before, and
the index of the element."""
_WITH_RESULT = frozenset("ld ldu atom shfl vote match redux activemask elect ldmatrix movmatrix mma".split())
"""Instructions that are not pure whose first operand is a result."""
_WMMA_RESULTS = {("wmma", "load"), ("wmma", "mma")}


@dataclass
class CheckedLoads:
    """The loads that a launch checks in some threads only: those that `used` names."""

    loads: frozenset[int] = frozenset()
    used: set[Execution] = field(default_factory=set)

    def execution_filter(
        self, machine: Machine, position: int, elements: int
    ) -> Callable[[np.ndarray], np.ndarray] | None:
        """A function of the lanes of the next execution of a load: which elements each of them uses, [lane, element].
        None: all."""
        if position not in self.loads:
            return None
        count = np.zeros(machine.lanes, np.int64)
        first = machine.first_block * machine.width

        def uses(lanes: np.ndarray) -> np.ndarray:
            numbers = zip((lanes + first).tolist(), count[lanes].tolist(), strict=False)
            count[lanes] += 1
            rows = [[(position, lane, n, k) in self.used for k in range(elements)] for lane, n in numbers]
            return np.array(rows, np.bool_).reshape(len(lanes), elements)

        return uses


@dataclass(frozen=True, eq=False)
class _Origin:
    """The executions of loads that a value depends on: one, or those of other values."""

    execution: Execution | None = None
    parts: tuple[_Origin, ...] = ()


def _join(parts: Iterable[_Origin]) -> _Origin | None:
    """What a value depends on that depends on all of these."""
    parts = tuple(dict.fromkeys(parts))
    return parts[0] if len(parts) == 1 else _Origin(parts=parts) if parts else None


class UseTracker:
    """Follows the values of some loads through registers and local memory while a launch runs. `used`: the executions
    whose value reached more than these."""

    def __init__(self, loads: frozenset[int]):
        self.loads = loads
        self.used: set[Execution] = set()

    def start(self, machine: Machine) -> None:
        """A batch of blocks runs on this machine now."""
        self.machine = machine
        self.counts = {load: np.zeros(machine.lanes, np.int64) for load in self.loads}
        self.origins: dict[str, dict[int, _Origin]] = {}
        self.local: dict[tuple[int, int], _Origin] = {}  # by lane and byte
        self.seen: set[_Origin] = set()

    def observe(self, position: int, on: Lanes) -> None:
        """These lanes execute the instruction at a position."""
        if position not in self.loads and not self.local and not any(self.origins.values()):
            return
        machine, ins = self.machine, self.machine.kernel.instructions[position]
        lanes = machine.own[on]
        if ins.guard is not None:
            self._use([ins.guard], lanes)
            guard = machine.registers.rows(ins.guard, "pred", ins)[lanes]
            lanes = lanes[~guard if ins.negated else guard]
        results, sources = self._split(ins)
        if machine.is_pure(ins):
            values = {lane: self._result_origin(ins, sources, lane) for lane in self._reached_lanes(sources, lanes)}
            self._put(results, values, lanes)
            return
        if ins.parts[0] == "st" and space_of(ins) == "local":
            self._store(ins, lanes)
            return
        self._use(sources, lanes)
        if ins.parts[0] in ("ld", "ldu"):
            self._load(position, ins, lanes)
        else:
            self._put(results, {}, lanes)

    def _store(self, ins: PtxInstruction, lanes: np.ndarray) -> None:
        """Bytes of local memory depend on what is stored there."""
        address, values = ins.operands
        self._use(self._names((address,)), lanes)
        for name, spans in self._local_spans(ins, address, values, lanes):
            table = self.origins.get(name, {})
            for lane, span in spans.items():
                for byte in span:
                    self.local.pop((lane, byte), None)
                    if lane in table:
                        self.local[lane, byte] = table[lane]

    def _load(self, position: int, ins: PtxInstruction, lanes: np.ndarray) -> None:
        """Registers depend on the execution of a load that is followed, and on bytes of local memory."""
        result, address = ins.operands[:2]
        first, counts = self.machine.first_block * self.machine.width, self.counts.get(position)
        if space_of(ins) is None and "param" not in ins.name:  # any memory: which bytes it loads is not asked
            self._use_origins(origin for (lane, _), origin in self.local.items() if lane in lanes)
        for k, (name, spans) in enumerate(self._local_spans(ins, address, result, lanes)):
            values: dict[int, _Origin | None] = {}
            for lane, span in spans.items():
                origins = [self.local[lane, byte] for byte in span if (lane, byte) in self.local]
                if counts is not None:
                    origins.append(_Origin((position, lane + first, int(counts[lane]), k)))
                values[lane] = _join(origins)
            self._put([name], values, lanes)
        if counts is not None:
            counts[lanes] += 1

    def _local_spans(
        self, ins: PtxInstruction, address: str, operand: str, lanes: np.ndarray
    ) -> Iterator[tuple[str, dict[int, range]]]:
        """The registers of a load or store, each with the bytes of local memory of its element by lane: none of another
        memory."""
        numbers = lanes.tolist()
        size, starts = 0, [0] * len(numbers)
        if space_of(ins) == "local":
            size = size_of(types_of(ins)[-1])
            starts = self.machine.registers.address(address, ins)(lanes).tolist()
        for k, name in enumerate(vector(operand)):
            spans = [range(start + k * size, start + (k + 1) * size) for start in starts]
            yield name, dict(zip(numbers, spans, strict=True))

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

    def _result_origin(self, ins: PtxInstruction, sources: list[str], lane: int) -> _Origin | None:
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
        return _join(origins.values())

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
            if table:
                self._use_origins(table[lane] for lane in lanes.tolist() if lane in table)

    def _use_origins(self, origins: Iterable[_Origin]) -> None:
        """These values, and what they depend on, reach memory, a branch or another thread."""
        queue = list(origins)
        while queue:
            origin = queue.pop()
            if origin not in self.seen:
                self.seen.add(origin)
                queue += origin.parts
                if origin.execution is not None:
                    self.used.add(origin.execution)
