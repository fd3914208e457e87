"""One random schedule of one random program, checked after every step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from choice import Arguments, NothingThere
from interpreter import POISON, interpret
from programs import Sample, program
from steps import shown, step

from tir_mlir import IndexMap, Schedule, build
from tir_mlir.dialect.context import entered
from tir_mlir.dialect.errors import IndexMapError, ScheduleError
from tir_mlir.dialect.index import Index
from tir_mlir.dialect.views import Buffer, funcs
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.handles import Handle
from tir_mlir.schedule.trace import Trace
from tir_mlir.script.equal import difference
from tir_mlir.script.parser import parse

REFUSALS = (ScheduleError, IndexMapError)
# arguments that no program would make right
ARGUMENTS: dict[str, tuple[type[Exception], ...]] = {"unannotate": (IndexError,), "merge": (ValueError,)} | {
    n: (ValueError,) for n in PRIMITIVES if n.startswith("sample_")
}
Arrays = list[np.ndarray]


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
    sch = Schedule(module, seed=random.randrange(1, 1 << 30), error_render_level="none")
    for _ in range(length):
        arrays, expected = _one_step(story, sch, random, arrays, expected)
    replayed(story, sch, module)
    script = sch.mod.script()
    exact = story.sample.fits and "T.thread_binding" not in script and "unsafe_set_dtype" not in story.accepted
    if compiled and exact:
        story.last = "build"
        got = [a.copy() for a in arrays]
        build(sch.mod)["main"](*got)
        same(got, expected)


def replayed(story: Story, sch: Schedule, module: Any) -> None:
    """The trace gives the same program: as it is, as Python, as JSON, and without what it does not need."""
    wanted = sch.mod.script()
    scope: dict[str, Any] = {"Schedule": Schedule}
    exec(str(sch.trace), scope)
    ways = {
        "the trace": sch.trace.replay,
        "its text": scope["apply_trace"],
        "its JSON": lambda other: Trace.apply_json_to_schedule(sch.trace.as_json(), other),
        "its simplified form": lambda other: sch.trace.simplified().apply_to_schedule(other),
    }
    for word, way in ways.items():
        story.last = f"replay of {word}"
        other = Schedule(module)
        way(other)
        assert other.mod.script() == wanted, f"{word} makes another program"


def _one_step(story: Story, sch: Schedule, random: Random, arrays: Arrays, expected: Arrays) -> tuple[Arrays, Arrays]:
    try:
        name, arguments = step(sch, random)
    except NothingThere:
        return arrays, expected
    before, count = sch.mod.text(), len(sch.trace)
    alive = _alive(sch)
    story.last = shown(sch, name, arguments)
    target = _transformed(sch, name, arguments)
    try:
        getattr(sch, name)(*arguments[0], **arguments[1])
    except (*REFUSALS, *ARGUMENTS.get(name, ())) as error:
        story.refused[name] += 1
        reason = re.sub(r'"[^"]*"', '"_"', str(getattr(error, "reason", None) or error))
        story.reasons[f"{name}: " + re.sub(r"\b[\w.]*\d[\w.]*\b", "#", reason)[:90]] += 1
        assert sch.mod.text() == before and len(sch.trace) == count, "a refused step changed something"
        assert _alive(sch) == alive, "a refused step changed what handles stand for"
        assert not re.search(r"0x[0-9a-f]{6}|<tir_mlir|Traceback|<built", str(error)), f"a poor message: {error}"
        return arrays, expected
    story.accepted[name] += 1
    story.steps.append(story.last)
    if sch.mod.text() == before:
        return arrays, expected
    story.program = sch.mod.script()
    if target in (names := [p.name for p in story.sample.params]):
        arrays, expected = list(arrays), list(expected)
        number = names.index(target)
        for held in (arrays, expected):
            held[number] = moved(held[number], arguments, shape_now(sch, number, story.sample.size))
    where = difference(parse(story.program).mlir, sch.mod.mlir)
    assert where is None, f"the printed program is another one: {where}"
    same(interpret(sch.mod.mlir, arrays), expected)
    return arrays, expected


def _alive(sch: Schedule) -> dict[Handle, Any]:
    """What the handles given out so far stand for, those that are good."""
    found: dict[Handle, Any] = {}
    for inst in sch.trace:
        for handle in inst.outputs:
            if handle is not None and handle not in found:
                try:
                    found[handle] = sch.get(handle)
                except ValueError:  # consumed by a step, or a mark
                    found[handle] = None
    return found


# --- parameters in another layout -------------------------------------------------------------------------------------


def _transformed(sch: Schedule, name: str, arguments: Arguments) -> str:
    """The buffer whose layout a step changes."""
    if name != "transform_layout":
        return ""
    block, which = arguments[0][:2]
    if isinstance(which, str):
        return which
    info = sch.get(block)
    regions = info.reads if which[0] == "read" else info.writes
    return regions[which[1]].buffer.name if 0 <= which[1] < len(regions) else ""


def shape_now(sch: Schedule, number: int, size: int) -> list[int]:
    """The shape of a parameter, `size` being the value of `n`."""
    with entered():
        dims = Buffer(funcs(sch.mod.mlir)[0].args[number]).dims
        known = [d.substitute({v: Index.constant(size) for v in d.values}).simplified().as_constant() for d in dims]
    return [n for n in known if n is not None]


def moved(array: np.ndarray, arguments: Arguments, shape: list[int]) -> np.ndarray:
    """An array in the layout that a step gave its buffer; the value of padding, else 0, where no element goes."""
    map_, pad = arguments[0][2], arguments[1].get("pad_value", 0)
    result = np.zeros(shape, array.dtype)
    for at in np.ndindex(result.shape):
        result[at] = pad.map_indices(list(at))[0] if isinstance(pad, IndexMap) else pad
    for at in np.ndindex(array.shape):
        result[tuple(map_.map_indices(list(at)))] = array[at]
    return result


def same(got: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    """Assert equality, element by element; poison equals nothing."""
    for number, (one, other) in enumerate(zip(got, expected, strict=True)):
        assert one.shape == other.shape, f"parameter {number} has the shape {one.shape}, expected {other.shape}"
        for at in np.ndindex(other.shape):
            if one[at] is POISON or one[at] != other[at]:
                raise AssertionError(f"parameter {number} at {list(at)}: {one[at]}, expected {other[at]}")
