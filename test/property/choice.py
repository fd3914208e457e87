"""What a random step may be about: the blocks and loops of a schedule."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tir_mlir import Schedule

SCOPES = ("global", "shared", "local", "global.x")
Arguments = tuple[list[Any], dict[str, Any]]


class NothingThere(Exception):
    """The program has nothing that the step could be about."""


class Choice:
    """What there is to choose from in a schedule: its blocks and loops as handles."""

    def __init__(self, sch: Schedule, random: Random):
        self.sch, self.random = sch, random
        self.blocks: list[Any] = []
        todo = [sch.get_block("root")]
        while todo:
            found = sch.get_child_blocks(todo.pop())
            self.blocks += found
            todo += found

    @property
    def nothing(self) -> NothingThere:
        return NothingThere()

    def one(self, items: Any) -> Any:
        if not items:
            raise NothingThere
        return self.random.choice(items)

    def often(self, odds: float) -> bool:
        return self.random.random() < odds

    def block(self) -> Any:
        return self.one(self.blocks)

    def loops(self, block: Any) -> list[Any]:
        return self.sch.get_loops(block)

    def loop(self) -> Any:
        for _ in range(4):
            if loops := self.loops(self.block()):
                return self.one(loops)
        raise NothingThere

    def pair(self, forward: bool) -> tuple[Any, Any]:
        """A block, and a loop of a block that reads what it makes (or made what it reads); now and then any two."""
        blocks = list(self.blocks)
        self.random.shuffle(blocks)
        if self.often(0.9):
            for block in blocks:
                others = self.sch.get_consumers(block) if forward else self.sch.get_producers(block)
                own = self.loops(block)
                if loops := [lp for other in others for lp in self.loops(other) if lp not in own]:
                    return block, self.one(loops)
        return self.block(), self.loop()


Maker = Callable[[Choice], Arguments]
