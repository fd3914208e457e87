"""Conversions of float16 on CPUs without instructions for them."""

from __future__ import annotations

import numpy as np
import pytest
from programs.products import product
from programs.short import each, program

from tir_mlir import Schedule, build
from tir_mlir.schedules import gemm
from tir_mlir.target import SSE2

pytestmark = pytest.mark.skipif(SSE2.hindrance is not None, reason="x86-64 only")


def converted(values: np.ndarray, dtype: str) -> np.ndarray:
    n, source = len(values), values.dtype
    lib = build(
        program(f"A:{n}:{source} B:{n}:{dtype}", each(f"B i:{n}", f"B[vi] = T.Cast('{dtype}', A[vi])")), target=SSE2
    )
    result = np.empty(n, dtype)
    lib(values, result)
    return result


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_value_of_float16(dtype):
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(converted(values, dtype), values.astype(dtype))


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_values_round_to_nearest_even(source):
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(source)
    between = (halves[:-1] + halves[1:]) / 2
    near = np.concatenate([halves, between, np.nextafter(between, 0), np.nextafter(between, np.inf)])
    ends = np.array([65519.99, 65520, 1e30, np.inf, np.nan, 1e-40, 2.0**-25], source)
    values = np.concatenate([near, -near, ends.astype(source)])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(converted(values, "float16"), values.astype(np.float16))


def test_a_product():
    sch = Schedule(product(17, 33, 20, dtype="float16"))
    gemm(sch, "C", target=SSE2, threads=1)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((17, 20), (20, 33)))
    c = np.empty((17, 33), np.float16)
    build(sch, target=SSE2)(a, b, c)
    np.testing.assert_array_equal(c, a @ b)
