"""Files that say what a process builds: the entry that it computes, and the program during which it may crash.

Records of builds during which MLIR or LLVM aborted the process, so that the next build can avoid the crash.

During a build the cache folder holds a file with the program's text, removed when the build ends. A file left by a
dead process names the stage that crashed (`lower`: MLIR passes, `compile`: LLVM).
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tir_mlir.dialect.diagnostics import ToolError
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.tools import files
from tir_mlir.runtime.tools.toolchain import cache_folder

LOWER, COMPILE = "lower", "compile"
_KIND = "crashes"
_NAME = re.compile(rf"\w+\.(\d{{1,9}})\.({LOWER}|{COMPILE})")


@dataclass(frozen=True)
class CrashRecord:
    """The record of a crashed build: the file with the program's text, the stage, the process id."""

    path: Path
    stage: str
    process: int


def earlier_crash(name: str) -> CrashRecord | None:
    """The record of an earlier crash while building this program, or None."""
    with contextlib.suppress(OSError, ToolError):
        for path in sorted((cache_folder() / _KIND).glob(f"{name}.*")):
            match = _NAME.fullmatch(path.name)
            facts = path.lstat()
            if match and stat.S_ISREG(facts.st_mode) and facts.st_uid == os.geteuid() and not alive(int(match[1])):
                return CrashRecord(path, match[2], int(match[1]))
    return None


@contextlib.contextmanager
def record_build(name: str, text: str) -> Iterator[Callable[[str], None]]:
    """Record a build while it runs. Yields a function to call at each stage. No-op if the folder is not writable."""
    path: Path | None = None

    def mark_stage(stage: str) -> None:
        nonlocal path
        if path is not None:
            with contextlib.suppress(OSError):
                path = path.rename(path.with_name(f"{name}.{os.getpid()}.{stage}"))

    with contextlib.suppress(OSError, ToolError):
        folder = cache_folder() / _KIND
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.{os.getpid()}.{LOWER}"
        files.replace(path, text.encode())
    try:
        yield mark_stage
    finally:
        if path is not None:
            with contextlib.suppress(OSError):
                path.unlink()


def alive(process: int) -> bool:
    """Whether a process of this machine runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


# Which entries are being computed, published to other processes: a hint, by which two builds at once share their work.
#
# Who finds an entry claimed does something else first, and waits only for a moment where nothing else is left. A claim
# of a dead process does not count.


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
