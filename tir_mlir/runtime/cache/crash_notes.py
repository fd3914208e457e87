"""Programs in whose build MLIR or LLVM ended the process: the next build knows, and does not walk into it again.

While a program is built, a file in the cache's folder holds its text; a build that ends in any way takes it away. One
that a dead process left tells at which stage (`lower`: MLIR's passes, `compile`: LLVM) that process died.
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
_KIND = "mishaps"


@dataclass(frozen=True)
class Mishap:
    """What a process that died left: the program's text as a file, and the stage."""

    path: Path
    stage: str
    process: int


def before(name: str) -> Mishap | None:
    """The mishap in an earlier build of the program of this name."""
    with contextlib.suppress(OSError, ToolError):
        for path in sorted((cache_folder() / _KIND).glob(f"{name}.*")):
            _, process, stage = path.name.split(".")
            if not _alive(int(process)):
                return Mishap(path, stage, int(process))
    return None


@contextlib.contextmanager
def noted(name: str, text: str) -> Iterator[Callable[[str], None]]:
    """Keep a program's text while it is built; gives what tells the stage. A folder that cannot be written is none."""
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


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
