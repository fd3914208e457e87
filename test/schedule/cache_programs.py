"""Programs that the tests of caches schedule."""

from __future__ import annotations

import re

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


@I.ir_module
class Chain:
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


CHAIN = [((8, 12), "float32")] * 3


@I.ir_module
class Matmul:
    @T.prim_func
    def main(A: T.Buffer((20, 18), "float32"), B: T.Buffer((18, 24), "float32"), C: T.Buffer((20, 24), "float32")):
        for i, j, k in T.grid(20, 24, 18):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] += A[vi, vk] * B[vk, vj]


MATMUL = [((20, 18), "float32"), ((18, 24), "float32"), ((20, 24), "float32")]


@I.ir_module
class Symbolic:
    @T.prim_func
    def main(a: T.handle, b: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (n, 8), "float32")
        C = T.match_buffer(b, (n, 8), "float32")
        B = T.alloc_buffer((n, 8), "float32")
        for i, j in T.grid(n, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + 1.0
        for i, j in T.grid(n, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = B[vi, vj] * 2.0


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
    """Each row adds to the row above: a value crosses the loop that holds writer and reader."""

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


def order(sch: Schedule) -> list[str]:
    return re.findall(r'T\.block\("([\w.]+)"\)', "\n".join(x for x in sch.mod.script().split("\n") if "#" not in x))
