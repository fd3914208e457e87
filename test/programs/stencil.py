"""Stencil programs, whose consumers need several elements of each row."""

from __future__ import annotations

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def blur(n: int):
    """A producer "P" with a halo of one element on each side of what the consumer "C" computes."""

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
