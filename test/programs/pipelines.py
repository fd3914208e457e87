"""A product whose tiles are copied to shared memory some iterations before they are used."""

from __future__ import annotations

from tir_mlir import Schedule
from tir_mlir.script import tir as T


def product(m: int, n: int, k: int, dtype: str = "float32"):
    @T.prim_func
    def main(A: T.Buffer((m, k), dtype), B: T.Buffer((k, n), dtype), C: T.Buffer((m, n), "float32")):
        for i, j, r in T.grid(m, n, k):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] += T.Cast("float32", A[vi, vk]) * T.Cast("float32", B[vk, vj])

    return main


def pipelined(
    stages: int,
    shape: tuple[int, int, int] = (64, 64, 64),
    dtype: str = "float32",
    vector: int = 4,
    swizzle: bool = False,
) -> Schedule:
    """The product by 16 x 16 threads with 4 x 4 sums each, its tiles of 64 x 16 and 16 x 64 in `stages` planes."""
    sch = Schedule(product(*shape, dtype))
    i, j, k = sch.get_loops("C")
    (i_0, i_1, i_2), (j_0, j_1, j_2) = sch.split(i, [None, 16, 4]), sch.split(j, [None, 16, 4])
    k_0, k_1 = sch.split(k, [None, 16])
    sch.reorder(i_0, j_0, i_1, j_1, k_0, k_1, i_2, j_2)
    copies = [sch.cache_read("C", number, "shared") for number in range(2)]
    sch.reverse_compute_at(sch.cache_write("C", 0, "local"), j_1)
    for loop, axis in ((i_0, "blockIdx.y"), (j_0, "blockIdx.x"), (i_1, "threadIdx.y"), (j_1, "threadIdx.x")):
        sch.bind(loop, axis)
    for copy in copies:
        sch.compute_at(copy, k_0)
        _, y, x, lanes = sch.split(sch.fuse(*sch.get_loops(copy)[-2:]), [None, 16, 16, vector])
        sch.bind(y, "threadIdx.y")
        sch.bind(x, "threadIdx.x")
        if vector > 1:
            sch.vectorize(lanes)
    if swizzle:
        sch.swizzle(copies[0], 0)
    sch.decompose_reduction("C", k_0)
    if stages > 1:
        sch.double_buffer(copies, k_0, stages)
    return sch
