"""Ends of loops: the last values of relations, and minima as one expression, which are those at all points."""

from __future__ import annotations

import islpy as isl
import pytest
from harness.nests import nest

from tir_mlir.dialect.ir import Index
from tir_mlir.dialect.presburger import intervals, last_values, single_minimum

NEST = "for i in range({extent}):\n    B[i] = 1.0"


@pytest.mark.parametrize(
    ("relation", "ends"),
    [
        ("{ [i] -> [k] : 0 <= i < 4 and 0 <= k <= 32 * i + 31 }", [lambda i: 32 * i + 31]),
        ("{ [i] -> [k] : 0 <= i < 4 and 0 <= k <= 32 * i + 31 and k <= 99 }", [lambda i: 32 * i + 31, lambda i: 99]),
        ("{ [i] -> [k] : 0 <= i < 4 and (k = 0 or k = i) }", [lambda i: i]),
    ],
)
def test_the_last_values_of_a_relation(relation, ends):
    with nest("B: T.Buffer((4,))", NEST.format(extent=4)) as n:
        var = n.loops["i"].var
        found = last_values(isl.Map(relation), 0, [var], {})
        values = [[e.substitute({var: Index.constant(i)}).as_constant() for i in range(4)] for e in found]
    assert sorted(values) == sorted([end(i) for i in range(4)] for end in ends)


@pytest.mark.parametrize("size", [97, 100, 127, 128])
def test_a_minimum_that_the_last_value_alone_decides_is_one_expression(size):
    with nest("B: T.Buffer((4,))", NEST.format(extent=4)) as n:
        var, box = n.loops["i"].var, intervals.body_ranges(n.loops["i"].op)
        end = single_minimum([n.index("i") * 32 + 32, Index.constant(size)], box)
        values = [] if end is None else [end.substitute({var: Index.constant(i)}).as_constant() for i in range(4)]
    assert values == ([min(32 * i + 32, size) for i in range(4)] if size < 128 else [])


@pytest.mark.parametrize("size", [64, 95])
def test_a_minimum_that_several_values_decide_is_left(size):
    with nest("B: T.Buffer((4,))", NEST.format(extent=4)) as n:
        box = intervals.body_ranges(n.loops["i"].op)
        assert single_minimum([n.index("i") * 32 + 32, Index.constant(size)], box) is None
