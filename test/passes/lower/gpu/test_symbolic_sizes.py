"""Proofs for all sizes at once: a tiled product with tails, and sums over threads of rows of any length."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse

from fuzzing.kernels.machine import on_machine
from tir_mlir import Schedule

HEAD = "from tvm.script import tir as T\n@T.prim_func\n"
PRODUCT = """def f(a: T.handle, b: T.handle, c: T.handle):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, 64), "float32")
    B = T.match_buffer(b, (64, m), "float32")
    C = T.match_buffer(c, (n, m), "float32")
    for i, j, k in T.grid(n, m, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
"""
ROWS = """def f(a: T.handle, c: T.handle):
    n = T.int32()
    m = T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    C = T.match_buffer(c, (n,), "float32")
    for i, k in T.grid(n, m):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] += A[vi, vk]
"""


def _whole(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-4, 5, shape).astype(np.float32)


def _tiled() -> Schedule:
    sch = Schedule(parse(HEAD + PRODUCT))
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    (i0, i1), (j0, j1), (k0, k1) = (sch.split(loop, [None, 8]) for loop in (i, j, k))
    sch.reorder(i0, j0, i1, j1, k0, k1)
    for loop, axis in ((i0, "blockIdx.y"), (j0, "blockIdx.x"), (i1, "threadIdx.y"), (j1, "threadIdx.x")):
        sch.bind(loop, axis)
    sch.reverse_compute_at(sch.cache_write(block, 0, "local"), j1)
    for operand in (0, 1):
        cache = sch.cache_read(block, operand, "shared")
        sch.compute_at(cache, k0)
        y, x = sch.get_loops(cache)[-2:]
        sch.bind(y, "threadIdx.y")
        sch.bind(x, "threadIdx.x")
    sch.decompose_reduction(block, k0)
    return sch


@pytest.mark.parametrize(("n", "m"), [(13, 21), (8, 16), (1, 1)])
def test_a_tiled_product(n, m):
    a, b, c = _whole(n, 64), _whole(64, m), np.zeros((n, m), np.float32)
    (report,) = on_machine(_tiled(), [a, b, c])
    assert np.array_equal(c, a @ b)
    assert report.barriers == -(-n // 8) * -(-m // 8) * 8 * 2  # two in each iteration of the loop over tiles


@pytest.mark.parametrize(("n", "m"), [(3, 121), (2, 64), (1, 5)])
def test_sums_of_rows(n, m):
    sch = Schedule(parse(HEAD + ROWS))
    i, k = sch.get_loops("C")
    sch.bind(i, "blockIdx.x")
    sch.bind(sch.split(k, [None, 64])[1], "threadIdx.x")
    a, c = _whole(n, m), np.zeros(n, np.float32)
    on_machine(sch, [a, c])
    assert np.array_equal(c, a.sum(1))
