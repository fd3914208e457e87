"""Apply one random step to a schedule: it is applied, or refused with nothing changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

from fuzzing.pairs.arrays import laid_out, transformed
from fuzzing.pairs.story import State, Story
from fuzzing.steps import shown, step
from fuzzing.steps.choice import NothingThere
from fuzzing.steps.ready_made import applied_to, is_foreign
from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import IndexMapError, ScheduleError
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.handles import Handle

REFUSALS = (ScheduleError, IndexMapError)
# arguments that are wrong for any program
ARGUMENTS: dict[str, tuple[type[Exception], ...]] = {
    "unannotate": (IndexError,),
    "merge": (ValueError,),
    **{n: (ValueError,) for n in PRIMITIVES if n.startswith("sample_")},
}
POOR = r"0x[0-9a-f]{6}|<tir_mlir|Traceback|<built"


def take(story: Story, sch: Schedule, random: Random, thorough: bool, wanted: Sequence[str] = ()) -> bool:
    """Apply a random step (one of `wanted`, if given); return whether it changed the program, and record the new
    state. `thorough`: also check all handles."""
    try:
        name, arguments = step(sch, random, wanted)
    except NothingThere:
        return False
    on = story.families(sch, arguments[0][0] if arguments[0] else None)
    before, count = sch.mod.text(), len(sch.trace)
    handles = alive(sch) if thorough else []
    story.last = shown(sch, name, arguments)
    target = transformed(sch, name, arguments)
    try:
        applied_to(sch, name)(*arguments[0], **arguments[1])
    except (*REFUSALS, *ARGUMENTS.get(name, ())) as error:
        if getattr(error, "unexpected", False) and not isinstance(error, ARGUMENTS.get(name, ())):
            raise
        story.counts["refused", name] += 1
        story.counts.update(("refused on", f"{family}: {name}") for family in on)
        story.counts["reason", f"{name}: {_reason(error)}"] += 1
        assert sch.mod.text() == before and len(sch.trace) == count, "a refused step changed something"
        assert not thorough or alive(sch) == handles, "a refused step changed what handles refer to"
        assert not re.search(POOR, str(error)), f"a poor message: {error}"
        return False
    story.counts["applied", name] += 1
    story.foreign |= is_foreign(name, arguments)
    story.counts.update(("applied on", f"{family}: {name}") for family in on)
    if sch.mod.text() == before:
        return False
    arrays, expected = story.now.arrays, story.now.expected
    if target in (names := [p.name for p in story.sample.params]):
        number = names.index(target)
        arrays = laid_out(arrays, number, arguments, sch, story.sample.size)
        expected = laid_out(expected, number, arguments, sch, story.sample.size)
    story.states.append(State(story.last, sch.mod, arrays, expected))
    return True


def _reason(error: Exception) -> str:
    """Return a refusal without its names and numbers."""
    reason = re.sub(r'"[^"]*"', '"_"', str(getattr(error, "reason", None) or error))
    return re.sub(r"\b[\w.]*\d[\w.]*\b", "#", reason)[:90]


def alive(sch: Schedule) -> list[Any]:
    """Return what the handles of a schedule refer to, in the order of its steps."""
    return [_referred(sch, handle) for inst in sch.trace for handle in inst.outputs if handle is not None]


def _referred(sch: Schedule, handle: Handle) -> Any:
    try:
        return sch.get(handle)
    except ValueError:  # consumed by a step, or a compute location
        return None
