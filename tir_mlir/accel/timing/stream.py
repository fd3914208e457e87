"""All instructions that a run of a program issues, in order, as tables of numbers.

Sizes are numbers, so that loops are unrolled at once: each instruction of the text becomes a table with a row for each
time that it is issued.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tir_mlir.accel.cores import iterations_by_core
from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import ExecutionUnit
from tir_mlir.accel.program import (
    Allocate,
    Clipped,
    Conditions,
    For,
    HostCode,
    Issue,
    MachineProgram,
    Node,
    Value,
    When,
)
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.dialect.symbolic import IntExpr, as_expr, evaluate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers: TypeAlias = NDArray[np.int64]
    Numbers: TypeAlias = NDArray[np.int64] | NDArray[np.float64]


CPU = ExecutionUnit("cpu", 1)
"""What executes the statements of a program that are not instructions: it issues nothing meanwhile."""
STATEMENTS = MachineInstruction("", "statements of the CPU", CPU, (), (), 0, 0, (), {}, None)


@dataclass(eq=False)
class Executions:
    """An instruction of a program's text, and each time that it is issued: row n of a table is of the n-th time."""

    core: int
    issue: Issue
    loops: tuple[str, ...]
    """The loops around it, from the outside in."""
    iterations: Integers
    """The value of each loop."""
    starts: dict[str, Integers]
    """Where each tile begins in its buffer: a row in a memory of the machine, an element in that of the CPU."""
    numbers: dict[str, Numbers]
    """The operands that are numbers."""
    places: Integers
    """Its places among all instructions of the run."""
    flags: list[tuple[MachineInstruction, NDArray[np.bool_]]] = field(default_factory=list)
    """What passes tokens by its flags, and each time whether it does."""
    statements: HostCode | None = None
    """What it is if it is not an instruction."""

    @property
    def node(self) -> Issue | HostCode:
        """What it is in the text."""
        return self.issue if self.statements is None else self.statements

    @property
    def count(self) -> int:
        return len(self.iterations)

    def iteration(self, time: int) -> str:
        """The values of the loops the n-th time: `i = 0, j = 3`."""
        return ", ".join(f"{n} = {v}" for n, v in zip(self.loops, self.iterations[time].tolist(), strict=True))


@dataclass(eq=False)
class Stream:
    """The instructions of a run, those of one core after those of another: the n-th one is row `row[n]` of the table
    `tables[table[n]]`."""

    program: MachineProgram
    cores: int
    """Cores that run it."""
    tables: list[Executions]
    table: Integers
    row: Integers

    @property
    def count(self) -> int:
        return len(self.table)

    def describe(self, place: int) -> str:
        """An instruction of the run, with its iteration: `mvin at i = 0, j = 3`."""
        executions = self.tables[self.table[place]]
        at = executions.iteration(int(self.row[place]))
        core = f" on core {executions.core}" if self.cores > 1 else ""
        return executions.issue.instruction.name + core + (f" at {at}" if at else "")

    def line(self, place: int) -> str:
        """The line of an instruction of the run in the program's source."""
        return self.tables[self.table[place]].issue.line


def read_stream(program: MachineProgram) -> Stream:
    """The instructions that a run of a program issues. Errors: MachineError for sizes that a call decides."""
    if program.sizes:
        names = ", ".join(program.sizes)
        given = ", ".join(f"{name}=..." for name in program.sizes)
        raise MachineError(
            f"what {program.name} does depends on {names}, which a call decides; fix: numbers for them, "
            f"lib.{program.name}.at_sizes({given})"
        )
    bodies = iterations_by_core(program)
    tables: list[Executions] = []
    count = 0
    for core, body in enumerate(bodies):
        issued, parts = _body(body, (), {}, 1)
        for part in parts:
            part.executions.core = core
            part.executions.places += count
            tables.append(part.executions)
        count += int(issued[0])
    table, row = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for number, executions in enumerate(tables):
        table[executions.places] = number
        row[executions.places] = np.arange(executions.count)
    return Stream(program, len(bodies), tables, table, row)


