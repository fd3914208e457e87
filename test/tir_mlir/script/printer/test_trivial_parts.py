"""Bindings of unit iters and guards that always hold have one form."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script.parser import parse
from tir_mlir.script.structural_equal import difference


def row(binding: str, guard: str = "", loops: str = "2, 64", loop: str = "j"):
    return parse(f"""
@T.prim_func
def main(A: T.Buffer((1, 64), "float32"), C: T.Buffer((1, 64), "float32")):
    for i, j in T.grid({loops}):
        with T.block("C"):
            vi = T.axis.spatial(1, {binding})
            vj = T.axis.spatial(64, {loop})
            {guard}
            C[vi, vj] = A[vi, vj]
""")


def text(program) -> str:
    return Schedule(program).mod.script()


@pytest.mark.parametrize("binding", ["i // 2", "i * 0", "0"])
def test_a_unit_iter_prints_as_bound_to_its_value(binding):
    assert "vi = T.axis.spatial(1, 0)" in text(row(binding, loops="1, 64"))


def test_a_unit_iter_of_a_loop_keeps_its_loop():
    assert 'vi, vj = T.axis.remap("SS", [i, j])' in text(row("i", loops="1, 64"))


def test_programs_that_differ_in_bindings_of_unit_iters_are_equal():
    programs = [Schedule(row(b, loops="1, 64")).mod.mlir for b in ("i", "0", "i // 2")]
    assert difference(programs[0], programs[1]) is None and difference(programs[0], programs[2]) is None


def test_programs_that_differ_in_other_bindings_are_not():
    assert difference(Schedule(row("i", loops="1, 64")).mod.mlir, Schedule(row("0", "", "1, 64", "63 - j")).mod.mlir)


@pytest.mark.parametrize(
    "guard", ["T.where(j < 64)", "T.where(j < 70 and 0 <= i)", "T.where(i + j < 65)", "T.where(True)"]
)
def test_a_guard_that_always_holds_is_not_printed(guard):
    assert "T.where" not in text(row("i", guard, loops="1, 64"))


@pytest.mark.parametrize("guard", ["T.where(j < 63)", "T.where(j < 70 and j != 3)", "T.where(i + j < 64 and 1 <= j)"])
def test_a_guard_that_may_fail_is_printed(guard):
    program = parse(f"""
@T.prim_func
def main(A: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32")):
    for j in range(64):
        with T.block("C"):
            vj = T.axis.spatial(64, j)
            C[vj] = 0.0
    for i, j in T.grid(1, 64):
        with T.block("D"):
            vj = T.axis.spatial(64, j)
            {guard}
            C[vj] = A[vj]
""")
    assert "T.where" in text(program)
