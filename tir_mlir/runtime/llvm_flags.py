"""Options of the LLVM in this process that no MLIR binding reaches."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

NO_SLP = "-vectorize-slp=false"
"""LLVM 22.1's superword vectoriser turns some reversed, shuffled loads into code in which a value is used before it is
defined, and code generation then aborts the process (test/runtime/test_jit_slp.py). Loops are vectorised without it."""

_lock = threading.Lock()
_without: set[int | None] = set()  # addresses of the parsers that have been told: a second time ends the process


def optimisation_level() -> int:
    """The level at which MLIR's engine may run: 3 once the faulty pass is off, else (LLVM's option parser cannot be
    reached: an mlir build of its own) 2, which uses it less."""
    for path in loaded_libraries():
        try:
            turn_off_slp(ctypes.CDLL(path))
        except (OSError, AttributeError):
            continue
        return 3
    return 2


def turn_off_slp(library: ctypes.CDLL) -> None:
    """Turn the pass off in one LLVM. AttributeError when the library does not give its option parser."""
    parse = library.LLVMParseCommandLineOptions
    parse.restype = None
    place = ctypes.cast(parse, ctypes.c_void_p).value
    with _lock:
        if place not in _without:
            parse(2, (ctypes.c_char_p * 2)(b"tir_mlir", NO_SLP.encode()), None)
            _without.add(place)


def loaded_libraries() -> list[str]:
    """The shared objects in this process that may hold LLVM: the one that MLIR was linked with comes first."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return []
    paths = {line.split(maxsplit=5)[-1] for line in maps.read_text().splitlines() if "LLVM" in line or "MLIR" in line}
    return sorted((p for p in paths if p.startswith("/")), key=lambda p: ("libLLVM" not in p, p))
