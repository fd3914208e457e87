"""In-process driver by MLIR's ExecutionEngine: for builds of MLIR whose LLVM `llvm_c` cannot reach."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mlir import ir
from mlir.execution_engine import ExecutionEngine

from tir_mlir.dialect.errors import BuildError
from tir_mlir.runtime import files, llvm_flags, symbols, toolchain
from tir_mlir.runtime.caller import PREFIX, Entries, functions
from tir_mlir.runtime.modules import clone
from tir_mlir.runtime.signature import Signature

_TABLE = "__tir_addresses"


class Engine:
    """The code of one module. Functions made from it keep it alive."""

    def __init__(self, lowered: ir.Module, names: Sequence[str], libs: Sequence[str], low_precision: bool):
        module = clone(lowered)
        missing = symbols.undefined(lowered)
        libs = [*libs, *symbols.support_libraries(missing, low_precision), *symbols.openmp_for(lowered)]
        symbols.require(missing, libs)
        _add_table(module, names)
        for lib in libs:
            symbols.load(lib)  # a library that does not load is an exception here, stderr text in the engine
        try:
            options: dict[str, Any] = {"shared_libs": libs, "enable_object_dump": True}
            self._engine = ExecutionEngine(module, opt_level=llvm_flags.optimisation_level(), **options)
        except RuntimeError as error:
            raise BuildError(f"the lowered module cannot be compiled: {error}") from error
        self._addresses = self._look_up(names)

    def functions(self, signatures: Sequence[Signature]) -> dict[str, Any]:
        return functions(signatures, {s.name: Entries(self._addresses[s.name]) for s in signatures}, self, True)

    def assembly(self) -> str:
        """The machine code, disassembled."""
        with files.folder() as folder:
            path = str(Path(folder, "module.o"))
            self._engine.dump_to_object_file(path)
            return toolchain.run("llvm-objdump", ["-d", "--no-show-raw-insn", path])

    def _look_up(self, names: Sequence[str]) -> dict[str, int]:
        packed = self._engine.raw_lookup(_TABLE)
        if not packed:
            raise BuildError("the engine could not resolve the module's symbols; it printed them on stderr")
        table = (ctypes.c_void_p * len(names))()
        start = ctypes.c_void_p(ctypes.addressof(table))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(packed)((ctypes.c_void_p * 1)(ctypes.addressof(start)))
        return {name: table[i] or 0 for i, name in enumerate(names)}


def _add_table(module: ir.Module, names: Sequence[str]) -> None:
    """Add a function that writes the addresses of the C-interface functions: the engine itself only gives addresses of
    wrappers that take every argument through one more pointer."""
    lines = [f"llvm.func @{_TABLE}(%table: !llvm.ptr) {{"]
    for i, name in enumerate(names):
        lines += [
            f'%f{i} = llvm.mlir.addressof @"{PREFIX}{name}" : !llvm.ptr',
            f"%p{i} = llvm.getelementptr %table[{i}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr",
            f"llvm.store %f{i}, %p{i} : !llvm.ptr, !llvm.ptr",
        ]
        lines.insert(0, f'llvm.func @"{PREFIX}{name}"()')
    addition = ir.Module.parse("\n".join([*lines, "llvm.return }"]))
    op = addition.body.operations[len(names)]
    op.operation.detach_from_parent()
    module.body.append(op)
