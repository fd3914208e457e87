"""Comparing handles: sampled integers by value, loops and blocks with each other only."""

from __future__ import annotations

import pytest
from programs.matmul import matmul_add

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import HandleError
from tir_mlir.schedule.trace import Trace


@pytest.fixture
def sch() -> Schedule:
    return Schedule(matmul_add(8), seed=0)


def sampled(sch: Schedule, value: int):
    return sch.sample_categorical([value], [1.0])


def test_a_sampled_integer_compares_by_value(sch):
    v = sampled(sch, 8)
    assert v == 8 and 8 == v and v == 8.0
    assert v != 4 and v == 8
    assert 4 < v <= 8 < v + 1 and v > 7.5 and v >= 8
    assert v in [4, 8] and v not in [4, 16]


def test_two_sampled_integers_compare_by_value(sch):
    v, w, x = sampled(sch, 8), sampled(sch, 8), sampled(sch, 4)
    assert v == w and v != x and x < v and v == v


def test_formulas_compare_by_value(sch):
    v = sampled(sch, 8)
    assert v * 2 == 16 and v // 2 < 5 and v + 1 == 1 + v and v * 2 != v


def test_truth_is_that_of_the_value(sch):
    zero, one = sampled(sch, 0), sampled(sch, 1)
    assert not zero and one and not one - 1


def test_a_value_serves_as_condition(sch):
    i, *_ = sch.get_loops("C")
    factors = sch.sample_perfect_tile(i, n=2, decision=[2, 4])
    assert [f == n for f, n in zip(factors, (2, 4), strict=True)] == [True, True]


def test_none_and_words_are_no_values(sch):
    v = sampled(sch, 8)
    assert v != None and v != "8"  # noqa: E711
    with pytest.raises(TypeError):
        v < "8"  # noqa: B015


def test_sets_would_not_find_a_sampled_integer(sch):
    v = sampled(sch, 8)
    for value in (v, v + 1):
        with pytest.raises(TypeError, match="a sampled integer is not hashable; use its value"):
            value in {8}  # noqa: B015


def test_copies_know_the_value(sch):
    v = sampled(sch, 8)
    other = sch.copy()
    del sch
    assert v == 8 and other.get(v) == 8


def test_an_unknown_value_raises(sch):
    v = sampled(sch, 8)
    sch.annotate(sch.get_loops("C")[0], "my.width", v)
    text = Trace.from_json(sch.trace.as_json())
    (unsampled,) = text.insts[0].outputs
    sch.undo()
    fresh = Schedule(matmul_add(8))
    gone = sampled(fresh, 8)
    del fresh
    for value in (unsampled, gone):
        with pytest.raises(
            HandleError, match="nothing is known of this integer: its schedule is gone, or it comes from"
        ):
            bool(value)
        with pytest.raises(HandleError):
            value == 8  # noqa: B015


def test_an_undone_value_raises(sch):
    i = sch.get_loops("C")[0]
    sch.annotate(i, "my.width", 1)
    v = sampled(sch, 8)
    sch.undo()
    with pytest.raises(HandleError, match=r"nothing is known of this integer: .* was undone"):
        v == 8  # noqa: B015


@pytest.mark.parametrize("other", [3, 0.5, True])
def test_loops_and_blocks_are_no_numbers(sch, other):
    loop, block = sch.get_loops("C")[0], sch.get_block("C")
    for handle, word in ((loop, "loop"), (block, "block")):
        with pytest.raises(TypeError, match=f"a {word} is compared with .*; compare a property of sch.get"):
            handle == other  # noqa: B015
        with pytest.raises(TypeError):
            other != handle  # noqa: B015


def test_loops_and_blocks_equal_their_names(sch):
    loop, block = sch.get_loops("C")[0], sch.get_block("C")
    assert loop == "i" and loop != "j" and block == "C" and block != "D" and "C" in [block]
    assert sch.get_block("root") == "root"
    sch.split(loop, [None, 2])
    with pytest.raises(HandleError, match=r"nothing is known of this loop: .* consumed"):
        loop == "i"  # noqa: B015


def test_loops_and_blocks_compare_with_each_other(sch):
    i, j, _ = sch.get_loops("C")
    assert i == sch.get_loops("C")[0] and i != j and i in [j, i] and {i: 1}[i] == 1
    assert sch.get_block("C") == sch.get_block("C") != i and i != None  # noqa: E711
