"""Dimensions of a region that a view keeps; unit dimensions are dropped from the left."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.dialect.analysis import kept_dims
from tir_mlir.script import tir as T


@pytest.mark.parametrize(
    ("shape", "sizes", "kept"),
    [
        ((1, 16), (1, 16, 1), [0, 1]),
        ((16, 1), (1, 16, 1), [1, 2]),
        ((16,), (1, 16, 1), [1]),
        ((1, 16), (1, 1, 16), [1, 2]),
        ((), (1, 1), []),
        ((4, 16), (4, 16), [0, 1]),
        ((8, 16), (4, 16), None),
        ((16,), (2, 16), None),
    ],
)
def test_the_dimensions_a_view_keeps(shape, sizes, kept):
    assert kept_dims(shape, sizes) == kept


def test_a_view_that_leaves_a_middle_dimension_out_follows_its_source():
    @T.prim_func
    def main(A: T.Buffer((4, 16, 3), "float32"), C: T.Buffer((4, 16, 3), "float32")):
        B = T.alloc_buffer((4, 16, 3))
        for i, j, k in T.grid(4, 16, 3):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                B[vi, vj, vk] = A[vi, vj, vk]
        for i, k in T.grid(4, 3):
            with T.block("C"):
                vi, vk = T.axis.remap("SS", [i, k])
                V = T.match_buffer(B[vi, 0:16, vk], (1, 16))
                for j in range(16):
                    with T.block("row"):
                        vj = T.axis.spatial(16, j)
                        C[vi, vj, vk] = V[0, vj] * 2.0

    sch = Schedule(main)
    sch.set_scope("B", 0, "global.fast")
    assert "T.reads(B_global_fast[vi, 0:16, vk])" in sch.mod.script()
