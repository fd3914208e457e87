"""Python functions that C code calls: an exception that comes up in one, Ctrl-C above all, is raised when C is back.

ctypes itself only reports it (`sys.unraisablehook`) and goes on.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_lock = threading.RLock()
_held: dict[int, list[BaseException]] = {}  # by id of a function under way: what came up in it
_before: Callable[[Any], Any] = sys.unraisablehook


@contextmanager
def raised_after(function: Callable[..., Any]) -> Iterator[None]:
    """While C may call a function: what comes up in it is raised at the end."""
    global _before
    caught: list[BaseException] = []
    with _lock:
        if not _held:
            _before, sys.unraisablehook = sys.unraisablehook, _keep
        _held[id(function)] = caught
    try:
        yield
    finally:
        with _lock:
            del _held[id(function)]
            if not _held and sys.unraisablehook is _keep:
                sys.unraisablehook = _before
    if caught:
        raise caught[0]


def _keep(found: Any) -> None:
    caught = _held.get(id(found.object))
    if caught is None:
        _before(found)
    else:
        caught.append(found.exc_value)
