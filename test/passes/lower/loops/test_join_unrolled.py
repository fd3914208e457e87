"""Long unrolled loops are joined with the loop around them, and LLVM unrolls them."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, build, te
from tir_mlir.target import host

ROWS = 16


def strips(length: int, factor: int) -> Schedule:
    """A product of `length` reduction steps, unrolled by `factor`, with a tile of sums."""
    columns = host().lanes(32)
    a, b = te.placeholder((ROWS, length), "float32", name="A"), te.placeholder((length, columns), "float32", name="B")
    r = te.reduce_axis((0, length), name="r")
    c = te.compute((ROWS, columns), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    sch = Schedule(te.create_prim_func([a, b, c]))
    sch.cache_write("C", 0, "local")
    i, j, k = sch.get_loops("C")
    k_0, k_1 = sch.split(k, [None, factor])
    sch.reorder(k_0, k_1, i, j)
    sch.decompose_reduction("C", k_0)
    sch.unroll(k_1)
    sch.unroll(i)
    sch.vectorize(j)
    return sch


@pytest.mark.parametrize("length", [1, 3, 4, 41, 64])
def test_every_length_gives_the_same_sums(length):
    lib = build(strips(length, 4), cache=False)
    rng = np.random.default_rng(length)
    a = rng.integers(-8, 8, (ROWS, length)).astype(np.float32)
    b = rng.integers(-8, 8, (length, host().lanes(32))).astype(np.float32)
    c = np.full((ROWS, b.shape[1]), np.nan, np.float32)
    lib["main"](a, b, c)
    assert np.array_equal(c, a @ b)


@pytest.mark.parametrize("factor", [2, 4])
def test_llvm_is_asked_for_the_factor(factor):
    assert f'"llvm.loop.unroll.count", i32 {factor}' in build(strips(41, factor), cache=False).llvm_ir


def test_the_lowering_makes_one_copy_of_the_body():
    assert build(strips(41, 4), cache=False).lowered.count("llvm.fmul") == ROWS
