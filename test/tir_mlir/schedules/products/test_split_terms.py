"""Threads share the terms of products of few rows and columns."""

import re
import warnings

import numpy as np
import pytest
from programs.layers import dense
from programs.products import product

from tir_mlir import Schedule, build, schedules
from tir_mlir.prediction.thread_shares import parallel_regions
from tir_mlir.schedules.products.contraction import contraction
from tir_mlir.schedules.products.split_terms import num_parts
from tir_mlir.target import Target, named

FEW = Target(vector_bits=128, registers=16, l1=4 << 10, l2=16 << 10, l3=1 << 20, cores=4)
MANY = Target(vector_bits=256, registers=32, l1=4 << 10, l2=16 << 10, l3=1 << 20, cores=4)
RNG = np.random.default_rng(5)


def parts(m, n, k, threads=16, target="haswell", dtype="float32"):
    sch = Schedule(product(m, n, k, dtype))
    return num_parts(contraction(sch, "C"), named(target), threads, False)


def shares_terms(sch):
    return re.search(r"for k_+0 in T.parallel\(4\)", sch.mod.script())


def numbers(*shape):
    return RNG.integers(-4, 5, shape).astype("float32")


@pytest.mark.parametrize("target", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("m", "n"), [(17, 15), (33, 17)])
def test_products_of_parts(m, n, turned, target):
    k = 5120
    sch = Schedule(product(m, n, k, right_turned=turned))
    schedules.gemm(sch, "C", target=target, threads=4)
    assert shares_terms(sch)
    a, b, c = numbers(m, k), numbers(k, n), np.full((m, n), 99, "float32")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*runs serially")
        build(sch)(a, b.T.copy() if turned else b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_threads_start_once():
    sch = Schedule(product(64, 64, 4096))
    schedules.gemm(sch, "C", target="haswell", threads=16)
    (region,) = parallel_regions(sch.mod.mlir)
    assert (region.iterations, region.entries) == (16, 1)


def test_an_epilogue_follows_the_sum_of_the_parts():
    sch = Schedule(dense(17, 15, 5120, ["bias", "relu"], False))
    schedules.auto(sch, MANY, 4)
    assert shares_terms(sch)
    x, w, bias, y = numbers(17, 5120), numbers(5120, 15), numbers(15), np.empty((17, 15), "float32")
    build(sch)(x, w, bias, y)
    np.testing.assert_array_equal(y, np.maximum(x @ w + bias, 0))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((64, 64, 4096), 16), ((127, 127, 4096), 16), ((64, 64, 4097), 1), ((512, 512, 8192), 1), ((1024, 1024, 1024), 1)],
)
def test_number_of_parts(sizes, expected):
    assert parts(*sizes) == expected


def test_parts_have_256_terms():
    assert parts(16, 16, 1024, target="skylake_avx512") == 4


def test_one_thread_has_no_parts():
    assert parts(64, 64, 4096, threads=1) == 1


@pytest.mark.parametrize(("rows", "number"), [(256, 16), (4096, 1)])
def test_what_comes_from_memory_is_written_once(rows, number):
    """Parts of 4096 rows are 17 MB beside a left operand that no cache holds."""
    assert parts(rows, 64, 4096, target="skylake_avx512") == number
