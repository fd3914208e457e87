"""Sixty faults planted in pipelines, in the step, in the program after it, and in its PTX: each is refused or named."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from programs.parsed import parse

from fuzzing.kernels.planted_ptx import Judge, Planted
from tir_mlir import Schedule
from tir_mlir.equivalence import equivalent
from tir_mlir.errors import ScheduleError, TirError

SOURCE = """
@T.prim_func
def main(A: T.Buffer((24, 64), "float32"), X: T.Buffer((24, 64), "float32"), B: T.Buffer((64,), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        with T.block("all"):
            P = T.alloc_buffer((64,), "float32", scope="shared")
            Q = T.alloc_buffer((64,), "float32", scope="shared")
            for t in T.thread_binding(16, thread="threadIdx.x"):
                for c in range(4):
                    with T.block("zero"):
                        v = T.axis.spatial(64, t * 4 + c)
                        B[v] = T.float32(0)
            for k in range(24):
                for t in T.thread_binding(16, thread="threadIdx.x"):
                    for c in T.vectorized(4):
                        with T.block("P"):
                            vk = T.axis.opaque(24, k)
                            v = T.axis.spatial(64, t * 4 + c)
                            P[v] = A[vk, v]
                for t in T.thread_binding(16, thread="threadIdx.x"):
                    for c in T.vectorized(4):
                        with T.block("Q"):
                            vk = T.axis.opaque(24, k)
                            v = T.axis.spatial(64, t * 4 + c)
                            Q[v] = X[vk, v]
                for t in T.thread_binding(16, thread="threadIdx.x"):
                    for c in range(4):
                        with T.block("B"):
                            vk = T.axis.opaque(24, k)
                            v = T.axis.spatial(64, t * 4 + c)
                            B[v] = B[v] + P[63 - v] * Q[63 - v]
"""
"""Sums of products of what two tiles of 64 elements have in reverse, by 16 threads."""
PLANS = {"copies ahead": [0, 0, 2], "one copy ahead of the other": [1, 0, 2], "double buffer": [0, 0, 1]}


def plain() -> Schedule:
    return Schedule(parse(SOURCE))


def scheduled(name: str) -> Schedule:
    sch = plain()
    sch.pipeline(sch.get_loops("P")[0], PLANS[name])
    return sch


@cache
def judge(name: str) -> Judge:
    rng = np.random.default_rng(0)
    return Judge(scheduled(name), [rng.standard_normal(s).astype(np.float32) for s in ((24, 64), (24, 64), (64,))])


# --- in the step ------------------------------------------------------------------------------------------------------

STEPS = [
    ([1, 1, 0], None), ([0, 1, 0], None), ([1, 0, 0], None), ([2, 0, 1], None), ([0, 2, 1], None), ([2, 2, 1], None),
    ([0, 0, 0], [2, 0, 1]), ([0, 0, 0], [0, 2, 1]), ([0, 0, 0], [1, 2, 0]), ([0, 0, 0], [2, 1, 0]),
    ([0, 1, 1], [0, 2, 1]), ([1, 0, 1], [2, 0, 1]), ([0, 0, 24], None), ([0, 0, 1], [0, 1, 1]), ([0, 1], None),
]  # fmt: skip
"""Stages and orders of the two copies, and of the sums."""


@pytest.mark.few(3)
@pytest.mark.parametrize(("stages", "order"), STEPS)
def test_a_step_that_computes_something_else_is_refused(stages, order):
    sch = plain()
    with pytest.raises(ScheduleError, match=r"touch [PQ]\[|need as many iterations|has each position|has 2 numbers"):
        sch.pipeline(sch.get_loops("P")[0], stages, order)


# --- in the program after it ------------------------------------------------------------------------------------------

PROGRAM = {
    "planes of what is read, less one": (r"P\[vk % 3, 63", "P[vk % 2, 63"),
    "planes of what is written, less one": (r"Q\[vk % 3, v\]", "Q[vk % 2, v]"),
    "the next plane is read": (r"P\[vk % 3, 63", "P[(vk + 1) % 3, 63"),
    "the plane before is read": (r"Q\[vk % 3, 63", "Q[(vk + 2) % 3, 63"),
    "the next plane is written": (r"P\[vk % 3, v\]", "P[(vk + 1) % 3, v]"),
    "the prologue is one short": (r"for k_prologue in range\(2\)", "for k_prologue in range(1)"),
    "the loop is one short": (r"for k in range\(24\)", "for k in range(23)"),
    "the last tile is not copied": (r"T.where\(k < 22\)", "T.where(k < 21)"),
    "a tile behind the last one is copied": (r"T.where\(k < 22\)", "T.where(k < 23)"),
    "a tile too early": (r"opaque\(24, k \+ 2\)", "opaque(24, k + 1)"),
    "two planes of three": (r"P = T.alloc_buffer\(\(3,", "P = T.alloc_buffer((2,"),
    "one buffer for both": (r"Q\[vk % 3, v\] =", "P[vk % 3, v] ="),
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
        result = equivalent(parse(SOURCE), parse(text))
    except TirError as error:
        assert re.search(r"\b[PQ]\b", str(error))
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
COMMIT_OF_LOOP = r"(?<=\$L__BB0_3:)"
COPY = r"cp\.async\.cg\.shared\.global \[(%rd\d+(?:\+\d+)?)\], (\[.*?\], 16;)"
SHARED = r"(ld\.shared\S*\s.*\[%rd\d+)(?:\+(-?\d+))?\]"


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
    "no barrier": nth(BARRIER, 0),
    "a wait behind the barrier": every(rf"({WAIT})\s*({BARRIER})", r"\3\n\1"),
    "the first copy is missing": nth(COPY, 0),
    "the last copy is missing": nth(COPY, -1),
    "half a copy": nth(r"\], 16;", 0, "], 8;"),
    "a copy to the next plane": nth(COPY, -1, moved(256)),
    "what is read is a plane further": reads(256),
}
IN_COPIES: dict[str, Callable[[str], str]] = {
    "the group of the loop does not end": nth(COMMIT, -1),
    "three groups are pending": nth(WAIT, 0, "cp.async.wait_group 3;"),
    "the first group does not end": nth(COMMIT, 0),
    "the second group does not end": nth(COMMIT, 1),
    "the second copy is missing": nth(COPY, 1),
    "the third copy is missing": nth(COPY, 2),
    "the fourth copy is missing": nth(COPY, 3),
    "a copy of A in the loop to the next plane": nth(COPY, -2, moved(256)),
    "the prologue fills one plane twice": every(r"(\[%rd\d+)\+256\]", r"\1]"),
    "the barrier is behind the copies of the loop": barrier_to(COMMIT_OF_LOOP),
    "the barrier is behind the sums of the loop": barrier_to(r"st\.global\S* [^;]*;(?=\s*(?:add|setp|@))"),
}
STALE = ("one copy ahead of the other", "the last copy is missing")
"""The copy of the last iteration only, whose plane has older values: no fault of the text alone, see PROGRAM."""
TEXTS = [
    *(("copies ahead", fault, change) for fault, change in (IN_EACH | IN_COPIES).items()),
    *((name, fault, do) for name in [*PLANS][1:] for fault, do in IN_EACH.items() if (name, fault) != STALE),
    ("double buffer", "the group of the loop does not end", nth(COMMIT, 1)),
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
