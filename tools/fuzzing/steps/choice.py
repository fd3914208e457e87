"""Random choice of the blocks and loops for a step."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError

SCOPES = ("global", "shared", "local", "global.x")
Arguments = tuple[list[Any], dict[str, Any]]


class NothingThere(Exception):
    """The program has no block or loop that the step applies to."""


class Choice:
    """The blocks and loops of a schedule, as handles to choose from."""

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

    def info(self, handle: Any) -> Any:
        """Return the block or loop behind a handle, or the integer."""
        return self.sch.get(handle)

    def one(self, items: Any) -> Any:
        if not items:
            raise NothingThere
        return self.random.choice(items)

    def some(self, items: Any) -> list[Any]:
        """Return a few of the items, in random order."""
        if not items:
            raise NothingThere
        return self.random.sample(items, self.random.randint(1, len(items)))

    def often(self, odds: float) -> bool:
        return self.random.random() < odds

    def tried(self, step: Callable[[], Any]) -> Any:
        """Apply a step that prepares another, and return its result; NothingThere if it is refused."""
        try:
            return step()
        except ScheduleError:
            raise NothingThere from None

    def block(self) -> Any:
        return self.one(self.blocks)

    def inner(self) -> Any:
        """A block that writes an allocated buffer; occasionally any block."""
        results = self.sch.get_output_blocks("root")
        blocks = [b for b in self.blocks if b not in results]
        return self.one(blocks) if blocks and self.often(0.9) else self.block()

    def consumer(self) -> Any:
        """A block that reads the output of another; occasionally any block."""
        blocks = [b for b in self.blocks if self.sch.get_producers(b)]
        return self.one(blocks) if blocks and self.often(0.9) else self.block()

    def reduction(self) -> Any:
        return self.one([b for b in self.blocks if any(kind == "R" for _, kind in self.info(b).iters)])

    def loops(self, block: Any) -> list[Any]:
        return self.sch.get_loops(block)

    def loop(self) -> Any:
        for _ in range(4):
            if loops := self.loops(self.block()):
                return self.one(loops)
        raise NothingThere

    def loop_of(self, block: Any) -> Any:
        """A loop around a block; occasionally any loop."""
        loops = self.loops(block)
        return self.one(loops) if loops and self.often(0.92) else self.loop()

    def number(self, block: Any, word: str) -> Any:
        """A buffer that a block reads or writes, by index or name; occasionally an invalid one."""
        info = self.info(block)
        regions = info.reads if word == "read" else info.writes
        if not regions or self.often(0.04):
            return self.one((0, len(regions), -1, "nobody"))
        number = self.random.randrange(len(regions))
        return regions[number].buffer.name if self.often(0.15) else number

    def pair(self, forward: bool) -> tuple[Any, Any]:
        """A block, and a loop of a consumer (or producer) of it; occasionally any two."""
        blocks = list(self.blocks)
        self.random.shuffle(blocks)
        if self.often(0.9):
            for block in blocks:
                others = self.sch.get_consumers(block) if forward else self.sch.get_producers(block)
                own = self.loops(block)
                if loops := [lp for other in others for lp in self.loops(other) if lp not in own]:
                    return block, self.one(loops)
            if self.often(0.8):
                raise NothingThere
        return self.block(), self.loop()


Maker = Callable[[Choice], Arguments]
