"""The MLIR context of the process, created at first use and entered only for the duration of a call; the line of the
user that made the call."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
from functools import lru_cache
from types import FrameType

from mlir import ir

from tir_mlir.dialect.diagnostics import ForkError

_PACKAGE = __name__.partition(".")[0] + "."
_RUNTIMES = (_PACKAGE + "runtime.", _PACKAGE + "compat.runtime")
"""Modules that run built programs, which do not use MLIR."""
_lock = threading.RLock()  # reentrant: a signal handler may run while it is held
_context: ir.Context | None = None
_single_threaded = False  # whether multithreading of the context is disabled, for a fork
_others_active = False  # whether another thread was active in this package when a fork began
_forked_while_active = False  # whether another thread was active in this package when this process was forked


def context() -> ir.Context:
    """The context of every module of this process. Errors: ForkError."""
    with _lock:
        return _get_or_create()


def _get_or_create() -> ir.Context:
    global _context
    if _forked_while_active:
        raise ForkError(
            "this process was forked while another thread was active in MLIR, whose state and locks are unusable "
            'here; fork before other threads compile, or start processes by multiprocessing.get_context("spawn")'
        )
    if _context is None:
        _context = ir.Context()
    return _context


def enter_context(loc: ir.Location | None = None) -> ir.Location:
    """Return a context manager that enters the MLIR context at a location (default: unknown). May be nested.

    A context that is still entered at exit aborts the process, so it is entered only through this function. The result
    is the location itself: no Python code runs on entry, where Ctrl-C could leave it half done.
    """
    ctx = context()
    return loc or ir.Location.unknown(context=ctx)


@atexit.register
def _leave() -> None:
    """Exit contexts that Ctrl-C, or user code, left entered."""
    while (ctx := ir.Context.current) is not None and ctx is _context:
        try:
            innermost = ir.InsertionPoint.current
        except ValueError:
            innermost = ir.Location.current or ctx
        innermost.__exit__(None, None, None)


# --- forks: the threads of MLIR's pool do not exist in a child, whose passes would wait for them forever --------------


def _has_active_threads() -> bool:
    """Whether another thread is executing code of this package."""
    me = threading.get_ident()
    return any(_is_active(frame) for thread, frame in sys._current_frames().items() if thread != me)


def _is_active(frame: FrameType | None) -> bool:
    """Whether a call stack may be in MLIR; running a built program does not count."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name.startswith(_PACKAGE) and not name.startswith(_RUNTIMES):
            return True
        frame = frame.f_back
    return False


def _before_fork() -> None:
    global _single_threaded, _others_active
    _lock.acquire()
    _others_active = _has_active_threads()
    if _context is not None and not _others_active:
        _context.enable_multithreading(False)
        _single_threaded = True


def _after_in_parent() -> None:
    global _single_threaded
    if _context is not None and _single_threaded:
        _context.enable_multithreading(True)
        _single_threaded = False
    _lock.release()


def _after_in_child() -> None:
    global _forked_while_active
    _forked_while_active = _forked_while_active or _others_active
    _after_in_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


_OWN = __name__.partition(".")[0]


def user_frame(*packages: str) -> FrameType | None:
    """The innermost running frame outside the packages `packages`, by default this whole package."""
    prefixes = tuple(f"{package}." for package in packages or (_OWN,))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_inside(
        str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename, prefixes
    ):
        frame = frame.f_back
    return frame


def warn_at_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line: at the innermost caller outside this package."""
    frame = user_frame()
    if frame is None:
        warnings.warn(message, category, stacklevel=3)
        return
    seen, name = frame.f_globals.setdefault("__warningregistry__", {}), frame.f_globals.get("__name__", "")
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, name, seen)


def user_line() -> tuple[str, int] | None:
    """File and line of the innermost caller outside this package."""
    frame = user_frame()
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


@lru_cache(maxsize=4096)
def _is_inside(module: str, file: str, packages: tuple[str, ...]) -> bool:
    return f"{module}.".startswith(packages) or file.startswith("<frozen")
