"""When each instruction of a run is issued, begins and ends: the instructions as arrays for `clocks.c`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.machine import Machine
from tir_mlir.accel.operands import ExecutionUnit, TokenQueue
from tir_mlir.accel.program import MachineBuffer, Node
from tir_mlir.accel.timing import native
from tir_mlir.accel.timing.accesses import Spans, number_rows, row_spans
from tir_mlir.accel.timing.resources import KINDS, durations, find_resources, holds
from tir_mlir.accel.timing.stream import CPU, Executions, Stream
from tir_mlir.dialect.diagnostics import MachineError

if TYPE_CHECKING:
    from tir_mlir.accel.timing.stream import Integers

WORKS, WAITS = range(2)
CAUSES = ("instructions", "a result", "rows to be read", "a token", *KINDS)
_INTERLOCKS = {"none": 0, "memories": 1, "all": 3}
OVERFLOW, FULL, EMPTY, CONFLICT, LEFT = range(1, 6)
_FAULTS = {
    OVERFLOW: "is issued while the queue of {unit} is full, which holds {queue}; fix: a wait before it",
    FULL: "puts a token into {tokens}, which holds {depth}, and nothing takes one before; this never ends",
    EMPTY: "takes a token of {tokens}, and nothing puts one in before; this never ends",
    CONFLICT: "uses a bank while another instruction does, and {machine} cannot wait for it; fix: place the buffers in "
    "other banks",
    LEFT: "puts a token into {tokens}, and nothing takes it: a later program would; fix: no token here, or one more is "
    "taken",
}
"""The texts of faults: those of clocks.c, and a token that is left."""


@dataclass(frozen=True)
class Lane:
    """A unit of a core; of what cores share, that of the first one."""

    name: str
    unit: ExecutionUnit
    core: int


def lanes_of(machine: Machine, cores: int) -> dict[tuple[ExecutionUnit, int], Lane]:
    """The lanes by unit and core."""
    lanes: dict[tuple[ExecutionUnit, int], Lane] = {}
    for core in range(cores):
        for unit in machine.units.values():
            if core and unit.is_shared:
                lanes[unit, core] = lanes[unit, 0]
            else:
                is_alone = unit.is_shared or machine.cores == 1
                lanes[unit, core] = Lane(unit.name if is_alone else f"{unit.name} {core}", unit, core)
    return lanes


@dataclass(eq=False)
class Times:
    """What a run took: of each instruction its first cycle and its cycles; of each lane and cause the cycles for which
    it waited; of each core and lane the cycles for which the core could not issue, for its queue and by waits."""

    cycles: int
    start: Integers
    busy: Integers
    stalls: Integers
    blocked: Integers


@dataclass(frozen=True, eq=False)
class NodeUses:
    """What a node of the text does each time: cycles, the resources that it holds and for how long, and its rows."""

    cycles: Integers
    resource: Integers
    hold: Integers
    rows: Spans


class UnitClocks:
    """The clocks of a run of a program with addresses: its instructions as arrays. Errors: MachineError.

    known: what nodes do, by node and core, to which new ones are added: the waits around a node do not change it.
    """

    def __init__(
        self,
        stream: Stream,
        placed: Mapping[MachineBuffer, int],
        known: dict[tuple[Node, int], NodeUses] | None = None,
    ):
        self.stream, self.placed = stream, placed
        self.known = {} if known is None else known
        self.machine = stream.program.machine
        self.rows = number_rows(stream)
        by_key = lanes_of(self.machine, stream.cores)
        if any(executions.statements is not None for executions in stream.tables):
            by_key |= {(CPU, core): Lane(f"cpu {core}" if core else "cpu", CPU, core) for core in range(stream.cores)}
        self.lanes = list(dict.fromkeys(by_key.values()))
        self.lane_numbers = {key: self.lanes.index(lane) for key, lane in by_key.items()}
        self.queues = _token_queues(self.machine, stream.cores)
        self.resources = find_resources(self.machine, stream.cores)
        self.arrays = self._stream_arrays()
        self.arrays |= self._machine_arrays()

    def _stream_arrays(self) -> dict[str, Integers]:
        """What each instruction does."""
        count = self.stream.count
        names = ("lane", "kind", "argument", "waited", "cycles", "latency")
        arrays = {name: np.zeros(count, np.int64) for name in names}
        marks, spans, held = _Columns(), _Columns(), _Columns()
        for executions in self.stream.tables:
            instruction, places = executions.issue.instruction, executions.places
            arrays["lane"][places] = self.lane_numbers[instruction.unit, executions.core]
            arrays["latency"][places] = instruction.latency
            if instruction.waits:
                arrays["kind"][places] = WAITS
                arrays["argument"][places] = executions.numbers.get("left", np.zeros(1, np.int64))
                arrays["waited"][places] = sum(1 << self.lane_numbers[u, executions.core] for u in instruction.waits)
            self._add_marks(executions, marks)
            uses = self._uses(executions)
            arrays["cycles"][places] = uses.cycles
            held.add(places, uses.resource >= 0, uses.resource, uses.hold)
            rows = uses.rows
            access = np.broadcast_to(rows.access, rows.first.shape)
            spans.add(places, rows.end > rows.first, rows.first, rows.end, access)
        arrays |= marks.group_by_place(count, "marks", "fifo", "puts")
        arrays |= spans.group_by_place(count, "spans", "first", "end", "access")
        return arrays | held.group_by_place(count, "holds", "resource", "hold")

    def _uses(self, executions: Executions) -> NodeUses:
        key = (executions.node, executions.core)
        if key not in self.known:
            held = holds(executions, durations(executions), self.resources, self.placed)
            self.known[key] = NodeUses(*held, row_spans(executions, self.rows, self.placed))
        return self.known[key]

    def _add_marks(self, executions: Executions, marks: _Columns) -> None:
        """Add the tokens that an instruction passes: by itself, or by flags."""
        for instruction, passes in [(executions.issue.instruction, np.ones(executions.count, bool)), *executions.flags]:
            if instruction.tokens is not None:
                queue = np.full((executions.count, 1), self.queues[instruction.tokens, executions.core], np.int64)
                puts = np.full((executions.count, 1), instruction.puts_token, np.int64)
                marks.add(executions.places, passes[:, None], queue, puts)

    def _machine_arrays(self) -> dict[str, Integers]:
        """What the lanes, resources and queues are, and where each has its part of what `_state` makes."""
        units = [lane.unit for lane in self.lanes]
        found = self.resources.found
        works = self.arrays["kind"] != WAITS
        issued = np.bincount(self.arrays["lane"][works], minlength=len(units))
        passed = np.bincount(self.arrays["fifo"], minlength=len(self.queues))
        cores = np.array([executions.core for executions in self.stream.tables], np.int64)
        numbers: dict[str, Sequence[int] | Integers] = {
            "queue": [u.queue for u in units],
            "fenced": [needs_waits(self.machine, u) for u in units],
            "is_cpu": [u == CPU for u in units],
            "interlocked": [_INTERLOCKS[u.interlocks] for u in units],
            "strict": [u.refuses_overflow for u in units],
            "core": [lane.core for lane in self.lanes],
            "ports": _offsets([r.ports for r in found]),
            "cause": [r.kind for r in found],
            "refuses": [r.refuses for r in found],
            "depth": [queue.depth for queue, _ in self.queues],
            "history": _offsets(issued),
            "tokens": _offsets(passed),
            "stop": np.cumsum(np.bincount(cores[self.stream.table], minlength=self.stream.cores)),
        }
        return {name: np.array(values, np.int64) for name, values in numbers.items()}

    def _state(self) -> dict[str, Integers]:
        """What changes: all 0 before a run."""
        cores, lanes, queues = self.stream.cores, len(self.lanes), len(self.queues)
        sizes = {name: cores for name in ("next", "now")}
        sizes |= {name: lanes for name in ("free", "issued")}
        sizes |= {name: int(self.arrays["history"][-1]) for name in ("started", "done")}
        sizes |= {name: self.rows.count for name in ("written", "writer", "read")}
        sizes |= {name: queues for name in ("pushes", "takes")}
        sizes |= {name: int(self.arrays["tokens"][-1]) for name in ("pushed", "taken")}
        sizes |= {"port": int(self.arrays["ports"][-1]), "start": self.stream.count}
        sizes |= {"stalls": lanes * len(CAUSES), "blocked": cores * 2 * lanes}
        state = {name: np.zeros(max(1, size), np.int64) for name, size in sizes.items()}
        state["next"][1:] = self.arrays["stop"][:-1]
        return state

    def prepare(self) -> tuple[native.Run, dict[str, Integers]]:
        """The argument of the functions of clocks.c, and what they change."""
        state = self._state()
        numbers = {"count": self.stream.count, "lanes": len(self.lanes), "causes": len(CAUSES)}
        numbers |= {"cores": self.stream.cores, "dispatch": self.machine.dispatch, "host": self.rows.host}
        return native.make_run(numbers, self.arrays | state), state

    def measure(self) -> Times:
        """Run the clocks. Errors: MachineError for an instruction that the machine loses or never executes."""
        run, state = self.prepare()
        cycles = native.clock(run)
        if run.fault:
            is_of_token = run.fault in (FULL, EMPTY)
            raise self.token_fault(run.fault, run.mark) if is_of_token else self._fault(run.fault, run.place)
        stalls = state["stalls"].reshape(len(self.lanes), len(CAUSES))
        blocked = state["blocked"].reshape(self.stream.cores, 2, len(self.lanes))
        return Times(cycles, state["start"], self.arrays["cycles"], stalls, blocked)

    def token_fault(self, fault: int, mark: int) -> MachineError:
        """What is wrong with the n-th token that is put or taken."""
        queue, _ = list(self.queues)[self.arrays["fifo"][mark]]
        place = int(np.searchsorted(self.arrays["marks"], mark, "right")) - 1
        return self._fault(fault, place, queue)

    def _fault(self, fault: int, place: int, tokens: TokenQueue | None = None) -> MachineError:
        unit = self.stream.tables[self.stream.table[place]].issue.instruction.unit
        text = _FAULTS[fault].format(
            unit=unit.name,
            queue=unit.queue,
            tokens=tokens and tokens.name,
            depth=tokens and tokens.depth,
            machine=self.machine,
        )
        return MachineError(f"{self.stream.describe(place)} {text}\n  {self.stream.line(place)}")


def needs_waits(machine: Machine, unit: ExecutionUnit) -> bool:
    """Whether the CPU has to wait for what a unit does with its memory: hardware does not, or there is a call."""
    return not unit.is_interlocked or any(unit in i.waits for i in machine.instructions.values())


def is_ordered_by_hardware(machine: Machine) -> bool:
    """Whether no program of a machine has to wait for anything."""
    return not any(needs_waits(machine, unit) or unit.refuses_overflow for unit in machine.units.values())


def _token_queues(machine: Machine, cores: int) -> dict[tuple[TokenQueue, int], int]:
    """The numbers of the queues of tokens, by queue and core."""
    queues = dict.fromkeys(i.tokens for i in machine.instructions.values() if i.tokens is not None)
    return {pair: n for n, pair in enumerate((q, core) for core in range(cores) for q in queues)}


def _offsets(counts: Sequence[int] | Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


class _Columns:
    """Entries of instructions, of which each has some, by place."""

    def __init__(self) -> None:
        self.places: list[Integers] = []
        self.values: list[tuple[Integers, ...]] = []

    def add(
        self, places: Integers, is_there: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], *values: Integers
    ) -> None:
        """Add the entries of an instruction of the text: a row each time, of which those count that are there."""
        row, column = np.nonzero(is_there)
        self.places.append(places[row])
        self.values.append(tuple(v[row, column] for v in values))

    def group_by_place(self, count: int, first: str, *names: str) -> dict[str, Integers]:
        """The entries in the order of the places, and where those of each place begin."""
        places = np.concatenate([np.zeros(0, np.int64), *self.places])
        order = np.argsort(places, kind="stable")
        arrays = {first: _offsets(np.bincount(places, minlength=count))}
        for name, *values in zip(names, *self.values, strict=True):
            arrays[name] = np.concatenate([np.zeros(0, np.int64), *values])[order]
        return arrays
