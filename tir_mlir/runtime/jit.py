"""In-process driver: a module in the llvm dialect becomes an object file in memory, and that runs in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mlir import ir

from tir_mlir.runtime import files, machine, memory, symbols, thunks, toolchain
from tir_mlir.runtime.caller import PREFIX, Entries, functions
from tir_mlir.runtime.llvm_kernels import link_kernels
from tir_mlir.runtime.loader import Code
from tir_mlir.runtime.signature import Signature


@dataclass(frozen=True)
class Compiled:
    """An object file and what is needed to run it: all that the cache keeps of a program.

    `libs` are shared libraries that it calls; `calls_out`: it runs code that was not compiled with it; `warned`: what
    the lowering said; `scratch`: the bytes that a call takes for buffers of the program.
    """

    data: bytes
    libs: list[str]
    calls_out: bool
    warned: list[str]
    scratch: int = 0

    def to_bytes(self) -> bytes:
        head = {k: v for k, v in asdict(self).items() if k != "data"}
        return json.dumps(head).encode() + b"\n" + self.data

    @staticmethod
    def from_bytes(text: bytes) -> Compiled | None:
        """What `to_bytes` gave; None for anything else."""
        head, _, data = text.partition(b"\n")
        try:
            return Compiled(data, **json.loads(head))
        except (ValueError, TypeError):
            return None


def compile_program(
    lowered: ir.Module,
    names: Sequence[str],
    libs: Sequence[str],
    clock: Callable[[str], Any],
    wanted: machine.Target | None = None,
    passes: bytes = machine.OPTIMISE,
    low_precision: bool = False,
    kernels: Sequence[tuple[str, list[str]]] = (),
    **facts: Any,
) -> Compiled:
    """A module in the llvm dialect -> an object file. `libs` are all that the module needs, and are there.

    `low_precision`: the program computes in 16-bit floats. `kernels`: texts of LLVM IR, and what is called in each.
    """
    extra = thunks.text(thunks.c_types(lowered, names), declare=True)
    if symbols.needs_support(lowered, low_precision):
        extra += "\n" + Path(__file__).with_name("support.ll").read_text()
    data = machine.compile_module(lowered, extra, clock, wanted, passes, partial(link_kernels, kernels=kernels))
    return Compiled(data, list(libs), **facts)


def needed_libraries(
    lowered: ir.Module, libs: Sequence[str], kernels: Sequence[tuple[str, list[str]]] = ()
) -> list[str]:
    """The shared libraries given, and the OpenMP runtime where it is called. BuildError when a symbol is nowhere."""
    provided = {*symbols.SUPPORT, *(name for _, names in kernels for name in names)}
    missing = [name for name in symbols.undefined(lowered) if name not in provided]
    found = [*libs, *symbols.openmp_for(lowered)]
    symbols.require(missing, found)
    for lib in found:
        symbols.load(lib)
    return found


class Jit:
    """The code of one module. Functions made from it keep it alive."""

    def __init__(self, compiled: Compiled, names: Sequence[str]):
        self._compiled = compiled
        memory.require(compiled.scratch)
        for lib in compiled.libs:
            symbols.load(lib)  # an exception here, if it does not load
        self._code = Code(compiled.data, compiled.libs)
        self._entries = {n: Entries(*(self._code.address(p + n) for p in (PREFIX, thunks.NAME))) for n in names}

    def functions(self, signatures: Sequence[Signature]) -> dict[str, Any]:
        return functions(signatures, self._entries, self, self._compiled.calls_out)

    def address(self, symbol: str) -> int:
        """Where a symbol of the code lies. BuildError when it is not there."""
        return self._code.address(symbol)

    def assembly(self) -> str:
        """The machine code, disassembled."""
        with files.holding(self._compiled.data, ".o") as path:
            return toolchain.run("llvm-objdump", ["-d", "--no-show-raw-insn", path])
