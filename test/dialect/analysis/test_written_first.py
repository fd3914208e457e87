"""Privacy of a buffer to the iterations of a loop: the fast path, kept answers, and isl's dataflow agree."""

from __future__ import annotations

import pytest
from harness.nests import nest
from programs.parsed import parse

from tir_mlir import Schedule
from tir_mlir.dialect.analysis import dataflow, dependences

PARAMS = 'A: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")'


def stage(name: str, count: int, store: str, guard: str = "", indent: int = 4) -> str:
    """A loop over j with a block of (i, j)."""
    lines = [
        f"for j in range({count}):",
        f'    with T.block("{name}"):',
        *([f"        T.where({guard})"] if guard else []),
        "        vi = T.axis.opaque(64, i)",
        f"        vj = T.axis.opaque({count}, j)",
        f"        {store}",
    ]
    return "".join(" " * indent + line + "\n" for line in lines)


def rows(*stages: str) -> str:
    return "S = T.alloc_buffer((64,))\nfor i in range(64):\n" + "".join(stages)


def fetched(count: int = 64, store: str = "S[vj] = A[vi, vj]", guard: str = "", index: str = "vj") -> str:
    """Each iteration of i fills S, copies it to a row of C, and fills it once more."""
    last = stage("again", 64, "S[vj] = A[vi, vj] + 1.0")
    return rows(stage("S", count, store, guard), stage("C", 64, f"C[vi, vj] = S[{index}]"), last)


INNER = """S = T.alloc_buffer((64,))
for i in range(64):
    for k in range({count}):
        with T.block("S"):
            vi = T.axis.opaque(64, i)
            vk = T.axis.opaque({count}, k)
            S[vk] = A[vi, vk]
        with T.block("C"):
            vi = T.axis.opaque(64, i)
            vk = T.axis.opaque({count}, k)
            C[vi, vk] = S[{index}]
    for k in range(64):
        with T.block("again"):
            vi = T.axis.opaque(64, i)
            vk = T.axis.opaque(64, k)
            S[vk] = A[vi, vk]
"""

AHEAD = """S = T.alloc_buffer(({planes}, 8))
for i in range(64):
    for j in range(8):
        with T.block("first"):
            vi = T.axis.opaque(64, i)
            vj = T.axis.opaque(8, j)
            T.where({first})
            S[0, vj] = A[vi, vj]
    for k in range(8):
        for j in range(8):
            with T.block("S"):
                vi, vk = T.axis.remap("OO", [i, k])
                vj = T.axis.opaque(8, j)
                T.where({guard})
                S[(vk + 1) % {planes}, vj] = A[vi, vk * 8 + vj + 8]
        for j in range(8):
            with T.block("C"):
                vi, vk = T.axis.remap("OO", [i, k])
                vj = T.axis.opaque(8, j)
                C[vi, vk * 8 + vj] = S[{index}, 7 - vj]
    for p, j in T.grid({planes}, 8):
        with T.block("again"):
            vi, vp = T.axis.remap("OO", [i, p])
            vj = T.axis.opaque(8, j)
            S[vp, vj] = A[vi, vj]
"""


def ahead(planes: int = 2, first: str = "j < 8", guard: str = "k < 7", index: str = "vk % 2") -> str:
    """Each iteration of k fills the plane that the next one reads."""
    return AHEAD.format(planes=planes, first=first, guard=guard, index=index)


