# ruff: noqa: E501 - a case a line
"""A primitive that goes wrong is found: by the rules after the step, or by running what it made."""

import pytest
from harness.harming import drop_guards, drop_stores, harmful, mark, shift, shorten, swap, swap_iters
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.equivalence import equivalent
from tir_mlir.examples import matmul as chapter
from tir_mlir.passes.schedule import PRIMITIVES

MATMUL = chapter.matmul(17, 16, 16)
CHAIN = program(
    "A:18x18 C:16x16; B:18x18",
    each("B:18x18", "B[vi, vj] = A[vi, vj] * A[vi, vj]"),
    each("C:16x16", "C[vi, vj] = B[vi, vj] - B[vi + 1, vj + 2]"),
)
TWICE = program(
    "A:17x16 C:17x16; D:17x16",
    each("D:17x16", "D[vi, vj] = A[vi, vj] + A[vi, vj]"),
    each("C:17x16", "C[vi, vj] = D[vi, vj] * 3.0"),
)


def swapped(i, j):
    return j, i


def flat(i, j):
    return (i * 16 + j,)


def loop(sch, number, block="matmul"):
    return sch.get_loops(block)[number]


def rfactored(sch):
    r_0, _ = sch.split(loop(sch, 2), [None, 4])
    sch.rfactor(r_0, 0)


# the step, what goes wrong in it, the program, the calls
CASES = [
    ("split", drop_guards, MATMUL, lambda s: s.split(loop(s, 0), [None, 4]), "guard dropped"),
    ("split", shorten("y_1"), MATMUL, lambda s: s.split(loop(s, 0), [None, 4]), "inner loop one short"),
    ("split", shorten("r_0"), MATMUL, lambda s: s.split(loop(s, 2), [None, 4]), "part of the sum lost"),
    ("fuse", swap_iters("matmul"), MATMUL, lambda s: s.fuse(loop(s, 0), loop(s, 1)), "wrong inverse"),
    ("reorder", swap("load", "B"), MATMUL, lambda s: s.reorder(loop(s, 1), loop(s, 0)), "operand transposed"),
    ("parallel", mark("r", "parallel"), MATMUL, lambda s: s.parallel(loop(s, 0)), "race"),
    ("unroll", mark("r", "blockIdx.x"), MATMUL, lambda s: s.unroll(loop(s, 2)), "race of threads"),
    ("cache_read", shift("load", "A", -1), MATMUL, lambda s: s.cache_read("matmul", 0, "global"), "one row off"),
    ("cache_read", shorten("ax0"), MATMUL, lambda s: s.cache_read("matmul", 1, "global"), "one row short"),
    ("cache_read", swap("store", "A_global"), CHAIN, lambda s: s.cache_read("B", 0, "global"), "transposed"),
    ("cache_write", drop_stores("C", False), MATMUL, lambda s: s.cache_write("matmul", 0, "global"), "not written back"),
    ("decompose_reduction", drop_stores("C", True), MATMUL, lambda s: s.decompose_reduction("matmul", loop(s, 2)), "no init"),
    ("rfactor", drop_stores("C_rf", True), MATMUL, rfactored, "no init of partial sums"),
    ("compute_at", shorten("ax0"), CHAIN, lambda s: s.compute_at("B", loop(s, 0, "C")), "region one row short"),
    ("compute_at", shift("load", "A", 1), CHAIN, lambda s: s.compute_at("B", loop(s, 0, "C")), "region one row off"),
    ("reverse_compute_at", shift("load", "D", -1), TWICE, lambda s: s.reverse_compute_at("C", loop(s, 0, "D")), "one row off"),
    ("compute_inline", swap("load", "A"), CHAIN, lambda s: s.compute_inline("B"), "inlined transposed"),
    ("transform_layout", swap("load", "B"), CHAIN, lambda s: s.transform_layout("B", ("write", 0), swapped), "wrong map"),
    ("reindex", shift("store", "B_reindex", 1), MATMUL, lambda s: s.reindex("matmul", ("read", 1)), "one row off"),
    ("pad_einsum", drop_stores("C_pad", True), MATMUL, lambda s: s.pad_einsum("matmul", [4, 4, 4]), "no init"),
    ("transform_block_layout", swap("store", "C"), CHAIN, lambda s: s.transform_block_layout("C", flat), "wrong inverse map"),
    ("blockize", swap("load", "B"), MATMUL, lambda s: s.blockize(loop(s, 1)), "operand transposed"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "harm", "mod", "call", "what"), CASES, ids=[f"{c[0]}: {c[4]}" for c in CASES])
def test_a_harmful_step_is_found(monkeypatch, name, harm, mod, call, what):
    sch = Schedule(mod, verify="each step", error_render_level="none")
    call(Schedule(mod))  # the step is legal
    monkeypatch.setitem(PRIMITIVES, name, harmful(name, harm))
    with pytest.raises(ScheduleError) as caught:
        call(sch)
    assert caught.value.call.startswith(f"{name}(")
    assert name not in [step.name for step in sch.trace.insts]
    assert equivalent(mod, sch)
