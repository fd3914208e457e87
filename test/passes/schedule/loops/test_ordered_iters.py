"""Steps around ordered iters and scatters: decided by dependences, not by the kind of an iter."""

from __future__ import annotations

import re

import numpy as np
import pytest
from harness.schedules import quick_build, reads_back
from programs.sequences import (
    cumulative,
    histogram,
    largest,
    row_histograms,
    triangular,
    two_planes,
    two_planes_in_numpy,
)
from programs.short import each, nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.errors import ScriptError


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def check_cumulative(sch, n, m, rng):
    a = rng.integers(-4, 5, (n, m)).astype("float32")
    c = np.empty_like(a)
    quick_build(sch.mod)(a, c)
    np.testing.assert_array_equal(c, a.cumsum(1))
    assert sch.verify()


def check_triangular(sch, n, m, rng):
    lower = (np.tril(rng.random((n, n))) + np.eye(n)).astype("float32")
    b, x = rng.random((n, m)).astype("float32"), np.empty((n, m), "float32")
    quick_build(sch.mod)(lower, b, x)
    np.testing.assert_allclose(lower @ x, b, rtol=1e-4, atol=1e-5)
    assert sch.verify()


@pytest.mark.parametrize("kind", ["opaque", "scan"])
def test_both_words_are_one_kind(kind):
    sch = Schedule(cumulative(3, 5, kind))
    assert [i.kind for i in sch.get(sch.get_block("C")).iter_vars] == ["S", "O"]
    assert "vj = T.axis.opaque(5, j)" in reads_back(sch)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (17, 16), (37, 50)])
def test_rows_of_a_cumulative_sum_are_lanes(n, m, rng):
    sch = Schedule(cumulative(n, m))
    i, j = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 8])
    sch.reorder(i_0, j, i_1)
    sch.vectorize(i_1)
    sch.parallel(i_0)
    check_cumulative(sch, n, m, rng)


def test_the_loop_of_an_ordered_iter_is_split_and_fused(rng):
    sch = Schedule(cumulative(5, 50))
    i, j = sch.get_loops("C")
    j_0, _j_1 = sch.split(j, [None, 8])
    sch.fuse(i, j_0)
    check_cumulative(sch, 5, 50, rng)


@pytest.mark.parametrize("step", ["parallel", "vectorize"])
def test_iterations_of_an_ordered_iter_do_not_run_at_once(step, refused):
    sch = Schedule(cumulative(5, 50))
    loop = sch.get_loops("C")[1]
    refused(sch, "C.i=0, j=0. and C.i=0, j=1. touch C.0, 0.", lambda: getattr(sch, step)(loop))


def test_an_order_that_runs_a_tile_first_is_refused(refused):
    """Strip j of each row may not run before the strips left of it."""
    sch = Schedule(cumulative(5, 50))
    i, j = sch.get_loops("C")
    j_0, j_1 = sch.split(j, [None, 8])
    refused(sch, "backwards", lambda: sch.reorder(j_1, j_0))
    sch.reorder(j_0, j_1, i)
    assert sch.verify()


@pytest.mark.parametrize("n", [1, 16, 33])
def test_points_of_a_time_step_are_lanes(n, rng):
    sch = Schedule(two_planes(5, n))
    _, i = sch.get_loops("A")
    i_0, i_1 = sch.split(i, [None, 8])
    sch.vectorize(i_1)
    sch.parallel(i_0)
    a = rng.integers(-4, 5, (2, n + 2)).astype("float32")
    wanted = a.copy()
    two_planes_in_numpy(wanted, 5)
    quick_build(sch.mod)(a)
    np.testing.assert_array_equal(a, wanted)
    assert sch.verify()


def test_time_does_not_move_inside(refused):
    sch = Schedule(two_planes(5, 33))
    t, i = sch.get_loops("A")
    refused(sch, "backwards: A.t=0, i=1. and A.t=1, i=0. touch A.0, 1.|backwards: A", lambda: sch.reorder(i, t))
    refused(sch, "depend on each other", lambda: sch.parallel(t))


@pytest.mark.parametrize(("n", "m"), [(1, 3), (20, 30), (7, 16)])
def test_columns_of_a_triangular_solve_are_lanes(n, m, rng):
    sch = Schedule(triangular(n, m))
    j, i = sch.get_loops("X")
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(j_0, i, j_1)
    sch.vectorize(j_1)
    sch.parallel(j_0)
    check_triangular(sch, n, m, rng)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (6, 100), (17, 33)])
def test_a_histogram_counts_in_any_order(n, m, rng):
    sch = Schedule(histogram(n, m, 16))
    i, j = sch.get_loops("H")
    j_0, j_1 = sch.split(j, [None, 8])
    sch.reorder(j_0, i, j_1)
    x = rng.integers(0, 16, (n, m)).astype("int32")
    h = rng.integers(0, 9, 16).astype("int32")
    wanted = h + np.bincount(x.ravel(), minlength=16).astype("int32")
    quick_build(sch.mod)(x, h)
    np.testing.assert_array_equal(h, wanted)
    assert sch.verify()


UNDECIDED = "whether two iterations of H access one element of H: undecided, an index of H is computed from data"


@pytest.mark.parametrize("update", ["H[at] * 2 + 1", "H[X[vj, vi]] + 1", "H[at] + H[0]", "X[vj, vi]"])
def test_a_scatter_that_is_no_sum_keeps_its_order(update, refused):
    sch = Schedule(histogram(6, 6, 16, update=update))
    refused(sch, UNDECIDED, lambda: sch.reorder(*sch.get_loops("H")[::-1]))


