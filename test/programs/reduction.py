"""Row sums of a matrix: alone, repeated, and between other blocks."""

from __future__ import annotations

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def row_sums(n: int, m: int):
    """C (n) = the sums of the rows of A (n x m): loops i, k around block "C"."""

    @I.ir_module
    class RowSums:
        @T.prim_func
        def main(A: T.Buffer((n, m), "float32"), C: T.Buffer((n,), "float32")):
            for i, k in T.grid(n, m):
                with T.block("C"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        C[vi] = 0.0
                    C[vi] += A[vi, vk]

    return RowSums


def scaled_row_sums(n: int, m: int):
    """A reduction "S" and a block "C" that doubles its result."""

    @I.ir_module
    class ScaledRowSums:
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

    return ScaledRowSums


def staged_row_sums(n: int, m: int = 4):
    """P feeds Q elementwise, Q feeds S, a sum over m."""

    @I.ir_module
    class StagedRowSums:
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

    return StagedRowSums


@I.ir_module
class RepeatedRowSums:
    """Loop t computes each sum twice, each time from its init."""

    @T.prim_func
    def main(A: T.Buffer((8, 4), "float32"), C: T.Buffer((8,), "float32")):
        for i, t, k in T.grid(8, 2, 4):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0.0
                C[vi] += A[vi, vk]


@I.ir_module
class SymbolicRowSums:
    """`row_sums` of n rows of 8."""

    @T.prim_func
    def main(a: T.handle, c: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 8), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i, k in T.grid(n, 8):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0.0
                C[vi] += A[vi, vk]
