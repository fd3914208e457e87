"""A user's file: a function, its schedule, the library."""

import numpy as np

from tir_mlir import IndexMap, Schedule, build, interpret, schedules
from tir_mlir.script import tir as T

N = 64


@T.prim_func
def matmul(A: T.Buffer((N, N), "float32"), B: T.Buffer((N, N), "float32"), C: T.Buffer((N, N), "float32")):
    T.func_attr({"global_symbol": "matmul", "tir.noalias": True})
    for i, j, k in T.grid(N, N, N):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0.0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]


@T.prim_func
def scaled(a: T.handle, b: T.handle, factor: T.float32):
    n = T.int32()
    A = T.match_buffer(a, (n, 16), "float32")
    B = T.match_buffer(b, (n, 16), "float32")
    Y = T.alloc_buffer((n, 16), "float32")
    for i, j in T.grid(n, 16):
        with T.block("Y"):
            vi = T.axis.spatial(n, i)
            vj = T.axis.spatial(16, j)
            Y[vi, vj] = T.exp(A[vi, vj]) * factor
    for i, j in T.grid(n, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(Y[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = T.max(Y[vi, vj], T.float32(0)) + T.Select(vi > 2, 1.0, T.cast(vj, "float32"))


def scheduled() -> Schedule:
    sch = Schedule(matmul)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i_0, i_1 = sch.split(i, factors=[None, 8])
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(i_0, j_0, k, i_1, j_1)
    sch.vectorize(j_1)
    sch.unroll(i_1)
    sch.parallel(i_0)
    cached = sch.cache_write(block, 0, "local")
    sch.reverse_compute_at(cached, j_0)
    init = sch.decompose_reduction("C", k)
    sch.annotate(init, "note", {"from": "matmul"})
    if sch.can_fuse(i_0, j_0):
        print(sch.fuse(i_0, j_0))
    print(sch.get(k).extent, sch.mod.script(), sch.trace.as_json())
    sch.show()
    return sch


def relaid() -> Schedule:
    sch = Schedule(matmul, seed=3)
    sch.transform_layout("C", ("write", 0), lambda i, j: [i // 8, j, i % 8])
    sch.transform_layout("C", ("read", 0), IndexMap.from_func(lambda i, j: [j, i]))
    tile = sch.sample_perfect_tile(sch.get_loops("C")[0], n=2, max_innermost_factor=16)
    sch.split(sch.get_loops("C")[0], tile)
    sch.undo()
    return sch


def main() -> None:
    sch = scheduled()
    assert sch.verify()
    a, b = np.random.default_rng(0).random((2, N, N), dtype=np.float32)
    c = np.empty((N, N), dtype=np.float32)
    lib = build(sch)
    lib(a, b, c)
    lib["main"](a, b, c)
    lib.main(a, b, c)
    print(lib.timing, lib.assembly, lib.functions)
    interpret(matmul, a, b, c)
    matmul.show()
    print(matmul.script(), matmul.attrs)
    other = Schedule(matmul)
    schedules.gemm(other, "C")
    build(other, driver="tools").export("matmul.so")
    build(scaled)


if __name__ == "__main__":
    main()
