"""Interval arithmetic: the least and greatest value of an expression, never a range that is too small."""

from __future__ import annotations

import pytest
from harness.nests import nest
from mlir import ir

from tir_mlir.dialect.ir import Index, enter_context
from tir_mlir.dialect.presburger import intervals


def expression(text: str) -> ir.AffineExpr:
    return ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<(d0, d1) -> ({text})>")).value.results[0]


@pytest.mark.parametrize(
    ("text", "first", "second", "expected"),
    [
        ("7", (0, 3), (0, 3), (7, 7)),
        ("d0 * 4 + d1", (0, 7), (0, 3), (0, 31)),
        ("d0 - d1", (2, 5), (1, 3), (-1, 4)),
        ("d0 * -3 + 1", (2, 5), (0, 0), (-14, -5)),
        ("d0 * 0", (None, None), (0, 0), (0, 0)),
        ("d0 floordiv 4", (-1, 9), (0, 0), (-1, 2)),
        ("d0 ceildiv 4", (-1, 9), (0, 0), (0, 3)),
        ("d0 mod 8", (2, 5), (0, 0), (2, 5)),  # it does not wrap
        ("d0 mod 8", (6, 9), (0, 0), (0, 7)),  # it wraps: 6, 7, 0, 1
        ("d0 mod 8", (-1, 3), (0, 0), (0, 7)),  # -1 mod 8 is 7
        ("d0 + d1", (0, None), (1, 4), (1, None)),
        ("-d0", (0, None), (0, 0), (None, 0)),
        ("d0 floordiv 2", (None, 5), (0, 0), (None, 2)),
    ],
)
def test_the_range_of_an_expression(text, first, second, expected):
    with enter_context():
        assert intervals.expr_interval(expression(text), (first, second)) == expected


def test_loops_and_iters_range_over_their_bounds_and_domains():
    text = """
for i in range(2, 8):
    for j in range(i + 1):
        with T.block("B"):
            vi = T.axis.spatial((2, 8), i)
            vj = T.axis.spatial(8, j)
            B[vi, vj] = 1.0
"""
    with nest("B: T.Buffer((8, 8))", text) as n:
        box = intervals.body_ranges(n.blocks["B"].op)
        found = {name: intervals.interval(n.index(name), box) for name in ("i", "j", "vi", "vj")}
    assert found == {"i": (2, 7), "j": (0, 7), "vi": (2, 7), "vj": (0, 7)}


def test_a_loop_with_several_ends_stops_at_the_first():
    with nest("B: T.Buffer((8,))", "for i in range(T.min(5, 9)):\n    B[i] = 1.0") as n:
        assert intervals.interval(n.index("i"), intervals.body_ranges(n.loops["i"].op)) == (0, 4)


def test_a_size_is_at_least_zero_and_has_no_end():
    text = "A = T.match_buffer(a, (n,))\nfor i in range(n):\n    A[i] = 1.0"
    with nest("a: T.handle, n: T.int32", text) as n:
        size = Index.from_value(next(a for a in n.func.body.arguments if isinstance(a.type, ir.IndexType)))
        assert intervals.interval(size, {}) == (0, None)
        assert intervals.interval(size * -2 + 1, {}) == (None, 1)
        assert intervals.at_least_zero(size + 3, {}) and not intervals.at_least_zero(size - 1, {})


@pytest.mark.parametrize(("start", "count", "inside"), [(0, 8, True), (0, 7, False), (1, 8, False), (-2, 12, True)])
def test_a_piece_of_a_range(start, count, inside):
    """[i, i + 2) with i = 0 .. 6 takes 0 .. 7."""
    with nest("B: T.Buffer((7,))", "for i in range(7):\n    B[i] = 1.0") as n:
        box = intervals.body_ranges(n.loops["i"].op)
        two, low, size = (Index.constant(c) for c in (2, start, count))
        assert intervals.is_in_range(n.index("i"), two, low, size, box) is inside


def test_a_variable_of_unknown_range_decides_nothing():
    with nest("B: T.Buffer((7,))", "for i in range(7):\n    B[i] = 1.0") as n:
        one, low, size = (Index.constant(c) for c in (1, 0, 1000))
        assert not intervals.is_in_range(n.index("i"), one, low, size, {})
        assert not intervals.at_least_zero(n.index("i"), {})
