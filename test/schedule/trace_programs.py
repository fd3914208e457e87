"""Programs that the tests of traces schedule."""

from __future__ import annotations

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def product(n: int, m: int = 32, k: int = 16):
    """A matrix product and an addition behind it."""

    @I.ir_module
    class Product:
        @T.prim_func
        def main(A: T.Buffer((n, k), "float32"), B: T.Buffer((k, m), "float32"), D: T.Buffer((n, m), "float32")):
            C = T.alloc_buffer((n, m), "float32")
            for i, j, k_ in T.grid(n, m, k):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k_])
                    with T.init():
                        C[vi, vj] = 0.0
                    C[vi, vj] += A[vi, vk] * B[vk, vj]
            for i, j in T.grid(n, m):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, vj] = C[vi, vj] + 1.0

    return Product


@I.ir_module
class Symbolic:
    """A size that is not known."""

    @T.prim_func
    def main(a: T.handle, b: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 24), "float32")
        B = T.match_buffer(b, (n, 24), "float32")
        for i, j in T.grid(n, 24):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1.0


def chain(n: int, m: int = 4):
    """P feeds Q elementwise, Q feeds S, a sum over m."""

    @I.ir_module
    class Chain:
        @T.prim_func
        def main(A: T.Buffer((n, m), "float32"), S: T.Buffer((n,), "float32")):
            P = T.alloc_buffer((n, m), "float32")
            Q = T.alloc_buffer((n, m), "float32")
            for i, j in T.grid(n, m):
                with T.block("P"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    P[vi, vj] = A[vi, vj] * 2.0
            for i, j in T.grid(n, m):
                with T.block("Q"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Q[vi, vj] = P[vi, vj] + 1.0
            for i, k in T.grid(n, m):
                with T.block("S"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        S[vi] = 0.0
                    S[vi] += Q[vi, vk]

    return Chain
