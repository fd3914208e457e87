"""Calls on which an instruction is tried: rows, strides, numbers, registers, and the kind of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import lcm, prod
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import Assumption, Between, Field, MemorySpace, Number, Stride, Tile
from tir_mlir.accel.program import COMPARISONS
from tir_mlir.accel.semantics import Array, Points, model_of, touched_shape
from tir_mlir.accel.tile_rows import TileRows
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.dialect.symbolic import Dim, Operation, evaluate, names_in
from tir_mlir.intrin.check import RUNS, DescriptionFacts, facts_of, random_values
from tir_mlir.runtime.call.signature import ScalarParam

if TYPE_CHECKING:
    from tir_mlir.accel.machine import Machine

SPECIAL = RUNS
"""The kind of data that has infinities and what is not a number, of instructions on floats only."""
KINDS = ("of all values", "small numbers and ties", "of all magnitudes", "at the ends", "with infinities and NaN")
_MOST_SIZES = 33
"""Values of one number that limits sizes; of more, some are left out."""
_FEWEST = 10
_SMALL = 256
"""Elements of a tile below which an instruction is called more often."""
_LARGE = 1 << 16
"""Elements of a tile above which an instruction is called with smaller sizes."""
_SEQUENCES, _LENGTH = 12, 8
_ATTEMPTS = 50

Numbers = dict[str, int | float]
Strides = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class InstructionTrial:
    """One call of an instruction."""

    instruction: MachineInstruction
    numbers: Numbers
    rows: dict[str, int] = field(default_factory=dict)
    """First rows of its tiles in memories of the machine."""
    strides: Strides = field(default_factory=dict)
    """Of its tiles, in elements, or in rows of a memory of the machine; those inside of a row are 0."""
    kind: int = 0
    """Of the data in its tiles: an index of KINDS."""
    at_end: bool = True
    """Whether a tile in the memory of the CPU ends where no memory is; else it begins there."""
    is_fresh: bool = True
    """Whether its tiles in memories of the machine get new data."""

    def __str__(self) -> str:
        parts = []
        for operand in self.instruction.operands:
            if isinstance(operand, Number):
                parts.append(f"{operand.name} = {self.numbers[operand.name]}")
            elif operand.memory is None:
                parts.append(f"{operand.name} with strides {self.strides[operand.name]}")
            else:
                first = self.rows[operand.name]
                last = first + self.tile_rows(operand).span - 1
                parts.append(f"{operand.name} = rows {first} to {last} of {operand.memory.name}")
        return f"{self.instruction.name}({', '.join(parts)})"

    def tile_rows(self, tile: Tile) -> TileRows:
        """The rows of a memory that a tile takes."""
        return _tile_rows(self.instruction, tile, self.numbers, self.strides)

    def row_numbers(self, tile: Tile) -> Points:
        """Their numbers, by the first indices of the tile."""
        assert tile.memory is not None
        return self.tile_rows(tile).view_of(np.arange(tile.memory.rows), self.rows[tile.name])


@lru_cache(maxsize=256)
def facts(instruction: MachineInstruction) -> DescriptionFacts:
    """What data for an instruction depend on."""
    assert instruction.intrinsic is not None
    with enter_context():
        parsed = instruction.intrinsic.desc_func()
        return facts_of(parsed.func.op)


def values_of_kind(trial: InstructionTrial, dtype: str, count: int, random: np.random.Generator) -> Array:
    """Data for a tile of an instruction: those at the ends depend on its numbers, as on the constants it has."""
    type_, known = np.dtype(dtype), facts(trial.instruction)
    given = [float(trial.numbers[n.name]) for n in trial.instruction.numbers if np.dtype(n.dtype).kind == "f"]
    decided = DescriptionFacts((*known.constants, *given), known.divides)
    values = random_values(type_, count, decided, min(trial.kind, RUNS - 1), random)
    if trial.kind == SPECIAL and type_.kind == "f":
        tiny = float(np.finfo(type_).tiny)
        chosen = random.random(count) < 0.3
        values[chosen] = random.choice([np.nan, np.inf, -np.inf, -0.0, tiny, tiny / 2], int(chosen.sum()))
    return values


def single_trials(
    machine: Machine, instruction: MachineInstruction, random: np.random.Generator
) -> Iterator[InstructionTrial]:
    """Calls of one instruction: its sizes at both ends with each kind of data, then each value of each size."""
    kinds = kinds_of(instruction)
    for count, sizes in enumerate(_sizes(instruction, kinds, random)):
        kind = count % kinds
        numbers, strides = _numbers_and_strides(instruction, sizes, kind, count, random)
        where = ("first", "last", "same")[count] if count < 3 else "any"
        rows = place_rows(machine, instruction, numbers, strides, where, random)
        yield InstructionTrial(instruction, numbers, rows, strides, kind, count % 2 == 0)


def sequence_trials(machine: Machine, random: np.random.Generator) -> Iterator[list[InstructionTrial]]:
    """Sequences of instructions that use rows of each other."""
    instructions = [i for i in machine.instructions.values() if i.intrinsic is not None]
    for count in range(_SEQUENCES if instructions else 0):
        trials = []
        for _ in range(_LENGTH):
            instruction = instructions[int(random.integers(len(instructions)))]
            kind = int(random.integers(min(RUNS, kinds_of(instruction))))
            limits = [n for n in instruction.numbers if n.high is not None]
            sizes: Numbers = {n.name: int(random.integers((n.high or 0) // 2, (n.high or 0) + 1)) for n in limits}
            numbers, strides = _numbers_and_strides(instruction, sizes, kind, 1, random)
            rows = place_rows(machine, instruction, numbers, strides, "near", random)
            trials.append(InstructionTrial(instruction, numbers, rows, strides, kind, count % 2 == 0, is_fresh=False))
        yield trials


def kinds_of(instruction: MachineInstruction) -> int:
    """How many kinds of data there are for an instruction."""
    return RUNS + (all(np.dtype(t.dtype).kind == "f" for t in instruction.tiles) and bool(instruction.tiles))


def _sizes(instruction: MachineInstruction, kinds: int, random: np.random.Generator) -> Iterator[Numbers]:
    """Values of the numbers that have a greatest one."""
    limits = {n.name: n.high for n in instruction.numbers if n.high is not None}
    for _ in range(kinds):
        yield {**limits}
    nothing: Numbers = dict.fromkeys(limits, 0)
    yield nothing
    for name, high in limits.items():
        for value in np.unique(np.linspace(0, high, _MOST_SIZES).astype(int)):
            chosen: Numbers = {n: int(random.integers(h + 1)) for n, h in limits.items()}
            yield {**chosen, name: int(value)}
    few = max((np.prod(t.shape) for t in instruction.tiles), default=0) < _SMALL
    for _ in range(0 if limits else _FEWEST * (4 if few else 1)):
        yield {}


def _numbers_and_strides(
    instruction: MachineInstruction, sizes: Numbers, kind: int, count: int, random: np.random.Generator
) -> tuple[Numbers, Strides]:
    """Values of all numbers, and strides: with smaller sizes, the largest one first, where tiles do not fit."""
    while True:
        numbers = _numbers(instruction, sizes, kind, random)
        strides = _strides(instruction, count, numbers, random)
        largest = max(sizes, key=sizes.__getitem__, default=None)
        if largest is None or not sizes[largest] or _fits(instruction, numbers, strides):
            return numbers, strides
        sizes = {**sizes, largest: int(sizes[largest]) // 2}


def _fits(instruction: MachineInstruction, numbers: Numbers, strides: Strides) -> bool:
    """Whether the tiles of an instruction fit their memories, and are not too large to compare them often."""
    rows: dict[MemorySpace, int] = {}
    for tile in instruction.tiles:
        if prod(touched_shape(instruction, tile, numbers)) > _LARGE:
            return False
        if tile.memory is not None:
            span = _tile_rows(instruction, tile, numbers, strides).span
            rows[tile.memory] = rows.get(tile.memory, 0) + span
    return all(count <= memory.rows for memory, count in rows.items())


def _tile_rows(
    instruction: MachineInstruction, tile: Tile, numbers: Mapping[str, int | float], strides: Strides
) -> TileRows:
    """The rows of a memory that an instruction touches of a tile."""
    grid = len(tile.grid)
    return TileRows(touched_shape(instruction, tile, numbers)[:grid], strides[tile.name][:grid])


def _numbers(instruction: MachineInstruction, sizes: Numbers, kind: int, random: np.random.Generator) -> Numbers:
    """Values of all numbers of an instruction."""
    found = dict(sizes)
    indices = index_numbers(instruction)
    for number in instruction.numbers:
        if number.limits is not None:
            found[number.name] = value_within(number.limits, kind, random)
        elif number.name not in found:
            dtype = np.dtype("uint8" if number.name in indices else number.dtype)  # a size is never negative
            if dtype.kind == "f" and kind == RUNS - 1:  # such that products with it are exact, and ties
                found[number.name] = 2.0 ** -int(random.integers(0, 12))
            else:
                found[number.name] = random_values(dtype, 1, facts(instruction), min(kind, RUNS - 1), random)[0].item()
    return found


def least_value(number: Number) -> int | float:
    """0, or the lowest number that an operand takes if 0 is not one of them."""
    if number.limits is not None and not number.limits.holds(0):
        return number.limits.low
    return False if number.dtype == "bool" else 0


def value_within(limits: Between, kind: int, random: np.random.Generator) -> int | float:
    """A number that a field takes: at an end, or anywhere."""
    share = (0.0, 1.0)[kind % 2] if kind < 2 else float(random.random())
    value = limits.low + share * (limits.high - limits.low)
    if limits.step or limits.dtype == "int32":
        step = limits.step or 1
        value = limits.low + int((value - limits.low) / step) * step
    return int(value) if limits.dtype == "int32" else float(np.float32(value))


@lru_cache(maxsize=256)
def index_numbers(instruction: MachineInstruction) -> frozenset[str]:
    """The numbers that are sizes or indices in a description."""
    library = model_of(instruction)
    params = library[library.functions[0]].signature.params
    return frozenset(p.name for p in params if isinstance(p, ScalarParam) and p.is_index)


def _strides(
    instruction: MachineInstruction, count: int, numbers: Numbers, random: np.random.Generator
) -> dict[str, tuple[int, ...]]:
    """Strides of the tiles, each another one, of which the assumptions of the instruction hold; in the first call
    without gaps, if these do. Errors: MachineError for assumptions that no strides were found for."""
    for attempt in range(_ATTEMPTS):
        found: dict[str, tuple[int, ...]] = {}
        taken: set[int] = set()
        wide = count > 0 or attempt > 0
        for tile in instruction.tiles:
            found[tile.name] = _tile_strides(instruction, tile, numbers, wide, taken, random)
        values = {f"{n}.strides[{d}]": s for n, strides in found.items() for d, s in enumerate(strides)}
        if all(_is_true(a, {**numbers, **values}) for a in instruction.assumptions):
            return found
    texts = ", ".join(a.text for a in instruction.assumptions)
    raise MachineError(f"{instruction}: no strides were found for which {texts}")


def _tile_strides(
    instruction: MachineInstruction,
    tile: Tile,
    numbers: Numbers,
    wide: bool,
    taken: set[int],
    random: np.random.Generator,
) -> tuple[int, ...]:
    """Strides of a tile; those in `taken` are other ones, if that is possible."""
    sizes = tile.grid if tile.memory is not None else tile.shape
    strides: list[int] = []
    span = 1
    for dimension in reversed(range(len(sizes))):
        if dimension in tile.free:
            behind = {f"{tile.name}.strides[{dimension + 1 + n}]": s for n, s in enumerate(strides)}
            fixed, step = _assumed_stride(instruction, f"{tile.name}.strides[{dimension}]", {**numbers, **behind})
            span += int(random.integers(1, 40 if tile.memory is None else 4)) if wide else 0
            span = -(-span // step) * step
            while wide and span in taken:
                span += step
            span = span if fixed is None else fixed
            taken.add(span)
        strides.insert(0, span)
        span *= sizes[dimension]
    return (*strides, *(0 for _ in tile.row)) if tile.memory is not None else tuple(strides)


def _assumed_stride(instruction: MachineInstruction, name: str, numbers: Numbers) -> tuple[int | None, int]:
    """What an assumption says that a stride is, and of what it is a multiple. `numbers`: also strides, by name."""
    fixed, step = None, 1
    for assumption in instruction.assumptions:
        left, right = assumption.left, assumption.right
        if assumption.symbol != "==" or not names_in(right) <= numbers.keys():
            continue
        value = int(evaluate(right, numbers.__getitem__))
        if isinstance(left, Dim) and str(left) == name:
            fixed = value
        elif isinstance(left, Operation) and left.symbol == "%" and str(left.left) == name and value == 0:
            if not names_in(left.right) <= numbers.keys():
                continue
            step = lcm(step, int(evaluate(left.right, numbers.__getitem__)))
    return fixed, step


def _is_true(assumption: Assumption, values: Mapping[str, int | float]) -> bool:
    left, right = (evaluate(side, values.__getitem__) for side in (assumption.left, assumption.right))
    return COMPARISONS[assumption.symbol](left, right)


def place_rows(
    machine: Machine,
    instruction: MachineInstruction,
    numbers: Mapping[str, int | float],
    strides: Strides,
    where: str,
    random: np.random.Generator,
) -> dict[str, int]:
    """First rows of the tiles: "first", "last", "same" (all that are only read at the same rows), "near" or "any".

    A tile that is written shares no row with another one. Errors: MachineError for tiles that do not fit.
    """
    found: dict[str, int] = {}
    for memory in machine.spaces.values():
        tiles = [t for t in instruction.tiles if t.memory == memory]
        spans = {t.name: _tile_rows(instruction, t, numbers, strides).span for t in tiles}
        read = [t.name for t in tiles if "w" not in t.access] if where == "same" else []
        separate = [*read[:1], *(t.name for t in tiles if t.name not in read)]
        if sum(spans[name] for name in separate) > memory.rows:
            raise MachineError(
                f"the tiles of {instruction} take {sum(spans.values())} rows of {memory.name}, which has {memory.rows}"
            )
        starts = _starts(memory, [spans[name] for name in separate], where, random)
        found |= dict(zip(separate, starts, strict=True))
        found |= {name: found[read[0]] for name in read[1:]}
    return found


def _starts(memory: MemorySpace, spans: Sequence[int], where: str, random: np.random.Generator) -> list[int]:
    """First rows for so many rows each: multiples of the alignment of the memory, where these leave room."""
    step = memory.alignment if sum(-(-n // memory.alignment) for n in spans) <= memory.rows // memory.alignment else 1
    sizes = [-(-n // step) for n in spans]
    free = memory.rows // step - sum(sizes)
    order = random.permutation(len(spans)) if where in ("any", "near") else np.arange(len(spans))
    room = {"first": 0, "near": min(free, 8)}.get(where, free)
    gaps = np.sort(random.integers(0, room + 1, len(spans))) if where != "last" else np.full(len(spans), free)
    starts, at = [0] * len(spans), 0
    for number, gap in zip(order, gaps, strict=True):
        starts[int(number)] = (at + int(gap)) * step
        at += sizes[int(number)]
    return starts


class RegisterState:
    """What the registers of a machine were set to."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.values: dict[Field, int | float] = {}

    def scramble(self, random: np.random.Generator, kept: Mapping[Field, int | float]) -> list[InstructionTrial]:
        """Calls that set registers to something else, by instructions that set none of those that are kept."""
        setters = [i for i in self.machine.instructions.values() if i.sets and not any(f in kept for f in i.sets)]
        return self.require({f: self._other_value(f, random) for i in setters for f in i.sets}, random)

    def _other_value(self, target: Field, random: np.random.Generator) -> int | float:
        operands = [n for i in self.machine.instructions.values() if target in i.sets for n in i.numbers]
        limits = target.limits or next((n.limits for n in operands if n.name == target.name and n.limits), None)
        if limits is not None:
            return value_within(limits, 2, random)
        number = int(random.integers(1, 100))
        if np.dtype(target.dtype).kind == "b":
            return bool(number % 2)
        return number / 8 if np.dtype(target.dtype).kind == "f" else number

    def require(self, wanted: Mapping[Field, int | float], random: np.random.Generator) -> list[InstructionTrial]:
        """Calls that set registers to these values, where they have others."""
        calls = []
        unmet = {f: v for f, v in wanted.items() if self.values.get(f) != v}
        while unmet:
            target = next(iter(unmet))
            able = [i for i in self.machine.instructions.values() if target in i.sets]
            setter = max(able, key=lambda i: sum(f in unmet for f in i.sets))
            values = {f: wanted.get(f, self.values.get(f, self._other_value(f, random))) for f in setter.sets}
            self.values |= values
            rest = {n.name: least_value(n) for n in setter.numbers}
            calls.append(InstructionTrial(setter, {**rest, **{f.name: v for f, v in values.items()}}))
            unmet = {f: v for f, v in unmet.items() if f not in setter.sets}
        return calls


def required_registers(trial: InstructionTrial) -> dict[Field, int | float]:
    """The values that a call needs registers to have."""
    found: dict[Field, int | float] = {}
    for target, source in trial.instruction.needs.items():
        if isinstance(source, Stride):
            found[target] = trial.strides[source.operand][source.dimension] * source.factor
        else:
            found[target] = trial.numbers[source.name] if isinstance(source, Number) else source
    return found
