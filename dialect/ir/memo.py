"""Caches of answers about IR.

`remembered` keeps answers while a module is frozen: a verification, or the checks of a primitive, ask the same question
often. `by_structure` keeps answers across modules under a key of what they depend on: a step works on a clone, so all
ops are new after it, while most of the program is unchanged.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Generic, TypeVar

_state = threading.local()
F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K")
V = TypeVar("V")
_MISSING = object()


class BoundedDict(dict[K, V], Generic[K, V]):
    """A dictionary that is cleared when it reaches `limit` entries."""

    def __init__(self, limit: int = 1 << 14):
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self._limit:
            self.clear()
        super().__setitem__(key, value)


class Answers(type(threading.RLock())):  # type: ignore[misc]
    """The answers of one frozen period, valid while entered; only the `with` statement keeps them alive.

    It is a lock for one reason: Python enters and leaves a lock in one step, which Ctrl-C cannot interrupt.
    """

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}


def answers() -> dict[Any, Any] | None:
    """The answers since the module was frozen; None while it may change."""
    held = _held()
    return None if held is None else held.known


def _held() -> Answers | None:
    held = getattr(_state, "held", _nothing)()
    return held if held is not None and held._is_owned() else None


def _nothing() -> None:
    """A dead reference."""


def frozen() -> Answers:
    """The context in which modules are not edited: `with frozen():`. May be nested.

    Ops, values and views made inside must not outlive it.
    """
    held = _held()
    if held is None:
        held = Answers()
        _state.held = weakref.ref(held)
    return held


def only_reads(function: F) -> F:
    """Freeze all modules while a function that edits none of them runs."""

    @wraps(function)
    def ask(*args: Any, **kwargs: Any) -> Any:
        with frozen():
            return function(*args, **kwargs)

    return ask  # type: ignore[return-value]


def remembered(function: F) -> F:
    """Remember the answers of a function of hashable arguments while the module is frozen."""

    @wraps(function)
    def ask(*args: Any) -> Any:
        known = answers()
        if known is None:
            return function(*args)
        key = (function, args)
        if key not in known:
            known[key] = function(*args)
        return known[key]

    return ask  # type: ignore[return-value]


def by_structure(key: Callable[..., Hashable | None], limit: int = 1 << 14) -> Callable[[F], F]:
    """Remember the answers of a function across modules, under `key(*args)`.

    The key must hold all that the answer depends on, and the answer no ops or values. A call whose key is None, or that
    raises, is not remembered.
    """

    def decorate(function: F) -> F:
        known: BoundedDict[Hashable, Any] = BoundedDict(limit)

        @wraps(function)
        def ask(*args: Any) -> Any:
            at = key(*args)
            if at is None:
                return function(*args)
            found = known.get(at, _MISSING)
            if found is _MISSING:
                found = known[at] = function(*args)
            return found

        return ask  # type: ignore[return-value]

    return decorate
