"""The timeline of a program: when its units are busy, and what they wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.timing.clocks import CAUSES, WAITS, Times, UnitClocks
from tir_mlir.accel.timing.pictures import draw_timeline, timeline_text
from tir_mlir.accel.timing.roofline import Roofline, make_roofline
from tir_mlir.accel.timing.stream import CPU, read_stream

if TYPE_CHECKING:
    from tir_mlir.accel.program import MachineBuffer, MachineProgram
    from tir_mlir.visual.svg import Picture


@dataclass
class Timeline:
    """When the units of a machine are busy, in cycles, and what they waited for."""

    cycles: int = 0
    busy: dict[str, int] = field(default_factory=dict)
    """Of each unit; of several cores, `dma 0` is that of the first one."""
    waits: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Cycles for which a unit waited: for a result, for rows to be free, for a bank, for instructions, ..."""
    issued: Counter[str] = field(default_factory=Counter)
    """Instructions by name."""
    blocked: Counter[str] = field(default_factory=Counter)
    """Cycles for which no instruction could be issued: for the queue of a unit, or by a wait for it."""
    clocks: UnitClocks | None = field(default=None, repr=False)
    times: Times | None = field(default=None, repr=False)

    def utilization(self, unit: str) -> float:
        """The share of all cycles in which a unit is busy."""
        return self.busy.get(unit, 0) / max(1, self.cycles)

    def plot(self, first: int = 0, end: int | None = None, *, width: float = 720) -> Picture:
        """Draw the cycles from `first` to before `end`, default all: a lane for each unit, time to the right.

        An end behind the last cycle is the last cycle. Each instruction has a text with its loops; of thousands, those
        that follow each other are one bar. Errors: ValueError for a range without a cycle.
        """
        clocks, times, last = self._range(first, end)
        return draw_timeline(clocks, times, first, last, width)

    def show(self, first: int = 0, end: int | None = None, *, width: int = 72) -> str:
        """The same as text: a line for each unit, whose characters say how busy it is."""
        clocks, times, last = self._range(first, end)
        return timeline_text(clocks, times, first, last, width)

    def _range(self, first: int, end: int | None) -> tuple[UnitClocks, Times, int]:
        last = self.cycles if end is None else min(end, self.cycles)
        if self.clocks is None or self.times is None or not 0 <= first < last:
            given = last if end is None else end
            raise ValueError(f"a timeline of {self.cycles} cycles has none from {first} to before {given}")
        return self.clocks, self.times, last

    @property
    def roofline(self) -> Roofline:
        """The cycles for which each part of the machine is busy at least."""
        if self.clocks is None:
            raise ValueError("an empty timeline has no roofline")
        return make_roofline(self.clocks, self.cycles)

    def __str__(self) -> str:
        lines = [f"{self.cycles} cycles, {sum(self.issued.values())} instructions"]
        for unit, busy in self.busy.items():
            waits = ", ".join(f"{c} {n}" for (u, c), n in sorted(self.waits.items()) if u == unit and n)
            lines.append(
                f"  {unit:10} {busy:10} busy, {100 * busy / max(1, self.cycles):5.1f} %; waited for {waits or '-'}"
            )
        if self.blocked:
            lines.append(f"  no instruction was issued for {', '.join(f'{n} {c}' for c, n in self.blocked.items())}")
        lines.append("  " + ", ".join(f"{n} {name}" for name, n in self.issued.items()))
        return "\n".join(lines)

    __repr__ = __str__


def measure(program: MachineProgram, placed: Mapping[MachineBuffer, int]) -> Timeline:
    """The timeline of a program whose buffers have these first rows; no value is computed. Errors: MachineError."""
    clocks = UnitClocks(read_stream(program), placed)
    times = clocks.measure()
    works = clocks.arrays["kind"] != WAITS
    busy = np.bincount(clocks.arrays["lane"][works], times.busy[works], len(clocks.lanes)).astype(np.int64)
    timeline = Timeline(times.cycles, clocks=clocks, times=times)
    timeline.busy = {lane.name: int(b) for lane, b in zip(clocks.lanes, busy, strict=True) if lane.unit != CPU}
    for lane, stalls in zip(clocks.lanes, times.stalls.tolist(), strict=True):
        if lane.unit != CPU:
            timeline.waits.update({(lane.name, cause): n for cause, n in zip(CAUSES, stalls, strict=True) if n})
    queue, wait = times.blocked.sum(0).tolist()
    for lane, full, waited in zip(clocks.lanes, queue, wait, strict=True):
        timeline.blocked.update({f"the queue of {lane.name}": full} if full else {})
        timeline.blocked.update({f"a wait for {lane.name}": waited} if waited else {})
    for executions in sorted(clocks.stream.tables, key=lambda t: int(t.places[0]) if t.count else 0):
        timeline.issued[executions.issue.instruction.name] += executions.count if executions.statements is None else 0
    timeline.issued = Counter({name: n for name, n in timeline.issued.items() if n})
    return timeline
