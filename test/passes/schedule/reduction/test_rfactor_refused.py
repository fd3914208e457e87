"""Refusals of rfactor due to the loops, the guard or other blocks in the nest."""

from __future__ import annotations

import pytest
from programs.matmul import matmul
from programs.short import nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def test_the_axis(refused, same_result):
    sch = Schedule(matmul(8, 8, 8))
    k = sch.get_loops("C")[2]
    refused(sch, "factor_axis is 3; C has 2 dimensions, so the partial results have 3: choose one of -3 to 2",
            lambda: sch.rfactor(k, 3))  # fmt: skip
    refused(sch, "factor_axis is -4", lambda: sch.rfactor(k, -4))
    refused(sch, '"factor_axis" has wrong type', lambda: sch.rfactor(k, "0"), TypeError)  # type: ignore[arg-type]
    refused(sch, "wrong type", lambda: sch.rfactor("C", 0), TypeError)  # type: ignore[arg-type]
    for axis, shape in ((-3, "(8, 8, 8)"), (2, "(8, 8, 8)"), (0, "(8, 8, 8)")):
        sch = Schedule(matmul(8, 8, 8))
        sch.rfactor(sch.get_loops("C")[2], axis)
        assert f"C_rf = T.alloc_buffer({shape})" in sch.mod.script()
        same_result(sch, matmul(8, 8, 8), *[((8, 8), "float32")] * 3)


def test_no_reduction_block(refused):
    sch = Schedule(matmul(8, 8, 8))
    i, _, k = sch.get_loops("C")
    sch.decompose_reduction("C", i)
    refused(sch, 'block "C_update" has no init', lambda: sch.rfactor(k, 0))


def test_repetitions(refused, same_result):
    def repeated(inside: bool):
        Inside = program(
            "A:8x4 C:8", nest("i:8 k:4 t:2", sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
        )
        Outside = program(
            "A:8x4 C:8", nest("t:2 i:8 k:4", sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
        )
        return Inside if inside else Outside

    sch = Schedule(repeated(True))
    refused(sch, 'loop t repeats block "C" under the reduce loop k', lambda: sch.rfactor(sch.get_loops("C")[1], 0))
    sch = Schedule(repeated(False))
    sch.rfactor(sch.get_loops("C")[2], 0)
    same_result(sch, repeated(False), ((8, 4), "float32"), ((8,), "float32"))


def test_points_met_twice(refused):
    Around = program(
        "A:4x4 C:4", nest("i:4 k:7", sblock("C", "vi:4=i vk:4R=(k + 1) // 2", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
    )
    sch = Schedule(Around)
    refused(sch, 'two iterations of block "C" are the same point', lambda: sch.rfactor(sch.get_loops("C")[1], 0))


@pytest.mark.parametrize("number", [0, 1])
def test_a_guard_that_leaves_out_a_start(number, refused):
    @I.ir_module
    class Late:
        @T.prim_func(check_well_formed=False)
        def main(A: T.Buffer((8,), "float32"), C: T.Buffer((1,), "float32")):
            C_1 = T.alloc_buffer((1,), "float32")
            for k_0, k_1 in T.grid(2, 4):
                with T.block("C"):
                    vk = T.axis.reduce(8, k_0 * 4 + k_1)
                    T.where(k_1 < 3 and 1 <= k_0 + k_1)
                    with T.init():
                        C_1[0] = 0.0
                    C_1[0] += A[vk]
            with T.block("D"):
                vi = T.axis.spatial(1, 0)
                C[vi] = 1.0

    sch = Schedule(Late)
    refused(sch, "excludes the iteration with which the reduction starts, so no init runs for it",
            lambda: sch.rfactor(sch.get_loops("C")[number], 0))  # fmt: skip


def test_a_scalar_result(same_result):
    @I.ir_module
    class Total:
        @T.prim_func
        def main(A: T.Buffer((16,), "float32"), C: T.Buffer((), "float32")):
            for k in range(16):
                with T.block("C"):
                    vk = T.axis.reduce(16, k)
                    with T.init():
                        C[()] = 0.0
                    C[()] = C[()] + A[vk]

    sch = Schedule(Total)
    k_0, _ = sch.split(sch.get_loops("C")[0], [None, 4])
    sch.rfactor(k_0, 0)
    same_result(sch, Total, ((16,), "float32"), ((), "float32"))


def test_a_loop_that_starts_elsewhere(same_result):
    Shifted = program(
        "A:3x9 C:3", nest("i:3 k:2..9", sblock("C", "vi:3=i vk:(2,9)R=k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
    )
    sch = Schedule(Shifted)
    sch.rfactor(sch.get_loops("C")[1], 1)
    assert "C_rf = T.alloc_buffer((3, 7))" in sch.mod.script()
    same_result(sch, Shifted, ((3, 9), "float32"), ((3,), "float32"))
