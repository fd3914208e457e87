"""Faults in the programs of machines: what changes one, with its addresses, registers and order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.program import Allocate, For, Issue, Node, Value, When, walk
from tir_mlir.dialect.symbolic import Constant, Dim, IntExpr


@dataclass
class Planted:
    """A program in which a fault is planted."""

    placed: PlacedProgram

    def bodies(self) -> Iterator[list[Node]]:
        yield self.placed.program.body
        for node in self.placed.program.nodes():
            if isinstance(node, For | When):
                yield node.body

    def issues(self, name: str) -> list[Issue]:
        return [n for n in walk(self.placed.program.body) if isinstance(n, Issue) and n.instruction.name == name]

    def loops(self) -> list[For]:
        return [n for n in self.placed.program.nodes() if isinstance(n, For)]

    def place(self, name: str, row: int | None = None, by: int = 0) -> None:
        """Move a buffer to another row."""
        buffer = next(b for b in self.placed.rows if b.name.startswith(name))
        self.placed.rows[buffer] = self.placed.rows[buffer] + by if row is None else row

    def shift(self, name: str, operand: str, change: Callable[[IntExpr], IntExpr], which: int = 0) -> None:
        """Change where a tile begins."""
        issue = self.issues(name)[which]
        tile = issue.tiles[operand]
        issue.tiles[operand] = replace(tile, start=change(tile.start))

    def drop(self, name: str, which: int = 0) -> None:
        """Remove an instruction."""
        issue = self.issues(name)[which]
        for body in self.bodies():
            if issue in body:
                body.remove(issue)
                return

    def wrap(self, name: str, which: int = 0, first: bool = True) -> None:
        """Put an instruction into a branch: the first iteration of the outermost loop, or all others."""
        issue, loop = self.issues(name)[which], self.loops()[0].var
        condition = Constant(0) - Dim(loop) if first else Dim(loop) - 1
        for body in self.bodies():
            if issue in body:
                body[body.index(issue)] = When(((condition, False),), [issue])
                return

    def hoist(self, name: str, which: int = 0) -> None:
        """Put an instruction behind the end of the program."""
        issue = self.issues(name)[which]
        self.drop(name, which)
        self.placed.program.body.append(issue)

    def swap_nodes(self, name: str) -> None:
        """Exchange an instruction, or the loop around it, with what is before it."""
        for body in self.bodies():
            for n, node in enumerate(body):
                found = any(isinstance(m, Issue) and m.instruction.name == name for m in walk([node]))
                if n and found and not isinstance(body[n - 1], Allocate):
                    body[n - 1], body[n] = node, body[n - 1]
                    return


def swap_tiles(p: Planted, name: str, one: str, other: str) -> None:
    for issue in p.issues(name):
        issue.tiles[one], issue.tiles[other] = issue.tiles[other], issue.tiles[one]


def set_number(p: Planted, name: str, operand: str, value: Value, which: int = 0) -> None:
    p.issues(name)[which].numbers[operand] = value


def other_end(p: Planted, loop: int, change: int) -> None:
    p.loops()[loop].highs = tuple(high + change for high in p.loops()[loop].highs)
