"""Index maps that name sizes of the program, sampled integers and keyword-only indices."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import IndexMap, Schedule, build
from tir_mlir.errors import IndexMapError, ScheduleError
from tir_mlir.schedule.trace import Trace
from tir_mlir.script import tir as T

n = T.int32()


@T.prim_func
def rows(A: T.Buffer((8, n), "float32"), C: T.Buffer((8, n), "float32")):
    B = T.alloc_buffer((8, n), "float32")
    for i, j in T.grid(8, n):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0
    for i, j in T.grid(8, n):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1.0


@T.prim_func
def copy(A: T.Buffer((64, 32), "float32"), C: T.Buffer((64, 32), "float32")):
    for i, j in T.grid(64, 32):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]


@pytest.mark.parametrize("map_", [lambda i, j: (n - 1 - j, i), "lambda i, j: (n - 1 - j, i)"])
def test_a_map_names_a_size_of_the_program(map_):
    sch = Schedule(rows)
    sch.transform_layout("B", ("write", 0), map_)
    assert "B[n - vj - 1, vi] = A[vi, vj]" in sch.mod.script()
    a, c = np.random.rand(8, 5).astype("float32"), np.empty((8, 5), "float32")
    build(sch)(a, c)
    np.testing.assert_array_equal(c, a * 2 + 1)
    assert sch.verify()


def test_a_parameter_moves_by_a_map_with_a_size():
    sch = Schedule(rows)
    sch.transform_layout("B", "A", "lambda i, j: (n - 1 - j, i)")
    assert sch.verify()


def test_a_name_that_is_no_size_is_refused():
    with pytest.raises(ScheduleError, match="m is neither a variable of the map nor a size of the program: i, j, n"):
        Schedule(rows).transform_layout("B", ("write", 0), "lambda i, j: (m - 1 - j, i)")


def test_a_size_that_leaves_the_map_injective_only_sometimes_is_refused():
    with pytest.raises(ScheduleError, match="maps two elements of B to the same index"):
        Schedule(rows).transform_layout("B", ("write", 0), "lambda i, j: (n - j, 0)")


def test_block_layouts_and_reindexed_caches_take_sizes():
    sch = Schedule(rows)
    sch.transform_block_layout("B", "lambda i, j: (i, n - 1 - j)")
    sch.reindex_cache_write("C", 0, "local", "lambda i, j: (n - 1 - j, i)")
    assert sch.verify()


def test_products_of_sampled_integers_are_factors():
    sch = Schedule(copy, seed=3)
    a, b = sch.sample_perfect_tile(sch.get_loops("C")[0], 2)
    c, _ = sch.sample_perfect_tile(sch.get_loops("C")[1], 2)
    sch.transform_layout("C", "A", lambda i, j: (i // b, j // c, i % b * c + j % c))
    assert sch.verify()
    assert sch.get(a * b) == 64


def test_a_trace_keeps_the_sampled_integers_of_a_map():
    sch = Schedule(copy, seed=3)
    _a, b = sch.sample_perfect_tile(sch.get_loops("C")[0], 2)
    sch.transform_layout("C", "A", lambda v0, v1: (v0 // (b * 1), v1, v0 % (b * 1)))
    again = Schedule(copy)
    Trace.from_json(sch.trace.as_json()).apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == sch.mod.script()
    decided = sch.trace.with_decision(sch.trace.insts[2], [16, 4], True)
    other = Schedule(copy)
    decided.apply_to_schedule(other, remove_postproc=False)
    assert "A: T.Buffer((16, 32, 4)" in other.mod.script()


def test_a_sampled_factor_that_does_not_divide_leaves_padding():
    sch = Schedule(copy, seed=3)
    _a, b = sch.sample_perfect_tile(sch.get_loops("C")[0], 2, decision=[16, 4])
    with pytest.raises(ScheduleError, match="leaves padding"):
        sch.transform_layout("C", "A", lambda i, j: (i // (b * 3), j, i % (b * 3)))


def test_a_map_with_sampled_integers_has_no_shape_of_its_own():
    sch = Schedule(copy, seed=3)
    a, b = sch.sample_perfect_tile(sch.get_loops("C")[0], 2)
    with pytest.raises(IndexMapError, match="has a value only in a step"):
        IndexMap.from_func(lambda i: (i // (a * b),)).map_shape([64])


def test_keyword_only_indices_come_last():
    assert repr(IndexMap.from_func(lambda i, *, j: (j, i))) == "lambda i, j: (j, i)"
    assert repr(IndexMap.from_func(lambda *axes, c: (c, *axes), 3)) == "lambda a0, a1, c: (c, a0, a1)"
    sch = Schedule(copy)
    sch.transform_block_layout("C", lambda i, *, j: (j, i))
    sch.transform_layout("C", "A", lambda *axes, c: (c, *axes))
    assert "A: T.Buffer((32, 64)" in sch.mod.script()
    assert sch.verify()


def test_a_dictionary_of_indices_is_refused():
    with pytest.raises(IndexMapError, match=r"cannot take \*\*rest"):
        IndexMap.from_func(lambda i, **rest: (i,))
