"""Expressions under ranges: simplified, they have the same values at all points and are no longer than before."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from mlir import ir
from programs.parsed import parse

from fuzzing.inputs import simplify
from tir_mlir import Schedule, build
from tir_mlir.dialect.ir import enter_context
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
    with enter_context():

        def read(expr: str) -> ir.AffineExpr:
            return ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<(d0, d1, d2) -> ({expr})>")).value.results[0]

        assert str(fold_expr(read(text), ((0, None), (0, 15), (0, 3)))) == str(read(short))


def test_a_size_that_only_the_domain_has_is_not_taken_for_another_value():
    """Where i // 3 is n, i mod 3 is i - 3 n: n is not a value of the expression."""
    sch = Schedule(
        parse("""
@T.prim_func
def main(n: T.int32, A: T.Buffer((1, 3), "float32"), B: T.Buffer((n + 1, 3), "float32")):
    for i, j in T.grid(n + 1, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.if_then_else(vi < n, T.float32(0), A[vi - n, vj])
""")
    )
    sch.fuse(*sch.get_loops("B"))
    a, b = np.arange(1, 4, dtype="float32")[None], np.empty((3, 3), "float32")
    build(sch)(2, a, b)
    np.testing.assert_array_equal(b, [[0, 0, 0], [0, 0, 0], [1, 2, 3]])
