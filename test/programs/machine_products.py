"""Products on the machines that ship, scheduled by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tir_mlir import Schedule
from tir_mlir.script import tir as T


@dataclass(frozen=True)
class Parts:
    """The instructions and scopes with which a machine computes a product of tiles."""

    left: str
    right: str
    sums: str
    load_left: str
    load_right: str
    clear: str
    multiply: str
    store: str
    transposed: bool
    """Whether a tile of the right operand has a row for each column of the result."""
    tile: tuple[int, int, int] = (16, 16, 16)


TMM16 = Parts(
    *["global.reg", "global.reg", "global.accumulator"],
    *["tmm16.load", "tmm16.load", "tmm16.fill_zero", "tmm16.tmm_add", "tmm16.store"],
    transposed=True,
)  # fmt: skip
GEMMINI = Parts(
    *["global.sp", "global.sp", "global.acc"],
    *["gemmini.mvin_padded", "gemmini.mvin_padded", "gemmini.zero", "gemmini.matmul", "gemmini.mvout_sums"],
    transposed=False,
)  # fmt: skip
NPU = Parts(
    *["global.x", "global.w", "global.sums"],
    *["npu.load_x", "npu.load_w", "npu.clear", "npu.multiply", "npu.store"],
    transposed=True,
    tile=(16, 16, 32),
)  # fmt: skip


def product(m: int, n: int, k: int, dtype: str, sums: str, transposed: bool):
    """The product of matrices, of which the right one may be transposed."""
    if transposed:

        @T.prim_func
        def main(A: T.Buffer((m, k), dtype), B: T.Buffer((n, k), dtype), C: T.Buffer((m, n), sums)):
            for i, j, r in T.grid(m, n, k):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                    with T.init():
                        C[vi, vj] = T.Cast(sums, 0)
                    C[vi, vj] += T.Cast(sums, A[vi, vk]) * T.Cast(sums, B[vj, vk])
    else:

        @T.prim_func
        def main(A: T.Buffer((m, k), dtype), B: T.Buffer((k, n), dtype), C: T.Buffer((m, n), sums)):
            for i, j, r in T.grid(m, n, k):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                    with T.init():
                        C[vi, vj] = T.Cast(sums, 0)
                    C[vi, vj] += T.Cast(sums, A[vi, vk]) * T.Cast(sums, B[vk, vj])

    return main


def tiles_of(rows: int, cols: int):
    return lambda x, y: (x // rows, y // cols, x % rows, y % cols)


def schedule_product(parts: Parts, func, counts: Sequence[int], cores: int = 1) -> Schedule:
    """A product in so many tiles at once; cores: how many share its rows."""
    sch = Schedule(func)
    extents = [sch.get(loop).extent for loop in sch.get_loops("C")]
    ragged = any(extent % tile for extent, tile in zip(extents, parts.tile, strict=True))
    if ragged:
        sch.pad_einsum("C", list(parts.tile))
        a, b = sch.get_sblock("A_pad"), sch.get_sblock("B_pad")
        for copy, scope in ((a, parts.left), (b, parts.right)):
            sch.set_scope(copy, 0, scope)
        sch.set_scope("C", 0, parts.sums)
        out = sch.get_sblock("C_pad")
    else:
        a, b = sch.cache_read("C", "A", parts.left), sch.cache_read("C", "B", parts.right)
        out = sch.cache_write("C", 0, parts.sums)
    outer, middle, inner = [], [], []
    for loop, tile, count in zip(sch.get_loops("C"), parts.tile, counts, strict=True):
        first, second, lane = sch.split(loop, [None, count, tile])
        outer, middle, inner = [*outer, first], [*middle, second], [*inner, lane]
    sch.reorder(*outer, *middle, *inner)
    if cores > 1:
        core, outer[0] = sch.split(outer[0], [cores, None])
        sch.bind(core, "core")
    for copy in (a, b):
        sch.compute_at(copy, outer[2], preserve_unit_loops=True)
    sch.reverse_compute_at(out, outer[1], preserve_unit_loops=True)
    dims = {a: (0, 2), b: (1, 2) if parts.transposed else (2, 1), "C": (0, 1), out: (0, 1)}
    for block in (a, b, "C"):
        rows, cols = (parts.tile[d] for d in dims[block])
        sch.transform_layout(block, ("write", 0), tiles_of(rows, cols))
    clear = sch.decompose_reduction("C", outer[2])
    sch.tensorize(inner[0], parts.multiply)
    sch.tensorize(sch.get_loops(clear)[-2], parts.clear)
    for block, name in ((a, parts.load_left), (b, parts.load_right), (out, parts.store)):
        (x, y), (rows, cols) = sch.get_loops(block)[-2:], (parts.tile[d] for d in dims[block])
        (x, x_1), (y, y_1) = sch.split(x, [None, rows]), sch.split(y, [None, cols])
        sch.reorder(x, y, x_1, y_1)
        sch.tensorize(x_1, name)
    return sch


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
