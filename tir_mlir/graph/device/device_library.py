"""The library of a model for a GPU: each function of the graph by its name, and the code of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.units.kernels_unit import FunctionKernels
from tir_mlir.runtime.drivers.compiled_code import CompiledCode, FileWriter
from tir_mlir.runtime.drivers.exporting import check_suffix
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.runtime.gpu.source import source_of
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.timing import Timing
from tir_mlir.runtime.tools import files


@dataclass
class DeviceCode(CompiledCode, FileWriter):
    """The code of all functions of a model: a module of PTX for each."""

    functions: Sequence[FunctionKernels]
    is_ptx = True

    def assembly(self) -> str:
        """The PTX of all modules, one after the other."""
        return "\n".join(function.code.code.text for function in self.functions)

    @cached_property
    def text(self) -> str:
        """The kernels in CUDA C."""
        with enter_context():
            return "\n".join(source_of(ir.Module.parse(function.device)) for function in self.functions)

    def source(self) -> str:
        """The kernels in CUDA C."""
        return self.text

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write a folder's worth of PTX: f.ptx for one function, f_NAME.ptx for each of several."""
        check_suffix(path, name, ".ptx", "code of a GPU")
        if len(self.functions) == 1:
            written = {path: self.assembly().encode()}
        else:
            written = {path.with_stem(f"{path.stem}_{f.name}"): f.code.code.text.encode() for f in self.functions}
        files.write_whole(written)
        return list(written)

    def lower(self) -> NoReturn:
        """Raises BuildError."""
        raise BuildError("the functions of a model are compiled apart; fix: build(function, target=...).lowered of one")


def device_library(source: str, functions: Sequence[FunctionKernels], timing: Timing) -> Library:
    """The library of functions, which are called as those of a program are: `lib["dense"](x, w, out)`."""
    code = DeviceCode(functions)
    callables = {f.name: DeviceFunction(f.signature, f.program, f.code) for f in functions}
    return Library(source, code.lower, code, callables, timing, code, kernel_source=code.source)
