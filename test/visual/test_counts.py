"""Loads and stores, counted without a run: by hand, by the interpreter, and as formulas."""

from __future__ import annotations

import numpy as np
import pytest
from programs.short import each, program

from tir_mlir import Schedule, interpret
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.examples.matmul import schedule_matmul
from tir_mlir.visual.counts import traffic


def counted(sch: Schedule, **sizes: int) -> dict[str, tuple[str, str]]:
    with enter_context():
        return {t.buffer: (str(t.loads), str(t.stores)) for t in traffic(funcs(sch.executor.module)[0], sizes)}


def test_by_hand(programs, tiled):
    n = f"{64**3:,}"
    assert counted(tiled) == {"A": (n, "0"), "B": (n, "0"), "C": (n, f"{64**3 + 64**2:,}")}  # and the init
    assert counted(Schedule(programs["triangle"])) == {"A": ("36", "0"), "B": ("0", "36")}


def test_a_cache_saves_loads(programs):
    sch = Schedule(programs["matmul"])
    i, _, _ = sch.get_loops("C")
    copied = sch.cache_read("C", 0, "local")
    sch.compute_at(copied, i)
    found = counted(sch)
    assert found["A"] == (f"{64 * 64:,}", "0") and found["A_local"] == (f"{64**3:,}", f"{64 * 64:,}")


@pytest.mark.parametrize("name", ["matmul", "triangle", "deep"])
@pytest.mark.parametrize("factor", [None, 5, 24])
def test_as_the_interpreter_counts(programs, name, factor):
    sch = Schedule(programs[name])
    block = {"matmul": "C", "triangle": "B", "deep": "A"}[name]
    if factor is not None:
        for loop in sch.get_loops(block)[:2]:
            sch.split(loop, [None, factor])  # with a guard
    arrays = [np.zeros(p.shape, np.float32) for p in sch.mod["main"].func.params]
    ran = interpret(sch.mod, *arrays)
    assert counted(sch) == {n: (f"{c.loads:,}", f"{c.stores:,}") for n, c in ran.buffers.items()}


def test_each_step_of_the_chapter_as_the_interpreter_counts():
    arrays = [np.zeros((32, 32), np.float32) for _ in range(3)]
    for entry in schedule_matmul(32, 32, 32).history:
        if entry.changed and not entry.call.startswith("tensorize"):
            ran = interpret(entry.mod, *arrays)
            found = {n.replace(".", "_"): (f"{c.loads:,}", f"{c.stores:,}") for n, c in ran.buffers.items()}
            assert counted(Schedule(entry.mod)) == found, entry.call


def test_arguments_of_a_kernel():
    sch = schedule_matmul(64, 64, 64)
    with enter_context():
        rows = {t.buffer: t for t in traffic(funcs(sch.executor.module)[0])}
    calls = 4 * 4 * 4
    assert rows["A_global_A_reg"].loads.value == calls * 256 and rows["A_global_A_reg"].loads.by_calls
    assert not rows["A"].loads.by_calls


def test_sizes_stay_symbolic_or_are_given(programs):
    sch = Schedule(programs["scaled"])
    i, j = sch.get_loops("B")
    sch.split(i, [None, 16])
    sch.split(j, [None, 24])
    assert counted(sch) == {"A": ("64 * n", "0"), "B": ("0", "64 * n")}
    assert counted(sch, n=100) == {"A": ("6,400", "0"), "B": ("0", "6,400")}


def test_a_condition_on_data():

    chosen = program("A:16:int32 B:16:int32", each("B:16", "B[vi] = T.if_then_else(A[vi] > 0, A[vi], 0)"))
    found = counted(Schedule(chosen))
    assert found["B"] == ("0", "16") and found["A"][0] == "at most 32"
