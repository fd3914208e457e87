"""Fixes for refusals of buffers of kernels, and for warnings of those that are not in registers: each is followed."""

from __future__ import annotations

import warnings

import pytest
from harness.fix_rows import each_of
from harness.kernel_fixes import KernelRow, is_right
from programs.parsed import parse
from programs.short import each, main, nest, sblock
from programs.transposes import tiled

from tir_mlir import Schedule, build
from tir_mlir.passes.lower.registry import LoweringWarning

TWO = """@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    OUTSIDE
    for b in T.thread_binding(8, thread="blockIdx.x"):
        with T.block("row"):
            vb = T.axis.spatial(8, b)
            INSIDE
            for i in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("S"):
                    vi = T.axis.spatial(8, i)
                    S[vb, vi] = A[vb, vi]
            for j in T.thread_binding(8, thread="threadIdx.x"):
                with T.block("B"):
                    vj = T.axis.spatial(8, j)
                    B[vb, vj] = S[vb, vj]
"""


def through(scope: str, outside: bool = False) -> Schedule:
    """Rows copied by way of a buffer that is allocated in the blocks, or outside of them."""
    alloc = f'S = T.alloc_buffer((8, 8), scope="{scope}")'
    text = TWO.replace("OUTSIDE" if outside else "INSIDE", alloc)
    return Schedule(parse(text.replace("    OUTSIDE\n", "").replace("            INSIDE\n", "")))


ROWS_OF_N = """@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (8, n), "float32")
    B = T.match_buffer(b, (8, n), "float32")
    for i in T.thread_binding(8, thread="blockIdx.x"):
        with T.block("row"):
            vi = T.axis.spatial(8, i)
            S = T.alloc_buffer((n,), scope="shared")
            for j in range(n):
                with T.block("S"):
                    vj = T.axis.spatial(n, j)
                    S[vj] = A[vi, vj]
            for j in range(n):
                with T.block("B"):
                    vj = T.axis.spatial(n, j)
                    B[vi, vj] = S[vj]
"""


def by_tiles() -> Schedule:
    """The same for tiles of 16."""
    sch = Schedule(parse(main("A:8xn B:8xn", nest("i:8 j:n", sblock("B", "vi:8=i vj:n=j", "B[vi, vj] = A[vi, vj]")))))
    copy = sch.cache_read("B", 0, "shared")
    row, column = sch.get_loops("B")
    outer, _ = sch.split(column, [None, 16])
    sch.bind(row, "blockIdx.x")
    sch.compute_at(copy, outer)
    return sch


def turned(n: int, tile: int = 0) -> Schedule:
    """B[i] = A[n - 1 - i] by way of shared memory: all of A, or tiles."""
    sch = Schedule(parse(main(f"A:{n} B:{n}", each(f"B i:{n}", f"B[vi] = A[{n - 1} - vi]"))))
    copy = sch.cache_read("B", 0, "shared")
    outer, inner = sch.split(sch.get_loops("B")[0], [None, tile or n])
    sch.bind(outer, "blockIdx.x")
    sch.compute_at(copy, outer)
    for loop in (sch.split(inner, [None, 128])[1], sch.split(sch.get_loops(copy)[-1], [None, 128])[1]):
        sch.bind(loop, "threadIdx.x")
    return sch


def turned_by_each() -> Schedule:
    """The same with a copy for each thread."""
    n = 12544
    sch = Schedule(parse(main(f"A:{n} B:{n}", each(f"B i:{n}", f"B[vi] = A[{n - 1} - vi]"))))
    copy = sch.cache_read("B", 0, "local")
    outer, inner = sch.split(sch.get_loops("B")[0], [None, 128])
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")
    sch.compute_at(copy, inner)
    return sch


