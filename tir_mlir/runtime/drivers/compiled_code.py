"""What `build` makes of a program before machine code, and what a library asks of the code, whatever compiled it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError, CheckedSite


@dataclass(frozen=True)
class LoweredProgram:
    """A module in the llvm dialect, and what its code needs.

    calls_out: it calls code that is not compiled with it.
    warned: warnings of the lowering.
    scratch: bytes that a call allocates for buffers of the program.
    sites: the accesses that the code checks; None for code without checks.
    needs: the CPU features that its kernels need, see `cpu_needs`.
    kernels: texts of LLVM IR, each with the functions that the program calls in it.
    low_precision: the program computes in 16-bit floats.
    """

    module: ir.Module
    calls_out: bool = False
    warned: Sequence[str] = ()
    scratch: int = 0
    sites: Sequence[CheckedSite] | None = None
    needs: Sequence[Sequence[str]] = ()
    kernels: Sequence[tuple[str, list[str]]] = ()
    low_precision: bool = False


class FileWriter(Protocol):
    """What writes the files of a library: an Exporter, or the code of a GPU."""

    def write(self, path: Path, name: str | None = None) -> list[Path]: ...


@runtime_checkable
class BareMetalWriter(Protocol):
    """What writes a library as files for a CPU without an operating system."""

    def write_bare_metal(self, folder: Path, name: str | None, constants: Mapping[str, object]) -> list[Path]: ...


class CompiledCode:
    """The code of a library."""

    scratch: int = 0
    """Bytes that a call allocates for buffers of the program, where known."""
    is_ptx: bool = False
    """Whether it is kernels in PTX, which the PTX machine runs."""

    def assembly(self) -> str:
        """The machine code as text."""
        raise NotImplementedError

    def export_wasm(self, path: Path) -> list[Path]:
        """Write a WebAssembly module and its JavaScript loader. Raises BuildError for code of another kind."""
        raise BuildError(f'{path.name}: this code is for another CPU; fix: build(..., target="wasm_simd")')
