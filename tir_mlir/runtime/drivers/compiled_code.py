"""What a library asks of its code, whatever compiled it."""

from __future__ import annotations

from pathlib import Path

from tir_mlir.dialect.diagnostics import BuildError


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
