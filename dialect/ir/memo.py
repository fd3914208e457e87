"""Answers remembered while a module stands still.

A verification, or the checks of a primitive, asks the same thing often.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

_state = threading.local()
F = TypeVar("F", bound=Callable[..., Any])


class Answers(type(threading.RLock())):  # type: ignore[misc]
    """What has been asked; good while it is entered, by a `with` that alone keeps it.

    A lock for one thing only: Python enters and leaves it in one step, where Ctrl-C cannot come between.
    """

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}


def answers() -> dict[Any, Any] | None:
    """What has been asked since the module was declared frozen; None when it may be changing."""
    held = _held()
    return None if held is None else held.known


def _held() -> Answers | None:
    held = getattr(_state, "held", _nothing)()
    return held if held is not None and held._is_owned() else None


def _nothing() -> None:
    """Stands for a reference to what is gone."""


def frozen() -> Answers:
    """What to enter, `with frozen():`, while nothing edits a module. Ops, values and views made inside must not be kept
    beyond it."""
    held = _held()
    if held is None:
        held = Answers()
        _state.held = weakref.ref(held)
    return held


def only_reads(function: F) -> F:
    """A function that edits no module: all are frozen while it runs."""

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
