"""Producers and consumers for inlining: plain, reversed, padded, gathered, packed, cropped."""

from __future__ import annotations

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

F32 = "float32"


@I.ir_module
class Mirrored:
    @T.prim_func
    def main(A: T.Buffer((8, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        B = T.alloc_buffer((8, 12), "float32")
        for i, j in T.grid(8, 12):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2.0 + T.cast(vi, "float32")
        for i, j in T.grid(8, 12):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * B[7 - vi, vj] + 1.0


MIRRORED = [((8, 12), F32)] * 2


@I.ir_module
class Straight:
    @T.prim_func
    def main(A: T.Buffer((8, 12), "float32"), E: T.Buffer((8, 12), "float32"), C: T.Buffer((8, 12), "float32")):
        B = T.alloc_buffer((8, 12), "float32")
        for i, j in T.grid(8, 12):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2.0
        for i, j in T.grid(8, 12):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] + E[vi, vj] * B[vi, vj]


STRAIGHT = [((8, 12), F32)] * 3


@I.ir_module
class Padded:
    """A padded copy, summed over windows; the consumer reads it in its update and in its init."""

    @T.prim_func
    def main(A: T.Buffer((10,), "float32"), C: T.Buffer((10,), "float32")):
        P = T.alloc_buffer((12,), "float32")
        for i in range(12):
            with T.block("P"):
                vi = T.axis.spatial(12, i)
                P[vi] = T.if_then_else(vi >= 1 and vi < 11, A[vi - 1], T.float32(0))
        for i, k in T.grid(10, 3):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = P[vi] * 0.5
                C[vi] += P[vi + vk]


PADDED = [((10,), F32)] * 2


@I.ir_module
class Gather:
    @T.prim_func
    def main(A: T.Buffer((9,), "float32"), P: T.Buffer((8,), "int32"), C: T.Buffer((8,), "float32")):
        B = T.alloc_buffer((8,), "float32")
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = A[vi + 1] + T.cast(vi * 3, "float32")
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[T.max(T.min(P[vi], 7), 0)]


GATHER = [((9,), F32), ((8,), "int32"), ((8,), F32)]


@I.ir_module
class Packed:
    """The producer stores at a mixed-radix index of its iters."""

    @T.prim_func
    def main(A: T.Buffer((8, 4), "float32"), C: T.Buffer((32,), "float32")):
        B = T.alloc_buffer((32,), "float32")
        for i, j in T.grid(8, 4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi * 4 + vj] = A[vi, vj] * 3.0
        for i in range(32):
            with T.block("C"):
                vi = T.axis.spatial(32, i)
                C[vi] = B[31 - vi] + 1.0


PACKED = [((8, 4), F32), ((32,), F32)]


@I.ir_module
class Cropped:
    """The consumer reads the middle of the producer's output."""

    @T.prim_func
    def main(A: T.Buffer((12,), "float32"), C: T.Buffer((8,), "float32")):
        B = T.alloc_buffer((12,), "float32")
        for i in range(12):
            with T.block("B"):
                vi = T.axis.spatial(12, i)
                B[vi] = A[vi] + 1.0
        for i in range(8):
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                C[vi] = B[vi + 2] * 2.0


FILLED = """
@T.prim_func
def main(A: T.Buffer((3,), "float32"), C: T.Buffer((3,), "float32")):
    B = T.alloc_buffer((3,), "float32")
    for i in range(3):
        with T.block("B"):
            vi = T.axis.spatial(3, i)
            B[vi] = 2.0
    for i in range(3):
        with T.block("C"):
            vi = T.axis.spatial(3, i)
            C[vi] = A[vi] * (B[vi] + 1.0)
"""
"""A block that fills B with a constant, and its consumer."""
