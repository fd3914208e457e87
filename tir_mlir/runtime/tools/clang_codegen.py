"""Code for CPUs that MLIR's LLVM has no code generator for: LLVM IR, by the clang of the C compiler's wheel."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.tools import files, llc_targets, toolchain

_FLAGS = (
    "-cc1", "-vectorize-loops", "-mrelocation-model", "pic", "-pic-level", "2", "-x", "ir",
    "-Wno-override-module",
)  # fmt: skip
_RISCV = {"riscv64": "lp64", "riscv32": "ilp32"}
"""The ABI of code without floats in registers, by architecture."""
OBJECT, ASSEMBLY = "-emit-obj", "-S"


def compile_ir(text: str, triple: str, cpu: str, features: str, output: str = OBJECT, level: int = 3) -> bytes:
    """LLVM IR -> an object file, or assembly text. features: as `+v,+zvl256b`; level: of optimization. Raises
    BuildError for a CPU or feature that clang does not know, and for code that it cannot generate; MissingTool without
    the C compiler."""
    toolchain.require(("zig",), f"code for {triple}")
    words = [f for name in features.split(",") if name for f in ("-target-feature", name)]
    with files.folder() as folder:
        source, result = Path(folder, "module.ll"), Path(folder, "module.out")
        files.write_whole({source: text.encode()})
        argv = [
            *_FLAGS,
            f"-O{level}",
            output,
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
        llc_targets.reject_unknown(done.stderr, triple)
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
    llc_targets.reject_odd(triple, cpu, features)
    compile_ir(llc_targets.EMPTY, triple, cpu, features)


def _reason(stderr: str, folder: str) -> str:
    lines = [line.replace(folder + "/", "") for line in stderr.splitlines() if "error" in line.lower()]
    return "\n".join(lines)[:500] or stderr.strip()[:500] or "no message"