PROGRAMS = {
    "all filled before use": (fetched(), True),
    "used in another order": (fetched(index="63 - vj"), True),
    "filled from the end": (fetched(store="S[63 - vj] = A[vi, vj]"), True),
    "more is used than filled": (fetched(count=63), False),
    "one element is not filled": (fetched(guard="j < 63"), False),
    "filled with a gap": (fetched(store="S[vj // 2 * 2] = A[vi, vj]"), False),
    "filled in tiles": (fetched(store="S[vj // 8 * 8 + vj % 8] = A[vi, vj]"), True),
    "filled after use": (rows(stage("C", 64, "C[vi, vj] = S[vj]"), stage("S", 64, "S[vj] = A[vi, vj]")), False),
    "filled in two parts": (
        rows(
            stage("S", 32, "S[vj] = A[vi, vj]"),
            stage("T", 32, "S[vj + 32] = A[vi, vj]"),
            stage("C", 64, "C[vi, vj] = S[vj]"),
        ),
        True,
    ),
    "each step reads its own": (INNER.format(count=64, index="vk"), True),
    "each step reads what a later one fills": (INNER.format(count=64, index="63 - vk"), False),
    "each step fills what the next one reads": (ahead(), True),
    "three planes": (ahead(3, index="vk % 3"), True),
    "the first step reads what none filled": (ahead(first="j < 7"), False),
    "the last step reads what none filled": (ahead(8, guard="k < 6", index="vk % 8"), False),
    "each step reads a plane that comes later": (ahead(3, index="(vk + 2) % 3"), False),
}


def private(body: str) -> bool:
    """Whether S is private to an iteration of i."""
    with nest(PARAMS, body, check=False) as n:
        return dataflow.is_private(n.buffers["S"], n.loops["i"].op)


@pytest.fixture
def flows(monkeypatch) -> list[int]:
    """Grows with each question to isl's dataflow analysis."""
    asked: list[int] = []
    run = dataflow.Flow.run
    monkeypatch.setattr(dataflow.Flow, "run", lambda self: asked.append(1) or run(self))
    return asked


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_answer_is_right(name):
    text, expected = PROGRAMS[name]
    assert private(text) == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_answer_without_the_fast_path_is_the_same(name, monkeypatch):
    text, expected = PROGRAMS[name]
    monkeypatch.setattr(dataflow, "follows_writes", lambda *_: False)
    monkeypatch.setattr(dataflow, "_written_before_read", dataflow._written_before_read.__wrapped__.__wrapped__)
    assert private(text) == expected


def test_a_plain_fetch_needs_no_dataflow(flows):
    assert private(fetched(index="vj // 4 * 4"))
    assert not flows


@pytest.mark.parametrize("planes", [2, 3])
def test_planes_that_are_filled_ahead_need_no_dataflow(planes, flows):
    assert private(ahead(planes, index=f"vk % {planes}"))
    assert not flows


def test_an_answer_is_kept_for_the_same_structure(flows):
    assert not private(fetched(count=60))
    count = len(flows)
    assert not private(fetched(count=60))
    assert len(flows) == count


@pytest.mark.parametrize(
    "change",
    [
        {"count": 59},
        {"store": "S[vj + 1] = A[vi, vj]", "count": 60},
        {"guard": "j < 59", "count": 60},
        {"index": "63 - vj", "count": 60},
    ],
)
def test_a_kept_answer_is_not_used_for_another_structure(change, flows):
    private(fetched(count=60))
    count = len(flows)
    assert not private(fetched(**change))
    assert len(flows) > count


def test_the_range_of_a_loop_counts():
    assert private(INNER.format(count=64, index="vk"))
    assert not private(INNER.format(count=32, index="vk + 32"))
    assert private(INNER.format(count=32, index="vk"))


def test_the_order_of_accesses_counts():
    first, second = stage("S", 64, "S[vj] = A[vi, vj] * 3.0"), stage("C", 64, "C[vi, vj] = S[vj]")
    assert private(rows(first, second))
    assert not private(rows(second, first))


def test_conflicts_are_kept_by_structure(monkeypatch):
    asked: list[int] = []
    meet = dependences._at_depth
    monkeypatch.setattr(dependences, "_at_depth", lambda *a: asked.append(1) or meet(*a))
    text = f"@T.prim_func\ndef main({PARAMS}):\n" + "".join(
        f"    {line}\n" for line in fetched(index="vj // 16 * 16").splitlines()
    )
    counts = []
    for _ in range(2):
        sch = Schedule(parse(text))
        sch.parallel(sch.get_loops("C")[0])
        counts.append(len(asked))
    assert counts[0] == counts[1] > 0
