"""Modules of several functions."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.tune.search.candidates import draw_candidate
from tir_mlir.tune.search.tune_entry import EachFunction, shares
from tir_mlir.tune.spaces.deciders import Fixed


@I.ir_module
class Two:
    @T.prim_func
    def f(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)
                B[vi] = A[vi]

    @T.prim_func
    def g(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
        for i in range(32):
            with T.block("B"):
                vi = T.axis.spatial(32, i)
                B[vi] = A[vi] + T.float32(1)


def space(sch):
    (loop,) = sch.get_loops("B")
    sch.split(loop, [None, sch.get(sch.sample_categorical([2, 4, 8], [0.5, 0.3, 0.2], name="B.tile"))])


@pytest.mark.parametrize(
    ("seconds", "trials", "counts"),
    [
        ({"f": 9e-3, "g": 1e-3}, 48, {"f": 40, "g": 8}),
        ({"f": 1.0, "g": 1e-9}, 48, {"f": 44, "g": 4}),
        ({"f": 1.0, "g": 1.0}, 4, {"f": 2, "g": 2}),
        ({"f": 1.0, "g": 1.0}, 1, {"f": 1, "g": 1}),
    ],
)
def test_trials_go_where_the_time_goes(seconds, trials, counts):
    assert shares(seconds, trials) == counts


def test_decisions_are_named_after_the_function():
    both = draw_candidate(Two, EachFunction({"f": space, "g": space}), Fixed({"f/B.tile": 4, "g/B.tile": 8}))
    assert both.decisions == {"f/B.tile": 4, "g/B.tile": 8}


def test_functions_in_a_module_are_scheduled_as_they_are_alone():
    both = draw_candidate(Two, EachFunction({"f": space, "g": space}), Fixed({"f/B.tile": 4, "g/B.tile": 8}))
    for name, tile in (("f", 4), ("g", 8)):
        alone = draw_candidate(Two[name].isolated_module, space, Fixed({"B.tile": tile}))
        assert both.schedule.mod[name].equal(alone.schedule.mod[name])
    assert both.schedule.func_working_on is None and isinstance(both.schedule, Schedule)
