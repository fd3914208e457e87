"""Predictions on several threads: shares of parallel loops, what threads share, and what starting them takes."""

import re

import pytest
from programs.products import product

from tir_mlir import Schedule, explain_speed, schedules, target
from tir_mlir.errors import BuildError
from tir_mlir.prediction import core_of, predict
from tir_mlir.prediction.thread_shares import parallel_regions, share_of_a_thread
from tir_mlir.prediction.traffic import count_traffic
from tir_mlir.script import tir as T


@T.prim_func
def copy_rows(A: T.Buffer((10, 1 << 20), "float32"), B: T.Buffer((10, 1 << 20), "float32")):
    for i in T.parallel(10):
        for j in T.vectorized(1 << 20):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]


@T.prim_func
def often(A: T.Buffer((64, 32, 16), "float32"), B: T.Buffer((64, 32, 16), "float32")):
    for n in range(64):
        for i in T.parallel(32):
            for j in T.vectorized(16):
                with T.block("B"):
                    vn, vi, vj = T.axis.remap("SSS", [n, i, j])
                    B[vn, vi, vj] = A[vn, vi, vj]


@T.prim_func
def named_size(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 64), "float32")
    B = T.match_buffer(b, (n, 64), "float32")
    for i in T.parallel(n):
        for j in range(64):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]


def extents(program, threads):
    return re.findall(
        r"in T\.parallel\((.*)\):", Schedule(share_of_a_thread(Schedule(program).mod.mlir, threads)).mod.script()
    )


@pytest.mark.parametrize(("threads", "share"), [(1, "10"), (3, "4"), (4, "3"), (10, "1"), (16, "1")])
def test_a_share_is_that_of_the_thread_with_most_iterations(threads, share):
    assert extents(copy_rows, threads) == [share]


def test_the_share_of_a_symbolic_loop_is_rounded_up():
    assert extents(named_size, 4) == ["(n + 3) // 4"]
    assert parallel_regions(Schedule(named_size).mod.mlir)[0].balance(4) == 1.0


def test_ten_iterations_keep_ten_of_sixteen_threads_busy():
    report = explain_speed(copy_rows, "zen4", threads=16)
    (region,) = report.prediction.regions
    assert region.balance(16) == 10 / 16 and region.entries == 1
    assert "on 16 threads of znver4" in str(report)
    assert any("some threads have less to do than others" in text for text in report.advice)
    assert "parallel: i (10 iterations) keeps 10.0 of 16 threads busy, started once, 8 k cycles" in str(report)


def test_a_core_moves_its_share_and_memory_serves_all():
    cpu = target.SKYLAKE_AVX512
    one, ten = (count_traffic(Schedule(copy_rows).mod.mlir, cpu, core_of(cpu), t) for t in (1, 10))
    assert [t.bytes for t in ten] == [one[0].bytes / 10, one[1].bytes / 10, one[2].bytes]
    assert [t.cycles for t in ten] == [one[0].cycles / 10, one[1].cycles / 10, one[2].bytes / core_of(cpu).all_dram]


def test_threads_that_start_often_are_what_limits():
    report = explain_speed(often, "zen4", threads=4)
    assert report.prediction.limit == "regions" and "started 64 times" in str(report)
    assert report.prediction.cycles > predict(often, "zen4").cycles
    assert "parallelize a loop outside" in report.advice[0]


def test_a_product_is_near_linear_on_each_cpu():
    for cpu in ("haswell", "zen4"):
        cycles = []
        for threads in (1, 16):
            sch = Schedule(product(768, 768, 768))
            schedules.gemm(sch, "C", threads=threads, target=cpu)
            cycles.append(predict(sch, cpu, threads).cycles)
        assert cycles[0] / cycles[1] >= 12, cpu


def test_a_socket_has_no_more_threads_and_a_serial_program_uses_one():
    assert predict(copy_rows, "apple_m1", threads=16).threads == core_of(target.APPLE_M1).cores
    report = explain_speed(product(16, 16, 16), "zen4", threads=2)
    assert "no loop is parallel: one thread does all of it" in report.advice


@pytest.mark.parametrize("threads", [0, -1, 2.0, "16"])
def test_refused_numbers_of_threads(threads):
    with pytest.raises(BuildError, match="threads is a number of threads from 1 on, not"):
        predict(copy_rows, "zen4", threads=threads)
