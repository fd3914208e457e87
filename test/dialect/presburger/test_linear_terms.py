"""Expressions that are plain sums, as factors by dimension and a constant."""

from __future__ import annotations

import pytest
from mlir import ir

from tir_mlir.dialect.ir import entered
from tir_mlir.dialect.presburger import dim_factors, intervals


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
    with entered():
        assert dim_factors(expression(text)) == (factors, constant)


@pytest.mark.parametrize("text", ["d0 floordiv 2", "d0 mod 3 + d1", "(d0 ceildiv 2) * 4"])
def test_a_division_is_not_one(text):
    with entered():
        assert dim_factors(expression(text)) is None
        assert not intervals.only_positive(expression(text))


@pytest.mark.parametrize(
    ("text", "positive"), [("d0 * 4 + d1", True), ("d0 - d1", False), ("d0 - 7", True), ("3", True)]
)
def test_only_positive_factors(text, positive):
    """The constant does not count."""
    with entered():
        assert intervals.only_positive(expression(text)) is positive
