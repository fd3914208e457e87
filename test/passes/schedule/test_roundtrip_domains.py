"""Scheduled programs round-trip through TVMScript: padded sums, their epilogues, int64 indices."""

from __future__ import annotations

import pytest
from harness.schedules import reads_back

from tir_mlir import Schedule
from tir_mlir.script.parser import parse

PADDED_SUM = """
@T.prim_func
def main(P: T.Buffer((5, 2), "float32"), C: T.Buffer((1,), "float32")):
    for o, i, k in T.grid(1, 5, 2):
        with T.block("C"):
            vo, vi, vk = T.axis.remap("SRR", [o, i, k])
            with T.init():
                C[vo] = T.float32(0)
            C[vo] = C[vo] + P[vi, vk]
"""


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


PADDED_ROW = """
@T.prim_func
def main(P: T.Buffer((15, 2), "float32"), C: T.Buffer((15,), "float32")):
    for i, k in T.grid(15, 2):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + P[vi, vk]
"""


def test_the_domain_of_an_iter_in_a_where_is_cut_too():
    sch = Schedule(parse(PADDED_ROW))
    sch.pad_einsum("C", [16, 1])
    sch.compute_at("C", sch.get_loops("C_pad")[0])
    sch.fuse_reduction_epilogue("C", "C_pad")
    reads_back(sch)
    assert sch.verify()


LOOKED_UP = """
@T.prim_func
def main(I: T.Buffer((4,), "{dtype}"), A: T.Buffer((64,), "float32"), C: T.Buffer((4, 2), "float32")):
    for i, j in T.grid(4, 2):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[{index}]
"""


@pytest.mark.parametrize("index", ["I[vi]", "I[vi] + vj", "(I[vi] * 2 + vj) // 3", "T.min(I[vi], vj)"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_indices_that_are_int64_numbers(dtype, index):
    """The map of the layout counts in `index`; in the text all that meets an int64 number is one."""
    sch = Schedule(parse(LOOKED_UP.format(dtype=dtype, index=index)))
    sch.transform_layout("C", ("read", 0), lambda i: (i // 4, i % 4), assume_injective_transform=True)
    assert ("T.int64(4)" in sch.mod.script()) == (dtype == "int64")
    reads_back(sch)
