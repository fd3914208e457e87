"""`Machine.check`: the C of each instruction against its description, on whole states of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from math import prod
from pathlib import Path

import numpy as np

from tir_mlir.accel.checks.c_model import CompiledModel, LoadedModel, Operands, compiled_model
from tir_mlir.accel.checks.guarded_memory import GuardedMemory
from tir_mlir.accel.checks.trials import (
    KINDS,
    InstructionTrial,
    RegisterState,
    facts,
    least_value,
    required_registers,
    sequence_trials,
    single_trials,
    values_of_kind,
)
from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.machine import Machine
from tir_mlir.accel.operands import Field, Tile
from tir_mlir.accel.semantics import (
    Array,
    Mask,
    Points,
    accessed_elements,
    model_arguments,
    model_of,
    touched_shape,
)
from tir_mlir.accel.tile_rows import tile_view
from tir_mlir.dialect.diagnostics import BuildError, InternalError, MachineError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.equivalence.work import work_of
from tir_mlir.extensions import implement
from tir_mlir.processes.forked import Ending, run_forked

_SECONDS, _MEMORY = 20.0, 4 << 30
"""Limits of the C of one instruction."""
_FILL = 0xA5
"""What bytes between the rows of a tile have."""


@dataclass(frozen=True)
class MachineCheck:
    """The result of a check; truthy if the C of every instruction does what its description says."""

    machine: str
    differences: Mapping[str, str]
    """By instruction; "" is that of sequences."""
    calls: Mapping[str, int]
    """How often each instruction was compared."""
    unchecked: Mapping[str, str] = field(default_factory=dict)
    """What instructions do that compute nothing: those that need the registers they set show them."""

    def __bool__(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        lines = []
        for name, calls in self.calls.items():
            if (difference := self.differences.get(name)) is not None:
                lines.append(f"{name or 'sequences'}: {difference}")
            else:
                lines.append(f"{name or 'sequences'}: as described, {calls} calls")
        lines += [f"{name}: {text}" for name, text in self.unchecked.items()]
        head = "as described" if self else f"{len(self.differences)} of {len(self.calls)} differ"
        return "\n".join([f"{self.machine}: {head}", *(f"  {line}" for line in lines)])

    __repr__ = __str__


@implement(Machine.check)
def check_instructions(
    machine: Machine,
    source: str | Path | None = None,
    *,
    state: Mapping[str, str] | None = None,
    only: Sequence[str] = (),
    seed: int = 0,
) -> MachineCheck:
    """See `Machine.check`."""
    described = [i for i in machine.instructions.values() if i.intrinsic is not None]
    unchecked = {i.name: _purpose(i) for i in machine.instructions.values() if i.intrinsic is None}
    if not described:
        raise MachineError(f"{machine} has no instruction that computes anything")
    if unknown := [name for name in only if name not in {i.name for i in described}]:
        raise MachineError(f"{machine} has no instruction {unknown[0]} that computes anything")
    for instruction in described:
        _refuse_unset_fields(machine, instruction)
        model_of(instruction)  # compiled here, once
    differences: dict[str, str] = {}
    calls: dict[str, int] = {}
    with compiled_model(machine, source, state or {}) as model:
        for number, instruction in enumerate(described):
            if only and instruction.name not in only:
                continue
            random = np.random.default_rng([seed, number])
            trials = [[t] for t in single_trials(machine, instruction, random)]
            calls[instruction.name] = len(trials)
            if (difference := _run_isolated(model, trials, random)) is not None:
                differences[instruction.name] = difference
        if not differences and not only:
            random = np.random.default_rng([seed, len(described)])
            sequences = list(sequence_trials(machine, random))
            calls[""] = sum(map(len, sequences))
            if (difference := _run_isolated(model, sequences, random)) is not None:
                differences[""] = difference
    return MachineCheck(str(machine), differences, calls, unchecked)


def _refuse_unset_fields(machine: Machine, instruction: MachineInstruction) -> None:
    set_somewhere = {f for i in machine.instructions.values() for f in i.sets}
    for needed in instruction.needs:
        if needed not in set_somewhere:
            raise MachineError(
                f"no instruction of {machine} sets {needed}, which {instruction.name} needs; "
                f"fix: describe one with sets={needed.register}"
            )


def _purpose(instruction: MachineInstruction) -> str:
    """What an instruction does that computes nothing."""
    if instruction.waits:
        return f"waits for {', '.join(u.name for u in instruction.waits)}, not called"
    if (queue := instruction.tokens) is not None:
        return f"{'puts' if instruction.unit == queue.producer else 'takes'} a token of {queue.name}, not called"
    return "sets registers, seen by the others"


def _run_isolated(
    model: CompiledModel, runs: Sequence[Sequence[InstructionTrial]], random: np.random.Generator
) -> str | None:
    """The first difference in runs, in a process of their own, or how this ended."""
    for trial in [t for run in runs for t in run]:
        _prepare(trial)
    end = run_forked(partial(_run, model, runs, random), _SECONDS, _MEMORY)
    if end.how is Ending.VALUE:
        return end.value
    if end.how is Ending.REFUSED:
        raise BuildError(end.reason)
    call = f"\n    at {end.reported}" if end.reported else ""
    if end.how is Ending.RAISED:
        raise InternalError(f"the check, not the C, stopped by an error of Python's: {end.reason}{call}")
    if end.how is Ending.LATE:
        return f"the C does not return: {end.reason}{call}"
    if end.how is Ending.OUT_OF_MEMORY:
        return f"the C takes too much memory: {end.reason}{call}"
    return f"the C crashes: {end.reason}; it reads or writes beyond an operand or an array{call}"


def _prepare(trial: InstructionTrial) -> None:
    """Do here what uses MLIR, whose threads a fork does not have; the results are kept."""
    instruction = trial.instruction
    facts(instruction)
    accessed_elements(instruction, trial.numbers)
    _terms(instruction)
    _call_once(instruction)


@lru_cache(maxsize=256)
def _call_once(instruction: MachineInstruction) -> None:
    """Call the model of an instruction, whose entry is made by its first call."""
    tiles = [np.zeros(t.shape, t.dtype) for t in instruction.tiles]
    numbers = [least_value(n) for n in instruction.numbers]
    model_of(instruction)(*model_arguments(instruction, tiles, numbers))


def _run(
    model: CompiledModel,
    runs: Sequence[Sequence[InstructionTrial]],
    random: np.random.Generator,
    tell: Callable[[str], None],
) -> str | None:
    loaded = model.load()
    comparison = _InstructionComparison(loaded, RegisterState(model.machine), random, tell)
    for trials in runs:
        comparison.begin()
        for trial in trials:
            if (difference := comparison.difference(trial)) is not None:
                return difference
    return None


@dataclass
class _HostTile:
    """A tile in the memory of the CPU, for the C and for the description."""

    given: Array
    """All bytes of it that the C may access."""
    address: int
    expected: Array
    """The same as elements, and those behind it that the description may access."""
    view: Array
    count: int
    """Elements that the C may access."""


@dataclass
class _InstructionComparison:
    """The state of a machine by its C, and by the descriptions."""

    loaded: LoadedModel
    registers: RegisterState
    random: np.random.Generator
    tell: Callable[[str], None]
    expected: dict[str, Array] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)
    guarded: dict[tuple[str, int], GuardedMemory] = field(default_factory=dict)

    def begin(self) -> None:
        """Fill the memories with random numbers and set the registers to random values."""
        self.history.clear()
        for name, memory in self.loaded.memories.items():
            if name not in self.expected:
                raw = self.random.integers(0, 256, memory.nbytes, np.uint8)
                memory.reshape(-1).view(np.uint8)[:] = raw if memory.dtype.kind != "b" else raw % 2
                if memory.dtype.kind == "f":
                    memory[...] = self.random.uniform(-1, 1, memory.shape)
                self.expected[name] = memory.copy()
        for setter in self.registers.scramble(self.random, {}):
            self._set(setter)

    def _set(self, setter: InstructionTrial) -> None:
        self.tell(self._place(setter))
        self.history.append(str(setter))
        self.loaded.call(setter.instruction, Operands({}, {}, {}, setter.numbers))
        for memory in setter.instruction.clears:  # to anything
            self.expected[memory.name] = self.loaded.memories[memory.name].copy()

    def _place(self, trial: InstructionTrial) -> str:
        before = "; ".join(self.history[-6:])
        return f"{trial}, {KINDS[trial.kind]}" + (f"\n    after {before}" if before else "")

    def difference(self, trial: InstructionTrial) -> str | None:
        """Call an instruction, and compare the state after it."""
        self._set_registers(required_registers(trial))
        if trial.is_fresh:
            self._renew_tiles(trial)
        accessed = accessed_elements(trial.instruction, trial.numbers)
        hosts = {
            t.name: self._host_tile(trial, t, accessed[t.name]) for t in trial.instruction.tiles if t.memory is None
        }
        place = self._place(trial)
        self.tell(place)
        self.history.append(str(trial))
        self.loaded.call(
            trial.instruction,
            Operands({n: h.address for n, h in hosts.items()}, trial.strides, trial.rows, trial.numbers),
        )
        self._describe(trial, hosts)
        for text in self._differences(trial, hosts):
            return f"{text}\n    at {place}"
        return None

    def _set_registers(self, wanted: Mapping[Field, int | float]) -> None:
        """Set registers to what is needed, and others, before or after them."""
        needed = partial(self.registers.require, wanted, self.random)
        others = partial(self.registers.scramble, self.random, wanted)
        for calls in (needed, others) if self.random.random() < 0.5 else (others, needed):
            for setter in calls():
                self._set(setter)

    def _renew_tiles(self, trial: InstructionTrial) -> None:
        for tile in trial.instruction.tiles:
            if tile.memory is None:
                continue
            rows = trial.row_numbers(tile).reshape(-1)
            width = prod(tile.row)
            values = values_of_kind(trial, tile.dtype, rows.size * width, self.random)
            for state in (self.loaded.memories, self.expected):
                state[tile.memory.name].view(np.dtype(tile.dtype))[rows] = values.reshape(rows.size, width)

    def _host_tile(self, trial: InstructionTrial, tile: Tile, accessed: Mask) -> _HostTile:
        strides = trial.strides[tile.name]
        offsets = _offsets(accessed.shape, strides)
        count = int(offsets[accessed].max()) + 1 if accessed.any() else 0
        whole = int(offsets.max(initial=0)) + 1
        dtype = np.dtype(tile.dtype)
        values = np.full(whole * dtype.itemsize, _FILL if dtype.kind != "b" else 1, np.uint8).view(dtype)
        values[offsets.reshape(-1)] = values_of_kind(trial, tile.dtype, offsets.size, self.random)
        key = (tile.name, 1 << (whole * dtype.itemsize).bit_length())
        if key not in self.guarded:
            self.guarded[key] = GuardedMemory(key[1])
        given, address = self.guarded[key].place(count * dtype.itemsize, trial.at_end)
        given[:] = values.view(np.uint8)[: count * dtype.itemsize]
        view = np.lib.stride_tricks.as_strided(values, tile.shape, [s * dtype.itemsize for s in strides])
        return _HostTile(given, address, values, view, count)

    def _describe(self, trial: InstructionTrial, hosts: Mapping[str, _HostTile]) -> None:
        """Do what the description says, on the expected state."""
        arguments: list[Array] = []
        for tile in trial.instruction.tiles:
            if tile.memory is None:
                arguments.append(hosts[tile.name].view)
            else:
                state = self.expected[tile.memory.name]
                arguments.append(tile_view(state, tile, trial.rows[tile.name], trial.strides[tile.name]))
        numbers = [trial.numbers[n.name] for n in trial.instruction.numbers]
        model_of(trial.instruction)(*model_arguments(trial.instruction, arguments, numbers))

    def _differences(self, trial: InstructionTrial, hosts: Mapping[str, _HostTile]) -> Iterator[str]:
        for name, meant in self.expected.items():
            got = self.loaded.memories[name]
            if np.array_equal(got.view(np.uint8), meant.view(np.uint8)):
                continue
            tiles = [t for t in trial.instruction.tiles if t.memory is not None and t.memory.name == name]
            yield from self._row_differences(trial, name, [t for t in tiles if "w" in t.access])
        for tile in trial.instruction.tiles:
            if tile.memory is None:
                yield from _host_differences(trial, tile, hosts[tile.name])

    def _row_differences(self, trial: InstructionTrial, memory: str, written_tiles: Sequence[Tile]) -> Iterator[str]:
        got, meant = self.loaded.memories[memory], self.expected[memory]
        outside: Mask = np.ones(len(got), bool)
        for tile in written_tiles:
            numbers = trial.row_numbers(tile)
            outside[numbers.reshape(-1)] = False
            mine, theirs = (a.view(tile.dtype)[numbers] for a in (got, meant))
            same = _agree(mine, theirs, _terms(trial.instruction))
            for place in np.argwhere(np.logical_not(same))[:1]:
                *index, column = map(int, place)
                inner = map(int, np.unravel_index(column, tile.row))
                element = ", ".join(map(str, (*index, *inner)))
                yield (
                    f"{tile.name}[{element}], row {numbers[tuple(index)]} of {memory}, column {column}, "
                    f"is {mine[tuple(place)]}; the description gives {theirs[tuple(place)]}"
                )
            meant[numbers] = got[numbers]  # floats that differ within the rounding error
        same = (got.view(np.uint8) == meant.view(np.uint8)).reshape(*got.shape, -1).all(-1)
        for row, column in np.argwhere(np.logical_not(same) & outside[:, None])[:1]:
            yield (
                f"row {row} of {memory}, column {column} becomes {got[row, column]}, it was {meant[row, column]}: "
                "the description does not write this row"
            )


def _offsets(shape: Sequence[int], strides: Sequence[int]) -> Points:
    """The elements of a tile, counted from its first one."""
    return np.tensordot(np.array(strides), np.indices(shape), 1)


def _host_differences(trial: InstructionTrial, tile: Tile, host: _HostTile) -> Iterator[str]:
    got, meant = host.given.view(host.expected.dtype), host.expected[: host.count]
    if np.array_equal(got.view(np.uint8), meant.view(np.uint8)):
        return
    shape = touched_shape(trial.instruction, tile, trial.numbers)
    offsets = _offsets(shape, trial.strides[tile.name]).reshape(-1)
    inside: Mask = np.zeros(max(host.count, int(offsets.max(initial=0)) + 1), bool)
    inside[offsets] = True
    loose = inside[: host.count] if "w" in tile.access else np.zeros(host.count, bool)
    same = _agree(got, meant, _terms(trial.instruction)) & loose
    same |= (got.view(np.uint8) == meant.view(np.uint8)).reshape(host.count, -1).all(-1)
    for (offset,) in np.argwhere(np.logical_not(same))[:1]:
        if not inside[offset]:
            yield f"the C writes {int(offset)} elements behind the start of {tile.name}, which is between its rows"
            continue
        index = ", ".join(str(int(i)) for i in np.unravel_index(int(np.argmax(offsets == offset)), shape))
        wrong = "" if "w" in tile.access else f": the description does not write {tile.name}"
        yield f"{tile.name}[{index}] is {got[offset]}; the description gives {meant[offset]}{wrong}"


def _agree(got: Array, meant: Array, terms: int) -> Mask:
    """Which elements agree: floats within the rounding error of a sum of so many terms."""
    if got.dtype.kind != "f":
        return np.equal(got, meant)
    mine, theirs = got.astype(np.float64), meant.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        scale = max(1.0, float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0)))
        near = np.abs(mine - theirs) <= 4 * terms * float(np.finfo(got.dtype.name).eps) * scale
    return near | (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))


@lru_cache(maxsize=256)
def _terms(instruction: MachineInstruction) -> int:
    """The longest sum of a description."""
    assert instruction.intrinsic is not None
    with enter_context():
        parsed = instruction.intrinsic.desc_func()
        work = work_of(parsed.func.op, {})
    outputs = max((prod(t.shape) for t in instruction.tiles), default=1)
    return max(1, work // max(1, min(outputs, work)))
