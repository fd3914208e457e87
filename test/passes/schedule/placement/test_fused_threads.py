"""A cooperative fetch whose grid, virtual threads and threads are all fused: every step is decided, by digits."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleError
from tir_mlir.examples.matmul import matmul
from tir_mlir.script import IRModule

ORDERS = ((0, 1, 2), (2, 1, 0), (1, 2, 0))


def cooperative_fetch(n: int, k: int, order=(0, 1, 2), threads: int = 8, each: int = 8) -> Schedule:
    """The steps of a tiled product on a GPU: tiles of 2 x threads x each rows, fetched together by fused threads."""
    sch = Schedule(matmul(n, n, k))
    block = sch.get_child_blocks(sch.get_block("root"))[0]
    back = sch.cache_write(block, 0, "local")
    fetches = [sch.cache_read(block, operand, "shared") for operand in (0, 1)]
    i, j, r = sch.get_loops(block)
    (by, vy, ty, yi), (bx, vx, tx, xi) = (sch.split(loop, [None, 2, threads, each]) for loop in (i, j))
    k_0, k_1 = sch.split(r, [None, 8])
    sch.reorder(by, bx, vy, vx, ty, tx, k_0, k_1, yi, xi)
    pairs, fused = ((by, bx), (vy, vx), (ty, tx)), {}
    for number in order:
        fused[number] = sch.fuse(*pairs[number])
    sch.reverse_compute_at(back, fused[2])
    for number, tag in enumerate(("blockIdx.x", "vthread.x", "threadIdx.x")):
        sch.bind(fused[number], tag)
    for fetch in fetches:
        sch.compute_at(fetch, k_0)
        _, lanes, vector = sch.split(sch.fuse(*sch.get_loops(fetch)[-2:]), [None, threads * threads, each // 2])
        sch.bind(lanes, "threadIdx.x")
        sch.vectorize(vector)
    sch.decompose_reduction(block, k_0)
    return sch


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.nightly
def test_every_order_of_the_fusions_is_proved(order):
    assert "blockIdx.x" in cooperative_fetch(1024, 1024, order).mod.script()


@pytest.mark.parametrize("n", [32, 24])
def test_results(n):
    sch = cooperative_fetch(n, 24, threads=4, each=2)
    a, b = np.random.default_rng(0).random((2, n, 24), dtype=np.float32)
    c = np.zeros((n, n), np.float32)
    quick_build(sch)(a, b, c)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-5)
    assert sch.verify()


@pytest.mark.parametrize("offset", [1, 8])
def test_a_fused_tile_with_an_element_missing_is_refused(offset):
    """Elements of the last rows of a tile are read that no thread of it computes."""
    sch = Schedule(shifted(offset))
    i, j = sch.get_loops("T")
    i_0, i_1 = sch.split(i, [None, 8])
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(i_0, j_0, i_1, j_1)
    sch.fuse(i_1, j_1)
    with pytest.raises(ScheduleError, match=r"not written yet|would not run at all"):
        sch.reverse_compute_at("B", sch.fuse(i_0, j_0))


def shifted(offset: int) -> IRModule:
    return program(
        f"A:64x64 B:{64 - offset}x64; X:64x64",
        each("T:64x64", "X[vi, vj] = A[vi, vj] + 1.0"),
        each(f"B i:{64 - offset} j:64", f"B[vi, vj] = X[vi, vj] + X[vi + {offset}, vj]"),
    )
