"""`make entry`: the .ll files of tir_mlir/runtime from their .c files: users need no C compiler."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tir_mlir.runtime.clang import create_llvm  # noqa: E402

FOLDER = ROOT / "tir_mlir" / "runtime"
NAMES = ("entry", "support")
# loops over a few dimensions gain nothing from vectors; a loop that copies words is to stay one, not to call memcpy
_OPTIONS = "-O2 -march=x86_64 -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-builtin -fno-strict-aliasing"
_OF_ONE_MACHINE = re.compile(r"^(?:; ModuleID|source_filename|target |!llvm\.ident).*\n", re.MULTILINE)


def made(name: str = "entry") -> str:
    """The text of NAME.ll, less what names the machine that it was made on."""
    return _OF_ONE_MACHINE.sub("", create_llvm((FOLDER / f"{name}.c").read_text(), options=_OPTIONS))


if __name__ == "__main__":
    for name in NAMES:
        (FOLDER / f"{name}.ll").write_text(made(name))
