"""Parallel loops of symbolic sizes compute the same with and without threads, which the work of a call decides."""

import numpy as np
import pytest
from programs.products import product

from tir_mlir import Schedule, build, schedules
from tir_mlir.script import tir as T


@T.prim_func
def triangle(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, n), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in T.parallel(n):
        for j in range(i + 1):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                vj = T.axis.reduce(n, j)
                with T.init():
                    B[vi] = 0.0
                B[vi] = B[vi] + A[vi, vj]


def test_a_product_of_any_size():
    sch = Schedule(product("m", "n", "k"))
    schedules.gemm(sch, "C", threads=2)
    run = build(sch)["main"]
    for m, n, k in ((1, 1, 1), (13, 24, 33), (24, 24, 24), (80, 80, 80), (130, 70, 90), (2, 600, 3)):
        a, b = (np.arange(x * y, dtype="float32").reshape(x, y) % 7 for x, y in ((m, k), (k, n)))
        c = np.full((m, n), 99, "float32")
        run(a, b, c)
        np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("n", [1, 2, 33, 400])
def test_a_triangle_of_any_size(n):
    a, b = np.arange(n * n, dtype="float32").reshape(n, n) % 5, np.full(n, 99, "float32")
    build(triangle)["triangle"](a, b)
    np.testing.assert_array_equal(b, np.tril(a).sum(1))
