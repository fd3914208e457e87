"""The rows that the instructions of a run use: spans of numbers, in which all memories follow each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import MemorySpace, Tile
from tir_mlir.accel.program import HostCode, MachineBuffer
from tir_mlir.accel.semantics import extent_limits
from tir_mlir.accel.timing.stream import CPU, Executions, Stream
from tir_mlir.dialect.computation.scalar_params import ExtentLimit
from tir_mlir.dialect.symbolic import Constant

if TYPE_CHECKING:
    from tir_mlir.accel.timing.stream import Integers

READS, WRITES, RENAMES = 1, 2, 4
"""RENAMES: hardware gives what is written another place, so that it waits for nothing."""


@dataclass(eq=False)
class RowNumbers:
    """Where the rows of each memory begin among all rows, and the elements of buffers in the memory of the CPU that
    instructions both write and read, or several units write."""

    memories: dict[tuple[MemorySpace, int], int] = field(default_factory=dict)
    """By memory and core."""
    buffers: dict[MachineBuffer, int] = field(default_factory=dict)
    count: int = 0
    host: int = 0
    """The first one in the memory of the CPU."""

    def name(self, row: int) -> str:
        """What a number is: `row 3 of sp`, `element 7 of C`."""
        if row >= self.host:
            buffer, first = max(((b, f) for b, f in self.buffers.items() if f <= row), key=lambda pair: pair[1])
            return f"element {row - first} of {buffer.name}"
        (memory, _), first = max(((m, f) for m, f in self.memories.items() if f <= row), key=lambda pair: pair[1])
        return f"row {row - first} of {memory.name}"


def number_rows(stream: Stream) -> RowNumbers:
    """Number the rows that the instructions of a run can conflict in."""
    numbers = RowNumbers()
    for memory in stream.program.machine.spaces.values():
        for core in range(stream.cores):
            if core and memory.is_shared:
                numbers.memories[memory, core] = numbers.memories[memory, 0]
            else:
                numbers.memories[memory, core] = numbers.count
                numbers.count += memory.rows
    numbers.host = numbers.count
    for buffer in _shared_on_host(stream):
        numbers.buffers[buffer] = numbers.count
        numbers.count += prod(buffer.shape)
    return numbers


def _shared_on_host(stream: Stream) -> list[MachineBuffer]:
    """The buffers in the memory of the CPU in which instructions can meet."""
    uses: dict[MachineBuffer, set[tuple[str, str, int]]] = {}
    for executions in stream.tables:
        for tile in executions.issue.instruction.tiles:
            if tile.memory is None:
                entry = uses.setdefault(executions.issue.tiles[tile.name].buffer, set())
                entry |= {(access, executions.issue.instruction.unit.name, executions.core) for access in tile.access}
        if executions.statements is not None:
            for buffer in executions.statements.buffers:
                access = "rw" if buffer in executions.statements.written else "r"
                uses.setdefault(buffer, set()).update((a, CPU.name, executions.core) for a in access)
    return [b for b, entry in uses.items() if len(entry) > 1 and any(access == "w" for access, *_ in entry)]


@dataclass(eq=False)
class Spans:
    """Spans of rows of an instruction of the text: a column a span, a row of the table each time that it is issued."""

    first: Integers
    end: Integers
    access: Integers
    """Of each column: READS, WRITES or both."""


def row_spans(executions: Executions, numbers: RowNumbers, placed: Mapping[MachineBuffer, int]) -> Spans:
    """The rows that an instruction uses. `placed`: the first row of each buffer in its memory."""
    if executions.statements is not None:
        return _statement_spans(executions, executions.statements, numbers)
    firsts, ends, access = [], [], []
    for tile in executions.issue.instruction.tiles:
        buffer = executions.issue.tiles[tile.name].buffer
        if tile.memory is not None:
            base = numbers.memories[tile.memory, executions.core] + placed[buffer]
        elif buffer in numbers.buffers:
            base = numbers.buffers[buffer]
        else:
            continue
        first, end = tile_spans(tile, executions)
        firsts.append(base + first)
        ends.append(base + end)
        renames = tile.memory is not None and tile.memory.renamed and tile.access == "w"
        kind = READS * ("r" in tile.access) + WRITES * ("w" in tile.access) + RENAMES * renames
        access += [kind] * first.shape[1]
    if not firsts:
        none = np.zeros((executions.count, 0), np.int64)
        return Spans(none, none, np.zeros(0, np.int64))
    return Spans(np.concatenate(firsts, 1), np.concatenate(ends, 1), np.array(access, np.int64))


def _statement_spans(executions: Executions, statements: HostCode, numbers: RowNumbers) -> Spans:
    """The buffers of statements of the CPU, as a whole each."""
    used = [b for b in statements.buffers if b in numbers.buffers]
    first = np.array([numbers.buffers[b] for b in used], np.int64)
    end = first + np.array([prod(b.shape) for b in used], np.int64)
    access = [READS | WRITES if b in statements.written else READS for b in used]
    shape = (executions.count, len(used))
    return Spans(np.broadcast_to(first, shape), np.broadcast_to(end, shape), np.array(access, np.int64))


def tile_spans(tile: Tile, executions: Executions) -> tuple[Integers, Integers]:
    """The spans of rows of a buffer that a tile uses, or of elements where it is in the memory of the CPU: where each
    begins and ends, a column a span."""
    strides = [int(s.value) for s in executions.issue.tiles[tile.name].strides if isinstance(s, Constant)]
    if tile.memory is not None:
        strides = tile.strides_in_rows(strides)
    dims = len(tile.grid)
    length, packed = np.ones(executions.count, np.int64), 1
    is_whole = True
    while dims and is_whole and strides[dims - 1] == packed:  # rows that follow each other are one span
        dims -= 1
        length = extent(tile, dims, executions) * packed
        packed *= tile.grid[dims]
        is_whole = dims not in limits(executions.issue.instruction, tile)
    grid = np.indices(tile.grid[:dims]).reshape(dims, prod(tile.grid[:dims]))
    offsets = np.array(strides[:dims], np.int64) @ grid if dims else np.zeros(1, np.int64)
    used = np.ones((executions.count, len(offsets)), bool)
    for dimension in range(dims):
        used &= grid[dimension][None] < extent(tile, dimension, executions)[:, None]
    first = executions.starts[tile.name][:, None] + offsets[None]
    return first, np.where(used, first + length[:, None], first)


def used_bytes(tile: Tile, executions: Executions) -> Integers:
    """How many bytes of a tile are used each time."""
    return used_elements(tile, executions) * np.dtype(tile.dtype).itemsize


def used_elements(tile: Tile, executions: Executions) -> Integers:
    """How many elements of a tile are used each time."""
    count = np.ones(executions.count, np.int64)
    for dimension in range(len(tile.shape)):
        count = count * extent(tile, dimension, executions)
    return count


def extent(tile: Tile, dimension: int, executions: Executions) -> Integers:
    """How much of a dimension is used each time."""
    size = tile.shape[dimension]
    limit = limits(executions.issue.instruction, tile).get(dimension)
    if limit is None:
        return np.full(executions.count, size, np.int64)
    number = executions.numbers[limit.size].astype(np.int64)
    return np.where(number > 0, np.clip(limit.factor * number + limit.rest, 0, size), 0)


def limits(instruction: MachineInstruction, tile: Tile) -> Mapping[int, ExtentLimit]:
    """The dimensions of a tile of which only so much is used as a number says, and how much."""
    return extent_limits(instruction).get(tile.name, {}) if instruction.intrinsic is not None else {}
