"""Which entries are being computed, told to other processes: a hint, by which two builds at once share their work.

Nobody waits: who finds an entry claimed does something else first. A claim of a dead process does not count.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from tir_mlir.dialect.diagnostics import ToolError
from tir_mlir.runtime.cache.crash_notes import alive
from tir_mlir.runtime.tools.toolchain import cache_folder

_LONGEST = 300
"""Seconds after which a claim no longer counts: its process may be one of another machine that shares the folder."""


@contextlib.contextmanager
def claimed(kind: str, name: str) -> Iterator[bool]:
    """Claim an entry while it is computed. Yields whether no other claim counts; always True if none can be written."""
    path, is_free = None, True
    with contextlib.suppress(OSError, ToolError):
        folder = cache_folder() / kind
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"new-claim-{name}"  # the prefix of unfinished files, which the store removes when they are old
        try:
            with open(path, "x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            is_free = not _counts(path)
            if is_free:
                path.write_text(str(os.getpid()))
    try:
        yield is_free
    finally:
        if is_free and path is not None:
            with contextlib.suppress(OSError):
                path.unlink()


def _counts(path: Path) -> bool:
    """Whether the process of a claim may still be at it."""
    try:
        return time.time() - path.stat().st_mtime < _LONGEST and alive(int(path.read_text() or os.getpid()))
    except (OSError, ValueError):
        return False
