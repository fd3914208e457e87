"""What instructions of several units use together: banks of memories, and the memory of the CPU; how long each holds
them, and how long it occupies its unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import MemorySpace
from tir_mlir.accel.program import MachineBuffer
from tir_mlir.accel.timing.accesses import tile_spans, used_bytes
from tir_mlir.accel.timing.stream import Executions
from tir_mlir.dialect.diagnostics import MachineError

if TYPE_CHECKING:
    from tir_mlir.accel.machine import Machine
    from tir_mlir.accel.timing.stream import Integers

KINDS = ("a bank", "the memory of the CPU")
_BANK, _HOST = range(2)


@dataclass(frozen=True)
class Resource:
    """A resource that `ports` instructions use at once."""

    name: str
    ports: int
    kind: int
    """An index of KINDS."""
    refuses: bool
    """Whether hardware has no way to wait for it."""
    rows: int = 0
    """The rows that follow each other in a bank; 0 where rows go round the banks."""


@dataclass(eq=False)
class Resources:
    """The resources of a machine."""

    found: list[Resource]
    banks: dict[tuple[MemorySpace, int], int]
    """The first bank of the memories whose banks have few ports, by memory and core."""
    host: int | None
    """The memory of the CPU, if it limits the machine."""
    bandwidth: float
    """Bytes that it moves in a cycle."""


def find_resources(machine: Machine, cores: int) -> Resources:
    """The resources that a program on some cores uses."""
    found: list[Resource] = []
    banks: dict[tuple[MemorySpace, int], int] = {}
    for memory in machine.spaces.values():
        for core in range(cores if memory.ports else 0):
            if core and memory.is_shared:
                banks[memory, core] = banks[memory, 0]
                continue
            banks[memory, core] = len(found)
            of = f" of core {core}" if cores > 1 and not memory.is_shared else ""
            for bank in range(memory.banks):
                name = f"bank {bank} of {memory.name}{of}" if memory.banks > 1 else f"{memory.name}{of}"
                rows = memory.bank_rows if memory.banks > 1 and not memory.interleaved else 0
                found.append(Resource(name, memory.ports, _BANK, memory.refuses_conflicts, rows))
    if not machine.bandwidth:
        return Resources(found, banks, None, 0)
    return Resources([*found, Resource(KINDS[_HOST], 1, _HOST, False)], banks, len(found), machine.bandwidth)


def durations(executions: Executions) -> Integers:
    """The cycles for which an instruction occupies its unit each time, as described."""
    instruction = executions.issue.instruction
    if callable(instruction.cycles):
        return _computed_durations(instruction, executions)
    if instruction.cycles is not None:
        return np.full(executions.count, instruction.cycles, np.int64)
    if not instruction.unit.bandwidth or not instruction.tiles:
        return np.ones(executions.count, np.int64)
    moved = [used_bytes(t, executions) for t in instruction.tiles if t.memory is None]
    if not moved:
        moved = [np.maximum.reduce([used_bytes(t, executions) for t in instruction.tiles])]
    return np.ceil(sum(moved) / instruction.unit.bandwidth).astype(np.int64)


def _computed_durations(instruction: MachineInstruction, executions: Executions) -> Integers:
    names = [n.name for n in instruction.numbers]
    table = np.stack([executions.numbers[name] for name in names], 1) if names else np.zeros((executions.count, 0))
    different, which = np.unique(table, axis=0, return_inverse=True)
    cycles: list[int] = []
    for row in different.tolist():
        numbers = {
            n.name: v if n.dtype.startswith("float") else int(v) for n, v in zip(instruction.numbers, row, strict=True)
        }
        cycles.append(instruction.duration(numbers))
    return np.array(cycles, np.int64)[which.reshape(-1)]


def holds(
    executions: Executions, cycles: Integers, resources: Resources, placed: Mapping[MachineBuffer, int]
) -> tuple[Integers, Integers, Integers]:
    """The cycles for which an instruction occupies its unit each time, with conflicts of its own operands; the
    resources that it holds, a column each, -1: none; and for how long.

    Errors: MachineError for operands in one bank, where hardware cannot wait.
    """
    used = _used_banks(executions, resources, placed)
    most = np.ones(executions.count, np.int64)
    columns: list[Integers] = []
    for bank, operands in used.items():
        resource = resources.found[bank]
        if resource.refuses and (operands > resource.ports).any():
            raise _own_conflict(executions, resource, operands)
        most = np.maximum(most, -(-operands // resource.ports))
        for port in range(min(resource.ports, int(operands.max(initial=0)))):
            columns.append(np.where(operands > port, bank, -1))
    cycles = cycles * most
    if resources.host is None:
        return cycles, _join_columns(columns, executions), _join_columns([cycles] * len(columns), executions)
    moved = np.zeros(executions.count, np.int64)
    for tile in executions.issue.instruction.tiles:
        moved += used_bytes(tile, executions) if tile.memory is None else 0
    held = np.ceil(moved / resources.bandwidth).astype(np.int64)
    columns.append(np.where(moved > 0, resources.host, -1))
    cycles = np.maximum(cycles, held)
    return cycles, _join_columns(columns, executions), _join_columns([*[cycles] * (len(columns) - 1), held], executions)


def _join_columns(columns: list[Integers], executions: Executions) -> Integers:
    return np.stack(columns, 1) if columns else np.zeros((executions.count, 0), np.int64)


def _used_banks(
    executions: Executions, resources: Resources, placed: Mapping[MachineBuffer, int]
) -> dict[int, Integers]:
    """How many operands use each bank each time."""
    used: dict[int, Integers] = {}
    for tile in executions.issue.instruction.tiles:
        if tile.memory is None or (tile.memory, executions.core) not in resources.banks:
            continue
        memory, first_bank = tile.memory, resources.banks[tile.memory, executions.core]
        first, end = (placed[executions.issue.tiles[tile.name].buffer] + rows for rows in tile_spans(tile, executions))
        for bank in range(memory.banks):
            if memory.interleaved:
                touches = ((bank - first) % memory.banks < end - first).any(1)
            else:
                is_inside = (end > bank * memory.bank_rows) & (first < (bank + 1) * memory.bank_rows)
                touches = (is_inside & (end > first)).any(1)
            if touches.any():
                used[first_bank + bank] = used.get(first_bank + bank, 0) + touches.astype(np.int64)
    return used


def _own_conflict(executions: Executions, resource: Resource, operands: Integers) -> MachineError:
    time = int(np.argmax(operands > resource.ports))
    at = executions.iteration(time)
    ports = f"{resource.ports} port" + ("s" if resource.ports > 1 else "")
    fix = "copy one of them into another memory"
    if resource.rows:
        fix = f"alignment={resource.rows} in m.memory, with which each buffer begins a bank"
    return MachineError(
        f"{executions.issue.instruction.name}{f' at {at}' if at else ''}: {operands[time]} operands are in "
        f"{resource.name}, which has {ports}; fix: {fix}\n  {executions.issue.line}"
    )
