"""vectorize: lanes that sum up together, and loops whose extent is known when they run."""

import pytest
from programs.matmul import matmul_nt
from programs.short import each, nest, program, sblock
from programs.sizes import square
from programs.symbolic import add_one

from tir_mlir import Schedule


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
    Running = program(
        "A:4x8 B:4x8 C:4",
        nest(
            "i:4 k:8",
            sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"),
            sblock("B", "SS i k", "B[vi, vk] = C[vi]"),
        ),
    )
    sch = Schedule(Running)
    refused(sch, "depend on each other", lambda: sch.vectorize(sch.get_loops("C")[1]))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 127])
def test_vectors_of_a_size_known_when_it_runs(n, same_result):
    sch = Schedule(add_one(8))
    sch.vectorize(sch.get_loops("B")[0])
    same_result(sch, add_one(8), *square(n, 8))


def test_a_scatter_into_one_element_is_no_reduction_of_lanes(refused):
    """The only index in bounds is 0, but the code does not know it: lanes would store side by side."""
    sch = Schedule(program("A:8 P:8:int32 C:1", each("C i:8R", "C[P[vi]] = T.max(C[P[vi]], A[vi])")))
    refused(sch, "C", lambda: sch.vectorize(sch.get_loops("C")[0]))
