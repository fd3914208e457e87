"""Places in the text of a program, at which instructions are inserted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.accel.operands import ExecutionUnit
from tir_mlir.accel.program import Conditions, For, Issue, MachineProgram, Node, When, walk
from tir_mlir.accel.timing.stream import STATEMENTS, read_stream
from tir_mlir.dialect.symbolic import names_in

if TYPE_CHECKING:
    from tir_mlir.accel.timing.stream import Integers


@dataclass(frozen=True)
class TextPlace:
    """A node, and the nodes around it from the outside in."""

    around: tuple[For | When, ...]
    node: Node
    conditions: Conditions = ()
    """Those of the conditions between the node and what it stands for."""

    def body(self, program: MachineProgram) -> list[Node]:
        """The body that the node is in."""
        return self.around[-1].body if self.around else program.body

    def insert(self, program: MachineProgram, nodes: Sequence[Node], is_behind: bool = False) -> None:
        """Insert nodes before the node, or behind it."""
        body = self.body(program)
        at = next(n for n, node in enumerate(body) if node is self.node) + is_behind
        body[at:at] = nodes

    def remove(self, program: MachineProgram, nodes: Sequence[Node]) -> None:
        """Remove nodes that were inserted."""
        body = self.body(program)
        body[:] = [n for n in body if not any(n is node for node in nodes)]

    @property
    def loops(self) -> int:
        """How many loops are around it."""
        return sum(isinstance(n, For) for n in self.around)


def places_in(body: Sequence[Node], around: tuple[For | When, ...] = ()) -> Iterator[TextPlace]:
    """All nodes, each before those in it."""
    for node in body:
        yield TextPlace(around, node)
        if isinstance(node, For | When):
            yield from places_in(node.body, (*around, node))


def places_around(program: MachineProgram, node: Node, unit: ExecutionUnit) -> list[TextPlace]:
    """A node, and the loops around it that issue nothing to a unit, each with the conditions in between that do not
    depend on it."""
    place = next(p for p in places_in(program.body) if p.node is node)
    found, conditions = [place], place.conditions
    if isinstance(node, Issue) and node.instruction.unit == unit:
        return found
    for depth in range(len(place.around) - 1, -1, -1):
        outer = place.around[depth]
        if isinstance(outer, When):
            conditions = (*outer.conditions, *conditions)
            continue
        if outer.is_over_cores or _issues_to(outer, unit):
            break
        conditions = tuple(c for c in conditions if outer.var not in names_in(c[0]))
        found.append(TextPlace(place.around[:depth], outer, conditions))
    return found


def place_iterations(program: MachineProgram, place: TextPlace) -> Integers:
    """The values of the loops around a place each time that it is executed, on all cores."""
    probe = Issue(STATEMENTS, {}, {}, "")
    node: Node = When(place.conditions, [probe]) if place.conditions else probe
    for outer in reversed(place.around):
        node = replace(outer, body=[node])
    tables = read_stream(replace(program, body=[node])).tables
    return np.concatenate([t.iterations for t in tables])


def _issues_to(node: Node, unit: ExecutionUnit) -> bool:
    """Whether a node starts an instruction of a unit."""
    issues = [n.instruction for n in walk([node]) if isinstance(n, Issue)]
    return any(i.unit == unit and not i.waits for i in issues)
