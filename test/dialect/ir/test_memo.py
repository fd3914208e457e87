"""Caches of answers: while modules are frozen, and by structure."""

from __future__ import annotations

import pytest

from tir_mlir.dialect.ir import (
    BoundedDict,
    active_cache,
    cache_by_structure,
    cache_while_frozen,
    freeze_modules,
    only_reads,
)


def test_remembered_while_frozen_only():
    calls = []

    @cache_while_frozen
    def double(x: int) -> int:
        calls.append(x)
        return 2 * x

    assert [double(3), double(3)] == [6, 6]
    assert calls == [3, 3]
    with freeze_modules():
        assert [double(3), double(3)] == [6, 6]
        with freeze_modules():
            assert double(3) == 6
    assert calls == [3, 3, 3]
    assert active_cache() is None


def test_only_reads_freezes():
    @only_reads
    def ask() -> bool:
        return active_cache() is not None

    assert ask()
    assert active_cache() is None


def test_by_structure():
    calls = []

    @cache_by_structure(lambda text: len(text) or None)
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
