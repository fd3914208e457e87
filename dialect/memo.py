"""Answers remembered while a module stands still.

A verification, or the checks of a primitive, asks the same thing often.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

_state = threading.local()
F = TypeVar("F", bound=Callable[..., Any])


def answers() -> dict[Any, Any] | None:
    """What has been asked since the module was declared frozen; None when it may be changing."""
    return getattr(_state, "answers", None)


@contextmanager
def frozen() -> Iterator[None]:
    """Within it nothing may edit a module. Ops, values and views made inside must not be kept beyond it."""
    before = answers()
    try:  # before anything is set: Ctrl-C may come between any two lines
        _state.answers = {} if before is None else before
        yield
    finally:
        _state.answers = before


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
