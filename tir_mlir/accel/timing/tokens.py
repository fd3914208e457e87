"""Tokens: where a unit puts one, and where another one takes it, so that it waits for what hardware does not order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import ExecutionUnit
from tir_mlir.accel.program import Conditions, Issue, MachineProgram, Node, TokenFlag, When
from tir_mlir.accel.timing.conditions import subset
from tir_mlir.accel.timing.places import TextPlace, place_iterations, places_around

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tir_mlir.accel.timing.races import Order
    from tir_mlir.accel.timing.stream import Executions, Integers


@dataclass(eq=False)
class _Site:
    """A place of the text, and in which of its executions a token is put or taken."""

    place: TextPlace
    issue: Issue
    names: tuple[str, ...]
    entries: list[tuple[int, ...]] = field(default_factory=list)
    """The values of the loops around it, for all executions."""
    chosen: set[tuple[int, ...]] = field(default_factory=set)

    def passage(self, instruction: MachineInstruction) -> _Passage | None:
        """What puts or takes a token in the chosen executions; None if no condition tells these from the others, or if
        a flag is set by another token."""
        found = self._conditions()
        if found is None:
            return None
        assert instruction.tokens is not None
        if instruction.tokens.by_flags:
            is_set = any(flag.passes == instruction for flag in self.issue.flags)
            return None if is_set else _Passage(self, flags=[TokenFlag(instruction, c) for c in found])
        nodes: list[Node] = []
        for conditions in found:
            one = Issue(instruction, {}, {}, self.issue.line)
            nodes.append(When(conditions, [one]) if conditions else one)
        return _Passage(self, nodes, is_behind=instruction.puts_token)

    def _conditions(self) -> list[Conditions] | None:
        """Conditions, of which one holds in the chosen executions, and none in the others."""
        entries = np.array(self.entries, np.int64).reshape(len(self.entries), len(self.names))
        found = subset(self.names, entries, np.array([e in self.chosen for e in self.entries], bool))
        if found is None:
            return None
        return [tuple(dict.fromkeys((*self.place.conditions, *conditions))) for conditions in found]


@dataclass(eq=False)
class _Passage:
    """What passes tokens at a place of the text: instructions, or flags of the one that is there."""

    site: _Site
    nodes: list[Node] = field(default_factory=list)
    flags: list[TokenFlag] = field(default_factory=list)
    is_behind: bool = False

    def insert(self, program: MachineProgram) -> None:
        self.site.place.insert(program, self.nodes, self.is_behind)
        self.site.issue.flags += self.flags

    def remove(self, program: MachineProgram) -> None:
        self.site.place.remove(program, self.nodes)
        self.site.issue.flags = [flag for flag in self.site.issue.flags if flag not in self.flags]


def token_queue(
    program: MachineProgram, producer: ExecutionUnit, consumer: ExecutionUnit
) -> tuple[MachineInstruction, MachineInstruction] | None:
    """What puts a token into the queue between two units, and what takes one; None if there is no queue."""
    found = [
        i
        for i in program.machine.instructions.values()
        if i.tokens is not None and (i.tokens.producer, i.tokens.consumer) == (producer, consumer)
    ]
    return (found[0], found[1]) if found else None


@dataclass(eq=False)
class Tokens:
    """The tokens by which a unit waits for another one."""

    passages: list[_Passage]

    def insert(self, program: MachineProgram) -> None:
        for passage in self.passages:
            passage.insert(program)

    def remove(self, program: MachineProgram) -> None:
        for passage in self.passages:
            passage.remove(program)


def find_tokens(
    order: Order,
    program: MachineProgram,
    producer: ExecutionUnit,
    consumer: ExecutionUnit,
    is_outermost: bool,
) -> Tokens | None:
    """The tokens by which a unit waits for another one in all iterations, taken before the outermost loops that issue
    nothing to the producer, or before each instruction; None if no condition on one loop tells where.

    The n-th token that is taken is the n-th one that was put: both are in the order of the instructions waited for.
    """
    queue = token_queue(program, producer, consumer)
    assert queue is not None
    takes: dict[Issue, _Site] = {}
    puts: dict[Issue, _Site] = {}
    for core in range(order.clocks.stream.cores):
        pairs = _Pairs(order, program, producer, consumer, core, is_outermost)
        pairs.add(takes, puts)
    passages: list[_Passage] = []
    for sites, instruction in ((puts, queue[0]), (takes, queue[1])):
        for site in [s for s in sites.values() if s.chosen]:
            passage = site.passage(instruction)
            if passage is None:
                return None
            passages.append(passage)
    return Tokens(passages)


class _Pairs:
    """Which execution of a place of the consumer waits for which one of a place of the producer, on one core."""

    def __init__(
        self,
        order: Order,
        program: MachineProgram,
        producer: ExecutionUnit,
        consumer: ExecutionUnit,
        core: int,
        is_outermost: bool,
    ):
        self.order, self.program, self.is_outermost = order, program, is_outermost
        self.producer, self.consumer = producer, consumer
        self.lane = order.clocks.lane_numbers[producer, core]
        own = order.clocks.lane_numbers[consumer, core]
        self.late = np.flatnonzero(
            (order.clocks.arrays["lane"] == own) & (order.needs[:, self.lane] > order.complete_counts[:, self.lane])
        )
        self.of_producer = order.places(self.lane)
        self.ends: dict[tuple[Issue, int], Integers] = {}

    def add(self, takes: dict[Issue, _Site], puts: dict[Issue, _Site]) -> None:
        """Choose the executions, in order: what is complete after a token needs no other one."""
        stream, complete = self.order.clocks.stream, 0
        for _, need, issue, entry in self._entries(takes):
            if need <= complete:
                continue
            place = int(self.of_producer[need - 1])
            executions = stream.tables[stream.table[place]]
            site = self._site(executions, puts, self.consumer)
            row = int(stream.row[place])
            last = int(self._ends(executions, len(site.names))[row])
            complete = int(self.order.issue_counts[executions.places[last], self.lane]) + 1
            takes[issue].chosen.add(entry)
            site.chosen.add(tuple(executions.iterations[row][: len(site.names)].tolist()))

    def _entries(self, takes: dict[Issue, _Site]) -> list[tuple[int, int, Issue, tuple[int, ...]]]:
        """Each execution of a place of the consumer that has to wait, in order: where its first instruction is, how
        many have to be complete, and the place with the values of its loops."""
        stream = self.order.clocks.stream
        found: list[tuple[int, int, Issue, tuple[int, ...]]] = []
        for number in np.unique(stream.table[self.late]).tolist():
            executions = stream.tables[number]
            site = self._site(executions, takes, self.producer)
            places = self.late[stream.table[self.late] == number]
            entries = executions.iterations[stream.row[places]][:, : len(site.names)]
            first = np.flatnonzero(_changes(entries))
            needs = np.maximum.reduceat(self.order.needs[places, self.lane], first)
            for at, need in zip(first.tolist(), needs.tolist(), strict=True):
                found.append((int(places[at]), need, executions.issue, tuple(entries[at].tolist())))
        return sorted(found, key=lambda entry: entry[0])

    def _site(self, executions: Executions, sites: dict[Issue, _Site], unit: ExecutionUnit) -> _Site:
        """The place around an instruction that issues nothing to a unit."""
        if executions.issue not in sites:
            around = places_around(self.program, executions.issue, unit)
            place = around[-1] if self.is_outermost else around[0]
            sites[executions.issue] = _Site(place, executions.issue, executions.loops[: place.loops])
            rows = place_iterations(self.program, place)
            sites[executions.issue].entries += [tuple(row) for row in rows.tolist()]
        return sites[executions.issue]

    def _ends(self, executions: Executions, loops: int) -> Integers:
        """Of each row of a table, the last one with the same values of the outer loops."""
        key = (executions.issue, loops)
        if key not in self.ends:
            first = np.flatnonzero(_changes(executions.iterations[:, :loops]))
            lengths = np.diff(np.append(first, executions.count))
            self.ends[key] = np.repeat(first + lengths - 1, lengths)
        return self.ends[key]


def _changes(rows: Integers) -> NDArray[np.bool_]:
    """Which rows differ from the one before."""
    changes = np.ones(len(rows), bool)
    changes[1:] = (rows[1:] != rows[:-1]).any(1)
    return changes
