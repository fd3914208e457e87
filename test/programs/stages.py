"""Several blocks that share a buffer: forks, split loops, loop-carried values, windows with offsets."""

from __future__ import annotations

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


@I.ir_module
class Fork:
    """B from A, D from A, C from B."""

    @T.prim_func
    def main(A: T.Buffer((8, 12), "float32"), C: T.Buffer((8, 12), "float32"), D: T.Buffer((8, 12), "float32")):
        B = T.alloc_buffer((8, 12), "float32")
        for i, j in T.grid(8, 12):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2.0
        for i, j in T.grid(8, 12):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = A[vi, vj] + 1.0
        for i, j in T.grid(8, 12):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + A[7 - vi, vj]


FORK = [((8, 12), "float32")] * 3


@I.ir_module
class Halves:
    """Producer and consumer in one loop, a second consumer after it."""

    @T.prim_func
    def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 8), "float32"), D: T.Buffer((4, 8), "float32")):
        B = T.alloc_buffer((4, 8), "float32")
        for i in range(4):
            for j in range(8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + 1.0
            for j in range(8):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[vi, 7 - vj]
        for i, j in T.grid(4, 8):
            with T.block("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = B[vi, vj] * 3.0


HALVES = [((4, 8), "float32")] * 3


@I.ir_module
class Running:
    """Each row adds to the row above: a loop-carried value between writer and reader."""

    @T.prim_func
    def main(A: T.Buffer((9, 8), "float32"), C: T.Buffer((9, 8), "float32")):
        B = T.alloc_buffer((9, 8), "float32")
        for i in range(9):
            for j in range(8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] + 1.0
            for j in range(8):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = T.if_then_else(vi > 0, B[vi - 1, vj], T.float32(0))


@I.ir_module
class ViewedInTiles:
    """Block "outer" reads the output of block "B" through a view of four rows."""

    @T.prim_func
    def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
        B = T.alloc_buffer((8, 8), "float32")
        for i, j in T.grid(8, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
        for i in range(2):
            with T.block("outer"):
                vi = T.axis.spatial(2, i)
                W = T.match_buffer(B[vi * 4 : vi * 4 + 4, 0:8], (4, 8), strides=["t", 1], offset_factor=1)
                for j, k in T.grid(4, 8):
                    with T.block("C"):
                        vj, vk = T.axis.remap("SS", [j, k])
                        C[vi * 4 + vj, vk] = W[vj, vk]


@I.ir_module
class Diagonals:
    """Several iterations store to the same element."""

    @T.prim_func
    def main(A: T.Buffer((4, 3), "float32"), B: T.Buffer((6,), "float32")):
        for i, j in T.grid(4, 3):
            with T.block("B"):
                vi = T.axis.opaque(4, i)
                vj = T.axis.opaque(3, j)
                B[vi + vj] = A[vi, vj]
