"""Waits: where a program waits for what hardware does not order, and how many instructions may be left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import ExecutionUnit
from tir_mlir.accel.program import For, Issue, MachineProgram, Node, When, walk
from tir_mlir.accel.timing.clocks import Clocks, needs_waits
from tir_mlir.accel.timing.conditions import Conditions, ranges
from tir_mlir.accel.timing.races import Order, check_order
from tir_mlir.accel.timing.stream import read_stream
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.dialect.symbolic import Constant, names_in

if TYPE_CHECKING:
    from tir_mlir.accel.timing.stream import Executions


def synchronize(placed: PlacedProgram) -> PlacedProgram:
    """The program with the waits that it needs: each around an instruction where the clocks are fastest, the fewest
    where they are equally fast, and none that another one makes superfluous.

    Which instructions use the same rows is known for all iterations, as sizes are numbers. Errors: MachineError for a
    race that no instruction of the machine can prevent, and for a wait of the program that is wrong.
    """
    machine = placed.program.machine
    if not any(needs_waits(machine, unit) or unit.refuses_overflow for unit in machine.units.values()):
        return placed
    program = replace(placed.program, body=_copy(placed.program.body))
    writer = _Writer(program, placed)
    writer.add_waits()
    writer.remove_superfluous()
    check_order(Clocks(read_stream(program), placed.rows))
    return replace(placed, program=program)


def _copy(body: Sequence[Node]) -> list[Node]:
    return [replace(n, body=_copy(n.body)) if isinstance(n, For | When) else n for n in body]


@dataclass(frozen=True)
class _Place:
    """A node, and the nodes around it from the outside in."""

    around: tuple[For | When, ...]
    node: Node
    conditions: Conditions = ()
    """Those of the conditions between the node and what it stands for."""

    def body(self, program: MachineProgram) -> list[Node]:
        """The body that the node is in."""
        return self.around[-1].body if self.around else program.body

    def insert(self, program: MachineProgram, nodes: Sequence[Node]) -> None:
        """Insert nodes before the node."""
        body = self.body(program)
        at = next(n for n, node in enumerate(body) if node is self.node)
        body[at:at] = nodes

    @property
    def loops(self) -> int:
        """How many loops are around it."""
        return sum(isinstance(n, For) for n in self.around)


class _Writer:
    """Writes waits into a program."""

    def __init__(self, program: MachineProgram, placed: PlacedProgram):
        self.program, self.placed = program, placed
        self.made: list[Node] = []

    def order(self) -> Order:
        return Order(Clocks(read_stream(self.program), self.placed.rows))

    def add_waits(self) -> None:
        """Add a wait before the first instruction that may begin too early, until none does."""
        while True:
            order = self.order()
            late = order.needs > order.known
            if not late.any():
                break
            place = int(np.argmax(late.any(1)))
            lane = int(np.argmax(late[place]))
            self._wait_before(order, order.clocks.stream.tables[order.clocks.stream.table[place]], lane)
        for lane in order.unfinished():
            self._wait_at_end(order, lane)

    def _wait_before(self, order: Order, made: Executions, lane: int) -> None:
        unit = order.clocks.lanes[lane].unit
        wait = self._instruction(order, unit, made, lane)
        choices: list[tuple[_Place, list[Node]]] = []
        lefts: list[list[int]] = []
        for place in self._around(made.issue, unit):
            nodes, left = _waits(order, made, lane, place, wait)
            if lefts and lefts[-1] == left:  # as many are left by fewer waits
                choices.pop()
                lefts.pop()
            choices.append((place, nodes))
            lefts.append(left)
        if len(choices) > 1:  # inside, more may be left; outside, there are fewer waits
            choices.sort(key=lambda choice: self._cycles(*choice))
        place, nodes = choices[0]
        place.insert(self.program, nodes)
        self.made += nodes

    def _cycles(self, place: _Place, nodes: list[Node]) -> tuple[int, int]:
        """The cycles of the program, and its instructions, with waits at a place."""
        place.insert(self.program, nodes)
        clocks = Clocks(read_stream(self.program), self.placed.rows)
        body = place.body(self.program)
        body[:] = [n for n in body if not any(n is node for node in nodes)]
        return clocks.measure().cycles, clocks.stream.count

    def _instruction(self, order: Order, unit: ExecutionUnit, made: Executions, lane: int) -> MachineInstruction:
        """What waits for a unit: the one that waits for the fewest others, and can leave the most instructions."""
        if unit.is_shared and order.clocks.stream.cores > 1:
            raise MachineError(
                f"cores share unit {unit.name}, which hardware does not order: a wait of one core would count the "
                "instructions of the others; fix: a unit for each core, or interlocks"
            )
        able = [i for i in self.program.machine.instructions.values() if unit in i.waits]
        if not able:
            race = order.first_race()
            assert race is not None
            raise MachineError(
                f"{self.program.machine} has no instruction that waits for unit {unit.name}; "
                f'fix: m.wait({unit.name}, call="..."): {order.describe(race)}'
            )
        return min(able, key=lambda i: (len(i.waits), -(i.numbers[0].high or 0)))

    def _around(self, issue: Issue, unit: ExecutionUnit) -> list[_Place]:
        """An instruction, and the loops around it that issue nothing to a unit, with the conditions in between, while
        these do not depend on the loops."""
        place = next(p for p in _places(self.program.body) if p.node is issue)
        found, conditions = [place], place.conditions
        if issue.instruction.unit == unit:
            return found
        for depth in range(len(place.around) - 1, -1, -1):
            node = place.around[depth]
            if isinstance(node, When):
                conditions = (*node.conditions, *conditions)
                continue
            used = {name for condition, _ in conditions for name in names_in(condition)}
            if node.is_over_cores or node.var in used or _issues_to(node, unit):
                break
            found.append(_Place(place.around[:depth], node, conditions))
        return found

    def _wait_at_end(self, order: Order, lane: int) -> None:
        unit = order.clocks.lanes[lane].unit
        if any(order.clocks.lanes[n].unit == unit for n in range(lane)):
            return  # of another core: the same text
        made = next(t for t in order.clocks.stream.tables if t.issue.instruction.unit == unit)
        wait = self._instruction(order, unit, made, lane)
        one = Issue(wait, {}, {"left": Constant(0)}, made.issue.line)
        over_cores = [n for n in self.program.body if isinstance(n, For) and n.is_over_cores]
        (over_cores[0].body if over_cores else self.program.body).append(one)
        self.made.append(one)

    def remove_superfluous(self) -> None:
        """Remove the waits without which nothing races."""
        for node in self.made if len(self.made) > 1 else ():
            body = next(p.body(self.program) for p in _places(self.program.body) if p.node is node)
            at = next(n for n, other in enumerate(body) if other is node)
            del body[at]
            if self.order().first_race() is not None:
                body.insert(at, node)


def _waits(
    order: Order, made: Executions, lane: int, place: _Place, wait: MachineInstruction
) -> tuple[list[Node], list[int]]:
    """The waits for a lane at a place around an instruction, and how many instructions each leaves."""
    needs, issued = order.needs[made.places, lane], order.issued[made.places, lane]
    late = needs > order.known[made.places, lane]
    names, iterations = made.loops[: place.loops], made.iterations[late][:, : place.loops]
    left = np.minimum((issued - needs)[late], wait.numbers[0].high or 0)
    nodes: list[Node] = []
    parts = ranges(names, iterations, left)
    for conditions, number in parts:
        one = Issue(wait, {}, {"left": Constant(number)}, made.issue.line)
        together = tuple(dict.fromkeys((*place.conditions, *conditions)))
        nodes.append(When(together, [one]) if together else one)
    return nodes, [number for _, number in parts]


def _issues_to(node: Node, unit: ExecutionUnit) -> bool:
    """Whether a node starts an instruction of a unit."""
    issues = [n.instruction for n in walk([node]) if isinstance(n, Issue)]
    return any(i.unit == unit and not i.waits for i in issues)


def _places(body: Sequence[Node], around: tuple[For | When, ...] = ()) -> Iterator[_Place]:
    for node in body:
        yield _Place(around, node)
        if isinstance(node, For | When):
            yield from _places(node.body, (*around, node))
