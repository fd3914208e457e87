"""What of a graph a machine computes, and why the rest stays on the CPU."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class OffloadedNode:
    """A node of the graph that a machine computes. macs: products that it adds up; cycles: on the model of it."""

    name: str
    operator: str
    macs: int
    program: str
    cycles: int
    note: str = ""
    """What of it stays on the CPU, and why."""


@dataclass(frozen=True)
class CpuNode:
    """A node of the graph that stays on the CPU, with the reason."""

    name: str
    operator: str
    macs: int
    reason: str


@dataclass(frozen=True)
class OffloadReport:
    """Where the nodes of a graph are computed. It prints as a table of programs, and of reasons."""

    nodes: tuple[OffloadedNode, ...]
    on_cpu: tuple[CpuNode, ...]

    @property
    def macs(self) -> int:
        """The products that the machine adds up."""
        return sum(node.macs for node in self.nodes)

    @property
    def all_macs(self) -> int:
        return self.macs + sum(node.macs for node in self.on_cpu)

    @property
    def share(self) -> float:
        """The share of the products of the graph that the machine adds up."""
        return self.macs / self.all_macs if self.all_macs else 0.0

    @property
    def cycles(self) -> int:
        """Of all its programs, one after another."""
        return sum(node.cycles for node in self.nodes)

    def __str__(self) -> str:
        lines = [
            f"{len(self.nodes)} nodes on the machine, {100 * self.share:.1f} % of {self.all_macs} MACs, "
            f"{self.cycles} cycles"
        ]
        programs = Counter(node.program for node in self.nodes)
        firsts = {node.program: node for node in reversed(self.nodes)}
        for program, count in programs.items():
            node = firsts[program]
            note = f"; {node.note}" if node.note else ""
            lines.append(f"  {count:3} x {program:40} {node.macs:12} MACs {node.cycles:10} cycles{note}")
        lines.append(f"{len(self.on_cpu)} nodes on the CPU")
        reasons = Counter((node.operator, node.reason) for node in self.on_cpu)
        for (operator, reason), count in sorted(reasons.items(), key=lambda item: -item[1]):
            lines.append(f"  {count:3} x {operator}: {reason}")
        return "\n".join(lines)

    __repr__ = __str__
