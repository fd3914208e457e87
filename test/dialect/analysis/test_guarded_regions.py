"""Regions under the predicates of nested blocks; dimensions that a view keeps, unit ones are dropped from the left."""

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule, interpret
from tir_mlir.dialect.analysis import kept_dims

NESTED = main(
    "A:16 C:16",
    nest(
        "i:{outer}",
        sblock(
            "outer",
            "vo:{outer}=i",
            nest("j:16", sblock("inner", "vi:16=j", "C[vi] = A[vi] + T.float32(1)", where="{holds}")),
        ),
    ),
)


@pytest.mark.parametrize(
    ("outer", "holds", "region", "count"),
    [
        (1, "j < 14", "0:14", 14),
        (4, "vo * 4 <= j and j < vo * 4 + 4", "vo * 4:vo * 4 + 4", 16),
        (1, "j >= 3", "3:16", 13),
    ],
)
def test_the_predicate_of_a_nested_block(outer, holds, region, count):
    sch = Schedule(parse(NESTED.format(outer=outer, holds=holds)))
    assert f"T.reads(A[{region}])" in sch.mod.script() and f"T.writes(C[{region}])" in sch.mod.script()
    sch.cache_read("inner", 0, "local")
    assert sch.verify()
    a, c = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    interpret(sch.mod, a, c)
    assert (c != 0).sum() == count
    np.testing.assert_array_equal(c[c != 0], a[c != 0] + 1)


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
