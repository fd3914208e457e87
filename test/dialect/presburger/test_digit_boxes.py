"""Boxes of elements by digits, compared with isl's relations."""

from __future__ import annotations

from contextlib import contextmanager

import islpy as isl
import pytest
from harness.nests import nest

from tir_mlir.dialect.analysis import relations_of
from tir_mlir.dialect.ir import Index
from tir_mlir.dialect.presburger import dim_type, enclosing_box, filled_box

F = "f_0 * 16 + f_1"
FETCH = f"""
for b in range(4):
    for f_0, f_1 in T.grid(7, 16):
        with T.block("S"):
            vi = T.axis.spatial(18, {{i}})
            vj = T.axis.spatial(18, {{j}})
            T.where({F} < 100{{more}})
            S[vi, vj] = X[vi, vj]
"""
HALO = (f"b // 2 * 8 + ({F}) // 10", f"b % 2 * 8 + ({F}) % 10")


@contextmanager
def fetch(i: str, j: str, more: str = ""):
    """The write to S, and the variable of the outermost loop."""
    with nest("X: T.Buffer((18, 18)), S: T.Buffer((18, 18))", FETCH.format(i=i, j=j, more=more)) as n:
        touch = next(t for t in relations_of(n.loops["b"].op) if t.access.is_write)
        yield touch, [n.loops["b"].var]


@pytest.mark.parametrize("more", ["", f" and {HALO[0]} < 15", f" and {HALO[1]} < 17 and {HALO[0]} < 13"])
@pytest.mark.parametrize("b", [0, 3])
def test_what_is_filled(more, b):
    with fetch(*HALO, more) as (touch, outer):
        ends = []
        for side in filled_box(touch.access.op, touch.access.mins, outer):
            start = side.rest.substitute({outer[0]: Index.constant(b)}).simplify().as_constant()
            last = start + side.high if side.most is None else min(start + side.high, side.most)
            ends.append(f"{start + side.low} <= x{len(ends)} <= {last}")
        elements = touch.relation.fix_val(dim_type.in_, 0, isl.Val(b)).range()
        assert elements.is_equal(isl.Set(f"{{ [x0, x1] : {' and '.join(ends)} }}"))


@pytest.mark.parametrize(
    ("i", "j", "more"),
    [
        (HALO[0], f"b % 2 * 8 + ({F}) // 10", ""),  # a diagonal
        (*HALO, f" and ({F}) // 10 + ({F}) % 10 < 12"),  # a triangle
    ],
)
def test_what_is_no_full_box(i, j, more):
    with fetch(i, j, more) as (touch, outer):
        assert filled_box(touch.access.op, touch.access.mins, outer) is None


def test_a_triangle_is_enclosed():
    with fetch(*HALO, f" and ({F}) // 10 + ({F}) % 10 < 12") as (touch, outer):
        box = enclosing_box(touch.access.op, touch.access.mins, outer)
        assert [(side.low, side.high) for side in box] == [(0, 9), (0, 9)]
