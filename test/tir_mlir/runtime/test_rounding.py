"""Conversions to narrower floats round once, to even, in every evaluator; the truth is computed with fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tir_mlir import Schedule, build, interpret
from tir_mlir.dialect.constants.float_constants import round_to_dtype
from tir_mlir.script import parse

FORMS = {"bfloat16": (8, -133, 255 * 2**120), "float16": (11, -24, 65504), "float32": (24, -149, (2**24 - 1) * 2**104)}
"""Significant bits, the exponent of the smallest number, the largest number."""
SOURCES = ("float64", "int64", "uint64", "int32", "uint32", "int16", "uint16")


def nearest(value: Any, dtype: str) -> float:
    """The number of a type that is nearest to an exact one, ties to even."""
    if value == 0 or not np.isfinite(float(value)):
        return float(value)
    bits, least, most = FORMS[dtype]
    exact = abs(Fraction(value))
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > exact
    unit = Fraction(2) ** max(exponent - bits + 1, least)
    number = round(exact / unit) * unit  # ties to even
    result = float("inf") if number > most else float(number)
    return -result if value < 0 else result


def doubles() -> np.ndarray:
    """Ties of each type, and numbers just beside ties, also among those below the normal ones, and the ends."""
    ends = [0.0, np.inf, np.nan, 1e308, 1e-310, 2.0**-134, 2.0**-150 * (1 + 2**-30), 3.39e38, 65519.99999999, 65520.0]
    odd = [2 ** (bits - 1) + k for bits, _, _ in FORMS.values() for k in (1, 2, 5)]
    offsets = (0, 2.0**-52, -(2.0**-53), 2.0**-30)
    ties = [(k + 0.5) * 2.0**e * (1 + d) for k in odd for e in (-140, -30, -20, 0, 3, 100) for d in offsets]
    return np.array([sign * x for x in ends + ties for sign in (1, -1)])


def integers(dtype: str) -> np.ndarray:
    """Ties at each width, the numbers beside them, and the ends."""
    info = np.iinfo(dtype)
    ties = [(1 << b) + (k << max(b - 8, 0)) for b in range(info.bits) for k in (0, 1, 3)]
    near = [sign * (tie + d) for tie in ties for d in (-1, 0, 1) for sign in (1, -1)]
    return np.array([x for x in (info.min, info.max, *near) if info.min <= x <= info.max], dtype)


def conversion(source: str, dtype: str, count: int) -> Any:
    return parse(f"""
    @T.prim_func
    def f(A: T.Buffer(({count},), "{source}"), B: T.Buffer(({count},), "{dtype}")):
        for i in range({count}):
            with T.block("B"):
                vi = T.axis.spatial({count}, i)
                B[vi] = T.Cast("{dtype}", A[vi])
    """)


def runs(program: Any) -> dict[str, Callable[..., Any]]:
    vectors, threads = Schedule(program), Schedule(program)
    vectors.vectorize(vectors.split(vectors.get_loops("B")[0], [None, 8])[1])
    for loop, tag in zip(
        threads.split(threads.get_loops("B")[0], [None, 64]), ("blockIdx.x", "threadIdx.x"), strict=True
    ):
        threads.bind(loop, tag)
    return {
        "scalar": build(program),
        "vector": build(vectors),
        "emulated": build(threads, target="cuda-emulated"),
        "interpreter": lambda a, b: interpret(program, a, b),
        "PTX for sm_80": lambda a, b: interpret(threads, a, b, target="sm_80"),
        "PTX for sm_90": lambda a, b: interpret(threads, a, b, target="sm_90"),
    }


@pytest.mark.few(1)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("dtype", FORMS)
def test_a_conversion_rounds_once(source: str, dtype: str):
    given = doubles() if source == "float64" else integers(source)
    wanted = np.array([nearest(x, dtype) for x in given.tolist()])
    for name, run in runs(conversion(source, dtype, len(given))).items():
        result = np.zeros(len(given), ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
        run(given, result)
        numbers = result.astype(np.float64)
        np.testing.assert_array_equal(numbers, wanted, err_msg=name)
        np.testing.assert_array_equal(np.signbit(numbers[wanted == 0]), np.signbit(wanted[wanted == 0]), err_msg=name)


@pytest.mark.parametrize("dtype", FORMS)
def test_a_constant_rounds_once(dtype: str):
    for value in (*doubles().tolist(), *integers("int64").tolist()):
        np.testing.assert_equal(round_to_dtype(value, dtype), nearest(value, dtype))
