"""A program is built to the same code, or refused with the same words, however often and after whatever else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest
from harness.ready_made import STAGES
from programs import gpu_programs
from programs.parsed import parse
from programs.reported_kernels import KERNELS as REPORTED
from programs.reported_kernels import text_of

from fuzzing.kernels.bindings import scheduled
from fuzzing.kernels.machine import function_of
from fuzzing.kernels.sources import source
from fuzzing.programs import program
from tir_mlir import Schedule, budget, schedules
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import clone_module, enter_context
from tir_mlir.passes.lower import lower_to_llvm

MADE = [
    lambda: gpu_programs.added(40),
    gpu_programs.added_symbolic,
    gpu_programs.transposed_symbolic,
    lambda: gpu_programs.transposed(64),
    lambda: gpu_programs.two_nests(128),
    lambda: gpu_programs.row_sums_by_threads(4, 70),
    lambda: gpu_programs.row_sums_by_factors(4, 64),
    lambda: gpu_programs.softmax(4, 100),
    lambda: gpu_programs.product(64, 64, 64),
    lambda: gpu_programs.product_by_virtual_threads(32),
    gpu_programs.convolution,
]


def stages(planes: int) -> Schedule:
    """Each stage reads the plane of the one before at two places; the last one reads three planes."""
    axes = "            vr, vi = T.axis.remap('SS', [r, i])\n            "
    later = "".join(
        f"        for i in range(256):\n          with T.block('s{p}'):\n{axes}"
        f"S[vr, {p}, vi] = S[vr, {p - 1}, vi] + T.if_then_else(vi >= {p}, S[vr, {p - 1}, vi - {p}], T.float32(0))\n"
        for p in range(1, planes)
    )
    sch = Schedule(
        parse(
            "@T.prim_func\n"
            "def f(A: T.Buffer((16, 256), 'float32'), B: T.Buffer((16, 256), 'float32')):\n"
            f"    S = T.alloc_buffer((16, {planes}, 256), 'float32', scope='shared')\n"
            "    for r in range(16):\n"
            f"        for i in range(256):\n          with T.block('s0'):\n{axes}S[vr, 0, vi] = A[vr, vi]\n{later}"
            f"        for i in range(256):\n          with T.block('B'):\n{axes}"
            f"B[vr, vi] = S[vr, {planes - 1}, vi] + S[vr, 0, vi // 2] + S[vr, 1, (vi + 2) % 256]\n"
        )
    )
    sch.bind(sch.get_loops("B")[0], "blockIdx.x")
    for name in (*(f"s{p}" for p in range(planes)), "B"):
        sch.bind(sch.get_loops(name)[-1], "threadIdx.x")
    return sch


def drawn_kernel(seed: int) -> Schedule:
    """A random program under a random schedule for a GPU."""
    random = Random(seed)
    return scheduled(parse(source(random).text), random)[0]


KERNELS = [
    *(lambda kernel=kernel: Schedule(parse(text_of(kernel))) for kernel in REPORTED),
    *MADE,
    *(lambda seed=seed: drawn_kernel(seed) for seed in range(40)),
    lambda: stages(3),
    lambda: stages(5),
]
"""All programs for GPUs of the tests, and random ones."""


def kernel_answer(sch: Schedule) -> str:
    """The code of a kernel, or why it is refused."""
    last = ""

    def follow(_: str, module: object) -> None:
        nonlocal last
        last = str(module)

    try:
        function_of(sch, follow=follow)
    except TirError as error:
        return str(error)
    return last


def drawn_program(name: str, seed: int) -> Schedule:
    """A random program under a schedule for this CPU."""
    sch = Schedule(parse(program(Random(f"{name}/{seed}"), 1, STAGES[name]).text), seed=1)
    schedules.auto(sch, threads=2)
    return sch


PROGRAMS = [lambda name=name, seed=seed: drawn_program(name, seed) for seed in range(6) for name in STAGES]


def program_answer(sch: Schedule) -> str:
    """The LLVM dialect of a program, or why it is refused."""
    with enter_context():
        module = clone_module(sch.mod.mlir)
        try:
            lower_to_llvm(module)
        except TirError as error:
            return str(error)
        return str(module)


def differing(
    programs: Sequence[Callable[[], Schedule]], answer: Callable[[Schedule], str], turns: int = 3
) -> list[str]:
    """The programs whose answers differ between turns, each in another order."""
    schedules_ = [make() for make in programs]
    answers: list[set[str]] = [set() for _ in schedules_]
    for turn in range(turns):
        for number in Random(turn).sample(range(len(schedules_)), len(schedules_)):
            answers[number].add(answer(schedules_[number]))
    return [sch.mod.script() for sch, given in zip(schedules_, answers, strict=True) if len(given) != 1]


@pytest.mark.nightly
def test_some_kernels_in_any_order():
    assert differing(KERNELS[-1::-14], kernel_answer) == []


def test_some_programs_in_any_order():
    assert differing(PROGRAMS[::25], program_answer) == []


@pytest.mark.nightly
def test_all_kernels_in_any_order():
    assert differing(KERNELS, kernel_answer) == []


@pytest.mark.nightly
def test_all_programs_in_any_order():
    assert differing(PROGRAMS, program_answer) == []


def test_what_is_undecided_under_a_small_budget_is_decided_under_a_large_one():
    with budget(2_000):
        small = [kernel_answer(stages(3)) for _ in range(2)]
    assert "undecided, isl exceeded its budget of 2,000 operations (`with tir_mlir.budget(20_000):`" in small[0]
    assert small[0] == small[1]
    assert "undecided" not in kernel_answer(stages(3))
    with budget(2_000):
        assert kernel_answer(stages(3)) == small[0]
