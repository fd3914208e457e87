"""The elements of an access over outer loops: through digits of fused and split loops the same as without them."""

from __future__ import annotations

import pytest
from harness.nests import nest

from tir_mlir.dialect.analysis import access_relations
from tir_mlir.dialect.analysis.access_relations import relations_of
from tir_mlir.dialect.presburger import dim_type, over_digits

FETCH = """
for b in range({blocks}):
    for f_0 in range({outer}):
        for f_1 in range({threads}):
            with T.block("S"):
                vi = T.axis.spatial(64, b // 2 * {step} + (f_0 * {threads} + f_1) // {row})
                vj = T.axis.spatial(64, b % 2 * {step} + (f_0 * {threads} + f_1) % {row})
                T.where({guard})
                S[vi, vj] = 1.0
"""


def text(rows: int, row: int, threads: int, step: int, blocks: int = 4, guard: str = "") -> str:
    inside = f"f_0 * {threads} + f_1 < {rows * row}"
    outer = -(-rows * row // threads)
    guard = f"{inside} and {guard}" if guard else inside
    return FETCH.format(blocks=blocks, outer=outer, threads=threads, row=row, step=step, guard=guard)


@pytest.mark.parametrize(
    "program",
    [
        text(10, 10, 32, 8),
        text(6, 18, 64, 16),
        text(5, 7, 8, 5, guard="b % 2 * 5 + (f_0 * 8 + f_1) % 7 < 9"),
        text(3, 5, 4, 3, blocks=3),
        text(4, 8, 16, 4),
    ],
)
def test_elements_are_those_of_the_loops(program, monkeypatch):
    by_digits = []
    plain = access_relations.over_digits
    monkeypatch.setattr(access_relations, "over_digits", lambda *a: by_digits.append(plain(*a)) or by_digits[-1])
    with nest("S: T.Buffer((64, 64))", program, check=False) as n:
        (touch,) = relations_of(n.func.op)
        for depth in range(4):
            expected = touch.relation.project_out(dim_type.in_, depth, 3 - depth)
            assert touch.outer(depth).is_equal(expected)
    assert any(dom is not None for dom in by_digits)


@pytest.mark.parametrize("outer", ["f_0 * 16", "f_0 * 16 + u * 64"])
def test_digits_of_conditions_alone(outer):
    """The index is the fused number itself; its digits are in conditions, and an outer loop has one iteration."""
    program = f"""
for u in range(1):
    for f_0 in range(3):
        for f_1 in range(16):
            with T.block("S"):
                vi = T.axis.spatial(64, {outer} + f_1)
                T.where({outer} + f_1 < 40 and ({outer} + f_1) % 10 < 7)
                S[vi] = 1.0
"""
    with nest("S: T.Buffer((64,))", program, check=False) as n:
        (touch,) = relations_of(n.func.op)
        for depth in (0, 1):
            expected = touch.relation.project_out(dim_type.in_, depth, 3 - depth)
            assert touch.outer(depth).is_equal(expected)
            assert over_digits(touch.access.op, None, touch.access.indices, depth) is not None
