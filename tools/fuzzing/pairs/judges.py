"""The checks on a pair. Each raises on a wrong result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from fuzzing.pairs.arrays import same
from fuzzing.pairs.story import State, Story
from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import NotChecked, OutOfBoundsError, RaceError
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.equivalence.work import work_of
from tir_mlir.interpreter import exactly
from tir_mlir.schedule.trace import Trace
from tir_mlir.script.module import IRModule
from tir_mlir.script.parser import parse
from tir_mlir.script.structural_equal import difference

MOST_WORK = 1 << 18
"""Iterations up to which a program is interpreted; takes some seconds."""


def is_large(state: State, size: int) -> bool:
    """Return whether a program is too slow to interpret for a value of its size variable."""
    with enter_context():
        return max(work_of(f.op, {"n": size}) for f in funcs(state.module.mlir)) > MOST_WORK


def interpreted(state: State) -> None:
    """Check that the interpreter, in exact arithmetic, agrees with NumPy."""
    same(exactly(state.module.mlir, state.arrays), state.expected)


def printed(state: State) -> None:
    """Check that the program round-trips through TVMScript."""
    where = difference(parse(state.module.script()).mlir, state.module.mlir)
    assert where is None, f"the printed program is different: {where}"


def verified(story: Story, sch: Schedule) -> None:
    """Check that `Schedule.verify` finds the program equal to the original, or reports what it does not check."""
    story.last = "verify"
    try:
        answer = sch.verify()
    except NotChecked as error:
        story.counts["not checked", " ".join(str(error).split()[:6])] += 1
        return
    story.counts["judged", "verify"] += 1
    changed = story.applied("unsafe_set_dtype")  # a dtype change is expected to change the rounding
    assert answer or changed, f"verify: {answer.difference}"


def built(story: Story, sch: Schedule, random: Random, checked: bool) -> None:
    """Check that the compiled code agrees with NumPy, where machine types represent all intermediate values.

    `checked`: that of a checked build, which also raises for an index outside if and only if the interpreter does.
    """
    exact = story.sample.fits and not story.applied("unsafe_set_dtype")
    if not exact or story.foreign or "T.thread_binding" in sch.mod.script():
        return
    story.last = "build(checked=True)" if checked else "build"
    story.counts["judged", "checked machine code" if checked else "machine code"] += 1
    run = build(sch.mod, checked=checked)["main"]
    same(_run(story, run, story.now.arrays), story.now.expected)
    if checked:
        _misled(story, run, random)


def _run(story: Story, run: Callable[..., Any], arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the arrays after a call on copies of them. An array that is passed twice is copied once."""
    halves = [p.dtype == "bfloat16" for p in story.sample.params]
    copies = {id(a): _bits(a) if half else a.copy() for a, half in zip(arrays, halves, strict=True)}
    given = [copies[id(a)] for a in arrays]
    run(*given)
    return [_floats(a) if half else a for a, half in zip(given, halves, strict=True)]


def _misled(story: Story, run: Callable[..., Any], random: Random) -> None:
    """Check that a checked build and the interpreter agree on whether an index from a wrong table is outside."""
    tables = [n for n, p in enumerate(story.sample.params) if p.table and story.now.arrays[n].size]
    if not tables:
        return
    story.counts["judged", "checked machine code, by a wrong table"] += 1
    arrays = [a.copy() for a in story.now.arrays]
    table = arrays[random.choice(tables)].reshape(-1)
    table[random.randrange(table.size)] = random.choice((-1, 99, 1 << 14, -(1 << 14)))  # as a bound, it is run up to
    raised = [_outside(lambda: exactly(story.now.module.mlir, arrays)), _outside(lambda: _run(story, run, arrays))]
    assert raised[0] == raised[1], f"outside: {raised[0]} by the interpreter, {raised[1]} by the checked build"


def _outside(call: Callable[[], object]) -> str:
    """Return what an index or a bound value is outside of, in a call: "buffer", "iter" or ""."""
    try:
        call()
    except OutOfBoundsError as error:
        return "iter" if "outside its domain" in str(error) else "buffer"
    return ""


def overlapping(story: Story, random: Random) -> None:
    """Check that a function whose parameters may alias computes the same as the original on one array passed
    twice."""
    first, now = story.states[0], story.now
    shapes = [(a.shape, p.dtype) for a, p in zip(first.arrays, story.sample.params, strict=True)]
    own = [n for n, p in enumerate(story.sample.params) if not p.table]
    pairs = [(n, m) for n in own for m in own if n < m and shapes[n] == shapes[m]]
    if not pairs or [a.shape for a in now.arrays] != [a.shape for a in first.arrays]:
        return
    story.last = "one array passed twice"
    one, other = random.choice(pairs)
    arrays = list(first.arrays)
    arrays[other] = arrays[one]
    try:
        wanted = exactly(first.module.mlir, arrays)
    except RaceError:  # a concurrent loop of the original, of separate elements if the arrays are
        return
    story.counts["judged", "interpreter, one array passed twice"] += 1
    same(exactly(now.module.mlir, arrays), wanted)


def _bits(array: np.ndarray) -> np.ndarray:
    """Convert float32 values that bfloat16 represents to their bfloat16 bits."""
    return np.ascontiguousarray(array.view(np.uint32) >> 16).astype(np.uint16)


def _floats(array: np.ndarray) -> np.ndarray:
    return (array.astype(np.uint32) << 16).view(np.float32)


def _as_python(sch: Schedule, other: Schedule) -> None:
    scope: dict[str, Any] = {"Schedule": Schedule}
    exec(str(sch.trace), scope)
    scope["apply_trace"](other)


WAYS = {
    "the trace": lambda sch, other: sch.trace.replay(other),
    "its text": _as_python,
    "its JSON": lambda sch, other: Trace.apply_json_to_schedule(sch.trace.as_json(), other),
    "its simplified form": lambda sch, other: sch.trace.simplified().apply_to_schedule(other),
}


def replayed(story: Story, sch: Schedule, module: IRModule, random: Random | None = None) -> None:
    """Check that the trace reproduces the program: as recorded, as text, as JSON, simplified; or in one of these
    ways."""
    wanted = sch.mod.script()
    for word in [random.choice(list(WAYS))] if random else WAYS:
        story.last = f"replay of {word}"
        story.counts["judged", word] += 1
        other = Schedule(module)
        WAYS[word](sch, other)
        assert other.mod.script() == wanted, f"{word} makes a different program"
