"""Code generators outside of this process: whether llc knows a CPU; code by the clang of the C compiler's wheel."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from tir_mlir.dialect.diagnostics import BuildError, ToolError
from tir_mlir.runtime.tools import files, toolchain

_FLAGS = (
    "-cc1", "-vectorize-loops", "-mrelocation-model", "pic", "-pic-level", "2", "-x", "ir",
    "-Wno-override-module",
)  # fmt: skip
_RISCV = {"riscv64": "lp64", "riscv32": "ilp32"}
"""The ABI of code without floats in registers, by architecture."""
OBJECT, ASSEMBLY, IR = "-emit-obj", "-S", "-emit-llvm"


def compile_ir(
    text: str,
    triple: str,
    cpu: str,
    features: str,
    output: str = OBJECT,
    level: int = 3,
    options: Sequence[str] = (),
) -> bytes:
    """LLVM IR -> an object file, assembly or optimized LLVM IR. features: as `+v,+zvl256b`; level: of optimization;
    options: more of clang's. Raises BuildError for a CPU or feature that clang does not know, and for code that it
    cannot generate; MissingTool without the C compiler."""
    toolchain.require(("zig",), f"code for {triple}")
    words = [f for name in features.split(",") if name for f in ("-target-feature", name)]
    with files.folder() as folder:
        source, result = Path(folder, "module.ll"), Path(folder, "module.out")
        files.write_whole({source: text.encode()})
        argv = [
            *_FLAGS,
            f"-O{level}",
            output,
            *options,
            "-triple",
            triple,
            "-target-cpu",
            cpu,
            *words,
            *_abi_options(triple.split("-")[0], features.split(",")),
            str(source),
            "-o",
            str(result),
        ]
        done = toolchain.attempt("zig", ["clang", *argv])
        reject_unknown(done.stderr, triple)
        if done.returncode or not result.exists():
            raise BuildError(f"clang makes no code for the CPU {cpu!r} of {triple}: {_reason(done.stderr, folder)}")
        return result.read_bytes()


def _abi_options(arch: str, features: Sequence[str]) -> list[str]:
    """How RISC-V passes floats: in registers of the widest type that the CPU has. A linker refuses a mixture."""
    if arch not in _RISCV:
        return []
    width = "d" if {"+d", "+v"} & set(features) else "f" if "+f" in features else ""
    return ["-target-abi", _RISCV[arch] + width]


@functools.cache
def check(triple: str, cpu: str, features: str) -> None:
    """Raise BuildError for a triple, a CPU or an instruction set that clang does not know."""
    reject_odd(triple, cpu, features)
    compile_ir(EMPTY, triple, cpu, features)


def _reason(stderr: str, folder: str) -> str:
    lines = [line.replace(folder + "/", "") for line in stderr.splitlines() if "error" in line.lower()]
    return "\n".join(lines)[:500] or stderr.strip()[:500] or "no message"


_UNKNOWN = re.compile(r"'([^']*)' is not a recognized (processor|feature) for this target")
_REFUSED = re.compile(r"option '([^']*)' cannot be specified with '-target-(feature)'")  # clang for WebAssembly
EMPTY = "define void @f() {\n  ret void\n}\n"


@functools.cache
def check_llc(triple: str, cpu: str, features: str) -> None:
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
