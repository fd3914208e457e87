"""The product in float32 that was measured on an H200 (docs/gpu/run.md), as `schedules.gemm` made it then."""

from __future__ import annotations

from programs.products import product

from tir_mlir import Schedule

M, N, K = 64, 128, 16
"""Rows, columns and terms of the sums of a block of 8 x 16 threads."""


def measured(n: int) -> Schedule:
    """C = A B of n x n elements: tiles in shared memory, terms first, and 2 x 2 groups of 4 x 4 sums a thread."""
    sch = Schedule(product(n, n, n))
    block = sch.get_block("C")
    back = sch.cache_write(block, 0, "local")

    def digits(i, j):
        return (i // M, j // N, i % 32 // 4, j % 64 // 4, i % M // 32, i % 4, j % N // 64, j % 4)

    sch.transform_block_layout(back, digits)
    sch.transform_layout(block, ("write", 0), digits)
    i, j, k = sch.get_loops(block)
    i0, i1, i2, i3 = sch.split(i, [None, 2, 8, 4])
    j0, j1, j2, j3 = sch.split(j, [None, 2, 16, 4])
    k0, k1 = sch.split(k, [None, K])
    sch.reorder(i0, j0, i2, j2, k0, k1, i1, i3, j1, j3)
    for loop, axis in ((i0, "blockIdx.y"), (j0, "blockIdx.x"), (i2, "threadIdx.y"), (j2, "threadIdx.x")):
        sch.bind(loop, axis)
    sch.reverse_compute_at(back, j2)
    sch.vectorize(sch.get_loops(back)[-1])
    for operand, terms_first in (("A", False), ("B", True)):
        copy = sch.cache_read(block, operand, "shared")
        sch.compute_at(copy, k0)
        if not terms_first:
            sch.transform_layout(copy, ("write", 0), lambda i, k: (k, i))
            sch.storage_align(copy, 0, 0, 32, 4)
        _, y, x, lanes = sch.split(sch.fuse(*sch.get_loops(copy)[-2:]), [None, 8, 16, 4])
        sch.bind(y, "threadIdx.y")
        sch.bind(x, "threadIdx.x")
        sch.vectorize(lanes)
    sch.decompose_reduction(block, k0)
    sch.unroll(k1)
    return sch
