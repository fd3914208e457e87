"""Expressions under ranges: simplified, they have the same values at all points and are no longer than before."""

from __future__ import annotations

from random import Random

import pytest
from mlir import ir

from fuzzing.inputs import simplify
from tir_mlir.dialect.ir import entered
from tir_mlir.dialect.presburger import fold_expr


def test_same_values_and_no_longer():
    for number in range(300):
        simplify.in_ranges(Random(number))


def test_same_values_where_nothing_is_known():
    for number in range(200):
        simplify.anywhere(Random(number))


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("(d0 * 16 + d1) floordiv 16", "d0"),
        ("(d0 * 16 + d1) mod 16", "d1"),
        ("(d0 * 32 + d1 * 2) floordiv 16", "d0 * 2 + d1 floordiv 8"),
        ("(d0 * 4 + d2) floordiv 16", "d0 floordiv 4"),
        ("(d0 * 4 + d2) mod 16", "(d0 mod 4) * 4 + d2"),
        ("(d0 mod 18) mod 6", "d0 mod 6"),
        ("((d0 + 15) floordiv 16 + 3) floordiv 4", "(d0 + 63) floordiv 64"),
        ("(d0 * 64 + d1 * 4 + d2) floordiv 4 mod 16", "d1"),
    ],
)
def test_forms(text, short):
    with entered():

        def read(expr: str) -> ir.AffineExpr:
            return ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<(d0, d1, d2) -> ({expr})>")).value.results[0]

        assert str(fold_expr(read(text), ((0, None), (0, 15), (0, 3)))) == str(read(short))
