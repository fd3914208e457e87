"""Sixty faults planted in pipelines, in the step, in the program after it, and in its PTX: each is refused or named."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from programs.parsed import parse
from programs.pipelines import pipelined

from fuzzing.kernels.planted_ptx import Judge, Planted
from tir_mlir import Schedule
from tir_mlir.equivalence import equivalent
from tir_mlir.errors import ScheduleError, TirError

SHAPE = (64, 64, 80)
PLANS = {
    "copies ahead": [0, 0, 2],
    "one copy ahead of the other": [1, 0, 2],
    "double buffer": [0, 0, 1],
}


def scheduled(name: str) -> Schedule:
    sch = pipelined(1, SHAPE)
    stages = PLANS[name]
    sch.pipeline(sch.get_loops("A_shared")[4], stages)
    return sch


@cache
def judge(name: str) -> Judge:
    rng = np.random.default_rng(0)
    m, n, k = SHAPE
    return Judge(scheduled(name), [rng.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n), (m, n))])


# --- in the step ------------------------------------------------------------------------------------------------------

STEPS = [
    ([1, 1, 0], None), ([0, 1, 0], None), ([1, 0, 0], None), ([2, 0, 1], None), ([0, 2, 1], None), ([2, 2, 1], None),
    ([0, 0, 0], [2, 0, 1]), ([0, 0, 0], [0, 2, 1]), ([0, 0, 0], [1, 2, 0]), ([0, 0, 0], [2, 1, 0]),
    ([0, 1, 1], [0, 2, 1]), ([1, 0, 1], [2, 0, 1]), ([0, 0, 5], None), ([0, 0, 1], [0, 1, 1]), ([0, 1], None),
]  # fmt: skip
"""Stages and orders of the copies of A and B, and of the sums."""


@pytest.mark.few(3)
@pytest.mark.parametrize(("stages", "order"), STEPS)
def test_a_step_that_computes_something_else_is_refused(stages, order):
    sch = pipelined(1, SHAPE)
    with pytest.raises(ScheduleError, match=r"touch [AB]_shared\[|need as many iterations|has each position|has 2 numb"):
        sch.pipeline(sch.get_loops("A_shared")[4], stages, order)


# --- in the program after it ------------------------------------------------------------------------------------------

PROGRAM = {
    "planes of what is read, less one": (r"A_shared\[vk // 16 % 3", "A_shared[vk // 16 % 2"),
    "planes of what is written, less one": (r"B_shared\[v0 // 16 % 3", "B_shared[v0 // 16 % 2"),
    "the next plane is read": (r"A_shared\[vk // 16 % 3", "A_shared[(vk // 16 + 1) % 3"),
    "the plane before is read": (r"B_shared\[vk // 16 % 3", "B_shared[(vk // 16 + 2) % 3"),
    "the next plane is written": (r"A_shared\[v1 // 16 % 3", "A_shared[(v1 // 16 + 1) % 3"),
    "the prologue is one short": (r"for r_0_prologue in range\(2\)", "for r_0_prologue in range(1)"),
    "the prologue is one longer": (r"for r_0_prologue in range\(2\)", "for r_0_prologue in range(3)"),
    "the loop is one short": (r"for r_0 in range\(5\)", "for r_0 in range(4)"),
    "the last tile is not copied": (r"T.where\(r_0 < 3\)", "T.where(r_0 < 2)"),
    "a tile behind the last one is copied": (r"T.where\(r_0 < 3\)", "T.where(r_0 < 4)"),
    "a tile too early": (r"r_0 \* 16 \+ (.*) \+ 32\)", r"r_0 * 16 + \1 + 16)"),
    "two planes of three": (r"A_shared = T.alloc_buffer\(\(3,", "A_shared = T.alloc_buffer((2,"),
    "one buffer for both": (r"B_shared\[v0 // 16 % 3, v0 % 16, v1\]", "A_shared[v0 // 16 % 3, v1, v0 % 16]"),
}


@cache
def program_text() -> str:
    return scheduled("copies ahead").mod.script()


@pytest.mark.few(2)
@pytest.mark.parametrize("name", PROGRAM)
def test_a_program_that_computes_something_else_is_refused(name):
    """By the parser, which proves accesses, or by the comparison with the program before the step."""
    old, new = PROGRAM[name]
    text = re.sub(old, new, program_text())
    assert text != program_text()
    try:
        result = equivalent(pipelined(1, SHAPE).mod, parse(text))
    except TirError as error:
        assert re.search(r"_shared", str(error))
    else:
        assert not result


# --- in the PTX -------------------------------------------------------------------------------------------------------


def nth(pattern: str, number: int, new: str = "") -> Callable[[str], str]:
    """Replace one match of a pattern."""

    def change(text: str) -> str:
        match = [*re.finditer(pattern, text)][number]
        return text[: match.start()] + match.expand(new) + text[match.end() :]

    return change


def every(pattern: str, new: str = "") -> Callable[[str], str]:
    return lambda text: re.sub(pattern, new, text)


WAIT, COMMIT, BARRIER = r"cp\.async\.wait_group\s+(\d);", r"cp\.async\.commit_group;", r"bar\.sync\s+0;"
COPY = r"cp\.async\.cg\.shared\.global \[(%rd\d+(?:\+\d+)?)\], (\[.*?\], 16;)"
SHARED = r"(ld\.shared\S*\s.*\[%rd\d+)(?:\+(\d+))?\]"


def moved(by: int) -> str:
    return rf"cp.async.cg.shared.global [\1+{by}], \2"


def reads(by: int) -> Callable[[str], str]:
    """Shared loads from another address."""
    return lambda text: re.sub(SHARED, lambda m: f"{m.group(1)}+{int(m.group(2) or 0) + by}]", text)


def barrier_to(pattern: str) -> Callable[[str], str]:
    """The wait and the barrier of the loop behind the first match of a pattern."""

    def change(text: str) -> str:
        text, pair = re.sub(rf"{WAIT}\s*{BARRIER}", "", text, count=1), re.search(rf"{WAIT}\s*{BARRIER}", text)
        assert pair is not None
        return re.sub(pattern, lambda m: f"{m.group()}\n{pair.group()}", text, count=1)

    return change


IN_EACH: dict[str, Callable[[str], str]] = {
    "one group more is pending": nth(WAIT, 0, "cp.async.wait_group 2;"),
    "no wait": nth(WAIT, 0),
    "no group ends": every(COMMIT),
    "the last group of the loop does not end": nth(COMMIT, -1),
    "no barrier": nth(BARRIER, 0),
    "a wait behind the barrier": every(rf"({WAIT})\s*({BARRIER})", r"\3\n\1"),
    "the first copy is missing": nth(COPY, 0),
    "the last copy is missing": nth(COPY, -1),
    "half a copy": nth(r"\], 16;", 0, "], 8;"),
    "a copy to the next plane": nth(COPY, -1, moved(4096)),
    "what is read is a plane further": reads(4096),
}
IN_COPIES: dict[str, Callable[[str], str]] = {
    "three groups are pending": nth(WAIT, 0, "cp.async.wait_group 3;"),
    "the first group does not end": nth(COMMIT, 0),
    "the second group does not end": nth(COMMIT, 1),
    "the second copy is missing": nth(COPY, 1),
    "the third copy is missing": nth(COPY, 2),
    "the fourth copy is missing": nth(COPY, 3),
    "a copy of A in the loop to the next plane": nth(COPY, -2, moved(4096)),
    "the prologue fills one plane twice": every(r"(\[%rd\d+)\+4096\]", r"\1]"),
    "the barrier is behind the copies of the loop": barrier_to(r"\$L__BB0_3:"),
    "the barrier is behind the sums of the loop": barrier_to(r"bra\s+\$L__BB0_4;"),
}
TEXTS = [
    *(("copies ahead", fault, change) for fault, change in (IN_EACH | IN_COPIES).items()),
    *(("double buffer", fault, change) for fault, change in IN_EACH.items()),
]


@pytest.mark.few(3)
@pytest.mark.parametrize(("name", "fault", "change"), TEXTS)
def test_a_text_with_a_fault_is_named_by_the_machine(name, fault, change):
    text = change(judge(name).text)
    assert text != judge(name).text
    verdict = judge(name).verdict(Planted("pipeline", 0, fault, "", text))
    assert verdict not in ("", "numbers"), (fault, verdict)


def test_there_are_sixty():
    assert len(STEPS) + len(PROGRAM) + len(TEXTS) >= 60
