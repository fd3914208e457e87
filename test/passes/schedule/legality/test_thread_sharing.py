"""compute_at and read_at into memory shared by threads: cover the needs of all these threads."""

import pytest
from programs.parsed import parse

from tir_mlir import Schedule
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import equal

CONSUMER = """
        for bx in T.thread_binding(4, thread="blockIdx.x"):
            for ty in T.thread_binding(8, thread="{ty}"):
                for tx in T.thread_binding(8, thread="threadIdx.x"):
{body}
                    for j in range(4):
                        with T.block("C"):
                            vi = T.axis.spatial(32, bx * 8 + ty)
                            vj = T.axis.spatial(32, tx * 4 + j)
                            C[vi, vj] = B[vi, vj] + 1.0
"""
PRODUCER = """
        for i, j in T.grid(32, 32):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * 2.0
"""
HEAD = """
from tvm.script import ir as I
from tvm.script import tir as T
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
        B = T.alloc_buffer((32, 32), scope="{scope}")
"""
SHAPE = ((32, 32), "float32")


def program(scope: str, ty: str, body: str = "") -> str:
    return (HEAD + ("" if body else PRODUCER) + CONSUMER).format(scope=scope, ty=ty, body=body)


def part(rows: str, row: str, columns: str, column: str) -> str:
    """The producer under the threads."""
    loops = [(n, extent) for n, extent in (("ax0", rows), ("ax1", columns)) if extent]
    pad = " " * 20
    grid = f"{', '.join(n for n, _ in loops)} in T.grid({', '.join(e for _, e in loops)})"
    return (
        f'{pad}for {grid}:\n{pad}    with T.block("B"):\n{pad}        vi = T.axis.spatial(32, {row})\n'
        f"{pad}        vj = T.axis.spatial(32, {column})\n{pad}        B[vi, vj] = A[vi, vj] * 2.0"
    )


ONE = part("", "bx * 8 + ty", "4", "tx * 4 + ax1")
ROW = part("", "bx * 8 + ty", "32", "ax1")
TILE = part("8", "bx * 8 + ax0", "32", "ax1")


@pytest.mark.parametrize(
    ("scope", "ty", "expected"),
    [
        ("global", "threadIdx.y", ONE),
        ("local", "threadIdx.y", ONE),
        ("warp", "threadIdx.y", ROW),
        ("shared", "threadIdx.y", TILE),
        ("shared.dyn", "threadIdx.y", TILE),
        ("shared", "vthread.y", TILE),
        ("shared", "vthread", TILE),
        ("shared", "blockIdx.y", ROW),
        ("global.tile", "threadIdx.y", ONE),
    ],
)
def test_which_threads_count(scope, ty, expected, same_result):
    sch = Schedule(parse(program(scope, ty)))
    before = sch.mod
    sch.compute_at("B", sch.get_loops("C")[2])
    assert equal(sch.mod.mlir, parse(program(scope, ty, expected)).mlir, names=False)
    same_result(sch, before, SHAPE, SHAPE)


def test_threads_beneath_the_loop_are_relaxed_as_ever(same_result):
    sch = Schedule(parse(program("local", "threadIdx.y")))
    before = sch.mod
    sch.compute_at("B", sch.get_loops("C")[0])
    assert [sch.get(lp).extent for lp in sch.get_loops("B")] == [4, 8, 32]
    same_result(sch, before, SHAPE, SHAPE)


@T.prim_func
def fused_threads(A: T.Buffer((32, 32), "float32"), C: T.Buffer((30, 32), "float32")):
    B = T.alloc_buffer((32, 32), scope="shared")
    for i, j in T.grid(32, 32):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0
    for bx in T.thread_binding(4, thread="blockIdx.x"):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            for j in range(4):
                with T.block("C"):
                    T.where(bx * 8 + tx // 8 < 30)
                    vi = T.axis.spatial(30, bx * 8 + tx // 8)
                    vj = T.axis.spatial(32, tx % 8 * 4 + j)
                    C[vi, vj] = B[vi, vj] + 1.0


def test_one_loop_over_all_threads(same_result):
    sch = Schedule(fused_threads)
    before = sch.mod
    sch.compute_at("B", sch.get_loops("C")[1])
    assert [sch.get(lp).extent for lp in sch.get_loops("B")] == [4, 64, 8, 32]
    assert "vi = T.axis.spatial(32, bx * 8 + ax0)" in sch.mod.script()
    same_result(sch, before, SHAPE, ((30, 32), "float32"))


def test_read_at_copies_for_all_threads(same_result):
    sch = Schedule(fused_threads)
    before = sch.mod
    sch.read_at(sch.get_loops("C")[1], "C", 0, "shared")
    text = sch.mod.script()
    assert "v0 = T.axis.spatial(4, bx)" in text and "T.reads(B[v0 * 8:v0 * 8 + 8, 0:32])" in text
    same_result(sch, before, SHAPE, ((30, 32), "float32"))
    own = Schedule(fused_threads)
    own.read_at(own.get_loops("C")[1], "C", 0, "local")
    assert "T.axis.remap" in own.mod.script() and "v1 // 8" in own.mod.script()
    same_result(own, before, SHAPE, ((30, 32), "float32"))


@T.prim_func
def product(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    for i, j, k in T.grid(32, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]


@pytest.mark.slow
def test_threads_fetch_together(same_result):
    """The tiled product of GPU courses: each thread loads its share of the tiles in shared memory."""
    sch = Schedule(product)
    before = sch.mod
    block = sch.get_block("C")
    back = sch.cache_write(block, 0, "local")
    i, j, k = sch.get_loops(block)
    i_0, i_1, i_2 = sch.split(i, [None, 4, 4])
    j_0, j_1, j_2 = sch.split(j, [None, 4, 4])
    k_0, k_1 = sch.split(k, [None, 4])
    sch.reorder(i_0, j_0, i_1, j_1, k_0, k_1, i_2, j_2)
    sch.reverse_compute_at(back, j_1)
    sch.bind(i_0, "blockIdx.y")
    sch.bind(j_0, "blockIdx.x")
    sch.bind(sch.fuse(i_1, j_1), "threadIdx.x")
    for operand in (0, 1):
        fetch = sch.cache_read(block, operand, "shared")
        sch.compute_at(fetch, k_0)
        loops = sch.get_loops(fetch)[-2:]
        assert [sch.get(lp).extent for lp in loops] == ([16, 4], [4, 16])[operand]
        _, thread, lane = sch.split(sch.fuse(*loops), [None, 16, 2])
        sch.vectorize(lane)
        sch.bind(thread, "threadIdx.x")
    sch.decompose_reduction(block, k_0)
    same_result(sch, before, SHAPE, SHAPE, SHAPE)
