"""Waits and tokens: where a program waits for what hardware does not order, and how many instructions may be left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import ExecutionUnit
from tir_mlir.accel.program import For, Issue, MachineProgram, Node, When
from tir_mlir.accel.timing.clocks import NodeUses, UnitClocks, is_ordered_by_hardware
from tir_mlir.accel.timing.conditions import FREE, ranges
from tir_mlir.accel.timing.places import TextPlace, place_iterations, places_around, places_in
from tir_mlir.accel.timing.races import Order, check_order
from tir_mlir.accel.timing.stream import read_stream
from tir_mlir.accel.timing.tokens import Tokens, find_tokens, token_queue
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.dialect.symbolic import Constant

if TYPE_CHECKING:
    from tir_mlir.accel.timing.stream import Executions, Integers


def synchronize(placed: PlacedProgram) -> PlacedProgram:
    """The program with the waits and the tokens that it needs: each around an instruction where the clocks are fastest,
    the fewest where they are equally fast, and none that another one makes superfluous.

    Which instructions use the same rows is known for all iterations, as sizes are numbers. Errors: MachineError for a
    race that no instruction of the machine can prevent, and for a wait of the program that is wrong.
    """
    machine = placed.program.machine
    if is_ordered_by_hardware(machine):
        return placed
    if placed.program.sizes:
        raise MachineError(
            f"{machine} has units that hardware does not order, and where {placed.program.name} has to wait depends on "
            f"{', '.join(placed.program.sizes)}, which a call decides; fix: a program for each size, or interlocks"
        )
    program = replace(placed.program, body=_copy(placed.program.body))
    writer = _WaitWriter(program, placed)
    writer.add_waits()
    writer.remove_superfluous()
    check_order(writer.clocks())
    return replace(placed, program=program)


def _copy(body: Sequence[Node]) -> list[Node]:
    return [_copy_node(n) for n in body]


def _copy_node(node: Node) -> Node:
    if isinstance(node, For | When):
        return replace(node, body=_copy(node.body))
    return replace(node, flags=list(node.flags)) if isinstance(node, Issue) else node


class _WaitWriter:
    """Writes waits into a program."""

    def __init__(self, program: MachineProgram, placed: PlacedProgram):
        self.program, self.placed = program, placed
        self.nodes: list[Node] = []
        self.known: dict[tuple[Node, int], NodeUses] = {}

    def clocks(self) -> UnitClocks:
        """The clocks of the program as it is now."""
        return UnitClocks(read_stream(self.program), self.placed.rows, self.known)

    def order(self) -> Order:
        return Order(self.clocks())

    def add_waits(self) -> None:
        """Add a wait before the first instruction that may begin too early, until none does."""
        while True:
            order = self.order()
            late = order.needs > order.complete_counts
            if not late.any():
                break
            place = int(np.argmax(late.any(1)))
            lane = int(np.argmax(late[place]))
            executions = order.clocks.stream.tables[order.clocks.stream.table[place]]
            if not self._add_tokens(order, executions, lane):
                self._wait_before(order, executions, lane)
        for lane in order.open_lanes():
            self._wait_at_end(order, lane)

    def _add_tokens(self, order: Order, executions: Executions, lane: int) -> bool:
        """Let the unit of an instruction wait for a lane by tokens, where there is a queue and they can be told."""
        producer, consumer = order.clocks.lanes[lane].unit, executions.issue.instruction.unit
        queue = token_queue(self.program, producer, consumer)
        if producer == consumer or queue is None:
            return False
        assert queue[0].tokens is not None
        choices: list[tuple[tuple[int, int], Tokens]] = []
        for is_outermost in (False,) if queue[0].tokens.by_flags else (True, False):
            tokens = find_tokens(order, self.program, producer, consumer, is_outermost)
            if tokens is not None and (cost := self._cost_of(tokens)) is not None:
                choices.append((cost, tokens))
        if choices:
            min(choices, key=lambda choice: choice[0])[1].insert(self.program)
        return bool(choices)

    def _cost_of(self, tokens: Tokens) -> tuple[int, int] | None:
        """The cycles of the program, and its instructions, with tokens; None if their queue is too small."""
        tokens.insert(self.program)
        clocks = self.clocks()
        tokens.remove(self.program)
        try:
            return clocks.measure().cycles, clocks.stream.count
        except MachineError:
            return None

    def _wait_before(self, order: Order, executions: Executions, lane: int) -> None:
        unit = order.clocks.lanes[lane].unit
        wait = self._instruction(order, unit, executions, lane)
        choices: list[tuple[TextPlace, list[Node]]] = []
        lefts: list[list[int]] = []
        for place in places_around(self.program, executions.node, unit):
            nodes, left = self._waits(order, executions, unit, place, wait)
            if lefts and lefts[-1] == left:  # as many are left by fewer waits
                choices.pop()
                lefts.pop()
            choices.append((place, nodes))
            lefts.append(left)
        if len(choices) > 1:  # inside, more may be left; outside, there are fewer waits
            choices.sort(key=lambda choice: self._cycles(*choice))
        place, nodes = choices[0]
        place.insert(self.program, nodes)
        self.nodes += nodes

    def _cycles(self, place: TextPlace, nodes: list[Node]) -> tuple[int, int]:
        """The cycles of the program, and its instructions, with waits at a place."""
        place.insert(self.program, nodes)
        clocks = self.clocks()
        place.remove(self.program, nodes)
        return clocks.measure().cycles, clocks.stream.count

    def _waits(
        self, order: Order, executions: Executions, unit: ExecutionUnit, place: TextPlace, wait: MachineInstruction
    ) -> tuple[list[Node], list[int]]:
        """The waits for a unit at a place around an instruction, and how many instructions each leaves."""
        found = place_iterations(self.program, place)
        left = np.full(len(found), FREE)
        for one in [t for t in order.clocks.stream.tables if t.node is executions.node]:  # on each core
            lane = order.clocks.lane_numbers[unit, one.core]
            needs, issued = order.needs[one.places, lane], order.issue_counts[one.places, lane]
            late = needs > order.complete_counts[one.places, lane]
            rows = _positions(found, one.iterations[late][:, : place.loops])
            np.minimum.at(left, rows, np.minimum((issued - needs)[late], wait.numbers[0].high or 0))
        nodes: list[Node] = []
        parts = ranges(executions.loops[: place.loops], found, left)
        for conditions, number in parts:
            one = Issue(wait, {}, {"left": Constant(number)}, executions.issue.line)
            together = tuple(dict.fromkeys((*place.conditions, *conditions)))
            nodes.append(When(together, [one]) if together else one)
        return nodes, [number for _, number in parts]

    def _instruction(self, order: Order, unit: ExecutionUnit, executions: Executions, lane: int) -> MachineInstruction:
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

    def _wait_at_end(self, order: Order, lane: int) -> None:
        unit = order.clocks.lanes[lane].unit
        if any(order.clocks.lanes[n].unit == unit for n in range(lane)):
            return  # of another core: the same text
        executions = next(t for t in order.clocks.stream.tables if t.issue.instruction.unit == unit)
        wait = self._instruction(order, unit, executions, lane)
        one = Issue(wait, {}, {"left": Constant(0)}, executions.issue.line)
        over_cores = [n for n in self.program.body if isinstance(n, For) and n.is_over_cores]
        (over_cores[0].body if over_cores else self.program.body).append(one)
        self.nodes.append(one)

    def remove_superfluous(self) -> None:
        """Remove the waits without which nothing races."""
        for node in self.nodes if len(self.nodes) > 1 else ():
            body = next(p.body(self.program) for p in places_in(self.program.body) if p.node is node)
            at = next(n for n, other in enumerate(body) if other is node)
            del body[at]
            if self.order().first_race() is not None:
                body.insert(at, node)


def _positions(iterations: Integers, wanted: Integers) -> Integers:
    """Where iterations are among others, of which they are some."""
    low = iterations.min(0)
    extents = iterations.max(0) - low + 1
    weights = np.cumprod([1, *extents[:0:-1]])[::-1][: len(extents)]
    numbers = (iterations - low) @ weights
    order = np.argsort(numbers, kind="stable")
    return order[np.searchsorted(numbers, (wanted - low) @ weights, sorter=order)]
