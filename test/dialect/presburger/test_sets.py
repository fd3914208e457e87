"""Iteration domains as isl sets: constraints, boxes, lexicographic minima, queries over budget."""

from __future__ import annotations

import islpy as isl
import pytest
from harness.nests import nest

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Constraint, Index, budget
from tir_mlir.dialect.presburger import sets

TRIANGLE = """
for i in range(4):
    for j in range(i + 1):
        with T.block("B"):
            vi = T.axis.spatial(4, i)
            vj = T.axis.spatial(4, j)
            T.where(i * 4 + j < 9)
            B[vi, vj] = 1.0
"""


def points(found: isl.Set) -> int:
    return found.count_val().to_python()


def test_the_iterations_of_a_triangle_under_a_guard():
    """1 + 2 + 3 + 4 iterations; the guard leaves 0..8 of i * 4 + j: of the third row j = 0, of the last one none."""
    with nest("B: T.Buffer((4, 4))", TRIANGLE) as n:
        inside = n.blocks["B"].op
        assert points(sets.domain(inside).set) == 1 + 2 + 1
        assert points(sets.domain(inside, guards=False).set) == 10
        assert points(sets.domain(n.loops["j"].op).set) == 4


def test_beneath_a_loop_its_own_variable_is_free():
    with nest("B: T.Buffer((4, 4))", TRIANGLE) as n:
        dom = sets.domain(n.blocks["B"].op, n.loops["i"].op, guards=False)
        assert [n.index(x).is_value() for x in "ij"] == dom.dims and dom.free == 1
        assert sets.holds(dom, n.index("i") - n.index("j"))  # j <= i, whatever i is
        assert not sets.holds(dom, 3 - n.index("i"))


def test_what_holds_in_every_iteration():
    with nest("B: T.Buffer((4, 4))", TRIANGLE) as n:
        dom = sets.domain(n.blocks["B"].body.operations[0].operation)
        i, j = n.index("i"), n.index("j")
        assert sets.holds(dom, i - j) and sets.holds(dom, 2 - i)
        assert not sets.holds(dom, i - j - 1)  # (0, 0)
        assert sets.holds(dom, n.index("vi") - i, is_eq=True)
        assert points(dom.set.intersect(sets.constraint_set(dom, Constraint(i - j, True)))) == 2  # (0, 0), (1, 1)


def test_floors_and_remainders_become_isl_ones():
    with nest("B: T.Buffer((12,))", "for i in range(12):\n    B[i] = 1.0") as n:
        dom, i = sets.domain(n.inside("i")), n.index("i")
        image = dom.map([i // 4, i % 4, (i + 3) // 4, i.ceildiv(4)])
        assert points(image.range()) == 12
        last = image.fix_val(isl.dim_type.in_, 0, isl.Val(11)).range()
        assert sets.smallest_point(last) == [2, 3, 3, 3]


def test_a_region_of_a_box():
    """i takes [2 * i, 2 * i + 3): neighbors overlap in one element."""
    with nest("B: T.Buffer((12,))", "for i in range(4):\n    B[i] = 1.0") as n:
        dom, i = sets.domain(n.inside("i")), n.index("i")
        region = sets.region_map(dom, [i * 2], [Index.constant(3)])
        assert points(region.range()) == 9 and points(region.wrap()) == 12
        assert sets.constant_extent(region.range(), 0) == (0, 8)


def test_sizes_are_not_negative_and_keep_promises():
    text = "T.assume(n % 4 == 0)\nA = T.match_buffer(a, (n,))\nfor i in range(n):\n    A[i] = 1.0"
    with nest("a: T.handle, n: T.int32", text) as n:
        loop = n.loops["i"].op
        assert not sets.sizes(loop).set.is_empty()
        assert sets.smallest_point(sets.sizes(loop).set) == [0]
        assert sets.smallest_point(sets.domain(n.inside("i")).set) == [4, 0]  # n, i
        assert sets.sizes(loop).set.is_strict_subset(sets.sizes(loop, assuming=False).set)


def test_the_least_point_is_lexicographic():
    assert sets.smallest_point(isl.Set("{ [i, j] : 2 <= i <= 5 and j = 7 - i }")) == [2, 5]
    assert sets.smallest_point(isl.Set("[n] -> { [i] : n > 3 and 0 < i < n }")) == [4, 1]
    assert sets.smallest_point(isl.Set("{ [i] : i > 3 and i < 2 }")) is None
    assert sets.constant_extent(isl.Set("{ [i, j] : 0 <= i < 9 and j >= 2 }"), 0) == (0, 8)
    assert sets.constant_extent(isl.Set("{ [i, j] : 0 <= i < 9 and j >= 2 }"), 1) is None


def test_a_question_over_budget_is_not_provable():
    many = isl.Set("{ [a, b, c, d] : exists x, y : a = 3x + 5y + b and 7x - 11y <= c and 2x + 13y <= d }")
    refusal = (
        r"whether: undecided, isl exceeded its budget of 10 operations \(`with tir_mlir.budget\(100\):` gives it more"
    )
    with budget(10), pytest.raises(NotProvable, match=refusal), sets.question("whether"):
        many.complement().coalesce().is_empty()
    with sets.question("and afterwards there is no limit left"):
        assert not isl.Set("{ [i] : 0 <= i < 3 }").is_empty()


@pytest.mark.parametrize("name", ["x", "x / 3", "floor", "ceil", "mod", "mixed"])
def test_nonneg_is_where_the_number_itself_is_not_negative(name):
    """Divisions that are rounded, and a fraction: -1 / 3 is negative, although it is rounded up to 0."""
    local = sets.local_space(1, [])
    x, three = isl.Aff.var_on_domain(local, sets.dim_type.set, 0), isl.Val(3)
    third = x.scale_down_val(three)
    rest = x.mod_val(three).add_constant_val(isl.Val(-2))
    cases = {
        "x": (x, lambda v: v),
        "x / 3": (third, lambda v: v / 3),
        "floor": (third.floor(), lambda v: v // 3),
        "ceil": (third.ceil(), lambda v: -(-v // 3)),
        "mod": (rest, lambda v: v % 3 - 2),
        "mixed": (third.floor().scale_val(isl.Val(5)).sub(x), lambda v: v // 3 * 5 - v),
    }
    aff, value = cases[name]
    points_inside: list[isl.Point] = []
    sets.nonneg(aff).intersect(isl.Set("{ [x] : -20 <= x <= 20 }")).foreach_point(points_inside.append)
    numbers = [p.get_coordinate_val(sets.dim_type.set, 0).to_python() for p in points_inside]
    assert sorted(numbers) == [v for v in range(-20, 21) if value(v) >= 0]
