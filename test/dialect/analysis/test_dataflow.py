"""Which write a read sees: reads that nothing wrote, buffers that live in one iteration, values in another order."""

from __future__ import annotations

import pytest
from harness.nests import nest

from tir_mlir.dialect.analysis import dataflow

STAGES = """
B = T.alloc_buffer((10,))
for i in range({written}):
    with T.block("B"):
        vi = T.axis.spatial({written}, i)
        B[vi] = A[vi]
for i in range(8):
    with T.block("C"):
        vi = T.axis.spatial(8, i)
        C[vi] = B[{read}]
"""
PARAMS = "A: T.Buffer((10,)), C: T.Buffer((8,))"


@pytest.mark.parametrize(("written", "read"), [(8, "vi"), (10, "vi + 2"), (8, "7 - vi"), (4, "vi // 2")])
def test_every_read_is_preceded_by_a_write(written, read):
    with nest(PARAMS, STAGES.format(written=written, read=read)) as n:
        assert dataflow.unwritten_reads(n.buffers["B"], n.func.op) is None


def one_nest(first: str, second: str) -> str:
    """Two blocks in one loop."""
    return f"""
B = T.alloc_buffer((10,))
for i in range(8):
    with T.block("one"):
        vi = T.axis.opaque(8, i)
        {first}
    with T.block("two"):
        vi = T.axis.opaque(8, i)
        {second}
"""


@pytest.mark.parametrize(
    ("first", "second", "missing"),
    [
        ("B[vi] = A[vi]", "C[vi] = B[vi]", None),
        ("C[vi] = B[vi]", "B[vi] = A[vi]", 0),  # read first
        ("B[vi + 1] = A[vi]", "C[vi] = B[vi]", 0),  # of B[0] there is no write
        ("B[vi] = A[vi]", "C[vi] = T.if_then_else(vi > 2, B[vi - 3], 0.0)", None),
        ("B[vi] = A[vi]", "C[vi] = T.if_then_else(vi > 2, B[vi - 2], 0.0)", None),
    ],
)
def test_the_first_read_of_unwritten_elements(first, second, missing):
    with nest(PARAMS, one_nest(first, second), check=False) as n:
        found = dataflow.unwritten_reads(n.buffers["B"], n.func.op)
    assert (found and found[1]) == (None if missing is None else [missing])


def test_one_iteration_of_a_loop_at_a_time():
    """B[vi - 3] was written, but in another iteration of i."""
    with nest(PARAMS, one_nest("B[vi] = A[vi]", "C[vi] = T.if_then_else(vi > 2, B[vi - 3], 0.0)")) as n:
        touch, point = dataflow.unwritten_reads(n.buffers["B"], n.loops["i"].op)
        assert point == [3] and not touch.access.is_write
        assert not dataflow.is_private(n.buffers["B"], n.loops["i"].op)
    with nest(PARAMS, one_nest("B[vi] = A[vi]", "C[vi] = B[vi]")) as n:
        assert dataflow.is_private(n.buffers["B"], n.loops["i"].op)
        assert not dataflow.is_private(n.buffers["A"], n.loops["i"].op)  # a parameter


def test_only_the_readers_that_are_asked_about():
    with nest(PARAMS, one_nest("C[vi] = B[vi]", "B[vi] = A[vi]"), check=False) as n:
        assert dataflow.unwritten_reads(n.buffers["B"], n.func.op, n.blocks["two"].op) is None
        assert dataflow.unwritten_reads(n.buffers["B"], n.func.op, n.blocks["one"].op) is not None


def test_a_read_after_the_init_of_its_own_sum():
    text = """
S = T.alloc_buffer((4,))
for i, k in T.grid(4, 8):
    with T.block("S"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            S[vi] = 0.0
        S[vi] = S[vi] + A[vi, vk]
"""
    with nest("A: T.Buffer((4, 8))", text) as n:
        assert dataflow.unwritten_reads(n.buffers["S"], n.func.op) is None
        assert dataflow.unwritten_reads(n.buffers["S"], n.loops["i"].op) is None
        assert dataflow.unwritten_reads(n.buffers["S"], n.loops["k"].op) is not None  # only the first k begins


@pytest.mark.parametrize(
    ("statement", "same"),
    [
        ("A[vi, vj] = 1.0", True),
        ("A[0, vj] = B[vi]", True),  # the last writer of A[0, j] has i = 3, in either order
        ("A[0, 0] = B[vi] + 1.0", True),  # i = 3, j = 3 is the last in both
        ("A[0, 0] = A[0, 0] * B[vi]", False),  # each update sees the one before
        ("A[vi + 1, vj] = A[vi, vj + 1]", False),
        ("A[vi + 1, vj + 1] = A[vi, vj]", True),
    ],
)
def test_the_same_values_in_another_order(statement, same):
    text = f"""
for i in range(4):
    for j in range(4):
        with T.block("A"):
            vi = T.axis.opaque(4, i)
            vj = T.axis.opaque(4, j)
            {statement}
"""
    with nest("A: T.Buffer((8, 8)), B: T.Buffer((8,))", text) as n:
        assert dataflow.same_flow(n.buffers["A"], [n.loops["i"], n.loops["j"]], [1, 0]) is same