STRIDED = """@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int32()
    s = T.int32()
    A = T.match_buffer(a, (8, n), "float32"STRIDES)
    B = T.match_buffer(b, (8, n), "float32")
    for i in T.thread_binding(8, thread="threadIdx.x"):
        for j in range(n):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
"""
OF_CONSTANT = main("A:8x16 B:8x16", nest("i:8 j:16", sblock("B", "SS i j", "B[vi, vj] = A[vi, vj]")))


def strided(strides: str) -> Schedule:
    text = STRIDED.replace("STRIDES", strides)
    return Schedule(parse(text if strides else text.replace("    s = T.int32()\n", "")))


def with_strides() -> Schedule:
    text = STRIDED.replace("STRIDES", ", strides=[64, 1]").replace("    s = T.int32()\n", "")
    return Schedule(parse(text.replace("    n = T.int32()\n", "").replace("n)", "16)")))


LOCAL = """@T.prim_func
def f(a: T.handle, I: T.Buffer((8,), "int32"), B: T.Buffer((64, 8), "float32")):
    n = T.int32()
    A = T.match_buffer(a, (64, n), "float32")
    for t in T.thread_binding(64, thread="threadIdx.x"):
        with T.block("row"):
            vt = T.axis.spatial(64, t)
            L = T.alloc_buffer((8,), "float32", scope="local")
            for k in range(8):
                L[k] = T.float32(1)
            BODY
"""


def local(body: str) -> Schedule:
    return Schedule(parse(LOCAL.replace("BODY", body)))


def in_registers(sch: Schedule) -> None:
    """Check that no buffer remains in memory, and the result."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", LoweringWarning)
        build(sch, target="sm_80", cache=False)
    is_right(sch)


def swizzled(tile: tuple[int, int], vector: int = 1) -> Schedule:
    """A transpose by tiles in shared memory with permuted addresses."""
    sch = tiled(tile, vector=vector)
    sch.swizzle("A_shared", 0)
    return sch


ROWS = [
    KernelRow("addresses that cannot be permuted", lambda: swizzled((64, 64), 2),
              "vectorize fewer elements of its accesses, or use tiles whose sizes are powers of two",
              (lambda: swizzled((64, 64)), lambda: swizzled((32, 32), 2))),
    KernelRow("sizes that are not powers of two", lambda: swizzled((24, 32)),
              "vectorize fewer elements of its accesses, or use tiles whose sizes are powers of two",
              (lambda: swizzled((32, 32)),)),
    KernelRow("a buffer of a kernel in global memory", lambda: through("global"),
              "set_scope to shared (one copy a block) or local (one a thread), or allocate it outside of the bound "
              "loops",
              (lambda: through("shared"), lambda: through("local"), lambda: through("global", outside=True))),
    KernelRow("a buffer of a size that a call gives", lambda: Schedule(parse(ROWS_OF_N)),
              "split the loops by constants, so that a tile has one", (by_tiles,)),
    KernelRow("too large for a block", lambda: turned(57 << 10), "use smaller tiles, or keep a part in scope local",
              (lambda: turned(12544, 256), turned_by_each)),
    KernelRow("strides that a call gives", lambda: strided(", strides=[s, 1]"),
              "declare it row-major, or with constant strides", (lambda: strided(""), with_strides)),
    KernelRow("a local buffer at an index that is data",
              lambda: local("for k in range(8): B[vt, k] = L[I[k] % 8]"), "fix: index it by unrolled loops only",
              (lambda: local("for k in T.unroll(8): B[vt, k] = L[k]"),), accepts=in_registers, warns=True),
    KernelRow("a local buffer in a loop over a size",
              lambda: local("for k in range(T.min(n, 8)): B[vt, k] = L[k]"),
              "split it by a constant and keep the buffer inside of the outer loop",
              (lambda: local("for k in range(8):\n                if k < n: B[vt, k] = L[k]"),),
              accepts=in_registers, warns=True),
]  # fmt: skip


@pytest.mark.few(1)
@each_of(ROWS)
def test_the_way_out(row):
    row.follow()
