"""`make entry`: the .ll files of tir_mlir/runtime from their .c files: users need no C compiler."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tir_mlir.runtime.drivers.clang import create_llvm  # noqa: E402

FOLDER = ROOT / "tir_mlir" / "runtime"
FILES = {name: FOLDER / place / name for name, place in (("entry", "call"), ("support", "drivers"))}
# loops over a few dimensions gain nothing from vectors; a loop that copies words is to stay one, not to call memcpy
_OPTIONS = "-O2 -march=x86_64 -fno-vectorize -fno-slp-vectorize -fno-unroll-loops -fno-builtin -fno-strict-aliasing"
_OF_ONE_MACHINE = re.compile(r"^(?:; ModuleID|source_filename|target |!llvm\.ident).*\n", re.MULTILINE)


def made(name: str = "entry") -> str:
    """The text of NAME.ll, less what names the machine that it was made on."""
    return _OF_ONE_MACHINE.sub("", create_llvm(FILES[name].with_suffix(".c").read_text(), options=_OPTIONS))


if __name__ == "__main__":
    for name, path in FILES.items():
        path.with_suffix(".ll").write_text(made(name))
