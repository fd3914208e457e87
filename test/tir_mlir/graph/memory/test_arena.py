"""Placement of buffers in an arena: no two that are alive at the same time overlap."""

from __future__ import annotations

import random

import pytest

from tir_mlir.graph import size_code
from tir_mlir.graph.memory import arena
from tir_mlir.graph.memory.arena import ArenaRequest


def overlapping(made: arena.Arena, known: dict[str, int]) -> list[tuple[int, int]]:
    """The pairs of requests that are alive in the same call and share bytes."""
    offsets, total = made.layout(known)
    spans = []
    for request, slot in zip(made.requests, made.slots, strict=True):
        start = offsets[slot]
        spans.append((start, start + size_code.value(request.size, known)))
        assert start % 64 == 0
        assert spans[-1][1] <= total
    found = []
    for i, a in enumerate(made.requests):
        for j in range(i):
            (s, e), (t, f) = spans[i], spans[j]
            if a.meets(made.requests[j]) and s < f and t < e:
                found.append((i, j))
    return found


def some_requests(count: int, seed: int, symbolic: bool) -> list[ArenaRequest]:
    rng = random.Random(seed)
    sizes = ["4 * (n)", "64 * (n) * (m)", "8 * (n + 1)"]
    made = []
    for _ in range(count):
        first = rng.randrange(count)
        size = rng.choice(sizes) if symbolic and rng.random() < 0.7 else rng.randrange(1, 5000)
        made.append(ArenaRequest(size, first, first + rng.randrange(6)))
    return made


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("symbolic", [False, True], ids=["numbers", "symbolic"])
def test_buffers_alive_together_are_apart(seed, symbolic):
    made = arena.plan(some_requests(30, seed, symbolic))
    for n, m in [(1, 1), (7, 300), (1000, 3)]:
        assert not overlapping(made, {"n": n, "m": m})


def test_a_chain_needs_two_buffers():
    made = arena.plan([ArenaRequest(1000, i, i + 1) for i in range(10)])
    assert made.total == 2 * 1024
    assert made.unshared_bytes == 10 * 1024


def test_a_symbolic_chain_needs_two_slots():
    made = arena.plan([ArenaRequest("4 * (n)", i, i + 1) for i in range(10)])
    assert made.layout({"n": 16})[1] == 2 * 64
    assert made.layout({"n": 17})[1] == 2 * 128


def test_a_small_buffer_goes_into_a_gap():
    made = arena.plan([ArenaRequest(1024, 0, 1), ArenaRequest(512, 1, 3), ArenaRequest(64, 2, 4)])
    assert made.total == 1024 + 512


def test_an_empty_plan():
    assert arena.plan([]).layout({}) == ([], 0)
