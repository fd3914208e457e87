"""Programs whose loops run at the same time, and the shapes of their arguments."""

from __future__ import annotations

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def scale(n: int, m: int):
    @I.ir_module
    class Scale:
        @T.prim_func
        def main(A: T.Buffer((n, m), "float32"), B: T.Buffer((n, m), "float32")):
            for i, j in T.grid(n, m):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * 2.0

    return Scale


def matmul(n: int, m: int, k: int):
    @I.ir_module
    class Matmul:
        @T.prim_func
        def main(A: T.Buffer((n, k), "float32"), B: T.Buffer((m, k), "float32"), C: T.Buffer((n, m), "float32")):
            for i, j, kk in T.grid(n, m, k):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, kk])
                    with T.init():
                        C[vi, vj] = 0.0
                    C[vi, vj] += A[vi, vk] * B[vj, vk]

    return Matmul


def rows(n: int, m: int):
    """Two blocks beneath a loop; the one row between them is used again in each of its iterations."""

    @I.ir_module
    class Rows:
        @T.prim_func
        def main(A: T.Buffer((n, m), "float32"), C: T.Buffer((n, m), "float32")):
            R = T.alloc_buffer((m,), "float32")
            for i in range(n):
                for j in range(m):
                    with T.block("R"):
                        vi = T.axis.opaque(n, i)
                        vj = T.axis.spatial(m, j)
                        R[vj] = A[vi, vj] * 2.0
                for j in range(m):
                    with T.block("C"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        C[vi, vj] = R[vj] + R[m - 1 - vj]

    return Rows


@I.ir_module
class Symbolic:
    @T.prim_func
    def main(a: T.handle, b: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 8), "float32")
        B = T.match_buffer(b, (n, 8), "float32")
        for i, j in T.grid(n, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1.0


def square(n: int, m: int):
    return ((n, m), "float32"), ((n, m), "float32")


def triple(n: int, m: int, k: int):
    return ((n, k), "float32"), ((m, k), "float32"), ((n, m), "float32")
