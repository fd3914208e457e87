"""The checks on a pair. Each raises on a wrong result."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from fuzzing.pairs.arrays import same
from fuzzing.pairs.story import State, Story
from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.ir import entered, funcs
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
    with entered():
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


def built(story: Story, sch: Schedule) -> None:
    """Check that the compiled code agrees with NumPy, where machine types represent all intermediate values."""
    exact = story.sample.fits and not story.applied("unsafe_set_dtype")
    if not exact or "T.thread_binding" in sch.mod.script():
        return
    story.last = "build"
    story.counts["judged", "machine code"] += 1
    halves = [p.dtype == "bfloat16" for p in story.sample.params]
    given = [_bits(a) if half else a.copy() for a, half in zip(story.now.arrays, halves, strict=True)]
    build(sch.mod)["main"](*given)
    got = [_floats(a) if half else a for a, half in zip(given, halves, strict=True)]
    same(got, story.now.expected)


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
