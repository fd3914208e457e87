"""Programs with symbolic sizes."""

from __future__ import annotations

from programs.short import each, program

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


@I.ir_module
class Matmul:
    @T.prim_func
    def main(a: T.handle, b: T.handle, c: T.handle):
        n, m, k = T.int32(), T.int32(), T.int32()
        A = T.match_buffer(a, (n, k), "float32")
        B = T.match_buffer(b, (k, m), "float32")
        C = T.match_buffer(c, (n, m), "float32")
        for i, j, r in T.grid(n, m, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] += A[vi, vk] * B[vk, vj]


Twice = program(
    "A:nx8 C:nx8; B:nx8",
    each("B i:n j:8", "B[vi, vj] = A[vi, vj] + 1.0"),
    each("C i:n j:8", "C[vi, vj] = B[vi, vj] * 2.0"),
)


@I.ir_module
class Halo:
    @T.prim_func
    def main(a: T.handle, c: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n + 2, 8), "float32")
        C = T.match_buffer(c, (n, 8), "float32")
        B = T.alloc_buffer((n + 2, 8), "float32")
        for i, j in T.grid(n + 2, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1.0
        for i, j in T.grid(n, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + B[vi + 1, vj] + B[vi + 2, vj]


@I.ir_module
class Reads:
    """C reads B strided, floor-divided and with a remainder."""

    @T.prim_func
    def main(a: T.handle, c: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n * 2 + 8,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        B = T.alloc_buffer((n * 2 + 8,), "float32")
        for i in range(n * 2 + 8):
            with T.block("B"):
                vi = T.axis.spatial(n * 2 + 8, i)
                B[vi] = A[vi] + 1.0
        for i in range(n):
            with T.block("C"):
                vi = T.axis.spatial(n, i)
                C[vi] = B[vi * 2] + B[vi // 3] + B[vi % 8]


def add_one(m: int):
    """B = A + 1 for n rows of m."""

    return program(f"A:nx{m} B:nx{m}", each(f"B i:n j:{m}", "B[vi, vj] = A[vi, vj] + 1.0"))


Turned = program("A:8xn B:nx8", each("B i:n j:8", "B[vi, 7 - vj] = A[vj, vi] * 2.0"))
"""B (n x 8) from A (8 x n), transposed and reversed."""
