"""Options of the LLVM in this process that no MLIR binding reaches."""

from __future__ import annotations

import ctypes
import threading
from functools import lru_cache
from pathlib import Path

NO_SLP = "-vectorize-slp=false"
"""LLVM 22.1's superword vectoriser turns some reversed, shuffled loads into code in which a value is used before it is
defined, and code generation then aborts the process (test/runtime/test_jit_slp.py). Loops are vectorised without it."""

_lock = threading.Lock()


def optimisation_level() -> int:
    """The level at which the in-process engine may run: 3 once the faulty pass is off, else 2, which uses it less."""
    with _lock:
        return 3 if _without_slp() else 2


@lru_cache(maxsize=1)
def _without_slp() -> bool:
    """Turn the pass off; false when LLVM's option parser cannot be reached (an mlir build of its own)."""
    for path in _loaded_libraries():
        try:
            parse = ctypes.CDLL(path).LLVMParseCommandLineOptions
        except (OSError, AttributeError):
            continue
        parse.restype = None
        words = (ctypes.c_char_p * 2)(b"tir_mlir", NO_SLP.encode())
        parse(2, words, None)
        return True
    return False


def _loaded_libraries() -> list[str]:
    """The shared objects in this process that may hold LLVM: the one that MLIR was linked with comes first."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return []
    paths = {line.split(maxsplit=5)[-1] for line in maps.read_text().splitlines() if "LLVM" in line or "MLIR" in line}
    return sorted((p for p in paths if p.startswith("/")), key=lambda p: ("libLLVM" not in p, p))
