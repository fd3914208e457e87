"""Elementwise blocks, alone and in chains."""

from __future__ import annotations

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def scale(n: int, m: int):
    """B = 2 A."""

    @I.ir_module
    class Scale:
        @T.prim_func
        def main(A: T.Buffer((n, m), "float32"), B: T.Buffer((n, m), "float32")):
            for i, j in T.grid(n, m):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * 2.0

    return Scale


def pair(n: int, m: int):
    """Two stages: C = P + 1, P = 2 A."""

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


def chain(n: int, m: int):
    """Three stages: D = C - 3, C = 2 B, B = A + 1."""

    @I.ir_module
    class Chain:
        @T.prim_func
        def main(A: T.Buffer((n, m), "float32"), D: T.Buffer((n, m), "float32")):
            B = T.alloc_buffer((n, m), "float32")
            C = T.alloc_buffer((n, m), "float32")
            for i, j in T.grid(n, m):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + 1.0
            for i, j in T.grid(n, m):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, vj] * 2.0
            for i, j in T.grid(n, m):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, vj] = C[vi, vj] - 3.0

    return Chain


def rows(n: int, m: int):
    """Two blocks under one loop; each iteration reuses the one-row buffer between them."""

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
