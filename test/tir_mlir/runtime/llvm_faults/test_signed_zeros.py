"""Comparisons with zero beside conversions: -0.0 and NaN come out as NumPy has them, in every evaluator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tir_mlir import Schedule, build, interpret
from tir_mlir.script import parse

PAIRS = [
    ("float32", "float64"), ("float64", "float32"), ("float16", "float32"), ("float32", "float16"),
    ("bfloat16", "float32"), ("float32", "bfloat16"), ("float32", "float32"),
]  # fmt: skip
FORMS = {
    "inside": "T.if_then_else(A[vi] {op} {source}({zero}), {dtype}({zero}), {cast})",
    "inside, swapped": "T.if_then_else(A[vi] {op} {source}({zero}), {cast}, {dtype}({zero}))",
    "outside": 'T.Cast("{name}", T.if_then_else(A[vi] {op} {source}({zero}), {source}({zero}), A[vi]))',
}
SPECIAL = [-0.0, 0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, -0.0]


def numpy_type(dtype: str) -> Any:
    return ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)


def programs(text: str, source: str, dtype: str) -> dict[str, Any]:
    program = parse(f"""
    @T.prim_func
    def f(A: T.Buffer((8,), "{source}"), B: T.Buffer((8,), "{dtype}")):
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = {text}
    """)
    vectors, threads = Schedule(program), Schedule(program)
    vectors.vectorize(vectors.get_loops("B")[0])
    threads.bind(threads.get_loops("B")[0], "threadIdx.x")
    return {
        "scalar": build(program),
        "vector": build(vectors),
        "emulated": build(threads, target="cuda-emulated"),
        "interpreter": lambda a, b: interpret(program, a, b),
        "PTX": lambda a, b: interpret(threads, a, b, target="sm_90"),
    }


@pytest.mark.parametrize(("source", "dtype"), PAIRS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("op", "zero"), [("<", "0.0"), (">", "-0.0"), ("<=", "0.0"), (">=", "0.0")])
def test_signs_of_zero_and_nan_are_kept(source: str, dtype: str, form: str, op: str, zero: str):
    words = {"source": f"T.{source}", "dtype": f"T.{dtype}", "name": dtype, "cast": f'T.Cast("{dtype}", A[vi])'}
    given = np.array(SPECIAL, numpy_type(source))
    numbers = given.astype(np.float64)
    compared = {"<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal}[op](numbers, 0)
    arms = (numbers, float(zero)) if form.endswith("swapped") else (float(zero), numbers)
    wanted = np.where(compared, *arms)
    for name, run in programs(FORMS[form].format(op=op, zero=zero, **words), source, dtype).items():
        result = np.ones(8, numpy_type(dtype))
        run(given, result)
        result = result.astype(np.float64)
        np.testing.assert_array_equal(result, wanted, err_msg=name)
        known = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(result[known]), np.signbit(wanted[known]), err_msg=name)
