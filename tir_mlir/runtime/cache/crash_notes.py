"""Records of builds during which MLIR or LLVM aborted the process, so that the next build can avoid the crash.

During a build the cache folder holds a file with the program's text, removed when the build ends. A file left by a
dead process names the stage that crashed (`lower`: MLIR passes, `compile`: LLVM).
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tir_mlir.dialect.diagnostics import ToolError
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
