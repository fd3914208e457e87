"""`make entry`: compile the .c files of tir_mlir to .ll files, so that users need no C compiler."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tir_mlir.runtime.drivers.clang import create_llvm  # noqa: E402

FOLDER = ROOT / "tir_mlir"
_PLACES = (
    ("entry", "runtime/call"),
    ("support", "runtime/drivers"),
    ("half", "runtime/drivers"),
    ("loop", "llm/native"),
    ("clocks", "accel/timing"),
)
FILES = {name: FOLDER / place / name for name, place in _PLACES}
# short loops over dimensions do not profit from vectors; the word-copy loop must not become a call of memcpy
_OPTIONS = "-O2 -march=x86_64 -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-builtin -fno-strict-aliasing"
_MACHINE_SPECIFIC = re.compile(r"^(?:; ModuleID|source_filename|target |!llvm\.ident).*\n", re.MULTILINE)


def compiled(name: str = "entry") -> str:
    """Return the text of NAME.ll without machine-specific lines."""
    return _MACHINE_SPECIFIC.sub("", create_llvm(FILES[name].with_suffix(".c").read_text(), options=_OPTIONS))


if __name__ == "__main__":
    for name, path in FILES.items():
        path.with_suffix(".ll").write_text(compiled(name))
