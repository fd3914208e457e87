"""schedules.gemv and gemm with weights of 4 and 8 bits, which a block before the product dequantises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from programs.quantized import FORMS, Weights, dequantized_product, integer_product, packed_weights

from tir_mlir import Schedule, build, schedules, te
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.target import Target

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
WIDE = Target(vector_bits=256, registers=32, l1=1 << 10, l2=8 << 10, l3=16 << 10, cores=2)
PARTS = replace(SMALL, l1=2 << 10, l2=16 << 10)
RNG = np.random.default_rng(5)


def check(schedule, m: int, weights: Weights, kept: bool | None = False, **options) -> Schedule:
    """kept: whether the weights are numbers in memory; None: as the CPU has it."""
    sch = Schedule(dequantized_product(m, weights))
    schedule(sch, "C", **options)
    q, s, matrix = packed_weights(weights, RNG)
    a = RNG.integers(-4, 5, (m, weights.k)).astype("float32")
    c = np.full((m, weights.n), 99, "float32")
    build(sch)["main"](q, s, a, c)
    np.testing.assert_array_equal(c, a @ matrix.T)
    assert kept is None or ("W = T.alloc_buffer" in sch.mod.script()) == kept
    return sch


@pytest.mark.few(5)
@pytest.mark.parametrize("target", [None, SMALL], ids=["host", "small"])
@pytest.mark.parametrize("turned", [False, True], ids=["along the sum", "along the result"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "k"), [(1, 32), (17, 96), (40, 128)])
def test_one_row(n, k, form, turned, target):
    check(schedules.gemv, 1, Weights(n, k, form=form, turned=turned), target=target, threads=1)


@pytest.mark.parametrize("form", FORMS)
def test_verify(form):
    assert check(schedules.gemv, 1, Weights(9, 64, form=form), target=SMALL, threads=1).verify()


@pytest.mark.parametrize("group", [8, 64])
def test_groups_narrower_and_wider_than_a_vector(group):
    check(schedules.gemv, 1, Weights(9, 128, group, "halves"), target=SMALL, threads=1)


def test_the_values_of_a_byte_are_unrolled_and_the_bytes_are_lanes():
    halves = check(schedules.gemv, 1, Weights(8, 64, form="halves"), target=SMALL, threads=1).mod.script()
    assert "T.unroll(2)" in halves
    assert "T.vectorized(4)" in halves


def test_several_blocks_that_dequantise():
    check(schedules.gemv, 1, Weights(9, 64), target=SMALL, threads=1)
    sch = Schedule(dequantized_product(1, Weights(9, 64), blocks=2))
    schedules.gemv(sch, "C", target=SMALL, threads=1)
    assert "alloc_buffer" not in sch.mod.script().split("C_rf")[0]


def test_a_product_that_dequantises_itself():
    sch = Schedule(dequantized_product(1, Weights(9, 64), blocks=1))
    sch.compute_inline("W")
    schedules.gemv(sch, "C", target=SMALL, threads=1)
    assert sch.verify()


@pytest.mark.few(5)
@pytest.mark.parametrize("target", [None, SMALL, WIDE], ids=["host", "small", "wide"])
@pytest.mark.parametrize("turned", [False, True], ids=["along the sum", "along the result"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("m", "n", "k"), [(2, 3, 32), (3, 17, 96), (32, 40, 128)])
def test_few_rows(m, n, k, form, turned, target):
    check(schedules.gemm, m, Weights(n, k, form=form, turned=turned), target=target, threads=1)


@pytest.mark.few(4)
@pytest.mark.parametrize("target", [None, PARTS], ids=["host", "in parts"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("m", "n"), [(15, 16), (17, 15)])
def test_weights_are_unpacked_once_for_many_rows(m, n, form, target):
    check(schedules.gemm, m, Weights(n, 256, form=form), target=target, threads=1)


@pytest.mark.few(4)
@pytest.mark.parametrize(("target", "kept"), [(None, None), (PARTS, True)], ids=["host", "in parts"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("m", "n"), [(16, 1), (127, 17)])
def test_weights_of_columns_that_fill_no_tile_are_kept(m, n, form, target, kept):
    check(schedules.gemm, m, Weights(n, 256, form=form), kept=kept, target=target, threads=1)


def test_verify_of_weights_that_are_unpacked_in_parts():
    sch = Schedule(dequantized_product(20, Weights(10, 256)))
    schedules.gemm(sch, "C", target=PARTS, threads=2)
    assert "C_rf_rf_local" in sch.mod.script()
    assert sch.verify()


@pytest.mark.few(3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("turned", [False, True])
def test_verify_of_a_product(form, turned):
    assert check(schedules.gemm, 9, Weights(21, 64, form=form, turned=turned), target=WIDE, threads=1).verify()


@pytest.mark.nightly
def test_many_rows_read_a_dequantised_matrix_that_must_be_transposed():
    sch = check(schedules.gemm, 70, Weights(33, 64), kept=True, target=WIDE, threads=1)
    assert "T.vectorized" in sch.mod.script().split('T.block("W")')[0]


def test_a_dequantised_left_operand():
    q, x = te.placeholder((18, 32), "int8", name="Q"), te.placeholder((32, 20), name="X")
    w = te.compute((18, 32), lambda i, k: q[i, k].astype("float32") * 2.0, name="W")
    k = te.reduce_axis((0, 32), name="k")
    c = te.compute((18, 20), lambda i, j: te.sum(w[i, k] * x[k, j], axis=k), name="C")
    sch = Schedule(te.create_prim_func([q, x, c]))
    schedules.gemm(sch, "C", target=WIDE, threads=1)
    assert "W = T.alloc_buffer" not in sch.mod.script()
    assert sch.verify()


@pytest.mark.few(2)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
@pytest.mark.nightly
def test_threads_share_a_product(turned, target):
    sch = check(schedules.gemm, 32, Weights(256, 256, turned=turned), target=target, threads=2)
    assert "T.parallel" in sch.mod.script()


def test_a_packed_left_operand_of_a_dequantised_product():
    sch = Schedule(dequantized_product(8, Weights(16, 64)))
    schedules.gemm(sch, "C", target=WIDE, threads=1, packed="A")
    assert sch.verify()


@pytest.mark.few(5)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("m", [1, 5, 70])
@pytest.mark.parametrize("target", [None, SMALL], ids=["host", "small"])
def test_weights_of_4_bits_times_int8_are_exact(m, turned, target):
    n, k = 33, 72
    sch = Schedule(integer_product(m, n, k, turned))
    schedules.gemm(sch, "C", target=target, threads=1)
    assert "W = T.alloc_buffer" not in sch.mod.script()
    values, a = RNG.integers(0, 16, (n, k)).astype("uint8"), RNG.integers(-128, 128, (m, k)).astype("int8")
    q = values[:, ::2] | values[:, 1::2] << 4
    c = np.full((m, n), 99, "int32")
    build(sch)["main"](np.ascontiguousarray(q.T) if turned else q, a, c)
    np.testing.assert_array_equal(c, a.astype("int32") @ (values.astype("int32") - 8).T)


def test_threads_share_the_rows():
    sch = check(schedules.gemv, 1, Weights(1024, 512), target=SMALL, threads=2)
    assert "T.parallel" in sch.mod.script()


def test_a_block_that_reads_as_much_as_it_writes_is_kept():
    b, x = te.placeholder((16, 32), name="B"), te.placeholder((32,), name="x")
    w = te.compute((16, 32), lambda i, k: te.max(b[i, k], 0.0), name="W")
    k = te.reduce_axis((0, 32), name="k")
    c = te.compute((16,), lambda i: te.sum(w[i, k] * x[k], axis=k), name="C")
    sch = Schedule(te.create_prim_func([b, x, c]))
    schedules.gemv(sch, "C", target=SMALL, threads=1)
    assert "W = T.alloc_buffer" in sch.mod.script()


def test_three_factors_without_a_matrix_are_refused():
    b, s, x = te.placeholder((16, 32), name="B"), te.placeholder((16,), name="S"), te.placeholder((16,), name="x")
    k = te.reduce_axis((0, 32), name="k")
    c = te.compute((16,), lambda i: te.sum(b[i, k] * s[i] * x[i], axis=k), name="C")
    with pytest.raises(ScheduleError, match="each operand must be indexed by the reduction iter"):
        schedules.gemv(Schedule(te.create_prim_func([b, s, x, c])), "C")
