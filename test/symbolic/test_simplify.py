"""Expressions under ranges: simplified, they have the same values at all points and are no longer than before."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlir import ir

from tir_mlir.dialect.ir import cost, entered
from tir_mlir.dialect.presburger import fold_expr

RANGES = st.tuples(*[st.integers(1, 20)] * 3)


def expressions():
    leaf = st.one_of(st.integers(0, 2).map(lambda d: ("d", d)), st.integers(-7, 20).map(lambda c: ("c", c)))
    sizes = st.sampled_from([2, 3, 4, 6, 8, 12, 16, 18])

    def grow(inner):
        return st.one_of(
            st.tuples(st.just("+"), inner, inner),
            st.tuples(st.just("*"), inner, st.sampled_from([-2, 2, 3, 4, 8, 16])),
            st.tuples(st.sampled_from(["//", "%", "ceil"]), inner, sizes),
        )

    return st.recursive(leaf, grow, max_leaves=8)


def build(tree) -> ir.AffineExpr:
    head = tree[0]
    if head == "d":
        return ir.AffineExpr.get_dim(tree[1])
    if head == "c":
        return ir.AffineExpr.get_constant(tree[1])
    left = build(tree[1])
    if head == "+":
        return left + build(tree[2])
    if head == "*":
        return left * tree[2]
    make = {"//": ir.AffineExpr.get_floor_div, "%": ir.AffineExpr.get_mod, "ceil": ir.AffineExpr.get_ceil_div}[head]
    return make(left, tree[2])


def value(expr: ir.AffineExpr, point) -> int:
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineDimExpr):
        return point[expr.position]
    if isinstance(expr, ir.AffineConstantExpr):
        return expr.value
    left, right = value(expr.lhs, point), value(expr.rhs, point)
    if isinstance(expr, ir.AffineAddExpr):
        return left + right
    if isinstance(expr, ir.AffineMulExpr):
        return left * right
    if isinstance(expr, ir.AffineModExpr):
        return left % right
    return left // right if isinstance(expr, ir.AffineFloorDivExpr) else -(-left // right)


@settings(max_examples=300, deadline=None)
@given(expressions(), RANGES)
def test_same_values_and_no_longer(tree, extents):
    with entered():
        expr = build(tree)
        folded = fold_expr(expr, tuple((0, e - 1) for e in extents))
        assert cost(folded) <= cost(expr)
        for point in itertools.product(*[sorted({0, 1, e // 2, e - 1} & set(range(e))) for e in extents]):
            assert value(folded, point) == value(expr, point), f"{expr} -> {folded} at {point}"


@settings(max_examples=200, deadline=None)
@given(expressions())
def test_same_values_where_nothing_is_known(tree):
    with entered():
        expr = build(tree)
        folded = fold_expr(expr, ((None, None), (0, None), (None, 5)))
        for point in itertools.product((-37, -1, 0, 50), (0, 3, 1000), (-9, 0, 5)):
            assert value(folded, point) == value(expr, point), f"{expr} -> {folded} at {point}"


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
