"""Scheduled programs for GPUs: each a `Schedule` whose nests are bound to blocks and threads."""

from __future__ import annotations

from programs.parsed import parse
from programs.products import product as plain_product
from programs.short import each, main, nest, sblock

from tir_mlir import Schedule, schedules
from tir_mlir.schedule.handles import BlockHandle, LoopHandle


def bind(sch: Schedule, **axes: LoopHandle) -> None:
    """`bind(sch, blockIdx_x=i, threadIdx_x=j)`."""
    for axis, loop in axes.items():
        sch.bind(loop, axis.replace("_", "."))


def bind_split(sch: Schedule, block: str | BlockHandle, threads: int) -> None:
    """Blocks of `threads` threads over the only loop of a block."""
    (loop,) = sch.get_loops(block)
    outer, inner = sch.split(loop, [None, threads])
    bind(sch, blockIdx_x=outer, threadIdx_x=inner)


def added(n: int, threads: int = 16) -> Schedule:
    """B = A + 1, one element a thread."""
    sch = Schedule(parse(main(f"A:{n} B:{n}", each(f"B i:{n}", "B[vi] = A[vi] + 1.0"), name="f")))
    bind_split(sch, "B", threads)
    return sch


SYMBOLIC = """
@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] + 1.0
"""
SYMBOLIC_ROWS = """
@T.prim_func
def f(a: T.handle, b: T.handle):
    n, m = T.int32(), T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (m, n), "float32")
    for i, j in T.grid(m, n):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vj, vi]
"""


def added_symbolic(threads: int = 16) -> Schedule:
    """The same for any size."""
    sch = Schedule(parse(SYMBOLIC))
    bind_split(sch, "B", threads)
    return sch


def transposed_symbolic() -> Schedule:
    """B = A.T for any sizes, 4 x 4 elements a block."""
    sch = Schedule(parse(SYMBOLIC_ROWS))
    i, j = sch.get_loops("B")
    (i0, i1), (j0, j1) = sch.split(i, [None, 4]), sch.split(j, [None, 4])
    sch.reorder(i0, j0, i1, j1)
    bind(sch, blockIdx_y=i0, blockIdx_x=j0, threadIdx_y=i1, threadIdx_x=j1)
    return sch


def transposed(n: int, tile: int = 32) -> Schedule:
    """B = A.T by tiles in shared memory, whose rows are padded."""
    sch = Schedule(parse(main(f"A:{n}x{n} B:{n}x{n}", each(f"B i:{n} j:{n}", "B[vi, vj] = A[vj, vi]"), name="f")))
    copy = sch.cache_read("B", 0, "shared")
    i, j = sch.get_loops("B")
    (i0, i1), (j0, j1) = sch.split(i, [None, tile]), sch.split(j, [None, tile])
    sch.reorder(i0, j0, i1, j1)
    bind(sch, blockIdx_y=i0, blockIdx_x=j0)
    sch.compute_at(copy, j0)
    rows, columns = sch.get_loops(copy)[-2:]
    bind(sch, threadIdx_y=i1, threadIdx_x=j1)
    bind(sch, threadIdx_y=rows, threadIdx_x=columns)
    sch.storage_align(copy, 0, 0, 32, 1)
    return sch


def two_nests(n: int, threads: int = 64) -> Schedule:
    """C = 2 T + reversed T, T = A + 1: two kernels, T between them."""
    text = main(
        f"A:{n} C:{n}; t:{n}",
        each(f"t i:{n}", "t[vi] = A[vi] + 1.0"),
        each(f"C i:{n}", f"C[vi] = t[vi] * 2.0 + t[{n - 1} - vi]"),
        name="f",
    )
    sch = Schedule(parse(text))
    for block in "tC":
        bind_split(sch, block, threads)
    return sch


def _row_sums(n: int, m: int) -> Schedule:
    body = nest(
        f"i:{n} k:{m}",
        sblock("B", f"vi:{n}=i vk:{m}R=k", "B[vi] = B[vi] + A[vi, vk]", init="B[vi] = 0.0"),
    )
    return Schedule(parse(main(f"A:{n}x{m} B:{n}", body, name="f")))


def row_sums_by_threads(n: int, m: int, threads: int = 32) -> Schedule:
    """The threads of a block sum a row together."""
    sch = _row_sums(n, m)
    i, k = sch.get_loops("B")
    _, inner = sch.split(k, [None, threads])
    bind(sch, blockIdx_x=i, threadIdx_x=inner)
    return sch


def row_sums_by_factors(n: int, m: int, threads: int = 32) -> Schedule:
    """Each thread sums a part of a row to shared memory, then they sum the parts."""
    sch = _row_sums(n, m)
    _, k = sch.get_loops("B")
    _, inner = sch.split(k, [None, threads])
    parts = sch.rfactor(inner, 0)
    sch.set_scope(parts, 0, "shared")
    row, last = sch.get_loops("B")
    bind(sch, blockIdx_x=row)
    sch.compute_at(parts, row)
    bind(sch, threadIdx_x=sch.get_loops(parts)[1])
    bind(sch, threadIdx_x=last)
    return sch


