"""Small programs whose loops are bound to blocks and threads."""

from __future__ import annotations

from typing import Any

from programs.parsed import parse

from tir_mlir import Schedule

_HEAD = "from tvm.script import tir as T\n@T.prim_func\n"
ADD_ONE = (
    _HEAD
    + """def add_one(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] + T.float32(1)
"""
)
MATMUL = (
    _HEAD
    + """def matmul(A: T.Buffer(({n}, {n}), "{dtype}"), B: T.Buffer(({n}, {n}), "{dtype}"),
           C: T.Buffer(({n}, {n}), "{dtype}")):
    for i, j, k in T.grid({n}, {n}, {n}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.{dtype}(0)
            C[vi, vj] += A[vi, vk] * B[vk, vj]
"""
)
TWO_STAGES = (
    _HEAD
    + """def two(A: T.Buffer((96,), "float32"), B: T.Buffer((96,), "float32")):
    M = T.alloc_buffer((96,), "float32")
    for i in range(96):
        with T.block("M"):
            vi = T.axis.spatial(96, i)
            M[vi] = A[vi] * T.float32(2)
    for i in range(96):
        with T.block("B"):
            vi = T.axis.spatial(96, i)
            B[vi] = M[95 - vi] + {last}
"""
)


def bound(sch: Schedule, block: str, threads: int) -> Schedule:
    """The first loop of a block over blocks and threads."""
    outer, inner = sch.split(sch.get_loops(block)[0], [None, threads])
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")
    return sch


def add_one(threads: int = 32) -> Schedule:
    """B = A + 1 for any length."""
    return bound(Schedule(parse(ADD_ONE)), "B", threads)


def two_stages(last: str = "T.float32(1)") -> Schedule:
    """Two kernels, with a buffer of the function between them."""
    return bound(bound(Schedule(parse(TWO_STAGES.format(last=last))), "M", 32), "B", 32)


def matmul(n: int = 32, tile: int = 8, dtype: str = "float32") -> Schedule:
    """A matmul with tiles of both operands in shared memory."""
    sch = Schedule(parse(MATMUL.format(n=n, dtype=dtype)))
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    parts: list[Any] = [sch.split(loop, [None, tile]) for loop in (i, j, k)]
    (i0, i1), (j0, j1), (k0, k1) = parts
    sch.reorder(i0, j0, i1, j1, k0, k1)
    for loop, kind in ((i0, "blockIdx.y"), (j0, "blockIdx.x"), (i1, "threadIdx.y"), (j1, "threadIdx.x")):
        sch.bind(loop, kind)
    for operand in (0, 1):
        fetch = sch.cache_read(block, operand, "shared")
        sch.compute_at(fetch, k0)
        y, x = sch.get_loops(fetch)[-2:]
        sch.bind(y, "threadIdx.y")
        sch.bind(x, "threadIdx.x")
    return sch
