"""schedules.gemm of float16 and bfloat16 summed in float32: widened once, in the copies that it makes anyway."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from programs.products import widened

from tir_mlir import Schedule, build, schedules
from tir_mlir.intrin.dot_products import dot_product
from tir_mlir.target import ZEN4, Target

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
"""Caches so small that every level of tiles is there."""
RNG = np.random.default_rng(9)


def numbers(dtype: str, shape):
    """Small integers in a type (bfloat16: its bits, the upper ones of a float32), and as float32."""
    values = RNG.integers(-4, 5, shape).astype("float32")
    if dtype == "bfloat16":
        return (values.view("uint32") >> 16).astype("uint16"), values
    return values.astype(dtype), values


def check(m, n, k, dtype, left=False, right=False, sums="float32", program=None, **options):
    sch = Schedule(program or widened(m, n, k, dtype, sums, left, right))
    schedules.gemm(sch, "C", **options)
    (a, wide_a), (b, wide_b) = numbers(dtype, (k, m) if left else (m, k)), numbers(dtype, (n, k) if right else (k, n))
    c = np.full((m, n), 99, sums)
    build(sch)["main"](a, b, c)
    np.testing.assert_array_equal(c, (wide_a.T if left else wide_a) @ (wide_b.T if right else wide_b))
    return sch.mod.script()


@pytest.mark.few(4)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 16), (15, 17, 127), (127, 15, 1), (33, 70, 40)])
def test_ragged_sizes(m, n, k, dtype):
    text = check(m, n, k, dtype, target=SMALL, threads=1)
    update = next(line for line in text.splitlines() if "+" in line and " * " in line and "=" in line and "C" in line)
    assert "Cast" not in update


@pytest.mark.few(3)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_transposed_operands(left, right, dtype):
    check(34, 48, 40, dtype, left, right, threads=1)


def test_sums_in_float64():
    check(17, 18, 19, "float32", sums="float64", threads=1)


def test_one_row():
    check(1, 40, 33, "float16", threads=1)


@pytest.mark.nightly
def test_threads():
    assert "T.parallel" in check(150, 160, 90, "bfloat16", target=SMALL, threads=2)


@pytest.mark.skipif(not ZEN4.runs_here, reason="needs AVX512-BF16")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 16), (15, 17, 127), (33, 70, 1)])
def test_pairs_of_bfloat16(m, n, k, threads):
    text = check(m, n, k, "bfloat16", target=ZEN4, threads=threads)
    assert "dot_bfloat16_16x2_x86_avx512bf16_dpbf16ps_512" in text


def test_pairs_of_bfloat16_are_an_instruction_of_zen4():
    sch = Schedule(widened(40, 64, 48, "bfloat16", "float32"))
    schedules.gemm(sch, "C", target=ZEN4, threads=1)
    assert "vdpbf16ps" in build(sch, target=ZEN4).assembly


def test_widened_where_the_instruction_is_slow():
    assert dot_product(ZEN4, "bfloat16", sums="float32") is not None
    assert dot_product(replace(ZEN4, features=ZEN4.features | {"avx512fp16"}), "bfloat16", sums="float32") is None
    assert dot_product(ZEN4, "bfloat16") is None, "sums in int32"
