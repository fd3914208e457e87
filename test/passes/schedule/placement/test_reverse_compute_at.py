"""reverse_compute_at: a consumer moves to where its producers have computed its inputs."""

import pytest
from programs.elementwise import pair
from programs.matmul import matmul
from programs.reduction import scaled_row_sums
from programs.short import each, nest, program, sblock
from programs.sizes import square
from programs.symbolic import Twice

from tir_mlir import Schedule

# --- what it does -----------------------------------------------------------------------------------------------------


def test_the_consumer_covers_the_computed_region(same_result):
    sch = Schedule(pair(64, 8))
    outer, _ = sch.split(sch.get_loops("P")[0], [4, 16])
    sch.reverse_compute_at("C", outer)
    text = sch.mod.script()
    assert "for ax0, ax1 in T.grid(16, 8):" in text
    assert "vi = T.axis.spatial(64, i_0 * 16 + ax0)" in text
    assert "for i, j in T.grid(64, 8)" not in text
    same_result(sch, pair(64, 8), *square(64, 8))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
@pytest.mark.parametrize("tile", [5, 16])
def test_tiles_that_do_not_divide(n, tile, same_result):
    sch = Schedule(pair(n, 3))
    outer, _ = sch.split(sch.get_loops("P")[0], [None, tile])
    sch.reverse_compute_at("C", outer)
    same_result(sch, pair(n, 3), *square(n, 3))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 33])
@pytest.mark.parametrize("inner", [False, True])
def test_a_symbolic_size(n, inner, same_result):
    """All of the array is computed: apache/tvm#15911 lost part of it."""
    sch = Schedule(Twice)
    i_0, i_1 = sch.split(sch.get_loops("B")[0], [None, 16])
    sch.reverse_compute_at("C", i_1 if inner else i_0)
    same_result(sch, Twice, *square(n, 8))


def test_a_symbolic_size_unsplit(same_result):
    sch = Schedule(Twice)
    sch.reverse_compute_at("C", sch.get_loops("B")[1])
    same_result(sch, Twice, *square(5, 8))


@pytest.mark.parametrize(("n", "m"), [(1, 1), (15, 16), (16, 17), (127, 2)])
def test_behind_a_finished_reduction(n, m, same_result):
    sch = Schedule(scaled_row_sums(n, m))
    sch.reverse_compute_at("C", sch.get_loops("S")[0])
    same_result(sch, scaled_row_sums(n, m), ((n, m), "float32"), ((n,), "float32"))


def test_behind_a_decomposed_reduction(same_result):
    sch = Schedule(scaled_row_sums(17, 5))
    i_0, i_1 = sch.split(sch.get_loops("S")[0], [None, 4])
    sch.decompose_reduction("S", i_1)
    sch.reverse_compute_at("C", i_0)
    same_result(sch, scaled_row_sums(17, 5), ((17, 5), "float32"), ((17,), "float32"))


def test_unit_loops():
    for keep, loops in ((False, ["i", "j"]), (True, ["i", "j", "ax0", "ax1"])):
        sch = Schedule(pair(4, 6))
        sch.reverse_compute_at("C", sch.get_loops("P")[1], preserve_unit_loops=keep)
        assert [sch.get(lp).name for lp in sch.get_loops("C")] == loops


def test_places_in_the_body(refused):
    Fan = program(
        "A:8 C:8 D:8; P:8",
        each("P", "P[vi] = A[vi] * 2.0"),
        each("C", "C[vi] = P[vi] + 1.0"),
        each("D", "D[vi] = P[vi] - 1.0"),
    )
    for index, order in ((-1, "PCD"), (-2, "PDC"), (1, "PDC"), (2, "PCD")):
        sch = Schedule(Fan)
        (i,) = sch.get_loops("P")
        sch.reverse_compute_at("C", i)
        sch.reverse_compute_at("D", i, index=index)
        assert [sch.get(b).name for b in sch.get_child_blocks(i)] == list(order)
    sch = Schedule(Fan)
    (i,) = sch.get_loops("P")
    refused(
        sch, r"position 0 in the body of loop i does not fit; it must lie in \[1, 1\]",
        lambda: sch.reverse_compute_at("C", i, index=0),
    )  # fmt: skip


def test_a_consumer_that_is_a_reduction(same_result):
    SumOfScaled = program(
        "A:9x7 C:9; P:9x7",
        each("P:9x7", "P[vi, vj] = A[vi, vj] * 2.0"),
        each("C i:9 k:7R", "C[vi] += P[vi, vk]", init="C[vi] = 0.0"),
    )
    for level in (0, 1):  # the whole sum; each part as it is there
        sch = Schedule(SumOfScaled)
        sch.reverse_compute_at("C", sch.get_loops("P")[level])
        same_result(sch, SumOfScaled, ((9, 7), "float32"), ((9,), "float32"))
    assert 'vi, vk = T.axis.remap("SR", [i, j])' in sch.mod.script()


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
def test_parts_of_a_sum_under_the_loop_that_computes_them(n, same_result):
    """Each tile of k adds its part of every element, the first one after the init."""
    sch = Schedule(matmul(n, n, 9))
    k_0, _ = sch.split(sch.get_loops("C")[2], [None, 4])
    i, j, k_0, k_1 = sch.get_loops(sch.rfactor(k_0, 0))
    i_0, i_1 = sch.split(i, [None, 5])
    sch.reorder(k_0, i_0, i_1, j, k_1)
    sch.reverse_compute_at("C", i_0)
    assert "= T.axis.reduce(3, k_0)" in sch.mod.script()
    same_result(sch, matmul(n, n, 9), ((n, 9), "float32"), ((9, n), "float32"), ((n, n), "float32"))


def test_parts_of_a_sum_in_another_order(refused):
    backwards = program(
        "A:9x7 C:9; P:9x7",
        nest("i:9 j:7", sblock("P", "vi:9=i vj:7=6 - j", "P[vi, vj] = A[vi, vj] * 2.0")),
        each("C i:9 k:7R", "C[vi] += P[vi, vk]", init="C[vi] = 0.0"),
    )
    sch = Schedule(backwards)
    refused(
        sch,
        "would not run over vk in increasing order: its init would not come first; choose an outer loop",
        lambda: sch.reverse_compute_at("C", sch.get_loops("P")[1]),
    )


def test_write_back_of_a_tile(same_result):
    sch = Schedule(scaled_row_sums(15, 8))
    i_0, _ = sch.split(sch.get_loops("S")[0], [None, 4])
    sch.cache_write("S", 0, "local")
    sch.reverse_compute_at("S_local", i_0)
    assert "T.where(i_0 * 4 + ax0 < 15)" in sch.mod.script()
    same_result(sch, scaled_row_sums(15, 8), ((15, 8), "float32"), ((15,), "float32"))
