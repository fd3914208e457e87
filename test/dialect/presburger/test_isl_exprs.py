"""Expressions of isl as MLIR expressions: however isl writes a quotient, it is the plain one."""

from __future__ import annotations

from random import Random

import islpy as isl
import pytest
from mlir import ir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.dialect.presburger import recover


def aff(text: str) -> isl.Aff:
    return isl.Aff(f"{{ [x, y] -> [({text})] }}")


def recovered(text: str) -> str:
    with enter_context():
        return str(recover(aff(text), [ir.AffineExpr.get_dim(0), ir.AffineExpr.get_dim(1)], 2))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("-floor((-x - 1) / 16)", "d0 floordiv 16 + 1"),
        ("x - floor((15x + 15) / 16)", "d0 floordiv 16"),
        ("8 * floor(x / 4) + 32 * floor((-x - 1) / 16) + 32", "((d0 mod 16) floordiv 4) * 8"),
        ("-2 * x + 8 * floor(x / 4) + 2 * x - 32 * floor(x / 16)", "((d0 mod 16) floordiv 4) * 8"),
        ("floor((x + 6) / 4) - 4 * floor((x + 14) / 16)", "((d0 - 2) mod 16) floordiv 4 - 2"),
        ("floor((-8x - y - 1) / 64) - floor((-8x - y - 1) / 64)", "0"),
        ("floor((x + 32) / 16)", "d0 floordiv 16 + 2"),
        ("floor((-x) / 16)", "(-d0) floordiv 16"),
        ("floor((x - 1) / 4)", "(d0 - 1) floordiv 4"),
        ("floor((x - y - 1) / 4)", "(d0 - d1 - 1) floordiv 4"),
    ],
)
def test_forms(text, plain):
    assert recovered(text) == plain


@pytest.mark.parametrize("seed", range(40))
def test_values_stay(seed):
    random = Random(seed)
    terms = []
    for _ in range(random.randint(1, 4)):
        x, y, c = (random.choice([-31, -15, -4, -1, 0, 1, 3, 7, 16]) for _ in range(3))
        terms.append(
            f"{random.choice([-32, -8, -1, 1, 2, 8])} * floor(({x}x + {y}y + {c}) / {random.choice([2, 4, 5, 16])})"
        )
    text = " + ".join([*terms, f"{random.randint(-9, 9)}x"])
    with enter_context():
        dims = [ir.AffineExpr.get_dim(n) for n in range(2)]
        map_ = ir.AffineMap.get(2, 0, [recover(aff(text), dims, 2)])
        exact = isl.PwAff.from_aff(aff(text))
        for _ in range(20):
            point = [random.randint(-70, 70), random.randint(-70, 70)]
            constants = [ir.AffineExpr.get_constant(v) for v in point]
            value = map_.results[0].compose(ir.AffineMap.get(0, 0, constants)).maybe_downcast()
            at = isl.Point.zero(exact.get_domain_space())
            for n, v in enumerate(point):
                at = at.set_coordinate_val(isl.dim_type.set, n, isl.Val(v))
            assert value.value == exact.eval(at).to_python()
