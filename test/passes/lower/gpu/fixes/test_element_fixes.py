"""Fixes for refusals of loops over elements of fragments: each is followed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from harness.fix_rows import each_of
from harness.fragment_programs import fragments, program, tensor
from harness.kernel_fixes import KernelRow

from tir_mlir import Schedule

X, Z, Y = (fragments(name, (16, 32), "accumulator") for name in "XZY")
P, S = fragments("P", (16, 32), "matrix_a"), fragments("S", (16, 32), "shared")
M = fragments("M", (16,), "row")
READ, END = "i:16 j:32 | X[vi, vj] = A[vi, vj]\n", "\ni:16 j:32 | B[vi, vj] = X[vi, vj]"
OUT = "\ni:16 | B[vi, 0] = M[vi]"
ZERO = "i:16 | M[vi] = T.float32(0)\n"
ARGUMENTS = f"{tensor('A', (16, 32))}, {tensor('B', (16, 32))}"


def of(
    *blocks: str, end: str = END, buffers: str = X + Z + P + S + M, arguments: str = ARGUMENTS
) -> Callable[[], Schedule]:
    """What makes a program that reads A into X, does something, and writes B."""
    used = "\n".join(line for line in buffers.splitlines() if line.split(" =")[0] + "[" in "".join(blocks) + READ)
    return lambda: Schedule(program(READ + "\n".join(blocks) + end, used, arguments))


def sized(blocks: str) -> Schedule:
    """The same for a number of columns that is known when it runs."""
    text = f"{tensor('A', (16, 32))}, {tensor('B', (16, 32))}, n: T.int32"
    return Schedule(program(READ + blocks + END, X, text))


TO_P, FROM_P = "i:16 j:32 | P[vi, vj] = X[vi, vj]", "i:16 j:32 | X[vi, vj] = P[vi, vj]"
TO_S, S_TO_P = "i:16 j:32 | S[vi, vj] = X[vi, vj]", "i:16 j:32 | P[vi, vj] = S[vi, vj]"
P_TO_S, FROM_S = "i:16 j:32 | S[vi, vj] = P[vi, vj]", "i:16 j:32 | X[vi, vj] = S[vi, vj]"
FROM_Z = "i:16 j:32 | X[vi, vj] = Z[vi, vj]"
MOST = "i:16 j*32 | M[vi] = T.max(M[vi], X[vi, vj])"
SQUARE = "i:16 j:32 | Y[vi, vj] = X[vi, vj]", "i:16 j:32 | X[vi, vj] = Y[vi, vj] * X[vi, vj]"
BY_LANE = "i:16 j:32 | W[vi, vi, vj] = X[vi, vj]", "i:16 j:32 | X[vi, vj] = W[vi, vi, vj]"
STACK = fragments("W", (16, 16, 32), "accumulator")
ROWS = [
    KernelRow("sums as an operand of tf32", of(TO_P, FROM_P),
              "lane 1 has P[0, 1] in register 0, and needs X[0, 1], which lane 0 has in register 1; fix: copy one of "
              "them through shared memory",
              (of(TO_S, S_TO_P, P_TO_S, FROM_S),)),
    KernelRow("rows and columns exchanged",
              of("i:16 j:16 | Z[vi, vj] = X[vj, vi]", "i:16 j:16 | X[vi, vj] = Z[vi, vj]"),
              "lane 4 has Z[1, 0] in register 0, and needs X[0, 1], which lane 0 has in register 1; fix: copy one of",
              (of(TO_S, "i:16 j:16 | X[vi, vj] = S[vj, vi]"),)),
    KernelRow("one element for all", of("i:16 j:32 | Z[vi, vj] = X[vi, vj] - X[vi, 0]", FROM_Z),
              "lane 1 has X[0, 2] in register 0, and needs X[0, 0], which lane 0 has in register 0; fix: copy one of",
              (of(TO_S, "i:16 j:32 | X[vi, vj] = X[vi, vj] - S[vi, 0]"),)),
    KernelRow("one column for each row", of("i:16 | M[vi] = X[vi, 0]", end=OUT),
              "lane 1 needs X[0, 0], which lane 0 has in register 0; fix: let a loop run over the whole row and column "
              "of its tile",
              (of(ZERO, "i:16 j*32 | M[vi] = M[vi] + T.if_then_else(vj == 0, X[vi, vj], T.float32(0))", end=OUT),)),
    KernelRow("shifted by one", of("i:16 j:8 | Z[vi, vj] = X[vi, vj + 1]", "i:16 j:8 | X[vi, vj] = Z[vi, vj]"),
              "at j + 1, which does not start at a multiple of 8; fix: let loops start at whole tiles",
              (of("i:16 j:8 | Z[vi, vj] = X[vi, vj + 8]", "i:16 j:8 | X[vi, vj] = Z[vi, vj]"),)),
    KernelRow("a matrix by its lane", of(*BY_LANE, buffers=X + STACK),
              "loop i selects a matrix of it, and its iterations are in different lanes; fix: copy it through shared "
              "memory",
              (of(*BY_LANE, buffers=X + STACK.replace("mma.accumulator", "shared")),)),
    KernelRow("loops that are fused", of("f:512 | X[vf // 32, vf % 32] = X[vf // 32, vf % 32] * T.float32(2)"),
              "which divides by loops; fix: split the loops instead of fusing them",
              (of("i:16 j:32 | X[vi, vj] = X[vi, vj] * T.float32(2)"),)),
    KernelRow("every third column", of("i:16 j:8 | X[vi, vj * 3] = T.float32(0)"),
              "where 3 is not a power of two and no multiple of 8; fix: one loop over adjacent elements",
              (of("i:16 j:24 | X[vi, vj] = T.if_then_else(vj % 3 == 0, T.float32(0), X[vi, vj])"),)),
    KernelRow("two loops on one element", of("i:16 j!8 k!8 | X[vi, vj + vk] = T.float32(0)"),
              "which two loops reach; fix: one loop over adjacent elements",
              (of("i:16 j:16 | X[vi, vj] = T.float32(0)"),)),
    KernelRow("half a tile", of("i:10 j:32 | X[vi, vj] = T.float32(0)"),
              "runs over 10 rows or columns of fragments, not over whole tiles; fix: let it run over whole tiles, with "
              "the condition inside (T.where, T.if_then_else)",
              (of("i:16 j:32 | T.where(i < 10); X[vi, vj] = T.float32(0)"),
               of("i:16 j:32 | X[vi, vj] = T.if_then_else(vi < 10, T.float32(0), X[vi, vj])"))),
    KernelRow("a number of columns", lambda: sized("i:16 j:32@T.min(n,32) | X[vi, vj] = T.float32(0)"),
              "loop j, over its elements, has no constant bounds; fix: let it run over whole tiles, and put the "
              "condition into the value (T.if_then_else)",
              (lambda: sized("i:16 j:32 | X[vi, vj] = T.if_then_else(vj < n, T.float32(0), X[vi, vj])"),)),
    KernelRow("an element that data choose", of("i:16 j!32 | X[vi, T.Cast('int32', A[vi, vj])] = T.float32(0)"),
              "at an index that is not a sum of loops: registers have no addresses; fix: loops over all elements, with "
              "T.if_then_else",
              (of("i:16 j:32 k!32 | X[vi, vj] = T.if_then_else(T.Cast('int32', A[vi, vk]) == vj, T.float32(0), "
                  "X[vi, vj])"),)),
    KernelRow("a scope without a layout", of("", buffers=X.replace("mma", "wmma")),
              "whose layout is not known; fix: scope mma.accumulator", (of(""),)),
    KernelRow("ten rows", of("i:10 | M[vi] = A[vi, 0]", end="\ni:10 | B[vi, 0] = M[vi]",
                             buffers=X + M.replace("16", "10")),
              "has shape (10,); fix: one dimension, a multiple of 16",
              (of("i:16 | M[vi] = A[vi, 0]", end="\ni:16 | T.where(i < 10); B[vi, 0] = M[vi]"),)),
    KernelRow("a local buffer", of(*SQUARE, buffers=X + fragments("Y", (16, 32), "local")),
              "Y, in scope local, is used together with fragments, which the lanes of a warp share; fix: scope "
              "mma.accumulator for a matrix, mma.row for one value a row",
              (of(*SQUARE, buffers=X + Y),)),
    KernelRow("memory that several lanes write", of("i:16 j*32 | B[vi, 0] = B[vi, 0] + X[vi, vj]", end=""),
              "several lanes may write one element of B; fix: sum into a buffer of scope mma.row, and store that",
              (of("i:16 | M[vi] = B[vi, 0]", "i:16 j*32 | M[vi] = M[vi] + X[vi, vj]", end=OUT),)),
    KernelRow("memory that another lane writes", of("i:16 j!32 | B[vi, vj] = X[vi, vj] + B[vi, 31 - vj]", end=""),
              "a lane uses an element of B that another one may write in the same nest; fix: a nest of its own for "
              "each",
              (of("i:16 j:32 | X[vi, vj] = X[vi, vj] + B[vi, 31 - vj]"),)),
    KernelRow("a row that several lanes write", of("i:16 j!32 | M[vi] = X[vi, vj]", end=OUT),
              "several lanes write one element of M, in scope mma.row; they can combine a sum, product, maximum or "
              "minimum of a block that declares its iters as reductions; fix: T.axis.reduce, or store it outside of "
              "the loop",
              (of("i:16 | M[vi] = A[vi, 31]", end=OUT), of(ZERO, MOST, end=OUT))),
    KernelRow("a sum in the order of the program", of(ZERO, "i:16 j!32 | M[vi] = M[vi] + X[vi, vj]", end=OUT),
              "declares its iters as reductions; fix: T.axis.reduce",
              (of(ZERO, "i:16 j*32 | M[vi] = M[vi] + X[vi, vj]", end=OUT),)),
    KernelRow("a sum under a condition", of(ZERO, "a:8 i:2 j*32 | T.where(a < 4); "
                                            "M[vi * 8 + va] = M[vi * 8 + va] + X[vi * 8 + va, vj]", end=OUT),
              "lanes combine M under a condition that they do not share; fix: put the condition into the value",
              (of(ZERO, "a:8 i:2 j*32 | M[vi * 8 + va] = M[vi * 8 + va] + T.if_then_else(va < 4, X[vi * 8 + va, vj], "
                  "T.float32(0))", end=OUT),)),
    KernelRow("a sum that is read too early",
              of(ZERO, "i:16 j!32 | M[vi] = T.max(M[vi], X[vi, vj]); B[vi, vj] = M[vi]", end=""),
              "uses M in the loop that combines it, where a lane has a part of it; fix: decompose_reduction, or a "
              "block of its own after the loop",
              (of(ZERO, MOST, "i:16 j:32 | B[vi, vj] = M[vi]", end=""),)),
]  # fmt: skip


@pytest.mark.few(3)
@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
