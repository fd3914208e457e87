"""Searches of the benchmark: what they find is measured as any contestant, and their costs are told."""

import dataclasses
from pathlib import Path

import pytest

import tensor_programs
from contest import OURS, check
from rows import Row
from searching import Searches, Took
from works import products, tuned

SHAPE = (16, 32, 8)


def searched(folder, trials):
    each = tuned.Searched(
        products.product("nn", SHAPE, 1, tuned.GOALS), lambda: tensor_programs.product(*SHAPE), limit=0.4
    )
    searches = Searches(folder, trials)
    return tuned.tuned(each, searches).make(), searches


def row(work, ours, **peers):
    return Row(work, "8x8", "float32", 1, "GFLOP/s", ours, peers, None, tuned.GOALS)


def test_what_a_search_finds_is_measured_and_found_again(tmp_path):
    pytest.importorskip("optuna")
    found, searches = searched(tmp_path, 2)
    check(OURS, found.contestants[OURS], found.expected)
    assert {cost.name: cost.goal for cost in searches.costs}["a trial"] == "<= 400"
    again, none = searched(tmp_path, 0)
    check(OURS, again.contestants[OURS], again.expected)
    assert again.origin == found.origin and not none.costs


def test_without_a_record_there_is_a_reason(tmp_path):
    found, _ = searched(tmp_path, 0)
    assert OURS not in found.contestants
    assert found.missing[OURS].endswith(
        "has no record of nn 16x32x8 float32, 1 thread; fix: search first, with --trials 32"
    )


def test_the_ten_shapes_are_ten():
    assert [w.work for w in tuned.works(Searches(Path()))].count(tuned.TEN) == 10


def test_bars_count_the_ten_only():
    rows = [
        row(tuned.TEN, 100.0, library=100.5, mkl=90.0, torch=99.0),
        row(tuned.TEN, 100.0, library=80.0, mkl=101.0),
        row(tuned.OTHERS, 1.0, library=2.0, mkl=2.0),
    ]
    assert tuned.bars(rows) == [
        "at least the library's choice: 2 of 2 (goal 10)",
        "at least the best of MKL and PyTorch: 1 of 2 (goal 9)",
        "gain over the library's choice: median 1.123",
    ]
    assert not tuned.bars(rows[2:])


def test_the_library_choice_is_measured_once():
    best = dataclasses.replace(row(tuned.TEN, 100.0, mkl=90.0), origin=tuned.LIBRARY)
    assert tuned.with_library(best).peers == {"library": 100.0, "mkl": 90.0}
    other = dataclasses.replace(best, origin="search")
    assert tuned.with_library(other) is other


def test_the_time_of_a_sampler_is_told_by_candidate():
    took = Took()

    def before_trial():
        return None

    def sample():
        return sum(range(20000))

    for _ in range(3):
        took.timed(before_trial)()
        took.timed(sample)()
        took.timed(sample)()
    assert took.stats().runs == 3 and took.stats().least > 0
