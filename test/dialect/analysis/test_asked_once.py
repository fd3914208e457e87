"""Questions about the accesses of a program are answered without domains if they were asked of one like it."""

from __future__ import annotations

import pytest
from harness.nests import nest

from tir_mlir.dialect.analysis import access_relations, dependences
from tir_mlir.dialect.ir import freeze_modules, walk
from tir_mlir.dialect.verify import coverage

BUFFERS = "A: T.Buffer((61, 9)), B: T.Buffer((61, 9)), C: T.Buffer((61, 9))"
TWICE = """
for i, j in T.grid(61, 9):
    with T.block("B"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = A[vi, vj]
for i, j in T.grid(61, 9):
    with T.block("C"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = B[vi, vj] + B[vi, 8 - vj]
"""
PARTLY = """
Y = T.alloc_buffer((61, 9))
for i, j in T.grid(61, 8):
    with T.block("Y"):
        vi = T.axis.spatial(61, i)
        vj = T.axis.spatial((0, 9), j)
        Y[vi, vj] = A[vi, vj]
for i, j in T.grid(61, 8):
    with T.block("C"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = Y[vi, vj]
"""


@pytest.fixture
def no_more(monkeypatch):
    """Let a function of a module fail from now on."""

    def forbid(module: object, name: str) -> None:
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail(f"{name} was asked again"))

    return forbid


def test_a_loop_without_conflict(no_more):
    for again in (False, True):
        with nest(BUFFERS, TWICE) as n:
            if again:
                no_more(access_relations, "access_domain")
            assert dependences.loop_carried_conflict(n.loops["i"]) is None


def test_a_buffer_that_is_written_in_part(no_more):
    for again in (False, True):
        with nest(BUFFERS, PARTLY) as n:
            if again:
                no_more(coverage, "footprint")
            coverage._all_reads_written(n.func, n.buffers["Y"], n.blocks["Y"])


def test_the_users_of_a_buffer(no_more):
    with nest(BUFFERS, TWICE) as n, freeze_modules():
        first = walk.users(n.buffers["B"])
        no_more(walk, "top_of")
        assert walk.users(n.buffers["B"]) == first
        assert len(first) == 2  # the second one has three uses


def test_the_blocks_below_a_loop(no_more):
    with nest(BUFFERS, TWICE) as n, freeze_modules():
        first = walk.blocks_below(n.func.op)
        no_more(walk, "visit")
        assert walk.blocks_below(n.func.op) == first
        assert [b.name for b in first] == ["B", "C"]
