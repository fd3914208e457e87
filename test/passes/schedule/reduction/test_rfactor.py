"""rfactor: parts of a reduction in a nest of their own, for every combiner, shape and place, or the step is refused."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build
from programs.parsed import parse
from programs.reduction import SymbolicRowSums, row_sums
from programs.short import each, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference


def assert_same(sch: Schedule, expected) -> None:
    """The schedule's module is a hand-written one, but for names."""
    assert difference(sch.mod.mlir, expected.mlir, names=False) is None


# --- what it makes ----------------------------------------------------------------------------------------------------


def test_a_split_sum():
    Expected = program(
        "A:4x32 C:4; C_rf:8x4",
        nest(
            "i:4 k_0:4 k_1:8",
            sblock(
                "C_rf",
                "SSR k_1 i k_0",
                "T.reads(A[vi, vk_0 * 8 + vk_1])",
                "T.writes(C_rf[vk_1, vi])",
                "C_rf[vk_1, vi] = C_rf[vk_1, vi] + A[vi, vk_0 * 8 + vk_1]",
                init="C_rf[vk_1, vi] = 0.0",
            ),
        ),
        nest(
            "i:4 k_1:8",
            sblock(
                "C",
                "RS k_1 i",
                "T.reads(C_rf[vk_1, vi])",
                "T.writes(C[vi])",
                "C[vi] = C[vi] + C_rf[vk_1, vi]",
                init="C[vi] = 0.0",
            ),
        ),
    )
    sch = Schedule(row_sums(4, 32))
    block = sch.get_block("C")
    _, k = sch.get_loops(block)
    _, k_1 = sch.split(k, [None, 8])
    made = sch.rfactor(k_1, 0)
    assert_same(sch, Expected)
    assert (sch.get(made).name, sch.get(block).name) == ("C_rf", "C")
    assert [sch.get(lp).name for lp in sch.get_loops(made)] == ["i", "k_0", "k_1"]


def test_a_whole_reduction_has_no_init():
    Expected = program(
        "A:4x32 C:4; C_rf:4x32",
        nest("i:4 k:32", sblock("C_rf", "SS k i", "C_rf[vi, vk] = A[vi, vk]")),
        nest("i:4 k:32", sblock("C", "RS k i", "C[vi] = C[vi] + C_rf[vi, vk]", init="C[vi] = 0.0")),
    )
    sch = Schedule(row_sums(4, 32))
    sch.rfactor(sch.get_loops("C")[1], -1)
    assert_same(sch, Expected)


def test_other_reduce_iters_kinds_and_annotations_stay():
    Planes = program(
        "A:4x3x6 C:4",
        each("C i:4 j:3R k:6R", "T.block_attr({'mark': 1})", "C[vi] += A[vi, vj, vk]", init="C[vi] = 0.0"),
    )

    @I.ir_module
    class Expected:
        @T.prim_func
        def main(A: T.Buffer((4, 3, 6), "float32"), C: T.Buffer((4,), "float32")):
            C_rf = T.alloc_buffer((6, 4))
            for i in T.parallel(4):
                for j in T.serial(3, annotations={"key": 2}):
                    for k in range(6):
                        with T.block("C_rf"):
                            vk, vi, vj = T.axis.remap("SSR", [k, i, j])
                            T.block_attr({"mark": 1})
                            with T.init():
                                C_rf[vk, vi] = 0.0
                            C_rf[vk, vi] += A[vi, vj, vk]
            for i in T.parallel(4):
                for k in range(6):
                    with T.block("C"):
                        vk, vi = T.axis.remap("RS", [k, i])
                        T.block_attr({"mark": 1})
                        with T.init():
                            C[vi] = 0.0
                        C[vi] += C_rf[vk, vi]

    sch = Schedule(Planes)
    i, j, k = sch.get_loops("C")
    sch.parallel(i)
    sch.annotate(j, "key", 2)
    sch.rfactor(k, 0)
    assert_same(sch, Expected)


