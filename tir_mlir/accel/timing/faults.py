"""What is wrong with the instructions of a run: operands outside of their buffers, rows that are read before they are
written, or that another buffer has by then, and registers with other values than are needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.operands import Field, Number, Stride
from tir_mlir.accel.program import Allocate, For, MachineBuffer, Node, When
from tir_mlir.accel.timing.accesses import extent, tile_spans
from tir_mlir.accel.timing.stream import Executions, Stream
from tir_mlir.dialect.symbolic import Constant, IntExpr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]


def first_fault(stream: Stream, rows: Mapping[MachineBuffer, int]) -> str | None:
    """The first instruction of a run that is wrong, why, and its line, and what caused it; None if all are right.

    rows: the first row of each buffer. All instructions are looked at together, without values.
    """
    faults = [*_bounds(stream, rows), *_rows(stream, rows), *_registers(stream)]
    return min(faults, key=lambda fault: fault.place).text(stream) if faults else None


@dataclass(frozen=True)
class _Fault:
    """What is wrong at an instruction of a run, which a second one may have caused."""

    place: int
    what: str
    cause: int | None = None
    before: str = ""

    def text(self, stream: Stream) -> str:
        lines = f"{stream.describe(self.place)}: {self.what}"
        if self.cause is not None:
            lines += f"{self.before} {stream.describe(self.cause)}\n  {stream.line(self.cause)}"
        return f"{lines}\n  {stream.line(self.place)}"


def _first_index(wrong: NDArray[np.bool_]) -> int | None:
    return int(np.argmax(wrong)) if wrong.any() else None


def _bounds(stream: Stream, rows: Mapping[MachineBuffer, int]) -> Iterator[_Fault]:
    """Operands that are not inside of their buffers, and these of their memories."""
    for executions in stream.tables:
        for tile in executions.issue.instruction.tiles:
            buffer = executions.issue.tiles[tile.name].buffer
            if tile.memory is None:
                low, high = _host_range(executions, tile.name)
                size = int(np.prod(buffer.shape))
                if (n := _first_index((low < 0) | (high > size))) is not None:
                    what = (
                        f"operand {tile.name} is elements {low[n]} to {high[n] - 1} of {buffer.name}, which has {size}"
                    )
                    yield _Fault(int(executions.places[n]), what)
                continue
            starts, ends = tile_spans(tile, executions)
            used = ends > starts
            low = np.where(used, starts, 0).min(1, initial=0)
            high = np.where(used, ends, 0).max(1, initial=0)
            if (n := _first_index((low < 0) | (high > buffer.rows))) is not None:
                first = int(executions.starts[tile.name][n])
                what = f"operand {tile.name} is rows {first} to {high[n] - 1} of {buffer.name}, which has {buffer.rows}"
                yield _Fault(int(executions.places[n]), what)
            elif (n := _first_index(high + rows[buffer] > tile.memory.rows)) is not None:
                last = rows[buffer] + high[n] - 1
                what = f"operand {tile.name} ends at row {last}; {tile.memory.name} has {tile.memory.rows}"
                yield _Fault(int(executions.places[n]), what)


def _host_range(executions: Executions, name: str) -> tuple[Integers, Integers]:
    """The first element of a tile in the memory of the CPU, and the one behind its last, each time."""
    tile = next(t for t in executions.issue.instruction.tiles if t.name == name)
    first = executions.starts[name]
    last, is_empty = first.copy(), np.zeros(executions.count, bool)
    for dimension, stride in enumerate(executions.issue.tiles[name].strides):
        size = extent(tile, dimension, executions)
        is_empty |= size == 0
        last += (size - 1) * _constant(stride)
    return np.where(is_empty, 0, first), np.where(is_empty, 0, last + 1)


def _constant(expr: IntExpr) -> int:
    assert isinstance(expr, Constant)
    return int(expr.value)


# --- rows: each one that is read was written last for the same buffer, in the same life of it -------------------------


@dataclass(eq=False)
class _Uses:
    """Spans of rows that instructions of a run use: a number each."""

    first: Integers
    end: Integers
    place: Integers
    writes: Integers
    """1 for what is written, 0 for what is read."""
    buffer: Integers
    life: Integers
    """The iteration of the loops around the allocation of the buffer."""
    operand: Integers


def _rows(stream: Stream, rows: Mapping[MachineBuffer, int]) -> Iterator[_Fault]:
    numbers = {buffer: n for n, buffer in enumerate(rows)}
    lives = loops_around(stream.program.body)
    extents: dict[str, int] = {}
    for executions in stream.tables:
        for column, loop in enumerate(executions.loops if executions.count else ()):
            extents[loop] = max(extents.get(loop, 1), int(executions.iterations[:, column].max()) + 1)
    operands: list[str] = []
    for memory in stream.program.machine.spaces.values():
        for core in range(1 if memory.is_shared else stream.cores):
            found: list[_Uses] = []
            for executions in stream.tables:
                if memory.is_shared or executions.core == core:
                    for tile in executions.issue.instruction.tiles:
                        if tile.memory == memory:
                            buffer = executions.issue.tiles[tile.name].buffer
                            around = {loop: extents.get(loop, 1) for loop in lives[buffer]}
                            found += _uses(executions, tile.name, rows[buffer], numbers[buffer], around, operands)
            if found:
                uses = _Uses(*(np.concatenate([getattr(u, f) for u in found]) for f in _Uses.__dataclass_fields__))
                yield from _row_faults(uses, memory.name, list(rows), operands)


def loops_around(body: Sequence[Node], loops: tuple[str, ...] = ()) -> dict[MachineBuffer, tuple[str, ...]]:
    """The loops around the allocation of each buffer."""
    found: dict[MachineBuffer, tuple[str, ...]] = {}
    for node in body:
        if isinstance(node, Allocate):
            found[node.buffer] = loops
        elif isinstance(node, For | When):
            found |= loops_around(node.body, (*loops, node.var) if isinstance(node, For) else loops)
    return found


def _uses(
    executions: Executions, name: str, row: int, number: int, loops: Mapping[str, int], operands: list[str]
) -> Iterator[_Uses]:
    """What a tile reads, and what it writes."""
    tile = next(t for t in executions.issue.instruction.tiles if t.name == name)
    starts, ends = tile_spans(tile, executions)
    used = ends > starts
    times = np.broadcast_to(np.arange(executions.count)[:, None], used.shape)[used]
    life = _life(executions, loops)[times]
    for access in tile.access:
        operands.append(name)
        whole = np.ones(len(times), np.int64)
        yield _Uses(
            starts[used] + row, ends[used] + row, executions.places[times], whole * (access == "w"), whole * number,
            life, whole * (len(operands) - 1),
        )  # fmt: skip


def _life(executions: Executions, loops: Mapping[str, int]) -> Integers:
    """The iteration of loops of these extents, as a number."""
    number = np.zeros(executions.count, np.int64)
    for column, loop in enumerate(executions.loops):
        if loop in loops:
            number = number * loops[loop] + executions.iterations[:, column]
    return number


def _row_faults(
    uses: _Uses, memory: str, buffers: Sequence[MachineBuffer], operands: Sequence[str]
) -> Iterator[_Fault]:
    """Reads of what was not written, or for another buffer. Rows that are always used together count as one."""
    edges = np.unique(np.concatenate([uses.first, uses.end]))
    low, high = np.searchsorted(edges, uses.first), np.searchsorted(edges, uses.end)
    which = np.repeat(np.arange(len(low)), high - low)
    before = np.cumsum(high - low) - (high - low)
    part = np.arange(len(which)) - before[which] + low[which]
    order = np.lexsort((uses.writes[which], uses.place[which], part))  # an instruction reads, then writes
    which, part = which[order], part[order]
    is_write = uses.writes[which] == 1
    steps = np.arange(len(which))
    starts = np.searchsorted(part, part)
    last = np.maximum.accumulate(np.where(is_write, steps, -1))
    unset = ~is_write & (last < starts)
    writer = which[np.maximum(last, 0)]
    foreign = ~is_write & ~unset & (uses.buffer[writer] != uses.buffer[which])
    old = ~is_write & ~unset & ~foreign & (uses.life[writer] != uses.life[which])
    for wrong, what in ((unset, ""), (foreign, "of another buffer"), (old, "of an earlier life")):
        if not wrong.any():
            continue
        chosen = int(np.flatnonzero(wrong)[np.argmin(uses.place[which[wrong]])])
        use, made_by = int(which[chosen]), int(writer[chosen])
        buffer, operand = buffers[int(uses.buffer[use])].name, operands[int(uses.operand[use])]
        where = f"row {edges[part[chosen]]} of {memory} ({buffer}, operand {operand})"
        if what == "":
            yield _Fault(int(uses.place[use]), f"{where} is read before it is written")
        else:
            other = buffers[int(uses.buffer[made_by])].name
            owner = f"an element of {other}" if what == "of another buffer" else "what an earlier iteration wrote"
            yield _Fault(int(uses.place[use]), f"{where} has {owner}", int(uses.place[made_by]), ", written by")


# --- registers --------------------------------------------------------------------------------------------------------


def _registers(stream: Stream) -> Iterator[_Fault]:
    """Needs of registers that have other values, or none."""
    fields = {f for executions in stream.tables for f in executions.issue.instruction.needs}
    for core in range(stream.cores):
        tables = [executions for executions in stream.tables if executions.core == core]
        for field in sorted(fields, key=str):
            yield from _field_faults(field, tables)


def _field_faults(field: Field, tables: Sequence[Executions]) -> Iterator[_Fault]:
    setters = [m for m in tables if field in m.issue.instruction.sets]
    users = [m for m in tables if field in m.issue.instruction.needs]
    if not users:
        return
    places = np.concatenate([m.places for m in (*setters, *users)])
    values = np.concatenate(
        [*(_as_floats(m.numbers[field.name]) for m in setters), *(_needed_values(m, field) for m in users)]
    )
    sets = np.arange(len(places)) < sum(m.count for m in setters)
    order = np.argsort(places, kind="stable")
    places, values, sets = places[order], values[order], sets[order]
    last = np.maximum.accumulate(np.where(sets, np.arange(len(places)), -1))
    never = ~sets & (last < 0)
    if (n := _first_index(never)) is not None:
        yield _Fault(int(places[n]), f"register {field} was never set; it needs {values[n]:g}")
    wrong = ~sets & (last >= 0) & (values[np.maximum(last, 0)] != values)
    if (n := _first_index(wrong)) is not None:
        what = f"register {field} is {values[last[n]]:g}; it needs {values[n]:g}"
        yield _Fault(int(places[n]), what, int(places[last[n]]), "; set by")


def _as_floats(numbers: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    return numbers.astype(np.float64)


def _needed_values(executions: Executions, field: Field) -> NDArray[np.float64]:
    source = executions.issue.instruction.needs[field]
    if isinstance(source, Number):
        return _as_floats(executions.numbers[source.name])
    if isinstance(source, Stride):
        source = _constant(executions.issue.tiles[source.operand].strides[source.dimension]) * source.factor
    return np.full(executions.count, float(source))
