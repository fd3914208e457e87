"""Races between units that hardware does not order: which instructions each has to wait for, and which of them are
known to be complete by the waits and the tokens of a program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.operands import ExecutionUnit
from tir_mlir.accel.timing import native
from tir_mlir.accel.timing.clocks import EMPTY, LEFT, WAITS, UnitClocks
from tir_mlir.dialect.diagnostics import MachineError

if TYPE_CHECKING:
    from tir_mlir.accel.timing.stream import Integers


@dataclass(frozen=True)
class Race:
    """An instruction that may begin before one of another unit is complete that uses the same row."""

    place: int
    """Of the later one among all instructions; their number: the end of the program."""
    lane: int
    """Of the earlier one."""
    number: int
    """Of the earlier one in its lane."""


class Order:
    """What orders the instructions of a run, by the clocks that it is made for.

    Of each instruction and lane: how many instructions of the lane have to be complete when it begins, and how many are
    known to be.
    """

    def __init__(self, clocks: UnitClocks):
        self.clocks = clocks
        self.lanes = len(clocks.lanes)

    @cached_property
    def needs(self) -> Integers:
        """How many have to be complete: in what hardware does not order."""
        run, _ = self.clocks.prepare()
        needs = np.zeros((self.clocks.stream.count, self.lanes), np.int64)
        if self.clocks.arrays["fenced"].any():
            native.find_needs(run, np.zeros(max(1, self.clocks.rows.count * self.lanes), np.int64), needs)
        for number, lane in enumerate(self.clocks.lanes):
            if lane.unit.refuses_overflow:
                own = self.places(number)
                needs[own, number] = np.maximum(needs[own, number], np.arange(len(own)) - lane.unit.queue + 1)
        return needs

    @cached_property
    def _counts(self) -> tuple[Integers, Integers]:
        """`complete_counts`, and those at the end."""
        run, _ = self.clocks.prepare()
        cores, queues = self.clocks.stream.cores, int(self.clocks.arrays["tokens"][-1])
        at_core = np.zeros((cores, self.lanes), np.int64)
        at_lane, at_token = (np.zeros((max(1, n), self.lanes), np.int64) for n in (self.lanes, queues))
        known = np.zeros((self.clocks.stream.count, self.lanes), np.int64)
        native.find_known(run, at_core, at_lane, at_token, known)
        return known, at_core

    @property
    def complete_counts(self) -> Integers:
        """How many are known to be complete."""
        return self._counts[0]

    @property
    def complete_counts_at_end(self) -> Integers:
        """How many of each lane each core knows to be complete when the program ends."""
        return self._counts[1]

    @cached_property
    def issue_counts(self) -> Integers:
        """How many of each lane were issued before each instruction."""
        lanes, works = self.clocks.arrays["lane"], self.clocks.arrays["kind"] != WAITS
        is_of = (lanes[:, None] == np.arange(self.lanes)) & works[:, None]
        return np.cumsum(is_of, 0) - is_of

    def places(self, lane: int) -> Integers:
        """The places of the instructions of a lane."""
        return np.flatnonzero((self.clocks.arrays["lane"] == lane) & (self.clocks.arrays["kind"] != WAITS))

    def open_lanes(self) -> list[int]:
        """The lanes for which the CPU has to wait, and whose instructions on memories may not be complete when the
        program ends."""
        known = self.complete_counts_at_end.max(0)
        return [n for n in range(self.lanes) if self.clocks.arrays["fenced"][n] and self._last_access(n) > known[n]]

    def _last_access(self, lane: int) -> int:
        """The number of instructions of a lane up to the last one that uses a memory."""
        tables = self.clocks.stream.tables
        uses = np.array([bool(t.issue.instruction.tiles) for t in tables], bool)
        found = np.flatnonzero(uses[self.clocks.stream.table[self.places(lane)]])
        return int(found[-1]) + 1 if len(found) else 0

    def first_race(self) -> Race | None:
        """The first race, if there is one."""
        late = self.needs > self.complete_counts
        if late.any():
            place = int(np.argmax(late.any(1)))
            lane = int(np.argmax(late[place]))
            return Race(place, lane, int(self.needs[place, lane]) - 1)
        for lane in self.open_lanes():
            return Race(self.clocks.stream.count, lane, self._last_access(lane) - 1)
        return None

    def describe(self, race: Race) -> str:
        """What races, where, and the lines of both."""
        stream, unit = self.clocks.stream, self.clocks.lanes[race.lane].unit
        earlier = int(self.places(race.lane)[race.number])
        other, line = stream.describe(earlier), f"\n  {stream.line(earlier)}"
        fix = f"nothing waits for unit {unit.name}; fix: a wait for it, or tokens"
        if race.place == stream.count:
            return f"the program ends while {other} may not be complete: {fix}{line}"
        now = stream.describe(race.place)
        if race.lane == self.clocks.arrays["lane"][race.place]:
            return (
                f"{now} may be issued while the queue of {unit.name} is full, which holds {unit.queue} and loses what "
                f"exceeds it: {fix}\n  {stream.line(race.place)}"
            )
        row, does, did = self._conflict(race.place, earlier)
        return f"{now} {does} {row}, which {other} may still {did}: {fix}\n  {stream.line(race.place)}{line}"

    def _conflict(self, later: int, earlier: int) -> tuple[str, str, str]:
        """A row that two instructions use, and what each does with it."""
        for access, does in ((2, "writes"), (1, "reads")):
            for other, did in ((2, "write"), (1, "read")):
                for first, end in self._spans(later, access):
                    for low, high in self._spans(earlier, other) if 2 in (access, other) else ():
                        if max(first, low) < min(end, high):
                            return self.clocks.rows.name(max(first, low)), does, did
        return "a row", "uses", "use"

    def _spans(self, place: int, access: int) -> list[tuple[int, int]]:
        arrays = self.clocks.arrays
        spans = range(arrays["spans"][place], arrays["spans"][place + 1])
        return [(int(arrays["first"][s]), int(arrays["end"][s])) for s in spans if arrays["access"][s] & access]


def check_order(clocks: UnitClocks) -> None:
    """Check that waits and tokens order what hardware does not.

    Errors: MachineError for a race, for a wait that never waits for anything, and for a token that is missing or left.
    """
    order = Order(clocks)
    for executions in clocks.stream.tables:
        for unit in executions.issue.instruction.waits if executions.count else ():
            _check_used(order, unit, executions.core, executions.places, executions.numbers["left"].astype(np.int64))
    race = order.first_race()
    if race is not None:
        raise MachineError(order.describe(race))
    for number in range(len(clocks.queues)):
        _check_tokens(clocks, number)


def _check_tokens(clocks: UnitClocks, number: int) -> None:
    """Check that each token of a queue was put before it is taken, and that none is left at the end."""
    marks = np.flatnonzero(clocks.arrays["fifo"] == number)
    there = np.cumsum(2 * clocks.arrays["puts"][marks] - 1)
    if (there < 0).any():
        raise clocks.token_fault(EMPTY, int(marks[np.argmax(there < 0)]))
    if len(there) and there[-1]:
        raise clocks.token_fault(LEFT, int(marks[clocks.arrays["puts"][marks] == 1][-1]))


def _check_used(order: Order, unit: ExecutionUnit, core: int, places: Integers, left: Integers) -> None:
    """Check that a wait waits for an instruction in one iteration at least."""
    issued = order.issue_counts[places, order.clocks.lane_numbers[unit, core]]
    if (issued > left).any():
        return
    stream = order.clocks.stream
    most = int(issued.max())
    what = (
        f"at most {most} were started before it, and {int(left[np.argmax(issued)])} may be left" if most else "none was"
    )
    raise MachineError(
        f"{stream.describe(int(places[0]))} waits for no instruction of unit {unit.name}: {what}"
        f"{'' if most else ' started before it'}\n  {stream.line(int(places[0]))}"
    )
