"""Check that LLVM supports a CPU and its features, in a subprocess: LLVM exits on unknown ones."""

from __future__ import annotations

import functools
import re

from tir_mlir.dialect.diagnostics import BuildError, ToolError
from tir_mlir.runtime.tools import toolchain

_UNKNOWN = re.compile(r"'([^']*)' is not a recognized (processor|feature) for this target")
_REFUSED = re.compile(r"option '([^']*)' cannot be specified with '-target-(feature)'")  # clang for WebAssembly
EMPTY = "define void @f() {\n  ret void\n}\n"


@functools.cache
def check(triple: str, cpu: str, features: str) -> None:
    """Raise BuildError for a CPU or an instruction set (`+avx2,+fma`) that LLVM does not know for a triple."""
    reject_odd(triple, cpu, features)
    words = [f"-mtriple={triple}", f"-mcpu={cpu}", f"-mattr={features}", "-filetype=null"]
    try:
        done = toolchain.attempt("llc", words, input=EMPTY)
    except ToolError:
        return  # llc is not installed
    reject_unknown(done.stderr, triple)
    if done.returncode and "unable to get target" not in done.stderr:  # reported better by LLVM in process
        raise BuildError(f"LLVM makes no code for the CPU {cpu!r} of {triple}: {done.stderr.strip()[:500]}")


def reject_odd(*names: str) -> None:
    """Raise BuildError for a name that LLVM or a command line cannot take."""
    if odd := next((text for text in names if not text.isascii() or not text.isprintable()), None):
        raise BuildError(f"the target names {odd!r}, which is not a valid LLVM name: use plain letters")


def reject_unknown(stderr: str, triple: str) -> None:
    """Raise BuildError if LLVM's messages name a CPU or an instruction set that it does not know for a triple."""
    unknown = _UNKNOWN.search(stderr) or _REFUSED.search(stderr)
    if unknown is not None:
        option, what = ("cpu", "CPU") if unknown[2] == "processor" else ("attr", "instruction set")
        raise BuildError(
            f"LLVM knows no {what} {unknown[1]!r} for {triple}; `llc -mtriple={triple} -m{option}=help` lists them"
        )
