"""`make entry`: entry.ll of tir_mlir/runtime from entry.c, so that no C compiler is needed where the package runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tir_mlir.runtime.drivers.clang import create_llvm  # noqa: E402

SOURCE, TARGET = (ROOT / "tir_mlir" / "runtime" / "call" / name for name in ("entry.c", "entry.ll"))
# loops over a few dimensions gain nothing from vectors; a loop that copies words is to stay one, not to call memcpy
_OPTIONS = "-O2 -march=x86_64 -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-builtin -fno-strict-aliasing"
_OF_ONE_MACHINE = re.compile(r"^(?:; ModuleID|source_filename|target |!llvm\.ident).*\n", re.MULTILINE)


def made() -> str:
    """The text of entry.ll, less what names the machine that it was made on."""
    return _OF_ONE_MACHINE.sub("", create_llvm(SOURCE.read_text(), options=_OPTIONS))


if __name__ == "__main__":
    TARGET.write_text(made())
