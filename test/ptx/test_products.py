"""A kernel of many threads with tiles in shared memory, all checks on."""

from __future__ import annotations

import numpy as np
from programs.gpu_programs import bind
from programs.products import product

from fuzzing.kernels.machine import on_machine
from tir_mlir import Schedule


def tiled(n: int) -> Schedule:
    """C = A @ B by tiles of 64 x 64 in shared memory, 4 x 4 sums a thread."""
    sch = Schedule(product(n, n, n))
    block = sch.get_block("C")
    back = sch.cache_write(block, 0, "local")
    i, j, k = sch.get_loops(block)
    (i0, i1, i2), (j0, j1, j2) = sch.split(i, [None, 16, 4]), sch.split(j, [None, 16, 4])
    k0, k1 = sch.split(k, [None, 16])
    sch.reorder(i0, j0, i1, j1, k0, k1, i2, j2)
    sch.reverse_compute_at(back, j1)
    bind(sch, blockIdx_y=i0, blockIdx_x=j0, threadIdx_y=i1, threadIdx_x=j1)
    for operand in (0, 1):
        copy = sch.cache_read(block, operand, "shared")
        sch.compute_at(copy, k0)
        _, y, x, lanes = sch.split(sch.fuse(*sch.get_loops(copy)[-2:]), [None, 16, 16, 4])
        sch.vectorize(lanes)
        bind(sch, threadIdx_y=y, threadIdx_x=x)
        sch.compute_at(sch.cache_read(block, operand, "local"), k1)
    sch.decompose_reduction(block, k0)
    return sch


def test_a_product_of_16_blocks():
    """256^3 of f32, 4,096 threads."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 8, (256, 256)).astype(np.float32) for _ in range(2))
    c = np.zeros((256, 256), np.float32)
    (report,) = on_machine(tiled(256), [a, b, c])
    np.testing.assert_array_equal(c, a @ b)
    assert report.grid == (4, 4, 1) and report.block == (16, 16, 1)