def softmax(n: int, m: int, threads: int = 64) -> Schedule:
    """A row by the threads of a block: its maximum, powers and their sum are in shared memory."""
    loops, iters = f"i:{n} k:{m}", f"vi:{n}=i vk:{m}R=k"
    text = main(
        f"A:{n}x{m} B:{n}x{m}; t:{n} e:{n}x{m} s:{n}",
        nest(loops, sblock("t", iters, "t[vi] = T.max(t[vi], A[vi, vk])", init="t[vi] = -3e38")),
        each(f"e i:{n} j:{m}", "e[vi, vj] = T.exp(A[vi, vj] - t[vi])"),
        nest(loops, sblock("s", iters, "s[vi] = s[vi] + e[vi, vk]", init="s[vi] = 0.0")),
        each(f"B i:{n} j:{m}", "B[vi, vj] = e[vi, vj] / s[vi]"),
        name="f",
    )
    sch = Schedule(parse(text))
    row, column = sch.get_loops("B")
    bind(sch, blockIdx_x=row, threadIdx_x=sch.split(column, [None, threads])[1])
    for block in ("s", "e", "t"):
        sch.set_scope(block, 0, "shared")
        sch.compute_at(block, row)
        bind(sch, threadIdx_x=sch.split(sch.get_loops(block)[-1], [None, threads])[1])
    return sch


def product(m: int, n: int, k: int) -> Schedule:
    """C = A @ B as `schedules.gemm` has it for a GPU."""
    sch = Schedule(plain_product(m, n, k))
    schedules.gemm(sch, "C", target="sm_80")
    return sch


def product_by_virtual_threads(n: int) -> Schedule:
    """C = A @ B, 16 x 16 elements a block of 4 x 4 threads, each of which is 2 x 2 virtual ones of 2 x 2 elements."""
    sch = Schedule(plain_product(n, n, n))
    block = sch.get_block("C")
    back = sch.cache_write(block, 0, "local")
    i, j, k = sch.get_loops(block)
    (i0, iv, i1, i2), (j0, jv, j1, j2) = sch.split(i, [None, 2, 4, 2]), sch.split(j, [None, 2, 4, 2])
    k0, k1 = sch.split(k, [None, 8])
    sch.reorder(i0, j0, iv, jv, i1, j1, k0, k1, i2, j2)
    bind(sch, blockIdx_y=i0, blockIdx_x=j0, threadIdx_y=i1, threadIdx_x=j1)
    sch.bind(iv, "vthread.y")
    sch.bind(jv, "vthread.x")
    sch.reverse_compute_at(back, j1)
    for operand in (0, 1):
        copy = sch.cache_read(block, operand, "shared")
        sch.compute_at(copy, k0)
        _, y, x, lanes = sch.split(sch.fuse(*sch.get_loops(copy)[-2:]), [None, 4, 4, 4])
        bind(sch, threadIdx_y=y, threadIdx_x=x)
        sch.vectorize(lanes)
    sch.decompose_reduction(block, k0)
    return sch


def convolution() -> Schedule:
    """3 x 3, 8 filters of 4 channels: the threads of a block fetch 4 x 10 x 10 elements together, with a tail."""
    body = nest(
        "f:8 h:8 w:8 c:4 r:3 q:3",
        sblock(
            "Y",
            "vf:8=f vh:8=h vw:8=w vc:4R=c vr:3R=r vq:3R=q",
            "Y[vf, vh, vw] = Y[vf, vh, vw] + X[vc, vh + vr, vw + vq] * W[vf, vc, vr, vq]",
            init="Y[vf, vh, vw] = 0.0",
        ),
    )
    sch = Schedule(parse(main("X:4x10x10 W:8x4x3x3 Y:8x8x8", body, name="f")))
    sums = sch.cache_write("Y", 0, "local")
    copies = [sch.cache_read("Y", operand, "shared") for operand in (0, 1)]
    f, h, w, c, r, q = sch.get_loops("Y")
    (f0, f1, f2), (c0, c1) = sch.split(f, [None, 2, 4]), sch.split(c, [None, 4])
    sch.reorder(f0, f1, h, w, c0, c1, r, q, f2)
    bind(sch, blockIdx_x=f0, threadIdx_z=f1, threadIdx_y=h, threadIdx_x=w)
    sch.reverse_compute_at(sums, w)
    for copy in copies:
        sch.compute_at(copy, c0)
        _, z, y, x = sch.split(sch.fuse(*sch.get_loops(copy)[5:]), [None, 2, 8, 8])
        bind(sch, threadIdx_z=z, threadIdx_y=y, threadIdx_x=x)
    sch.decompose_reduction("Y", c0)
    return sch
