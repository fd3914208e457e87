"""What limits a program: how many cycles each part of a machine is busy at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.timing.clocks import WAITS
from tir_mlir.accel.timing.stream import CPU

if TYPE_CHECKING:
    from tir_mlir.accel.timing.clocks import UnitClocks


@dataclass(frozen=True)
class Roofline:
    """The cycles for which each part of a machine is busy in a program: units, banks with few ports, the memory of the
    CPU, and the issue of instructions. None can do its work in fewer."""

    cycles: int
    """Those of the whole program."""
    parts: dict[str, int]

    @property
    def limit(self) -> str:
        """The part that is busy longest."""
        return max(self.parts, key=lambda name: self.parts[name])

    @property
    def bound(self) -> int:
        """The cycles of that part: the program cannot take fewer."""
        return self.parts[self.limit]

    @property
    def utilization(self) -> float:
        """The bound over the cycles of the program."""
        return self.bound / max(1, self.cycles)

    def __str__(self) -> str:
        lines = [f"{100 * self.utilization:.1f} % of the limit: {self.bound} of {self.cycles} cycles, by {self.limit}"]
        for name, busy in sorted(self.parts.items(), key=lambda pair: -pair[1]):
            lines.append(f"  {busy:10} {name}")
        return "\n".join(lines)

    __repr__ = __str__


def make_roofline(clocks: UnitClocks, cycles: int) -> Roofline:
    """The roofline of a run that took so many cycles."""
    arrays = clocks.arrays
    works = arrays["kind"] != WAITS
    busy = np.bincount(arrays["lane"][works], arrays["cycles"][works], len(clocks.lanes))
    parts = {lane.name: int(n) for lane, n in zip(clocks.lanes, busy, strict=True) if lane.unit != CPU}
    held = np.bincount(arrays["resource"], arrays["hold"], len(clocks.resources.found))
    for resource, total in zip(clocks.resources.found, held, strict=True):
        parts[resource.name] = -(-int(total) // resource.ports)
    cores = np.array([executions.core for executions in clocks.stream.tables], np.int64)[clocks.stream.table]
    issued = np.bincount(cores[arrays["lane"] < _units(clocks)], minlength=clocks.stream.cores)
    parts["the issue of instructions"] = int(issued.max(initial=0)) * clocks.machine.dispatch
    return Roofline(cycles, parts)


def _units(clocks: UnitClocks) -> int:
    """How many lanes are not those of the CPU, which come last."""
    return sum(lane.unit != CPU for lane in clocks.lanes)
