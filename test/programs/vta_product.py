"""A product for VTA, scheduled by hand."""

from __future__ import annotations

from tir_mlir import Schedule
from tir_mlir.script import tir as T


def schedule_vta(m: int, n: int, k: int, rows: int, blocks: int) -> Schedule:
    """A product on VTA, with weights in blocks, so many rows and blocks of columns at once; shifted and clipped to
    int8 where the sums are."""

    @T.prim_func
    def main(
        A: T.Buffer((m, k // 16, 16), "int8"),
        B: T.Buffer((n // 16, k // 16, 16, 16), "int8"),
        C: T.Buffer((m, n // 16, 16), "int8"),
    ):
        S = T.alloc_buffer((m, n // 16, 16), "int32", scope="global.acc")
        for i_0, j_0 in T.grid(m // rows, n // 16 // blocks):
            for i, j, o in T.grid(rows, blocks, 16):
                with T.block("clear"):
                    vi = T.axis.spatial(m, i_0 * rows + i)
                    vj = T.axis.spatial(n // 16, j_0 * blocks + j)
                    vo = T.axis.spatial(16, o)
                    S[vi, vj, vo] = 0
            for j, i, r, o, t in T.grid(blocks, rows, k // 16, 16, 16):
                with T.block("S"):
                    vi = T.axis.spatial(m, i_0 * rows + i)
                    vj = T.axis.spatial(n // 16, j_0 * blocks + j)
                    vk, vo, vt = T.axis.remap("RSR", [r, o, t])
                    S[vi, vj, vo] += T.Cast("int32", A[vi, vk, vt]) * T.Cast("int32", B[vj, vk, vo, vt])
            for i, j, o in T.grid(rows, blocks, 16):
                with T.block("shift"):
                    vi = T.axis.spatial(m, i_0 * rows + i)
                    vj = T.axis.spatial(n // 16, j_0 * blocks + j)
                    vo = T.axis.spatial(16, o)
                    S[vi, vj, vo] = S[vi, vj, vo] >> 8
            for i, j, o in T.grid(rows, blocks, 16):
                with T.block("least"):
                    vi = T.axis.spatial(m, i_0 * rows + i)
                    vj = T.axis.spatial(n // 16, j_0 * blocks + j)
                    vo = T.axis.spatial(16, o)
                    S[vi, vj, vo] = T.min(S[vi, vj, vo], 127)
            for i, j, o in T.grid(rows, blocks, 16):
                with T.block("largest"):
                    vi = T.axis.spatial(m, i_0 * rows + i)
                    vj = T.axis.spatial(n // 16, j_0 * blocks + j)
                    vo = T.axis.spatial(16, o)
                    S[vi, vj, vo] = T.max(S[vi, vj, vo], 0)
            for i, j, o in T.grid(rows, blocks, 16):
                with T.block("C"):
                    vi = T.axis.spatial(m, i_0 * rows + i)
                    vj = T.axis.spatial(n // 16, j_0 * blocks + j)
                    vo = T.axis.spatial(16, o)
                    C[vi, vj, vo] = T.Cast("int8", S[vi, vj, vo])

    sch = Schedule(main)
    a, b = sch.cache_read("S", "A", "global.inp"), sch.cache_read("S", "B", "global.wgt")
    i_0, j_0, _, x, *_ = sch.get_loops("S")
    sch.compute_at(a, i_0, preserve_unit_loops=True)
    sch.compute_at(b, j_0, preserve_unit_loops=True)
    sch.tensorize(x, "vta.gemm")
    names = {a: "load_inp", b: "load_wgt", "clear": "reset", "C": "store_out"}
    for block, name in {**names, "shift": "shift", "least": "least", "largest": "largest"}.items():
        loops = sch.get_loops(block)
        sch.tensorize(loops[-4 if name == "load_wgt" else -3], f"vta.{name}")
    return sch
