"""Maxima and minima of floats: NumPy's values, NaN as well, in code that LLVM is soon done with."""

import numpy as np
import pytest
from programs.parsed import parse
from programs.rowwise import reduced
from programs.short import each, main

from tir_mlir import Schedule, build, interpret, te

ROWS = main(
    "A:5x{m}:{dtype} B:5:{dtype} C:5:{dtype}",
    each("B i:5 k:{m}R", "B[vi] = T.max(B[vi], A[vi, vk])", init="B[vi] = A[vi, 0]"),
    each("C i:5 k:{m}R", "C[vi] = T.min(C[vi], A[vi, vk])", init="C[vi] = A[vi, 0]"),
)


@pytest.mark.parametrize("m", [1, 15, 16, 17, 127])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_of_rows_as_numpy_has_them(m, dtype):
    program = parse(ROWS.format(m=m, dtype=dtype))
    a = np.random.default_rng(0).standard_normal((5, m)).astype(dtype)
    a[1, m // 2], a[2, m - 1], a[3, 0], a[4] = np.nan, np.inf, -np.inf, 0.0
    a[4, m // 2] = -0.0
    for run in (build(program)["main"], lambda *arrays: interpret(program, *arrays)):
        high, low = np.zeros(5, dtype), np.zeros(5, dtype)
        run(a, high, low)
        np.testing.assert_array_equal(high, a.max(1))
        np.testing.assert_array_equal(low, a.min(1))
        if m > 1:
            assert not np.signbit(high[4]), "+0 is the larger of the two zeros"
            assert np.signbit(low[4])


MAXIMUM = """
                with T.init():
                    X[vi] = T.min_value("{dtype}")
                X[vi] = T.max(X[vi], A[vi, vk])"""
LAST_OF_THE_LARGEST = """
                with T.init():
                    X[vi] = T.min_value("{dtype}")
                    Y[vi] = -1
                v_Y = T.Select(X[vi] > A[vi, vk], Y[vi], vk)
                v_X = T.Select(X[vi] > A[vi, vk], X[vi], A[vi, vk])
                Y[vi] = v_Y
                X[vi] = v_X"""
AGAIN = """
@T.prim_func
def main(A: T.Buffer((3, 32), "{dtype}"), B: T.Buffer((3, 32), "{dtype}")):
    X = T.alloc_buffer((3,), "{dtype}")
    Y = T.alloc_buffer((3,), "int32")
    for i, j in T.grid(3, 32):
        for {k} in {loops}:
            with T.block("X"):
                vi = T.axis.spatial(3, i)
                vk = T.axis.reduce(32, {k_is}){update}
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] - X[vi]
"""
NESTS = {
    "serial": ("k", "range(32)", "k"),
    "unrolled": ("k", "T.unroll(32)", "k"),
    "a few of many": ("k0, k1", "T.grid(4, 8)", "k0 * 8 + k1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("update", [MAXIMUM, LAST_OF_THE_LARGEST], ids=["max", "argmax"])
@pytest.mark.parametrize("nest", NESTS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_maximum_taken_again_for_each_element(update, nest, dtype):
    """As a chain in which each value uses the one before twice, it took LLVM 2^32 steps."""
    k, loops, k_is = NESTS[nest]
    program = parse(AGAIN.format(dtype=dtype, k=k, loops=loops, k_is=k_is, update=update.format(dtype=dtype)))
    a, b = np.random.default_rng(0).integers(-9, 9, (3, 32)).astype(dtype), np.zeros((3, 32), dtype)
    build(program, cache=False)["main"](a, b)
    np.testing.assert_array_equal(b, a - a.max(1, keepdims=True))


def test_a_maximum_of_vectors_is_an_instruction_and_a_test_for_nan():
    sch = Schedule(reduced((64,), (0,), op=te.max))
    sch.vectorize(sch.get_loops("C")[-1])
    text = build(sch, target="avx512", cache=False).assembly
    assert "vmaxps" in text and "korw" not in text
