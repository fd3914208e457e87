"""Ctrl-C that waits until what must not be left half done is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Raise the KeyboardInterrupt of a Ctrl-C that comes in here at the end; a second Ctrl-C raises it at once.

    Does nothing in other threads than the main one, or where SIGINT has a handler that is not Python's own: one of the
    user's, or none where it is ignored, as by commands in the background (`nohup python search.py &`).
    """
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, frame: Any) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if came:
        raise KeyboardInterrupt
