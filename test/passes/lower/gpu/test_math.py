"""Math functions of kernels: against NumPy on the PTX machine, in units of the last place."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from programs.parsed import parse

from fuzzing.kernels.machine import on_machine
from tir_mlir import Schedule, build

RNG = np.random.default_rng(1)
PROGRAM = """
@T.prim_func
def f(A: T.Buffer((128,), "{dtype}"), B: T.Buffer((128,), "{dtype}"), C: T.Buffer((128,), "{dtype}")):
    for i in T.thread_binding(128, thread="threadIdx.x"):
        with T.block("C"):
            v = T.axis.spatial(128, i)
            C[v] = {expression}
"""
UNARY: dict[str, tuple[Callable[..., np.ndarray], float, float]] = {
    "exp": (np.exp, -80, 80), "exp2": (np.exp2, -100, 100), "expm1": (np.expm1, -30, 80),
    "tanh": (np.tanh, -4, 4), "sqrt": (np.sqrt, 0, 9), "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9),
    "log": (np.log, 0, 9), "log2": (np.log2, 0, 9), "log10": (np.log10, 0, 9), "log1p": (np.log1p, 0, 9),
    "sin": (np.sin, -1e5, 1e5), "cos": (np.cos, -30, 30), "tan": (np.tan, -3, 3), "atan": (np.arctan, -3, 3),
    "asin": (np.arcsin, -1, 1),
    "acos": (np.arccos, -1, 1), "sinh": (np.sinh, -3, 3), "cosh": (np.cosh, -3, 3), "asinh": (np.arcsinh, -3, 3),
    "acosh": (np.arccosh, 1, 9), "atanh": (np.arctanh, -1, 1), "floor": (np.floor, -9, 9), "ceil": (np.ceil, -9, 9),
    "trunc": (np.trunc, -9, 9), "nearbyint": (np.round, -9, 9), "fabs": (np.abs, -9, 9),
}  # fmt: skip


def result(expression: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    program = Schedule(parse(PROGRAM.format(dtype=a.dtype, expression=expression)))
    c = np.zeros_like(a)
    on_machine(program, [a, b, c])
    return c


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_one_number(dtype):
    for name, (reference, low, high) in UNARY.items():
        a = RNG.uniform(low, high, 128).astype(dtype)
        expected = reference(a.astype("float64")).astype(dtype)
        actual = result(f"T.{name}(A[v])", a, a)
        ulps = np.abs(actual.astype("float64") - expected) / np.spacing(np.abs(expected)).astype("float64")
        assert ulps.max() <= 4, name


def test_approximate_functions_where_asked():
    """A few instructions; the error is that of the rounded argument."""
    a = np.linspace(-80, 80, 128).astype("float32")
    a[:3] = np.inf, -np.inf, np.nan
    for name in ("exp", "exp2", "log", "log2"):
        program = Schedule(parse(PROGRAM.format(dtype="float32", expression=f"T.{name}(A[v])")))
        program.annotate("C", "approximate", True)
        x = a if "exp" in name else np.abs(a) + np.float32(2)
        c = np.zeros_like(x)
        on_machine(program, [x, x, c])
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(c, getattr(np, name)(x.astype("float64")).astype("float32"), rtol=1e-5)
        assert "approx" in build(program, target="sm_80").assembly


def test_powers_at_the_ends():
    bases, exponents = (
        [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, math.inf, -math.inf],
        [0.0, 1.0, -1.0, 2.0, 3.0, 0.5, -3.0, 9.5],
    )
    a, b = (x.astype("float32").ravel() for x in np.meshgrid([*bases, *bases], exponents))
    with np.errstate(all="ignore"):
        expected = np.power(a, b)
    np.testing.assert_array_equal(result("T.pow(A[v], B[v])", a, b), expected)


def test_angles_of_all_quadrants():
    numbers = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 1e30, -1e30, math.inf, -math.inf, 3.0], "float32")
    y, x = (part.ravel()[:128] for part in np.meshgrid(numbers, np.resize(numbers, 12)))
    y, x = np.resize(y, 128), np.resize(x, 128)
    np.testing.assert_array_equal(result("T.atan2(A[v], B[v])", y, x), np.arctan2(y.astype("f8"), x).astype("f4"))


def test_half_precision_is_rounded_once():
    a = RNG.uniform(-3, 3, 128).astype("float16")
    np.testing.assert_array_equal(result("T.exp(A[v])", a, a), np.exp(a.astype("float64")).astype("float16"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_remainders_are_exact(dtype):
    """Of numbers of all sizes, quotients near integers among them, and at the ends."""
    info = np.finfo(dtype)
    ends = [0.0, -0.0, math.inf, -math.inf, math.nan, info.max, info.smallest_subnormal, info.tiny, 1.0, -3.0]
    a, b = (x.astype(dtype).ravel()[:80] for x in np.meshgrid(ends, ends))
    with np.errstate(all="ignore"):
        sizes = 2.0 ** RNG.uniform(math.log2(info.tiny), math.log2(info.max), (2, 24))
        some = (RNG.uniform(1, 2, 24) * sizes[0]).astype(dtype), (RNG.uniform(1, 2, 24) * sizes[1]).astype(dtype)
        near = (some[1] * RNG.integers(1, 1000, 24)).astype(dtype)
    x, y = np.concatenate([a, some[0], near]), np.concatenate([b, some[1], some[1]])
    with np.errstate(all="ignore"):
        expected = np.fmod(x, y)
    actual = result("T.fmod(A[v], B[v])", x, y)
    np.testing.assert_array_equal(actual, expected)
    assert np.array_equal(np.signbit(actual)[expected == expected], np.signbit(expected)[expected == expected])
