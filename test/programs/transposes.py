"""Transposes by way of tiles in shared memory, whose columns are in few banks."""

from __future__ import annotations

from tir_mlir import Schedule
from tir_mlir.script import tir as T


def transpose(rows: int, columns: int, dtype: str):
    @T.prim_func
    def main(A: T.Buffer((rows, columns), dtype), B: T.Buffer((columns, rows), dtype)):
        for i, j in T.grid(columns, rows):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vj, vi]

    return main


def tiled(
    tile: tuple[int, int], dtype: str = "float32", vector: int = 1, size: tuple[int, int] = (128, 128)
) -> Schedule:
    """The transpose of a matrix of `size`, by tiles in shared memory, which 256 threads fill, and read by columns,
    `vector` elements at once."""
    sch = Schedule(transpose(*size, dtype))
    copy = sch.cache_read("B", 0, "shared")
    i, j = sch.get_loops("B")
    (i_0, i_1), (j_0, j_1) = sch.split(i, [None, tile[1]]), sch.split(j, [None, tile[0]])
    sch.reorder(i_0, j_0, i_1, j_1)
    sch.compute_at(copy, j_0, preserve_unit_loops=True)
    sch.bind(i_0, "blockIdx.y")
    sch.bind(j_0, "blockIdx.x")
    for loops in (sch.get_loops(copy)[-2:], (i_1, j_1)):
        _, threads, lanes = sch.split(sch.fuse(*loops), [None, 256, vector])
        sch.bind(threads, "threadIdx.x")
        if vector > 1:
            sch.vectorize(lanes)
    return sch
