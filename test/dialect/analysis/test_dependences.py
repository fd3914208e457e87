"""Which iterations conflict: the smallest pair and its element, or none."""

import pytest
from harness.nests import nest

from tir_mlir.dialect.analysis import dependences

ROW = 'for i in range(8):\n    with T.block("A"):\n        vi = T.axis.opaque(8, i)\n        {}'
GRID = """
for i in range(6):
    for j in range(6):
        with T.block("A"):
            vi = T.axis.opaque(6, i)
            vj = T.axis.opaque(6, j)
            {}
"""
SUM = """
for i, k in T.grid(4, 8):
    with T.block("C"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            C[vi] = 0.0
        C[vi] = C[vi] + A[vi, vk]
"""


@pytest.mark.parametrize(
    ("statement", "conflict"),
    [
        ("A[vi] = 1.0", None),
        ("A[vi] = A[vi] + 1.0", None),
        ("A[vi + 1] = A[vi]", "A(i=0) and A(i=1) touch A[1]"),
        ("A[vi] = A[vi + 8]", None),  # written 0..7, read 8..15
        ("A[vi] = A[15 - vi]", None),
        ("A[vi] = A[8 - vi]", "A(i=1) and A(i=7) touch A[7]"),
        ("A[vi // 2] = 1.0", "A(i=0) and A(i=1) touch A[0]"),
        ("A[0] = 1.0", "A(i=0) and A(i=1) touch A[0]"),
        ("A[vi * 2] = A[vi * 2 + 1]", None),  # even ones from odd ones
    ],
)
def test_what_a_loop_carries(statement, conflict):
    with nest("A: T.Buffer((16,))", ROW.format(statement)) as n:
        found = dependences.loop_carried_conflict(n.loops["i"])
    assert (found and str(found)) == conflict


@pytest.mark.parametrize(
    ("statement", "outer", "inner"),
    [
        ("A[vi + 1, vj] = A[vi, vj]", True, False),
        ("A[vi, vj + 1] = A[vi, vj]", False, True),
        ("A[vi + 1, vj + 1] = A[vi, vj]", True, False),
        ("A[vi, vj] = A[vj, vi]", True, False),
        ("A[vi, vj] = A[vi, vj + 6]", False, False),
    ],
)
def test_each_loop_of_a_nest_is_asked_by_itself(statement, outer, inner):
    """An inner loop carries what happens between its iterations for the same outer one."""
    with nest("A: T.Buffer((12, 12))", GRID.format(statement)) as n:
        assert (dependences.loop_carried_conflict(n.loops["i"]) is not None) is outer
        assert (dependences.loop_carried_conflict(n.loops["j"]) is not None) is inner


@pytest.mark.parametrize(
    ("statement", "conflict"),
    [
        ("A[vi + 1, vj] = A[vi, vj]", None),
        ("A[vi + 1, vj + 1] = A[vi, vj]", None),
        ("A[vi, vj] = A[vj, vi]", "A(i=0, j=1) and A(i=1, j=0) touch A[0, 1]"),
        ("A[vi + 1, vj] = A[vi, vj + 1]", "A(i=0, j=1) and A(i=1, j=0) touch A[1, 1]"),
    ],
)
def test_loops_in_the_other_order(statement, conflict):
    with nest("A: T.Buffer((12, 12))", GRID.format(statement)) as n:
        found = dependences.reordering_conflict([n.loops["i"], n.loops["j"]], [1, 0])
        assert dependences.reordering_conflict([n.loops["i"], n.loops["j"]], [0, 1]) is None
    if statement == "A[vi, vj] = A[vj, vi]":
        assert found is not None and found.element is not None and found.element.buffer == "A"
    else:
        assert (found and str(found)) == conflict


def test_a_reduction_may_be_reordered_but_not_run_at_once():
    with nest("A: T.Buffer((4, 8)), C: T.Buffer((4,))", SUM) as n:
        i, k = n.loops["i"], n.loops["k"]
        assert dependences.reordering_conflict([i, k], [1, 0]) is None
        assert dependences.loop_carried_conflict(i) is None
        assert str(dependences.loop_carried_conflict(k)) == "C(i=0, k=0) and C(i=0, k=1) touch C[0]"
        for together in ("vectorized", "threadIdx.x"):  # lanes, and threads of one block, sum up together
            assert dependences.loop_carried_conflict(k, together) is None
        assert dependences.loop_carried_conflict(k, "blockIdx.x") is not None


def test_a_buffer_of_each_iteration_is_no_conflict():
    """R is used again in every iteration of i, written before it is read: a copy an iteration does as well."""
    text = """
R = T.alloc_buffer((8,))
for i in range(4):
    for j in range(8):
        with T.block("R"):
            vi = T.axis.opaque(4, i)
            vj = T.axis.spatial(8, j)
            R[vj] = A[vi, vj]
    for j in range(8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = R[7 - vj]
"""
    with nest("A: T.Buffer((4, 8)), C: T.Buffer((4, 8))", text) as n:
        assert dependences.loop_carried_conflict(n.loops["i"]) is None
    seen = text.replace("C[vi, vj] = R[7 - vj]", "C[vi, vj] = R[7 - vj]\nC[0, 0] = R[3]")
    with nest("A: T.Buffer((4, 8)), C: T.Buffer((4, 8))", seen) as n:  # the last copy is read after the loop
        assert dependences.loop_carried_conflict(n.loops["i"]) is not None


def test_sizes_are_part_of_a_counterexample():
    text = 'A = T.match_buffer(a, (n,))\nfor i in range(n):\n    with T.block("A"):\n        vi = T.axis.opaque(n, i)\n'
    with nest("a: T.handle, n: T.int32", text + "        A[n - 1 - vi] = A[vi]") as n:
        found = dependences.loop_carried_conflict(n.loops["i"])
    assert found is not None and found.sizes == (("n", 2),)
    assert [i.at for i in found.iterations] == [{"i": 0}, {"i": 1}]
