"""Affine expressions as linear combinations: plain sums as factors by dimension, divisions as terms."""

from __future__ import annotations

import pytest
from mlir import ir

from tir_mlir.dialect.ir import Index, enter_context
from tir_mlir.dialect.presburger import dim_factors, intervals, linear_terms, split_linear, summands


def expression(text: str) -> ir.AffineExpr:
    return ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<(d0, d1, d2) -> ({text})>")).value.results[0]


@pytest.mark.parametrize(
    ("text", "factors", "constant"),
    [
        ("5", {}, 5),
        ("d1", {1: 1}, 0),
        ("d0 * 4 + d1 + 3", {0: 4, 1: 1}, 3),
        ("(d0 + d1 * 2 + 1) * 3", {0: 3, 1: 6}, 3),
        ("d0 * 2 + d2 + d0 * 3", {0: 5, 2: 1}, 0),
        ("d0 - d1", {0: 1, 1: -1}, 0),
    ],
)
def test_a_plain_sum(text, factors, constant):
    with enter_context():
        assert dim_factors(expression(text)) == (factors, constant)


@pytest.mark.parametrize("text", ["d0 floordiv 2", "d0 mod 3 + d1", "(d0 ceildiv 2) * 4"])
def test_a_division_is_not_one(text):
    with enter_context():
        assert dim_factors(expression(text)) is None
        assert not intervals.only_positive(expression(text))


@pytest.mark.parametrize(
    ("text", "positive"), [("d0 * 4 + d1", True), ("d0 - d1", False), ("d0 - 7", True), ("3", True)]
)
def test_only_positive_factors(text, positive):
    """The constant does not count."""
    with enter_context():
        assert intervals.only_positive(expression(text)) is positive


def read(text: str) -> ir.AffineExpr:
    return ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<(d0, d1, d2) -> ({text})>")).value.results[0]


@pytest.mark.parametrize(
    ("text", "factors", "constant"),
    [
        ("7", {}, 7),
        ("d1", {1: 1}, 0),
        ("d0 * 16 + d1 - 3", {0: 16, 1: 1}, -3),
        ("(d0 * 4 + d1 + 2) * 8 + d1", {0: 32, 1: 9}, 16),
        ("(d0 + d1) * 2 - d0 * 2", {1: 2}, 0),
    ],
)
def test_sums_of_dimensions(text, factors, constant):
    with enter_context():
        found = dim_factors(read(text))
        assert found is not None
        assert (dict(found.factors), found.constant) == (factors, constant)


@pytest.mark.parametrize("text", ["d0 floordiv 4", "d0 + d1 mod 4", "(d0 ceildiv 8) * 2"])
def test_divisions_are_no_sums_of_dimensions(text):
    with enter_context():
        assert dim_factors(read(text)) is None


def test_divisions_are_terms():
    with enter_context():
        found = linear_terms(read("(d0 floordiv 4 + d1 + 1) * 3 + d0 floordiv 4"))
        assert {str(term): factor for term, factor in found.factors.items()} == {"d0 floordiv 4": 4, "d1": 3}
        assert found.constant == 3


def test_split_and_summands():
    module = """func.func @f(%a: index, %b: index) { return }"""
    with enter_context():
        parsed = ir.Module.parse(module)
        a, b = parsed.body.operations[0].regions[0].blocks[0].arguments
        index = Index.from_value(a) * 16 + Index.from_value(b) // 4 + 5
        split = split_linear(index, [a])
        assert split is not None
        assert split.factors == (16,)
        assert split.rest.is_equal_to(Index.from_value(b) // 4 + 5)
        assert split_linear(index, [b]) is None  # in a division
        parts = summands(index)
        assert [len(p.values) for p in parts] == [1, 1, 0]
        assert parts[2].as_constant() == 5
        assert [p.as_constant() for p in summands(Index.constant(0))] == [0]
