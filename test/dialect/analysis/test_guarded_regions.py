"""Predicates of nested blocks narrow the regions of the blocks around them, and what steps copy."""

import numpy as np
import pytest
from programs.short import main, nest, sblock

from tir_mlir import Schedule, interpret
from tir_mlir.script.parser import parse

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
