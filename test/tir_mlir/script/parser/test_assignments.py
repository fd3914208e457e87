"""Assignments of several targets: all values are computed first."""

from __future__ import annotations

import numpy as np

from tir_mlir import build
from tir_mlir.script.parser import parse


def run(statement: str) -> tuple[np.ndarray, np.ndarray, str]:
    program = parse(f"""
@T.prim_func
def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            {statement}
""")
    a, c = np.arange(8, dtype=np.float32), np.arange(8, dtype=np.float32) + 10
    build(program)(a, c)
    return a, c, program.script()


def test_elements_are_exchanged():
    a, c, text = run("A[vi], C[vi] = C[vi], A[vi]")
    np.testing.assert_array_equal(a, np.arange(8) + 10)
    np.testing.assert_array_equal(c, np.arange(8))
    assert parse(text).script() == text


def test_a_name_and_an_element_together():
    a, c, _ = run("A[vi], x = A[vi] + 1.0, A[vi]\n            C[vi] = x")
    np.testing.assert_array_equal(a, np.arange(8) + 1)
    np.testing.assert_array_equal(c, np.arange(8))


def test_statements_in_a_row_see_each_other():
    a, c, _ = run("A[vi] = C[vi]\n            C[vi] = A[vi] * 2.0")
    np.testing.assert_array_equal(a, np.arange(8) + 10)
    np.testing.assert_array_equal(c, 2 * (np.arange(8) + 10))
