"""Decisions: how they are named, kept and told to be repeated."""

from __future__ import annotations

import pytest

from tir_mlir.tune.search.suggestions import Deciding, RepeatedDecisions, Tried
from tir_mlir.tune.spaces.deciders import Defaults, Fixed


def decided(deciding: Deciding) -> dict[str, int]:
    return {c.name: c.value for c in deciding.choices}


def test_choices_are_kept_with_position_count_and_value():
    deciding = Deciding(Fixed({"tile": 8}))
    assert deciding.choose("tile", [2, 4, 8], [1, 1, 1]) == 2
    (choice,) = deciding.choices
    assert (choice.name, choice.position, choice.count, choice.value) == ("tile", 2, 3, 8)


def test_a_name_asked_twice_is_two_decisions():
    deciding = Deciding(Fixed({"tile": 2, "tile#2": 8}))
    for _ in range(2):
        deciding.choose("tile", [2, 8], [1, 1])
    assert decided(deciding) == {"tile": 2, "tile#2": 8}


def test_names_are_counted_in_their_scope():
    deciding = Deciding(Defaults(), scope="f/")
    deciding.choose("C.tile", [1, 2], [1, 1])
    deciding.scope = "g/"
    deciding.choose("C.tile#2", [1, 2], [1, 1])  # taken in the schedule, by f
    assert list(decided(deciding)) == ["f/C.tile", "g/C.tile"]


def test_the_last_decision_of_an_earlier_candidate_is_repeated():
    tried = Tried()
    tried.add([("x", 1), ("y", 2)], 7)
    deciding = Deciding(Fixed({"x": 1, "y": 2}), tried)
    deciding.choose("x", [0, 1], [1, 1])
    with pytest.raises(RepeatedDecisions) as repeated:
        deciding.choose("y", [1, 2], [1, 1])
    assert repeated.value.tag == 7


def test_a_longer_candidate_is_not_repeated():
    tried = Tried()
    tried.add([("x", 1), ("y", 2)], 1)
    tried.add([("x", 1), ("y", 2), ("z", 3)], 2)
    deciding = Deciding(Fixed({"x": 1, "y": 2, "z": 4}), tried)
    for name in ("x", "y", "z"):
        deciding.choose(name, [1, 2, 3, 4], [1, 1, 1, 1])
    assert decided(deciding) == {"x": 1, "y": 2, "z": 4}
