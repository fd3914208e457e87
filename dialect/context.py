"""The one MLIR context of the process: made at first use, entered only for the length of a call."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from mlir import ir

from tir_mlir.dialect.errors import ForkError

_lock = threading.RLock()  # a signal handler may come in while it is held
_context: ir.Context | None = None
_inside: dict[int, int] = {}  # by thread: how often it has entered
_single = False  # whether the context runs without its pool of threads, for a fork
_torn = False  # whether another thread was inside when this process was forked


def context() -> ir.Context:
    """The context that every module of this process lives in. Errors: ForkError."""
    with _lock:
        return _made()


def _made() -> ir.Context:
    global _context
    if _torn:
        raise ForkError(
            "this process was forked while another thread was at work in MLIR, and what that thread held cannot be "
            'used here; fork before other threads compile, or start processes by multiprocessing.get_context("spawn")'
        )
    if _context is None:
        _context = ir.Context()
    return _context


@contextmanager
def entered(loc: ir.Location | None = None) -> Iterator[ir.Context]:
    """Enter the context and a location (unknown unless given). May be nested.

    A context that is still entered when Python exits aborts the process, so nothing enters it except through here.
    """
    me = threading.get_ident()
    with _lock:
        ctx = _made()
        _inside[me] = _inside.get(me, 0) + 1
    try:
        with ctx, loc or ir.Location.unknown():
            yield ctx
    finally:
        _inside[me] -= 1
        if not _inside[me]:
            del _inside[me]


# --- forks: MLIR's pool of threads would not be there in a child, whose passes would wait for it for ever -------------


def _others() -> bool:
    return any(thread != threading.get_ident() for thread in _inside)


def _before_fork() -> None:
    global _single
    _lock.acquire()
    if _context is not None and not _others():
        _context.enable_multithreading(False)
        _single = True


def _after_in_parent() -> None:
    global _single
    if _context is not None and _single:
        _context.enable_multithreading(True)
        _single = False
    _lock.release()


def _after_in_child() -> None:
    global _torn
    _torn = _torn or _others()
    _after_in_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
