"""Dimensions of a region that a view keeps; unit dimensions are dropped from the left."""

import pytest
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.dialect.analysis import kept_dims


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
    main = program(
        "A:4x16x3 C:4x16x3; B:4x16x3",
        each("B:4x16x3", "B[vi, vj, vk] = A[vi, vj, vk]"),
        each(
            "C i:4 k:3",
            "V = T.match_buffer(B[vi, 0:16, vk], (1, 16))",
            each("row j:16", "C[vi, vj, vk] = V[0, vj] * 2.0"),
        ),
    )
    sch = Schedule(main)
    sch.set_scope("B", 0, "global.fast")
    assert "T.reads(B_global_fast[vi, 0:16, vk])" in sch.mod.script()
