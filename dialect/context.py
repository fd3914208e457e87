"""The one MLIR context of the process: made at first use, entered only for the length of a call."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from mlir import ir

_lock = threading.Lock()
_context: ir.Context | None = None


def context() -> ir.Context:
    """The context that every module of this process lives in."""
    global _context
    with _lock:
        if _context is None:
            _context = ir.Context()
        return _context


@contextmanager
def entered(loc: ir.Location | None = None) -> Iterator[ir.Context]:
    """Enter the context and a location (unknown unless given). May be nested.

    A context that is still entered when Python exits aborts the process, so nothing enters it except through here.
    """
    ctx = context()
    with ctx, loc or ir.Location.unknown():
        yield ctx
