"""Deciders: they are asked for the decisions of sampling steps, by name, instead of the random numbers."""

from __future__ import annotations

import math

import pytest
from programs.matmul import matmul_add

from tir_mlir import Schedule
from tir_mlir.passes.schedule.queries import sampling


class Last:
    """Chooses the last candidate, and keeps what it was asked."""

    def __init__(self):
        self.asked: list[tuple[str, list[int]]] = []

    def choose(self, name, candidates, weights):
        assert len(weights) == len(candidates)
        self.asked.append((name, list(candidates)))
        return len(candidates) - 1


def test_a_category_is_asked_for():
    decider = Last()
    sch = Schedule(matmul_add(8), decider=decider)
    assert sch.get(sch.sample_categorical([2, 4, 8], [1, 1, 1])) == 8
    assert decider.asked == [("categorical", [2, 4, 8])]


def test_tiles_are_asked_for_from_the_innermost():
    decider = Last()
    sch = Schedule(matmul_add(24), decider=decider)
    tile = sch.sample_perfect_tile(sch.get_loops("C")[0], 3, 4)
    assert [sch.get(v) for v in tile] == [1, 6, 4]
    assert decider.asked == [("tile(i)[2]", [1, 2, 3, 4]), ("tile(i)[1]", [1, 2, 3, 6])]


def test_names_are_unique_in_order_of_calls():
    decider = Last()
    sch = Schedule(matmul_add(8), decider=decider)
    for name in (None, "width", None, "width"):
        sch.sample_categorical([1, 2], [1, 1], name=name)
    assert [name for name, _ in decider.asked] == ["categorical", "width", "categorical#2", "width#2"]


def test_an_undone_decision_frees_its_name():
    decider = Last()
    sch = Schedule(matmul_add(8), decider=decider)
    for _ in range(2):
        sch.split(sch.get_loops("C")[0], [None, sch.sample_categorical([2, 4], [1, 1], name="width")])
        sch.undo()
        sch.undo(0)
    assert {name for name, _ in decider.asked} <= {"width", "width#2"}


def test_a_given_decision_is_not_asked_for():
    decider = Last()
    sch = Schedule(matmul_add(8), decider=decider)
    sch.sample_categorical([1, 2], [1, 1], 0)
    sch.sample_perfect_tile(sch.get_loops("C")[0], 2, decision=[4, 2])
    assert not decider.asked


def test_a_replay_asks_nobody():
    first = Schedule(matmul_add(24), decider=Last())
    first.split(first.get_loops("C")[0], first.sample_perfect_tile(first.get_loops("C")[0], 2))
    decider = Last()
    second = Schedule(matmul_add(24), decider=decider)
    first.trace.apply_to_schedule(second)
    assert not decider.asked and second.mod.script() == first.mod.script()


def test_a_question_of_legality_asks_nobody():
    decider = Last()
    assert Schedule(matmul_add(8), decider=decider).can_sample_categorical([1, 2], [1, 1])
    assert not decider.asked


def test_a_copy_asks_the_same_decider():
    decider = Last()
    sch = Schedule(matmul_add(8), decider=decider).copy()
    assert sch.get(sch.sample_categorical([1, 2], [1, 1])) == 2 and len(decider.asked) == 1


def test_a_location_is_one_of_the_legal_ones():
    decider = Last()
    sch = Schedule(matmul_add(8), decider=decider)
    assert sch.get(sch.sample_compute_location("C")).name == "j"
    assert decider.asked == [("compute_location(C)", [-1, 0, 1])]


@pytest.mark.parametrize("number", [1, 17, 24, 96])
@pytest.mark.parametrize(("n", "position", "inner"), [(3, 1, 8), (3, 2, 4), (2, 0, 6), (4, 2, 12)])
@pytest.mark.parametrize("end", [0, -1])
def test_partitioned_factors_keep_their_promise(number, n, position, inner, end):
    if number % inner:
        return
    found = sampling.decide_partitioned(number, n, position, inner, lambda _, candidates: candidates[end])
    assert math.prod(found) == number
    assert position == 0 or math.prod(found[position:]) % inner == 0


def test_names_stay_in_a_trace_only_if_given():
    sch = Schedule(matmul_add(8), seed=1)
    sch.sample_categorical([1, 2], [1, 1], 0)
    sch.sample_categorical([1, 2], [1, 1], 0, name="width")
    first, second = str(sch.trace).splitlines()[-2:]
    assert "name" not in first and second.endswith('name="width", decision=0)')
    steps = sch.trace.as_json()[0]
    assert [len(attrs) for _, _, attrs, _ in steps] == [2, 3]


def test_names_come_back_from_json():
    sch = Schedule(matmul_add(8), seed=1)
    sch.sample_categorical([1, 2], [1, 1], 0, name="width")
    assert str(type(sch.trace).from_json(sch.trace.as_json())) == str(sch.trace)


class Broken:
    def __init__(self, answer):
        self.answer = answer

    def choose(self, name, candidates, weights):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (2, ValueError, 'position 2 for "width", which has 2 candidates'),
        (-1, ValueError, "position -1"),
        (True, TypeError, "chose True"),
        ("a", TypeError, "not a position"),
        (KeyError("gone"), KeyError, "gone"),
    ],
)
def test_a_wrong_answer_is_refused(answer, error, message, refused):
    sch = Schedule(matmul_add(8), decider=Broken(answer))
    refused(sch, message, lambda: sch.sample_categorical([1, 2], [1, 1], name="width"), error)


def test_a_decider_has_a_method_choose():
    with pytest.raises(TypeError, match="decider must have a method choose"):
        Schedule(matmul_add(8), decider=3)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("extent", "decision", "repaired"), [(17, [2, 4], [17, 1]), (60, [2, 16], [4, 15]), (64, [2, 32], [2, 32])]
)
def test_a_repaired_innermost_factor_stays_within_its_limit(extent, decision, repaired):
    sch = Schedule(matmul_add(extent))
    found = sch.sample_perfect_tile(sch.get_loops("C")[0], 2, 16, decision)
    assert [sch.get(v) for v in found] == repaired
