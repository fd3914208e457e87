"""Programs that the tests of reverse_compute_at schedule."""

from __future__ import annotations

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def pair(n: int, m: int):
    @I.ir_module
    class Pair:
        @T.prim_func
        def main(A: T.Buffer((n, m), "float32"), C: T.Buffer((n, m), "float32")):
            P = T.alloc_buffer((n, m), "float32")
            for i, j in T.grid(n, m):
                with T.block("P"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    P[vi, vj] = A[vi, vj] * 2.0
            for i, j in T.grid(n, m):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = P[vi, vj] + 1.0

    return Pair


def sums(n: int, m: int):
    @I.ir_module
    class Sums:
        @T.prim_func
        def main(A: T.Buffer((n, m), "float32"), C: T.Buffer((n,), "float32")):
            S = T.alloc_buffer((n,), "float32")
            for i, k in T.grid(n, m):
                with T.block("S"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        S[vi] = 0.0
                    S[vi] += A[vi, vk]
            for i in range(n):
                with T.block("C"):
                    vi = T.axis.spatial(n, i)
                    C[vi] = S[vi] * 2.0

    return Sums


def outer_product(n: int, k: int):
    @I.ir_module
    class Matmul:
        @T.prim_func
        def main(A: T.Buffer((n, k), "float32"), B: T.Buffer((k, n), "float32"), C: T.Buffer((n, n), "float32")):
            for i, j, k_ in T.grid(n, n, k):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k_])
                    with T.init():
                        C[vi, vj] = 0.0
                    C[vi, vj] += A[vi, vk] * B[vk, vj]

    return Matmul


def blur(n: int):
    @I.ir_module
    class Blur:
        @T.prim_func
        def main(A: T.Buffer((n + 2,), "float32"), C: T.Buffer((n,), "float32")):
            P = T.alloc_buffer((n + 2,), "float32")
            for i in range(n + 2):
                with T.block("P"):
                    vi = T.axis.spatial(n + 2, i)
                    P[vi] = A[vi] * 2.0
            for i in range(n):
                with T.block("C"):
                    vi = T.axis.spatial(n, i)
                    C[vi] = P[vi] + P[vi + 1] + P[vi + 2]

    return Blur


@I.ir_module
class Symbolic:
    @T.prim_func
    def main(a: T.handle, c: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 8), "float32")
        C = T.match_buffer(c, (n, 8), "float32")
        B = T.alloc_buffer((n, 8), "float32")
        for i, j in T.grid(n, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1.0
        for i, j in T.grid(n, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * 2.0


def square(n: int, m: int):
    return ((n, m), "float32"), ((n, m), "float32")
