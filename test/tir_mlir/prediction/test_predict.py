"""Predictions of whole programs: what runs, what moves, and what the report says."""

import re

import pytest
from programs.products import product

from tir_mlir import Schedule, explain_speed, schedules, target
from tir_mlir.errors import BuildError
from tir_mlir.prediction import core_of, predict
from tir_mlir.prediction.traffic import count_traffic
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


@I.ir_module
class Copy:
    @T.prim_func
    def main(A: T.Buffer((4096, 4096), "float32"), B: T.Buffer((4096, 4096), "float32")):
        for i, j in T.grid(4096, 4096):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]


def scheduled(n, cpu):
    sch = Schedule(product(n, n, n))
    schedules.gemm(sch, "C", threads=1, target=cpu)
    return sch


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127, 256])
def test_the_multiply_adds_of_a_product_are_those_that_run(n):
    found = predict(scheduled(n, "zen4"), "zen4")
    lanes = {"zmm": 16, "ymm": 8, "xmm": 4}
    total = 0.0
    for loop in found.loops:
        for code in loop.code.instructions:
            if code.startswith("vfmadd"):
                width = 1 if code.split()[0].endswith("ss") else lanes[re.findall("%(.mm)", code)[-1]]
                total += width * loop.code.executions
    assert found.is_exact and total <= 1.35 * max(n, 16) * n * n + 64
    assert total >= 0.75 * n**3 or n == 1


def test_a_product_of_registers_is_near_the_peak_of_each_cpu():
    for name in ("zen4", "haswell"):
        cpu = target.named(name)
        found = predict(scheduled(240, cpu), cpu)
        best = 240**3 / core_of(cpu).multiply_adds("float32", cpu)
        assert best <= found.cycles <= 1.4 * best, name


def traffic(program, cpu=target.ZEN4):
    sch = program if isinstance(program, Schedule) else Schedule(program)
    return {t.level: t.bytes for t in count_traffic(sch.mod.mlir, cpu, core_of(cpu))}


def test_a_copy_moves_each_line_once_and_the_written_ones_twice():
    assert traffic(Copy, target.ZEN2) == dict.fromkeys(("L2", "L3", "DRAM"), 3 * 4 * 4096**2)


def test_written_lines_count_once_where_they_go_back_beside_what_is_read():
    assert traffic(Copy, target.ZEN4) == dict.fromkeys(("L2", "L3", "DRAM"), 2 * 4 * 4096**2)


def test_what_fits_is_not_moved_and_what_does_not_is_moved_for_each_use():
    assert traffic(product(32, 32, 32)) == {"L2": 0, "L3": 0, "DRAM": 0}
    moved = traffic(product(256, 256, 256))
    assert moved["L3"] == moved["DRAM"] == 0
    assert moved["L2"] >= 256**3 * 4  # B by columns: a line for each element


def test_a_buffer_is_as_large_as_an_iteration_needs():
    sch = Schedule(Copy)
    copy = sch.cache_read("B", 0, "global")
    assert traffic(sch)["DRAM"] == 2 * traffic(Copy)["DRAM"]
    sch.compute_at(copy, sch.get_loops("B")[0])
    assert traffic(sch)["DRAM"] < 1.01 * traffic(Copy)["DRAM"]  # a row of it


def test_a_call_likely_waits_for_a_part_of_what_moves():
    found = predict(Schedule(Copy), "zen4")
    (memory,) = (level for level in found.traffic if level.level == "DRAM")
    assert found.cycles == memory.cycles < found.likely_cycles == memory.cycles + found.core_cycles
    small = predict(scheduled(16, "zen4"), "zen4")
    assert small.likely_cycles == small.cycles == small.core_cycles


def test_the_report_names_the_loop_the_limit_and_what_helps():
    report = explain_speed(Schedule(product(64, 64, 64)), "zen4")
    text = str(report)
    assert "cycles a call on one thread of znver4" in text and report.prediction.limit in text
    assert re.search(r"\d+%  (k|j) \(64 times\) in \w+ ", text), text
    assert "from L2 in" in text and report.advice[0] in text
    assert "zen4" not in str(explain_speed(Schedule(product(8, 8, 8)), "haswell"))


@pytest.mark.parametrize(
    ("program", "cpu", "message"),
    [
        (product(4, 4, 4), "cuda", "speed is predicted for CPUs, not for a GPU"),
        (product(4, 4, 4), "zen44", "did you mean 'zen4'"),
        (3, "zen4", "predict takes a Schedule, an IRModule, a PrimFunc or an MLIR module, not 3"),
    ],
)
def test_refusals(program, cpu, message):
    with pytest.raises(BuildError, match=message):
        explain_speed(program, cpu)
