"""The code of a library for OpenCL: the text of its kernels, which the device's own compiler compiles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.drivers.exporting import check_suffix
from tir_mlir.runtime.tools import files


@dataclass(frozen=True)
class OpenclCode:
    """The kernels of a library in OpenCL C."""

    text: str

    def source(self) -> str:
        return self.text

    def assembly(self) -> NoReturn:
        raise BuildError("OpenCL compiles the kernels when they run; fix: lib.source is their text")

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write a file of the library, see `Library.export`."""
        check_suffix(path, name, ".cl", "OpenCL")
        files.write_whole({path: self.text.encode()})
        return [path]
