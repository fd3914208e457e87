"""Table rows for tests of a refused step and its `fix:` line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from programs.parsed import parse

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import all_blocks, enter_context

LONGEST = 110

Step = Callable[[Schedule], Any]


def nothing(sch: Schedule) -> None:
    """The empty prefix: the refused step is the first one."""


@dataclass(frozen=True)
class Row:
    """In `program`, after `before`, the step `refused` is refused with `fix` in its fix text; `way` follows the fix.

    `way`, by default the refused step, starts from the state of the refusal; with `again` from the unscheduled program;
    with `instead` from the program that the fix suggests.
    """

    name: str
    program: str
    refused: Step
    fix: str
    way: Step | None = None
    before: Step = nothing
    again: bool = False
    instead: str = ""

    def follow(self) -> None:
        """Check that the step is refused with the fix, and that following the fix is legal and preserves the result."""
        sch = Schedule(parse(self.program))
        self.before(sch)
        with pytest.raises(ScheduleError) as refusal:
            self.refused(sch)
        found = refusal.value.fix
        assert self.fix in found, f"{self.fix!r} is not in {found!r} of: {refusal.value.reason}"
        assert len(found) <= LONGEST, f"{len(found)} characters: {found}"
        if self.again or self.instead:
            sch = Schedule(parse(self.instead or self.program))
        (self.way or self.refused)(sch)
        assert sch.verify()


def each_of(rows: list[Row]) -> pytest.MarkDecorator:
    """Parametrize a test over rows."""
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.name)


def loop(sch: Schedule, block: str, number: int = 0) -> Any:
    """Return a loop around a block, counted from the outermost."""
    return sch.get_loops(block)[number]


def in_init(sch: Schedule, name: str, outer: str) -> Any:
    """Return the block of a name in the init of block `outer`, which get_block does not find."""
    with enter_context():
        block = next(b for b in all_blocks(sch.mod.mlir.operation) if b.name == name)
    return replace(sch.get_block(outer), id=block.id)