@dataclass(eq=False)
class _Part:
    """A table, and of each of its rows the iteration of the loops around the node that is read, as a number."""

    executions: Executions
    context: Integers


_Read = tuple["Integers", list[_Part]]
"""How many instructions each iteration of the loops around a node issues in it, and the tables; places are counted
from the first instruction of the node in that iteration."""


def _body(body: Sequence[Node], loops: tuple[str, ...], values: Mapping[str, Integers], count: int) -> _Read:
    """Read a body that runs `count` times, with these values of the loops around it."""
    issued, parts = np.zeros(count, np.int64), list[_Part]()
    for node in body:
        if isinstance(node, Allocate):
            continue
        if isinstance(node, For):
            more, inside = _loop(node, loops, values, count)
        elif isinstance(node, When):
            more, inside = _condition(node, loops, values, count)
        elif isinstance(node, Issue):
            more, inside = _issue(node, loops, values, count)
        else:
            more, inside = _issue(Issue(STATEMENTS, {}, {}, node.line), loops, values, count)
            inside[0].executions.statements = node
        for part in inside:
            part.executions.places += issued[part.context]
        issued += more
        parts += inside
    return issued, parts


def _loop(loop: For, loops: tuple[str, ...], values: Mapping[str, Integers], count: int) -> _Read:
    low = _number(loop.low, values, count)
    ends = [_number(end, values, count) for end in loop.highs]
    extents = np.maximum(np.minimum.reduce(ends) - low, 0)
    first = np.cumsum(extents) - extents  # of the iterations of each outer iteration
    outer = np.repeat(np.arange(count), extents)
    inner = {name: v[outer] for name, v in values.items()}
    inner[loop.var] = low[outer] + np.arange(len(outer)) - first[outer]
    issued, parts = _body(loop.body, (*loops, loop.var), inner, len(outer))
    before = np.concatenate([[0], np.cumsum(issued)])
    for part in parts:
        part.executions.places += (before[:-1] - before[first[outer]])[part.context]
        part.context = outer[part.context]
    return before[first + extents] - before[first], parts


def _condition(node: When, loops: tuple[str, ...], values: Mapping[str, Integers], count: int) -> _Read:
    kept = np.flatnonzero(_holds(node.conditions, values, count))
    inside, parts = _body(node.body, loops, {name: v[kept] for name, v in values.items()}, len(kept))
    issued = np.zeros(count, np.int64)
    issued[kept] = inside
    for part in parts:
        part.context = kept[part.context]
    return issued, parts


def _holds(conditions: Conditions, values: Mapping[str, Integers], count: int) -> NDArray[np.bool_]:
    """In which iterations conditions hold."""
    holds = np.ones(count, bool)
    for condition, is_equality in conditions:
        number = _number(condition, values, count)
        holds &= number == 0 if is_equality else number >= 0
    return holds


def _issue(issue: Issue, loops: tuple[str, ...], values: Mapping[str, Integers], count: int) -> _Read:
    iterations = np.stack([values[name] for name in loops], 1) if loops else np.zeros((count, 0), np.int64)
    starts = {name: _number(tile.start, values, count) for name, tile in issue.tiles.items()}
    numbers = {name: _value(value, values, count) for name, value in issue.numbers.items()}
    flags = [(flag.passes, _holds(flag.conditions, values, count)) for flag in issue.flags]
    executions = Executions(0, issue, loops, iterations, starts, numbers, np.zeros(count, np.int64), flags)
    return np.ones(count, np.int64), [_Part(executions, np.arange(count))]


def _number(expr: IntExpr, values: Mapping[str, Integers], count: int) -> Integers:
    """The value of an index in each iteration."""
    return np.broadcast_to(np.asarray(evaluate(expr, values.__getitem__), np.int64), (count,))


def _value(value: Value, values: Mapping[str, Integers], count: int) -> Numbers:
    """The value of an operand that is a number in each iteration."""
    if isinstance(value, Clipped):
        number = as_expr(value.number)
        return np.clip(_number(number, values, count), value.low, value.high)
    return _number(value, values, count) if isinstance(value, IntExpr) else np.full(count, value)
