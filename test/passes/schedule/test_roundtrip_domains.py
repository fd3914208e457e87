"""Scheduled programs round-trip through TVMScript: padded sums, their epilogues, int64 indices."""

import pytest
from harness.schedules import reads_back
from programs.short import each, main

from tir_mlir import Schedule
from tir_mlir.script.parser import parse

PADDED_SUM = main("P:5x2 C:1", each("C o:1 i:5R k:2R", "C[vo] = C[vo] + P[vi, vk]", init="C[vo] = T.float32(0)"))


def test_the_domain_of_an_iter_shrinks_to_the_use_of_its_epilogue():
    """`pad_einsum` made it 4; only the first is computed, where it is copied back."""
    sch = Schedule(parse(PADDED_SUM))
    sch.pad_einsum("C", [4, 1, 1])
    sch.compute_at("C", sch.get_loops("C_pad")[0])
    sch.fuse_reduction_epilogue("C", "C_pad")
    assert "C_pad = " not in sch.mod.script()
    reads_back(sch)
    assert sch.verify()


def test_a_quotient_that_is_not_to_be_more_than_0():
    """`either` makes such conditions, but this one says nothing of two."""
    sch = Schedule(parse(PADDED_SUM))
    outer = sch.split(sch.get_loops("C")[0], [None, 2])
    sch.fuse(*outer, sch.get_loops("C")[2])
    assert "T.where(o_0_o_1_i_fused // 5 < 1)" in sch.mod.script()
    reads_back(sch)
    assert sch.verify()


PADDED_ROW = main("P:15x2 C:15", each("C i:15 k:2R", "C[vi] = C[vi] + P[vi, vk]", init="C[vi] = T.float32(0)"))


def test_the_domain_of_an_iter_in_a_where_is_cut_too():
    sch = Schedule(parse(PADDED_ROW))
    sch.pad_einsum("C", [16, 1])
    sch.compute_at("C", sch.get_loops("C_pad")[0])
    sch.fuse_reduction_epilogue("C", "C_pad")
    reads_back(sch)
    assert sch.verify()


LOOKED_UP = main("I:4:{dtype} A:64 C:4x2", each("C:4x2", "C[vi, vj] = A[{index}]"))


@pytest.mark.parametrize("index", ["I[vi]", "I[vi] + vj", "(I[vi] * 2 + vj) // 3", "T.min(I[vi], vj)"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_indices_that_are_int64_numbers(dtype, index):
    """The map of the layout counts in `index`; in the text all that meets an int64 number is one."""
    sch = Schedule(parse(LOOKED_UP.format(dtype=dtype, index=index)))
    sch.transform_layout("C", ("read", 0), lambda i: (i // 4, i % 4), assume_injective_transform=True)
    assert ("T.int64(4)" in sch.mod.script()) == (dtype == "int64")
    reads_back(sch)
