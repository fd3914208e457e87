"""Costs of kernels for GPUs that need no GPU: to build them, and to run them on the PTX machine with all checks."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tir_mlir import Schedule, build, schedules
from tir_mlir.script import tir as T
from tir_mlir.target import CUDA


def product_program(n: int) -> Any:
    """C = A @ B of n x n float32 elements."""

    @T.prim_func
    def main(A: T.Buffer((n, n), "float32"), B: T.Buffer((n, n), "float32"), C: T.Buffer((n, n), "float32")):  # type: ignore[valid-type]
        for i, j, k in T.grid(n, n, n):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] += A[vi, vk] * B[vk, vj]

    return main


def product(n: int, target: CUDA | str = "sm_80") -> Any:
    """C = A @ B of n x n float32 elements, scheduled for a GPU."""
    sch = Schedule(product_program(n))
    schedules.gemm(sch, "C", target=target)
    return sch


def build_seconds(n: int, rounds: int) -> list[float]:
    """CPU seconds of builds without the cache."""
    sch, took = product(n), []
    for _ in range(rounds):
        before = time.process_time()
        build(sch, target="sm_80", cache=False)
        took.append(time.process_time() - before)
    return took


def machine_seconds(n: int, rounds: int) -> list[float]:
    """CPU seconds of launches of the whole grid, whose numbers are compared with NumPy's."""
    lib = build(product(n), target="sm_80")
    rng, took = np.random.default_rng(0), []
    for _ in range(rounds):
        a, b = (rng.integers(-8, 8, (n, n)).astype(np.float32) for _ in range(2))
        c = np.zeros((n, n), np.float32)
        before = time.process_time()
        lib.report(a, b, c)
        took.append(time.process_time() - before)
        np.testing.assert_array_equal(c, a @ b)
    return took


def product_of_halves(n: int) -> Schedule:
    """C = A @ B of float16 in float32 by tiles of 128 x 256 x 64: the TMA fills four of them ahead, from a warpgroup of
    its own, and two others multiply them (`wgmma`, sm_90a)."""

    @T.prim_func
    def main(A: T.Buffer((n, n), "float16"), B: T.Buffer((n, n), "float16"), C: T.Buffer((n, n), "float32")):  # type: ignore[valid-type]
        for i, j, k in T.grid(n, n, n):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] += T.Cast("float32", A[vi, vk]) * T.Cast("float32", B[vk, vj])

    sch = Schedule(main)
    i, j, k = sch.get_loops("C")
    (i_0, i_1, i_2), (j_0, j_1) = sch.split(i, [None, 2, 64]), sch.split(j, [None, min(n, 256)])
    k_0, k_1 = sch.split(k, [None, 64])
    sch.reorder(i_0, j_0, i_1, k_0, k_1, i_2, j_1)
    copies = [sch.cache_read("C", operand, "shared") for operand in "AB"]
    sch.reverse_compute_at(sch.cache_write("C", 0, "wgmma.accumulator"), i_1)
    for loop, axis in ((i_0, "blockIdx.x"), (j_0, "blockIdx.y"), (i_1, "threadIdx.y")):
        sch.bind(loop, axis)
    for copy in copies:
        sch.compute_at(copy, k_0)
        sch.swizzle(copy, 0)
    sch.decompose_reduction("C", k_0)
    sch.tma_pipeline(copies, k_0, stages=4, specialize=True)
    return sch
