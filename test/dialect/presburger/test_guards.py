"""Conditions of guards: which of them say something, and `p >= 0 or q >= 0` as one."""

from __future__ import annotations

import itertools

import pytest
from harness.nests import nest
from programs.parsed import parse
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.dialect.ir import Constraint, Index
from tir_mlir.dialect.presburger import guards
from tir_mlir.dialect.presburger.guards import false_alone

NEST = """
for i in range(4):
    for j in range(8):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            vj = T.axis.spatial(8, j)
            B[vi, vj] = 1.0
"""
SIZED = """
n = T.int32()
B = T.match_buffer(b, (n,))
for i in range(n):
    with T.block("B"):
        vi = T.axis.spatial(n, i)
        B[vi] = 1.0
"""


@pytest.mark.parametrize(
    ("conditions", "kept"),
    [
        ([lambda i, j: 3 - i], []),  # i <= 3: the loop says so
        ([lambda i, j: 2 - i], [0]),
        ([lambda i, j: 2 - i, lambda i, j: 1 - i], [1]),  # i <= 1 implies i <= 2
        ([lambda i, j: 2 - i, lambda i, j: 2 - i], [0]),  # of two that are equal the first
        ([lambda i, j: 2 - i, lambda i, j: 5 - j], [0, 1]),
        ([lambda i, j: 30 - i * 8 - j, lambda i, j: 2 - i], [1]),  # i <= 2: i * 8 + j is at most 23
    ],
)
def test_conditions_that_say_something(conditions, kept):
    with nest("B: T.Buffer((4, 8))", NEST) as n:
        given = [Constraint(make(n.index("i"), n.index("j"))) for make in conditions]
        assert guards.drop_implied_conditions(n.blocks["B"], given) == [given[k] for k in kept]


@pytest.mark.parametrize(
    ("conditions", "alone"),
    [
        ([lambda i, j: 19 - 8 * i - j, lambda i, j: j], {0}),  # the second one is never false
        ([lambda i, j: i - 2, lambda i, j: j - 5], {0, 1}),
        ([lambda i, j: i - 2, lambda i, j: i - 2], set()),  # each is false only where the other one is
        ([lambda i, j: i - 2, lambda i, j: 2 * i - 2], {0}),  # the second one follows from the first
    ],
)
def test_conditions_that_are_seen_to_be_needed(conditions, alone):
    with nest("B: T.Buffer((4, 8))", NEST) as n:
        given = [Constraint(make(n.index("i"), n.index("j"))) for make in conditions]
        assert false_alone(n.blocks["B"].outermost, given) == alone


def test_no_condition_is_tried_in_a_program_of_symbolic_size():
    with nest("b: T.handle", SIZED) as n:
        assert false_alone(n.blocks["B"].outermost, [Constraint(n.index("i") - 2)]) == set()


def ranged(n, i=(0, 3), j=(0, 7)):
    return {n.index("i").is_value(): i, n.index("j").is_value(): j}


def at(constraint: Constraint, n, i: int, j: int) -> bool:
    values = {n.index("i").is_value(): Index.constant(i), n.index("j").is_value(): Index.constant(j)}
    return constraint.index.substitute(values).simplify().as_constant() >= 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda i, j: i - 2, lambda i, j: j - 5),
        (lambda i, j: 1 - i, lambda i, j: j - i),
        (lambda i, j: j - 7, lambda i, j: -i),
    ],
)
def test_one_of_two_conditions(first, second):
    with nest("B: T.Buffer((4, 8))", NEST) as n:
        p, q = (Constraint(make(n.index("i"), n.index("j"))) for make in (first, second))
        one = guards.disjunction(p, q, ranged(n))
        assert one is not None
        for i, j in itertools.product(range(4), range(8)):
            assert at(one, n, i, j) is (at(p, n, i, j) or at(q, n, i, j)), (i, j)


def test_without_bounds_there_is_no_such_condition():
    with nest("B: T.Buffer((4, 8))", NEST) as n:
        p, q = Constraint(n.index("i") - 2), Constraint(n.index("j") - 5)
        assert guards.disjunction(p, q, ranged(n, i=(None, None))) is None
        assert guards.disjunction(p, q, ranged(n, j=(None, 7))) is None
        assert guards.disjunction(Constraint(p.index, True), q, ranged(n)) is None


def test_a_constraint_that_always_holds_suffices():
    with nest("B: T.Buffer((4, 8))", NEST) as n:
        one = guards.disjunction(Constraint(n.index("i") + 1), Constraint(n.index("j") - 5), ranged(n))
        assert one is not None and one.index.as_constant() == 0


def test_the_two_sides_are_found_again():
    with nest("B: T.Buffer((4, 8))", NEST) as n:
        p, q = Constraint(n.index("i") - 2), Constraint(n.index("j") - 5)
        one = guards.disjunction(p, q, ranged(n))
        sides = guards.sides(one, ranged(n))
        assert sides is not None
        for i, j in itertools.product(range(4), range(8)):
            assert (at(sides[0], n, i, j) or at(sides[1], n, i, j)) is at(one, n, i, j)
        assert guards.sides(p, ranged(n)) is None


@pytest.mark.parametrize("units", [False, True])
def test_a_remainder_in_a_guard_is_one_whether_written_as_quotient_or_not(units):
    sch = Schedule(program("A:8x7 B:8", each("B i:8 k:7R", "B[vi] = B[vi] + A[vi, vk]", init="B[vi] = 0.0")))
    cache = sch.cache_read("B", 0, "global")
    sch.transform_layout(cache, "A_global", lambda i, j: i * 64 + j, pad_value=7)
    sch.reverse_compute_at("B", sch.get_loops(cache)[0], preserve_unit_loops=units)
    assert ("% 64 + ax1 < 7" if units else "% 64 < 7") in sch.mod.script()
    assert parse(sch.mod.script()).equal(sch.mod)
