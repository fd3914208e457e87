"""Caches of answers: while modules are frozen, and by structure."""

from __future__ import annotations

import pytest

from tir_mlir.dialect.ir import BoundedDict, answers, by_structure, frozen, only_reads, remembered


def test_remembered_while_frozen_only():
    calls = []

    @remembered
    def double(x: int) -> int:
        calls.append(x)
        return 2 * x

    assert [double(3), double(3)] == [6, 6]
    assert calls == [3, 3]
    with frozen():
        assert [double(3), double(3)] == [6, 6]
        with frozen():
            assert double(3) == 6
    assert calls == [3, 3, 3]
    assert answers() is None


def test_only_reads_freezes():
    @only_reads
    def ask() -> bool:
        return answers() is not None

    assert ask()
    assert answers() is None


def test_by_structure():
    calls = []

    @by_structure(lambda text: len(text) or None)
    def ask(text: str) -> None:
        if text == "bad":
            raise ValueError(text)
        calls.append(text)

    ask("ab")
    ask("cd")  # the same key; None is an answer like any other
    ask("")
    ask("")  # no key
    with pytest.raises(ValueError, match="bad"):
        ask("bad")
    ask("xyz")  # nothing was remembered of the call that raised
    assert calls == ["ab", "", "", "xyz"]


def test_bounded():
    recent: BoundedDict[int, int] = BoundedDict(4)
    for n in range(5):
        recent[n] = n
    assert recent == {2: 2, 3: 3, 4: 4}, "the older half is dropped, not all"
