"""A refused step and the way out that its `fix:` line names: what the tests here are tables of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.script import parse

LONGEST = 110

Step = Callable[[Schedule], Any]


def nothing(sch: Schedule) -> None:
    """No step comes before the refused one."""


@dataclass(frozen=True)
class Row:
    """In `program`, after `before`, the step `refused` is refused, with `fix` in its way out; `way` goes it.

    It starts where the step was refused; `again`: in the program once more, before any step; `instead`: in the program
    that the fix asks for.
    """

    name: str
    program: str
    refused: Step
    fix: str
    way: Step
    before: Step = nothing
    again: bool = False
    instead: str = ""

    def follow(self) -> None:
        """The step is refused with the fix, and what the fix says can be done and leaves the program right."""
        sch = Schedule(parse(self.program))
        self.before(sch)
        with pytest.raises(ScheduleError) as refusal:
            self.refused(sch)
        found = refusal.value.fix
        assert self.fix in found, f"{self.fix!r} is not in {found!r} of: {refusal.value.reason}"
        assert len(found) <= LONGEST, f"{len(found)} characters: {found}"
        if self.again or self.instead:
            sch = Schedule(parse(self.instead or self.program))
        self.way(sch)
        assert sch.verify()


def each_of(rows: list[Row]) -> pytest.MarkDecorator:
    """One test for each row."""
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.name)


def loop(sch: Schedule, block: str, number: int = 0) -> Any:
    """A loop around a block, counted from outside."""
    return sch.get_loops(block)[number]
