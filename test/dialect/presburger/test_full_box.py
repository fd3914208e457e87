"""Whether iterations fill a box, each point once: by attributes and intervals, and by isl with the point left out."""

from __future__ import annotations

import pytest
from harness.nests import nest

from tir_mlir.dialect.presburger import NotABox, box_of, full_box


def block(loops: str, binding: str, extent: int, where: str = "") -> str:
    """A block with one iter under loops `i:4 j:8`."""
    lines = []
    for depth, one in enumerate(loops.split()):
        name, size = one.split(":")
        lines.append("    " * depth + f"for {name} in range({size.replace('..', ', ')}):")
    inner = "    " * len(lines)
    lines += [inner + 'with T.block("B"):', inner + f"    v = T.axis.spatial({extent}, {binding})"]
    lines += [inner + f"    T.where({where})"] if where else []
    return "\n".join([*lines, inner + "    B[v] = 1.0"])


@pytest.mark.parametrize(
    ("loops", "binding", "extent"),
    [("i:8", "i", 8), ("i:4 j:8", "i * 8 + j", 32), ("i:4 u:1 j:8", "j * 4 + i + u", 32), ("i:2..6", "i - 2", 4)],
)
def test_a_mixed_radix_number_of_loops_reaches_all(loops, binding, extent):
    with nest("B: T.Buffer((32,))", block(loops, binding, extent)) as n:
        assert full_box.is_full_box(n.blocks["B"])


@pytest.mark.parametrize(
    ("loops", "binding", "extent", "where"), [("i:4 j:8", "i * 8 + j", 30, "i * 8 + j < 30"), ("i:8", "i", 7, "i < 7")]
)
def test_a_guard_that_cuts_the_end_off(loops, binding, extent, where):
    """A guard that drops the last iterations leaves the rest of the domain full."""
    with nest("B: T.Buffer((32,))", block(loops, binding, extent, where)) as n:
        assert full_box.is_full_box(n.blocks["B"])


@pytest.mark.parametrize(
    ("loops", "binding", "extent"),
    [
        ("i:8", "i // 2", 4),  # twice each
        ("i:4 j:8", "i * 4 + j", 20),  # 4 is met twice
        ("i:4", "i * 2", 8),  # with holes
    ],
)
def test_domains_not_proved_to_be_covered(loops, binding, extent):
    with nest("B: T.Buffer((32,))", block(loops, binding, extent)) as n:
        assert not full_box.is_full_box(n.blocks["B"])


def box(n, names: str):
    """Minimum and extent of some loops or iters beneath the function."""
    inside = n.blocks["B"].body.operations[0].operation
    mins, extents = box_of([n.index(x).is_value() for x in names.split()], inside, n.func.op, names.split())
    return [m.as_constant() for m in mins], [e.as_constant() for e in extents]


def test_the_box_of_iters_of_fused_loops():
    text = """
for f in range(32):
    with T.block("B"):
        vi = T.axis.spatial(4, f // 8)
        vj = T.axis.spatial(8, f % 8)
        B[vi, vj] = 1.0
"""
    with nest("B: T.Buffer((4, 8))", text) as n:
        assert box(n, "vi vj") == ([0, 0], [4, 8])
        with pytest.raises(NotABox, match="bound to the same point"):
            box(n, "vi")


def test_a_triangle_leaves_a_point_out():
    text = 'for i in range(4):\n    for j in range(i + 1):\n        with T.block("B"):\n'
    text += "            vi = T.axis.spatial(4, i)\n            vj = T.axis.spatial(4, j)\n            B[vi, vj] = 1.0"
    with nest("B: T.Buffer((4, 4))", text) as n:
        with pytest.raises(NotABox, match=r"full box of 4 x 4: \(vi, vj\) = \(0, 1\) is left out"):
            box(n, "vi vj")


def test_steps_leave_points_out():
    with nest("B: T.Buffer((8,))", block("i:4", "i * 2", 8)) as n:
        with pytest.raises(NotABox, match=r"full box of 7: \(v\) = \(1\) is left out"):
            box(n, "v")
        assert box(n, "i") == ([0], [4])