def test_a_scatter_through_its_own_elements_keeps_its_order(refused):
    sch = Schedule(histogram(6, 6, 16, at="H[vj + vi]"))
    refused(sch, UNDECIDED, lambda: sch.reorder(*sch.get_loops("H")[::-1]))


def test_an_ordered_sum_keeps_its_order(refused):
    """The program asked for an order: a sum of floats is not reassociated then."""
    sch = Schedule(histogram(6, 7, 16, "opaque"))
    refused(sch, UNDECIDED, lambda: sch.reorder(*sch.get_loops("H")[::-1]))


@pytest.mark.parametrize(("rows", "n"), [(1, 5), (6, 100), (13, 33)])
def test_rows_with_histograms_of_their_own_run_at_once(rows, n, rng):
    """An index from data is unknown in its dimension only: rows are apart."""
    sch = Schedule(row_histograms(rows, n, 16))
    assert "T.writes(H[vb, 0:16])" in sch.mod.script()
    b, i = sch.get_loops("H")
    sch.parallel(b)
    sch.reorder(i, b)
    x = rng.integers(0, 16, (rows, n)).astype("int32")
    h = np.zeros((rows, 16), "int32")
    quick_build(sch.mod)(x, h)
    np.testing.assert_array_equal(h, [np.bincount(row, minlength=16) for row in x])
    assert sch.verify()


def test_rows_that_share_a_histogram_do_not_run_at_once():
    with pytest.raises(
        ScriptError,
        match=r"iter vb .* is declared spatial, but it is not provable that no two of its iterations touch one element",
    ):
        row_histograms(6, 5, 16, row="vb // 2")


def test_the_row_of_a_scatter_stays_inside_its_buffer():
    with pytest.raises(ScriptError, match=r"H is .* at index 6 in dimension 0, which has 6 rows"):
        row_histograms(6, 5, 16, row="vb + 1")


@pytest.mark.parametrize(("n", "m"), [(1, 3), (17, 20)])
def test_rows_of_a_selection_are_lanes(n, m, rng):
    sch = Schedule(largest(n, m, 3))
    i, j, k = sch.get_loops("insert")
    i_0, i_1 = sch.split(i, [None, 8])
    sch.reorder(i_0, j, k, i_1)
    sch.parallel(i_0)
    a = rng.permutation(n * m).reshape(n, m).astype("float32")
    v = np.empty((n, 3), "float32")
    quick_build(sch.mod)(a, v)
    np.testing.assert_array_equal(v, -np.sort(-a, axis=1)[:, :3])


def test_the_ranks_of_a_selection_stay_in_order(refused):
    sch = Schedule(largest(4, 5, 3))
    _i, j, k = sch.get_loops("insert")
    refused(sch, "backwards", lambda: sch.reorder(k, j))
    refused(sch, "depend on each other", lambda: sch.vectorize(k))


def test_a_histogram_in_parallel_needs_rows_of_its_own(refused):
    sch = Schedule(histogram(6, 7, 16))
    refused(sch, "add to a row of its own", lambda: sch.parallel(sch.get_loops("H")[0]))


@pytest.mark.parametrize(
    ("program", "advice"),
    [
        (lambda: cumulative(3, 5, "spatial"), "declare vj ordered .T.axis.opaque.$"),
        (lambda: cumulative(3, 5, "reduce"), "declare it ordered .T.axis.opaque.$"),
        (lambda: two_planes(3, 5, "spatial"), "declare vt ordered .T.axis.opaque.$"),
        (lambda: two_planes(3, 5, "reduce"), "declare it ordered .T.axis.opaque.$"),
        (lambda: triangular(3, 5, "spatial"), "declare vi ordered .T.axis.opaque.$"),
        (lambda: triangular(3, 5, "reduce"), "declare it ordered .T.axis.opaque.$"),
        (lambda: largest(3, 5, 2, "SSS"), "declare vj and vk ordered .T.axis.opaque.$"),
        (lambda: largest(3, 5, 2, "SOS"), "declare vk ordered .T.axis.opaque.$"),
        (lambda: histogram(3, 5, 4, "spatial"), "declare vi and vj reduce .T.axis.reduce.$"),
        (lambda: histogram(3, 5, 4, "spatial", "vj"), "declare vi and vj ordered .T.axis.opaque.$"),
    ],
)
def test_the_advice_names_the_kind(program, advice):
    with pytest.raises(ScriptError) as raised:
        program()
    assert re.search(advice, raised.value.message), raised.value.message


def bubbles(n: int, columns: int):
    """Columns sorted by exchanges at computed places, in loops over a triangle."""

    return program(
        f"A:{n}x{columns}:int32 S:{n}x{columns}:int32",
        each(f"copy i:{n} c:{columns}", "S[vi, vc] = A[vi, vc]"),
        nest(
            f"i:{n} j:i c:{columns}",
            sblock(
                "swap",
                "OOS i j c",
                "at = (vi - vj) << 1 >> 1",
                "S[at - 1, vc], S[at, vc] = T.min(S[at - 1, vc], S[at, vc]), T.max(S[at - 1, vc], S[at, vc])",
            ),
        ),
    )


def test_a_scatter_in_loops_over_a_triangle_can_be_scheduled(rng):
    """Its domain is not covered, in the program and after each step."""
    sch = Schedule(bubbles(9, 37))
    c_0, c_1 = sch.split(sch.get_loops("swap")[-1], [None, 8])
    sch.reorder(c_0, sch.get_loops("swap")[1])
    sch.vectorize(c_1)
    a = rng.integers(-50, 50, (9, 37)).astype("int32")
    s = np.zeros_like(a)
    quick_build(sch.mod)(a, s)
    np.testing.assert_array_equal(s, np.sort(a, axis=0))
    assert sch.verify()