def test_later_statements_in_the_nest_stay(same_result):
    Normalized = program(
        "A:5x8 C:5 D:5x8",
        nest(
            "i:5",
            nest("k:8", sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0")),
            nest("j:8", sblock("D", "SS i j", "D[vi, vj] = A[vi, vj] - C[vi]")),
        ),
    )
    sch = Schedule(Normalized)
    made = sch.rfactor(sch.get_loops("C")[1], 0)
    assert sch.get_loops("C")[0] == sch.get_loops("D")[0] != sch.get_loops(made)[0]
    same_result(sch, Normalized, ((5, 8), "float32"), ((5,), "float32"), ((5, 8), "float32"))


# --- sizes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [1, 15, 16, 17, 127])
@pytest.mark.parametrize("factors", [[None, 4], [4, None], [None, 32], [3, None, 2]])
@pytest.mark.parametrize("axis", [0, -1])
def test_every_loop_of_a_ragged_reduction(m, factors, axis, same_result):
    for number in range(len(factors)):
        sch = Schedule(row_sums(5, m))
        split = sch.split(sch.get_loops("C")[1], factors)
        sch.rfactor(split[number], axis)
        same_result(sch, row_sums(5, m), ((5, m), "float32"), ((5,), "float32"))


def test_parts_that_are_not_computed_are_not_combined():
    Expected = program(
        "A:4x17 C:4; C_rf:4x32",
        nest(
            "i:4 k_0:1 k_1:32",
            sblock(
                "C_rf",
                "SSR k_1 i k_0",
                "C_rf[vi, vk_1] = C_rf[vi, vk_1] + A[vi, vk_0 * 32 + vk_1]",
                init="C_rf[vi, vk_1] = 0.0",
                where="k_0 * 32 + k_1 < 17",
            ),
        ),
        nest(
            "i:4 k_1:32",
            sblock("C", "vk_1:17R=k_1 vi:4=i", "C[vi] = C[vi] + C_rf[vi, vk_1]", init="C[vi] = 0.0", where="k_1 < 17"),
        ),
    )
    sch = Schedule(row_sums(4, 17))
    _, k_1 = sch.split(sch.get_loops("C")[1], [None, 32])
    sch.rfactor(k_1, 1)
    assert_same(sch, Expected)


def test_a_ragged_spatial_loop(same_result):
    sch = Schedule(row_sums(15, 8))
    i, k = sch.get_loops("C")
    sch.split(i, [None, 4])
    sch.rfactor(k, 0)
    assert sch.mod.script().count("T.where(i_0 * 4 + i_1 < 15)") == 2
    same_result(sch, row_sums(15, 8), ((15, 8), "float32"), ((15,), "float32"))


@pytest.mark.parametrize("n", [0, 1, 17])
def test_a_symbolic_spatial_size(n, same_result):

    sch = Schedule(SymbolicRowSums)
    i, k = sch.get_loops("C")
    sch.split(i, [None, 16])
    _, k_1 = sch.split(k, [None, 4])
    made = sch.rfactor(k_1, 0)
    sch.parallel(sch.get_loops(made)[3])
    same_result(sch, SymbolicRowSums, ((n, 8), "float32"), ((n,), "float32"))


Long = program("A:3xm C:3", each("C i:3 k:mR", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))


@pytest.mark.parametrize("m", [1, 15, 16, 17, 100])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_symbolic_reduction(m, axis, same_result):
    sch = Schedule(Long)
    k_0, _k_1 = sch.split(sch.get_loops("C")[1], [None, 16])
    made = sch.rfactor(k_0, axis)
    sch.parallel(sch.get_loops(made)[1])
    same_result(sch, Long, ((3, m), "float32"), ((3,), "float32"))


def test_a_part_that_may_be_empty(refused, same_result):
    sch = Schedule(Long)
    _k_0, k_1 = sch.split(sch.get_loops("C")[1], [None, 16])
    refused(sch, "the reduce loop k_0 may be empty, .*; it holds only where m >= 1", lambda: sch.rfactor(k_1, 0))

    Some = program("A:3xm C:3", "T.assume(m >= 5)", each("C i:3 k:mR", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
    sch = Schedule(Some)
    refused_loop = sch.split(sch.get_loops("C")[1], [None, 16])[1]
    refused(sch, "excludes some parts of loop k_1.* only where m >= 16", lambda: sch.rfactor(refused_loop, 0))
    sch = Schedule(Some)
    _, k_1 = sch.split(sch.get_loops("C")[1], [None, 4])
    sch.rfactor(k_1, 0)
    for m in (5, 16, 17):
        same_result(sch, Some, ((3, m), "float32"), ((3,), "float32"))


def test_parallel_over_the_loop():
    sch = Schedule(row_sums(8, 127))
    k_0, _ = sch.split(sch.get_loops("C")[1], [8, None])
    made = sch.rfactor(k_0, 0)
    i, outer, _ = sch.get_loops(made)
    sch.reorder(outer, i)
    sch.parallel(outer)
    a = np.random.default_rng(0).random((8, 127), dtype=np.float32)
    c = np.empty(8, np.float32)
    quick_build(sch)(a, c)
    np.testing.assert_allclose(c, a.sum(1), rtol=1e-5)


def test_a_unit_loop_that_no_iter_uses_is_one_part(same_result):
    Rows = program("A:5x7 C:5", nest("i:5 k:7 u:1", sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0")))
    for number in (1, 2):  # k, and u
        sch = Schedule(Rows)
        sch.rfactor(sch.get_loops("C")[number], 1)
        same_result(sch, Rows, ((5, 7), "float32"), ((5,), "float32"))


def test_a_unit_loop_of_a_spatial_iter_is_refused(refused):
    Rows = program("A:1x7 C:1", each("C i:1 k:7R", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
    sch = Schedule(Rows)
    refused(sch, "loop i drives no reduce iter", lambda: sch.rfactor(sch.get_loops("C")[0], 1))


def test_a_symbolic_inner_factor_is_refused_with_a_way_that_works(refused):
    text = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (4, n), "float32")
    B = T.match_buffer(b, (4,), "float32")
    for i, k in T.grid(4, n):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] += A[vi, vk]
"""
    for loop in (0, 1):
        sch = Schedule(parse(text))
        loops = sch.split(sch.get_loops("B")[1], [8, None])
        refused(
            sch,
            r"iter vk of block \"B\" is bound to loop k_. by a value that is not affine[^$]*"
            r"split by a constant inner factor, as in split\(k, \[None, 8\]\)",
            lambda n=loop, lps=loops, s=sch: s.rfactor(lps[n], 0),
        )
    sch = Schedule(parse(text))
    sch.rfactor(sch.split(sch.get_loops("B")[1], [None, 8])[0], 0)
    assert sch.verify()
