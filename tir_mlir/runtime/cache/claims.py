"""Which entries are being computed, published to other processes: a hint, by which two builds at once share their work.

Who finds an entry claimed does something else first, and waits only for a moment where nothing else is left. A claim of
a dead process does not count.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from tir_mlir.dialect.diagnostics import ToolError
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.cache.crash_notes import alive
from tir_mlir.runtime.tools import files
from tir_mlir.runtime.tools.toolchain import cache_folder

PATIENCE = 2.0
"""Seconds to wait for an entry that another process computes, where nothing else is to be done."""
_DIGITS = 20
_LONGEST = 300
"""Seconds after which a claim no longer counts: its process may be one of another machine that shares the folder."""


@contextlib.contextmanager
def claim_entry(kind: str, name: str) -> Iterator[bool]:
    """Claim an entry while it is computed. Yields whether no other claim counts; always True if none can be written."""
    path, is_free = None, True
    with contextlib.suppress(OSError, ToolError):
        path = _path(kind, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with files.create(path) as file:
                file.write(str(os.getpid()).encode())
        except FileExistsError:
            is_free = not _counts(path)
            if is_free:
                files.replace(path, str(os.getpid()).encode())
    try:
        yield is_free
    finally:
        if is_free and path is not None:
            with contextlib.suppress(OSError):
                path.unlink()


def wait_for_entry(kind: str, name: str) -> bytes | None:
    """An entry that another process claims, if it is there in a moment."""
    end = time.monotonic() + PATIENCE
    with contextlib.suppress(OSError, ToolError):
        while _counts(_path(kind, name)) and time.monotonic() < end:
            time.sleep(0.01)
    return store.load(kind, name)


def _path(kind: str, name: str) -> Path:
    """The file of a claim, with the prefix of unfinished files, which the store removes when they are old."""
    return cache_folder() / kind / f"new-claim-{name}"


def _counts(path: Path) -> bool:
    """Whether the process of a claim may still be at it."""
    try:
        with files.open_regular(path) as file:
            is_recent = time.time() - os.fstat(file.fileno()).st_mtime < _LONGEST
            return is_recent and alive(int(file.read(_DIGITS) or os.getpid()))
    except (OSError, ValueError):
        return False
