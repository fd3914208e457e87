"""schedules.gemm with a number of rows that is known when the product runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from programs.parsed import parse
from programs.products import product
from programs.short import each, main

from tir_mlir import Schedule, build, schedules
from tir_mlir.schedules.products.contraction import contraction
from tir_mlir.schedules.products.gemm import thin_rows
from tir_mlir.schedules.products.gemm_panels import panels
from tir_mlir.schedules.products.row_versions import gemm_by_columns, shared_thin_gemm
from tir_mlir.target import Target, named

SMALL = Target(vector_bits=128, registers=16, l1=4 << 10, l2=16 << 10, l3=64 << 10, cores=2)
WIDE = Target(vector_bits=256, registers=32, l1=4 << 10, l2=16 << 10, l3=64 << 10, cores=2)
TARGETS = pytest.mark.parametrize("target", [None, SMALL, WIDE], ids=["host", "small", "wide"])
LAYER = main(
    "A:mx20 B:20x40 D:mx40; C:mx40",
    each("C i:m j:40 k:20R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0"),
    each("D i:m j:40", "D[vi, vj] = T.max(C[vi, vj], 0.0)"),
)
ROWS = (0, 1, 2, 3, 4, 15, 16, 17, 23, 24, 31, 32, 127)
RNG = np.random.default_rng(7)


def check(n, k, dtype="float32", sizes=(70, 45), rows=ROWS, **options) -> Schedule:
    sch = Schedule(product("m", n, k, dtype))
    schedules.gemm(sch, "C", **options)
    lib = build(sch)["main"]
    for m in rows:
        a, b = (RNG.integers(-4, 5, shape).astype(dtype) for shape in ((m, sizes[1]), (sizes[1], sizes[0])))
        c = np.full((m, sizes[0]), 99, dtype)
        lib(a, b, c)
        np.testing.assert_array_equal(c, a @ b, err_msg=f"{m} rows")
    return sch


@TARGETS
def test_any_number_of_rows(target):
    check(70, 45, target=target, threads=1)


@pytest.mark.nightly
def test_float64():
    check(64, 45, "float64", sizes=(64, 45), target=SMALL, threads=1)


@pytest.mark.parametrize(("target", "threads"), [(SMALL, 1), (WIDE, 2)], ids=["small", "wide"])
@pytest.mark.nightly
def test_all_sizes_symbolic(target, threads):
    check("n", "k", target=target, threads=threads)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.nightly
def test_any_number_of_terms(threads):
    """None, one, those of one pass over a panel, and more."""
    sch = Schedule(product("m", "n", "k"))
    schedules.gemm(sch, "C", target=WIDE, threads=threads)
    lib = build(sch)
    for m, n, k in itertools.product((1, 9, 40), (30, 70), (0, 1, 2, 20, 90)):
        a, b = (RNG.integers(-4, 5, shape).astype("float32") for shape in ((m, k), (k, n)))
        c = np.full((m, n), 99, "float32")
        lib(a, b, c)
        np.testing.assert_array_equal(c, a @ b, err_msg=f"{m} x {n} x {k}")


@pytest.mark.parametrize(("threads", "columns"), [(1, 32), (2, 300)])
@pytest.mark.nightly
def test_few_columns_are_not_packed_and_leave_the_rows_to_the_threads(threads, columns):
    sch = check("n", "k", sizes=(columns, 45), target=WIDE, threads=threads)
    narrow, many = sch.mod.script().split("_j0_version")[1].split("T.where(n >=")
    assert "B_global" not in narrow
    assert "B_global" in many
    assert ("T.parallel" in narrow) == (threads > 1)


@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
@pytest.mark.nightly
def test_threads(target):
    sch = check(2048, 1024, sizes=(2048, 1024), rows=(1, 3, 16, 40), target=target, threads=2)
    few, _, many = sch.mod.script().rpartition("_version")
    assert "T.parallel" in few
    assert "T.parallel" in many


@pytest.mark.nightly
def test_few_rows_of_a_small_matrix_use_one_thread():
    sch = check(64, 65, sizes=(64, 65), rows=(1, 3, 16, 40), target=WIDE, threads=2)
    few, _, many = sch.mod.script().rpartition("_version")
    assert "T.parallel" not in few
    assert "T.parallel" in many


@pytest.mark.parametrize(("m", "size", "parallel"), [(2, 256, False), (2, 1024, True), (16, 128, False)])
def test_threads_for_a_constant_number_of_few_rows(m, size, parallel):
    sch = Schedule(product(m, size, size))
    schedules.gemm(sch, "C", target=WIDE, threads=2)
    assert ("T.parallel" in sch.mod.script()) == parallel


@pytest.mark.parametrize("k", ["k", 1000])
def test_threads_share_the_terms_of_one_row(k):
    """They read whole rows of the matrix; of few terms, parts of rows."""
    sch = Schedule(product(1, "n", k))
    block = sch.get_block("C")
    shared_thin_gemm(sch, block, contraction(sch, block), WIDE, 2)
    lib = build(sch)
    for n, terms in itertools.product((1, 70), (0, 65, 897, 1000) if k == "k" else (1000,)):
        a, b = (RNG.integers(-4, 5, shape).astype("float32") for shape in ((1, terms), (terms, n)))
        c = np.full((1, n), 99, "float32")
        lib(a, b, c)
        np.testing.assert_array_equal(c, a @ b, err_msg=f"{n} x {terms}")
    assert ("T.parallel((k + 127) // 128)" if k == "k" else "T.parallel(8)") in sch.mod.script()


def test_threads_share_the_terms_of_few_rows_and_columns():
    """One panel of columns is nothing to share, nor are 171 rows, which are two shares of 128."""
    sch = check(24, 1000, sizes=(24, 1000), rows=(17, 127, 170, 171), target=WIDE, threads=2)
    assert "T.parallel(2)" in sch.mod.script()


@pytest.mark.parametrize("threads", [1, 2])
def test_long_sums_of_few_columns_are_not_packed(threads):
    sch = Schedule(product("m", "n", 1000))
    block = sch.get_block("C")
    what = contraction(sch, block)
    gemm_by_columns(sch, block, what, panels(what, WIDE, threads), WIDE, threads, 1000)
    narrow, many = sch.mod.script().split("_j1_version")
    assert "B_global" not in narrow.split("_j0_version")[1]
    assert "B_global" in many


@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
def test_it_is_equivalent(target):
    sch = Schedule(product("m", 33, 20))
    schedules.gemm(sch, "C", target=target, threads=1)
    assert sch.verify()


def test_few_rows_are_not_packed():
    sch = Schedule(product("m", 512, 512))
    schedules.gemm(sch, "C", target=WIDE, threads=1)
    few, _, many = sch.mod.script().rpartition("_version")
    assert "B_global" not in few
    assert "B_global" in many


@TARGETS
@pytest.mark.parametrize("m", [2, 3])
def test_a_constant_number_of_few_rows(m, target):
    sch = Schedule(product(m, 70, 45))
    schedules.gemm(sch, "C", target=target, threads=1)
    a, b = (RNG.integers(-4, 5, shape).astype(np.float32) for shape in ((m, 45), (45, 70)))
    c = np.full((m, 70), 99, np.float32)
    build(sch)["main"](a, b, c)
    np.testing.assert_array_equal(c, a @ b)
    assert sch.verify()


@pytest.mark.nightly
def test_the_result_may_be_used_by_another_block():
    sch = Schedule(parse(LAYER))
    schedules.gemm(sch, "C", target=WIDE, threads=1)
    schedules.elementwise(sch, "D", target=WIDE, threads=1)
    assert sch.verify()
    lib = build(sch)
    for m in ROWS:
        a, b = (RNG.integers(-4, 5, shape).astype(np.float32) for shape in ((m, 20), (20, 40)))
        d = np.full((m, 40), 99, np.float32)
        lib(a, b, d)
        np.testing.assert_array_equal(d, np.maximum(a @ b, 0))


@TARGETS
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("m", "n", "k"), [(2, 70, 45), (3, 33, 64), (16, 17, 130)])
def test_few_rows_of_a_transposed_operand(m, n, k, threads, target):
    sch = Schedule(product(m, n, k, right_turned=True))
    schedules.gemm(sch, "C", target=target, threads=threads)
    assert "B_global" not in sch.mod.script(), "it is packed"
    a, b = (RNG.integers(-4, 5, shape).astype(np.float32) for shape in ((m, k), (n, k)))
    c = np.full((m, n), 99, np.float32)
    build(sch)["main"](a, b, c)
    np.testing.assert_array_equal(c, a @ b.T)
    assert sch.verify()


def test_more_rows_of_a_transposed_operand_are_packed():
    sch = Schedule(product(17, 70, 45, right_turned=True))
    schedules.gemm(sch, "C", target=WIDE, threads=1)
    assert "B_global" in sch.mod.script()


@pytest.mark.parametrize(
    ("target", "n", "rows"),
    [("zen1", 1024, 4), ("zen1", 128, 3), ("zen4", 1024, 3)],
    ids=["matrix in memory", "in L3", "many registers"],
)
def test_rows_that_wait_for_memory_are_thin(target, n, rows):
    sch = Schedule(product(8, n, 1024))
    assert thin_rows(contraction(sch, sch.get_block("C")), named(target)) == rows
