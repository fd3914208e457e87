"""Updates of elements that data choose: scatters, and histograms of blocks in shared memory."""

from __future__ import annotations

from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule

SCATTER = main("X:{n}x{w}:{dtype} P:{n}:int32 Y:5x{w}:{dtype}",
               each("zero i:5 j:{w}", "Y[vi, vj] = T.{dtype}(0)"),
               each("add i:{n}R j:{w}", "Y[P[vi], vj] += X[vi, vj]"))  # fmt: skip

PRIVATE = """@T.prim_func
def f(X: T.Buffer(({n},), "int32"), H: T.Buffer((70,), "int32")):
    for i in T.thread_binding(70, thread="blockIdx.x"):
        with T.block("zero"):
            vi = T.axis.spatial(70, i)
            H[vi] = 0
    for b in T.thread_binding(3, thread="blockIdx.x"):
        with T.block("part"):
            vb = T.axis.reduce(3, b)
            S = T.alloc_buffer((70,), "int32", scope="shared")
            for t in T.thread_binding(70, thread="threadIdx.x"):
                with T.block("clear"):
                    vt = T.axis.spatial(70, t)
                    S[vt] = 0
            for t in T.thread_binding(64, thread="threadIdx.x"):
                for k in range({k}):
                    with T.block("count"):
                        vi = T.axis.reduce({n}, vb * (64 * {k}) + k * 64 + t)
                        T.where(vb * (64 * {k}) + k * 64 + t < {n})
                        S[X[vi]] += 1
            BETWEEN
            for t in T.thread_binding(70, thread="threadIdx.x"):
                with T.block("H"):
                    vt = T.axis.spatial(70, t)
                    H[vt] += S[vt]
"""

WRITE = """            for t in T.thread_binding(70, thread="threadIdx.x"):
                with T.block("more"):
                    vt = T.axis.spatial(70, t)
                    S[vt] = 2 * S[vt]
"""
MAXIMA = """            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("more"):
                    vt = T.axis.reduce(64, t)
                    S[X[vt]] = T.max(S[X[vt]], 3)
"""
READ = """            for t in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("early"):
                    vt = T.axis.spatial(64, t)
                    H[vt] = S[X[vt]]
"""


def scatter(n: int, width: int, dtype: str = "float32") -> Schedule:
    return Schedule(parse(SCATTER.format(n=n, w=width, dtype=dtype)))


def private(n: int, between: str = "") -> Schedule:
    """Counts of a block in shared memory, which are added to those of all."""
    return Schedule(parse(PRIVATE.format(n=n, k=max(1, -(-n // 192))).replace("            BETWEEN\n", between)))
