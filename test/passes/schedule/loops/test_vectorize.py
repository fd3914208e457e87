"""vectorize: lanes that sum up together, and loops whose extent is known when they run."""

from __future__ import annotations

import pytest
from programs.matmul import matmul_nt
from programs.sizes import square
from programs.symbolic import add_one

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.parser import parse


@pytest.mark.parametrize("k_extent", [1, 15, 16, 17, 127])
@pytest.mark.parametrize("decomposed", [False, True])
def test_lanes_sum_up_together(k_extent, decomposed, same_result):
    shapes = ((4, k_extent), "float32"), ((5, k_extent), "float32"), ((4, 5), "float32")
    sch = Schedule(matmul_nt(4, 5, k_extent))
    k = sch.get_loops("C")[2]
    if decomposed:
        sch.decompose_reduction("C", k)
    sch.vectorize(k)
    assert f"T.vectorized({k_extent})" in sch.mod.script()
    same_result(sch, matmul_nt(4, 5, k_extent), *shapes)


def test_lanes_may_not_show_parts_of_a_sum(refused):
    @I.ir_module
    class Running:
        @T.prim_func
        def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
            for i, k in T.grid(4, 8):
                with T.block("C"):
                    vi, vk = T.axis.remap("SR", [i, k])
                    with T.init():
                        C[vi] = 0.0
                    C[vi] += A[vi, vk]
                with T.block("B"):
                    vi, vk = T.axis.remap("SS", [i, k])
                    B[vi, vk] = C[vi]

    sch = Schedule(Running)
    refused(sch, "depend on each other", lambda: sch.vectorize(sch.get_loops("C")[1]))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 127])
def test_vectors_of_a_size_known_when_it_runs(n, same_result):
    sch = Schedule(add_one(8))
    sch.vectorize(sch.get_loops("B")[0])
    same_result(sch, add_one(8), *square(n, 8))


def test_a_scatter_into_one_element_is_no_reduction_of_lanes(refused):
    """The only index in bounds is 0, but the code does not know it: lanes would store side by side."""
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((8,), "float32"), P: T.Buffer((8,), "int32"), C: T.Buffer((1,), "float32")):
    for i in range(8):
        with T.block("C"):
            vi = T.axis.reduce(8, i)
            C[P[vi]] = T.max(C[P[vi]], A[vi])
""")
    )
    refused(sch, "C", lambda: sch.vectorize(sch.get_loops("C")[0]))
