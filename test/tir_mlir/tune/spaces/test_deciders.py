"""Defaults, Fixed, Recording."""

import pytest
from programs.matmul import matmul_add

from tir_mlir import Schedule
from tir_mlir.tune.spaces.deciders import Defaults, Fixed, Recording


@pytest.mark.parametrize(
    ("weights", "chosen"), [([1, 3, 2], 1), ([2, 2, 1], 0), ([0, 0, 5], 2)]
)  # fmt: skip
def test_the_default_is_the_heaviest(weights, chosen):
    assert Defaults().choose("x", [4, 8, 16], weights) == chosen


def test_the_default_of_a_tile_is_in_the_middle():
    sch = Schedule(matmul_add(64), decider=Defaults())
    assert [sch.get(v) for v in sch.sample_perfect_tile(sch.get_loops("C")[0], 2)] == [16, 4]


@pytest.mark.parametrize(("value", "chosen"), [(8, 1), (6, 0), (100, 2), (1, 0), (13, 2)])
def test_a_fixed_value_becomes_the_nearest_candidate(value, chosen):
    assert Fixed({"x": value}).choose("x", [4, 8, 16], [1, 1, 1]) == chosen


def test_what_is_not_fixed_is_decided_otherwise():
    assert Fixed({"x": 4}).choose("y", [4, 8], [1, 2]) == 1
    assert Fixed({"x": 4}, Fixed({"y": 4})).choose("y", [4, 8], [1, 2]) == 0


def test_recorded_decisions_repeat_a_schedule():
    def space(sch):
        tile = sch.sample_perfect_tile(sch.get_loops("C")[0], 3)
        sch.split(sch.get_loops("C")[0], tile)
        sch.annotate("C", "my.width", sch.sample_categorical([2, 4], [1, 2], name="width"))

    first = Recording(Fixed({"tile(i)[2]": 8, "width": 2}))
    one = Schedule(matmul_add(64), decider=first)
    space(one)
    two = Schedule(matmul_add(64), decider=Fixed(first.decisions))
    space(two)
    assert first.decisions == {"tile(i)[2]": 8, "tile(i)[1]": 4, "width": 2}
    assert one.mod.script() == two.mod.script()
