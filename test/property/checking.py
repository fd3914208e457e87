"""One random schedule of one random program, checked after every step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np
from choice import NothingThere
from interpreter import POISON, interpret
from programs import Sample, program
from steps import shown, step

from tir_mlir import Schedule, build
from tir_mlir.dialect.errors import ScheduleError
from tir_mlir.script.equal import difference
from tir_mlir.script.parser import parse

REFUSALS = (ScheduleError, ValueError, TypeError, IndexError)
EXACT = {"float32": 1 << 24, "int32": 1 << 31}


class Wrong(AssertionError):
    """A schedule that does not keep its promise, with its story."""


@dataclass
class Story:
    """A program, the steps that were accepted, and how often each primitive was accepted and refused."""

    sample: Sample
    steps: list[str] = field(default_factory=list)
    accepted: Counter = field(default_factory=Counter)
    refused: Counter = field(default_factory=Counter)
    reasons: Counter = field(default_factory=Counter)
    last: str = ""
    program: str = ""

    def text(self, problem: str) -> str:
        steps = "\n".join([*self.steps, "last: " + self.last])
        return f"{problem}\n{self.sample.text}\n{steps}\n{self.program}"


def tell(random: Random, length: int, compiled: bool = True) -> Story:
    """Make a program, schedule it by `length` random steps, check each. Errors: Wrong."""
    story = Story(program(random))
    try:
        _tell(story, random, length, compiled)
    except Exception as error:
        raise Wrong(story.text(f"{type(error).__name__}: {error}")) from error
    return story


def _tell(story: Story, random: Random, length: int, compiled: bool) -> None:
    module = parse(story.sample.text)
    arrays = story.sample.arrays()
    expected = story.sample.expected(arrays)
    same(interpret(module.mlir, arrays), expected)
    sch = Schedule(module, error_render_level="none")
    for _ in range(length):
        _one_step(story, sch, random, arrays, expected)
    story.last = "replay"
    again = Schedule(module)
    sch.trace.replay(again)
    assert again.mod.script() == sch.mod.script(), "the trace replays to another program"
    scope = {"Schedule": Schedule}
    exec(str(sch.trace), scope)
    third = Schedule(module)
    scope["apply_trace"](third)  # type: ignore[operator]
    assert third.mod.script() == sch.mod.script(), "the printed trace replays to another program"
    biggest = max((abs(int(v)) for a in [*arrays, *expected] for v in a.ravel()), default=0)
    if compiled and biggest < EXACT[story.sample.dtype] >> 4 and "T.thread_binding" not in sch.mod.script():
        story.last = "build"
        got = [a.copy() for a in arrays]
        build(sch.mod)["main"](*got)
        same(got, expected)


def _one_step(
    story: Story, sch: Schedule, random: Random, arrays: Sequence[np.ndarray], expected: Sequence[np.ndarray]
) -> None:
    try:
        name, arguments = step(sch, random)
    except NothingThere:
        return
    before, count = sch.mod.text(), len(sch.trace)
    story.last = shown(sch, name, arguments)
    try:
        getattr(sch, name)(*arguments[0], **arguments[1])
    except REFUSALS as error:
        story.refused[name] += 1
        reason = re.sub(r'"[^"]*"', '"_"', str(getattr(error, "reason", None) or error))
        story.reasons[f"{name}: " + re.sub(r"\b[\w.]*\d[\w.]*\b", "#", reason)[:90]] += 1
        assert sch.mod.text() == before and len(sch.trace) == count, "a refused step changed something"
        assert not re.search(r"0x[0-9a-f]{6}|<tir_mlir|Traceback|<built", str(error)), f"a poor message: {error}"
        return
    story.accepted[name] += 1
    story.steps.append(story.last)
    if sch.mod.text() == before:
        return
    story.program = sch.mod.script()
    where = difference(parse(story.program).mlir, sch.mod.mlir)
    assert where is None, f"the printed program is another one: {where}"
    same(interpret(sch.mod.mlir, arrays), expected)


def same(got: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    """Assert equality, element by element; poison equals nothing."""
    for number, (one, other) in enumerate(zip(got, expected, strict=True)):
        for at in np.ndindex(other.shape):
            if one[at] is POISON or one[at] != other[at]:
                raise AssertionError(f"parameter {number} at {list(at)}: {one[at]}, expected {other[at]}")
