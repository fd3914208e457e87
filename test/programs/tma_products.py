"""Products whose tiles the TMA of a GPU copies: by each thread, and by `wgmma`."""

from __future__ import annotations

from programs.parsed import parse

from tir_mlir import Schedule

TEXT = """
@T.prim_func
def main(A: T.Buffer({a}, "{dtype}"), B: T.Buffer({b}, "{dtype}"), C: T.Buffer(({m}, {n}), "float32")):
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] += T.Cast("float32", A[{ia}]) * T.Cast("float32", B[{ib}])
"""


def product(m: int, n: int, k: int, dtype: str = "float16", turned: str = ""):
    """C += A B, of float32 sums. turned: the operands that are stored with rows and columns exchanged, of "AB"."""
    a, ia = ((k, m), "vk, vi") if "A" in turned else ((m, k), "vi, vk")
    b, ib = ((n, k), "vj, vk") if "B" in turned else ((k, n), "vk, vj")
    return parse(TEXT.format(a=a, b=b, m=m, n=n, k=k, ia=ia, ib=ib, dtype=dtype))


def simt(
    size: tuple[int, int, int] = (64, 64, 64),
    stages: int = 3,
    specialize: bool = False,
    swizzle: bool = False,
    tile: tuple[int, int, int] = (32, 32, 16),
    dtype: str = "float16",
) -> Schedule:
    """Each of 8 x 8 threads computes a part of a tile."""
    sch = Schedule(product(*size, dtype))
    i, j, k = sch.get_loops("C")
    i_0, i_1, i_2 = sch.split(i, [None, 8, tile[0] // 8])
    j_0, j_1, j_2 = sch.split(j, [None, 8, tile[1] // 8])
    k_0, k_1 = sch.split(k, [None, tile[2]])
    sch.reorder(i_0, j_0, i_1, j_1, k_0, k_1, i_2, j_2)
    copies = [sch.cache_read("C", operand, "shared") for operand in "AB"]
    sch.reverse_compute_at(sch.cache_write("C", 0, "local"), j_1)
    for loop, axis in ((i_0, "blockIdx.y"), (j_0, "blockIdx.x"), (i_1, "threadIdx.y"), (j_1, "threadIdx.x")):
        sch.bind(loop, axis)
    for copy in copies:
        sch.compute_at(copy, k_0)
        if swizzle:
            sch.swizzle(copy, 0)
    sch.decompose_reduction("C", k_0)
    sch.tma_pipeline(copies, k_0, stages, specialize)
    return sch


def warpgroups(
    size: tuple[int, int, int] = (128, 64, 128),
    stages: int = 3,
    specialize: bool = True,
    tile: tuple[int, int, int] = (128, 64, 64),
    dtype: str = "float16",
    turned: str = "",
    swizzle: bool = True,
    pipeline: bool = True,
    sums: str = "wgmma.accumulator",
    threads: str = "threadIdx.y",
) -> Schedule:
    """Each warpgroup computes 64 rows of a tile."""
    sch = Schedule(product(*size, dtype, turned))
    i, j, k = sch.get_loops("C")
    i_0, i_1, i_2 = sch.split(i, [None, tile[0] // 64, 64])
    j_0, j_1 = sch.split(j, [None, tile[1]])
    k_0, k_1 = sch.split(k, [None, tile[2]])
    sch.reorder(i_0, j_0, i_1, k_0, k_1, i_2, j_1)
    copies = [sch.cache_read("C", operand, "shared") for operand in "AB"]
    sch.reverse_compute_at(sch.cache_write("C", 0, sums), i_1)
    for loop, axis in ((i_0, "blockIdx.y"), (j_0, "blockIdx.x"), (i_1, threads)):
        sch.bind(loop, axis)
    for copy in copies:
        sch.compute_at(copy, k_0)
        if swizzle:
            sch.swizzle(copy, 0)
    sch.decompose_reduction("C", k_0)
    if pipeline:
        sch.tma_pipeline(copies, k_0, stages, specialize)
    return sch
