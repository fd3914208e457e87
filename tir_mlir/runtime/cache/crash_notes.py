"""Records of builds during which MLIR or LLVM aborted the process, so that the next build can avoid the crash.

During a build the cache folder holds a file with the program's text, removed when the build ends. A file left by a
dead process names the stage that crashed (`lower`: MLIR passes, `compile`: LLVM).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tir_mlir.dialect.diagnostics import ToolError
from tir_mlir.runtime.tools.toolchain import cache_folder

LOWER, COMPILE = "lower", "compile"
_KIND = "crashes"


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
            _, process, stage = path.name.split(".")
            if not alive(int(process)):
                return CrashRecord(path, stage, int(process))
    return None


@contextlib.contextmanager
def record_build(name: str, text: str) -> Iterator[Callable[[str], None]]:
    """Record a build while it runs. Yields a function to call at each stage. No-op if the folder is not writable."""
    path: Path | None = None

    def reached(stage: str) -> None:
        nonlocal path
        if path is not None:
            with contextlib.suppress(OSError):
                path = path.rename(path.with_name(f"{name}.{os.getpid()}.{stage}"))

    with contextlib.suppress(OSError, ToolError):
        folder = cache_folder() / _KIND
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.{os.getpid()}.{LOWER}"
        path.write_text(text, encoding="utf-8")
    try:
        yield reached
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
