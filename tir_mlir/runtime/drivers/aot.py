"""Tool driver: mlir-translate, opt, llc and a linker make a shared object that loads without this package.

Slower than the in-process driver, but a crash in a tool becomes an exception.
"""

from __future__ import annotations

import ctypes
import re
import weakref
from collections.abc import Sequence
from pathlib import Path

from mlir import ir

from tir_mlir.dialect.diagnostics import RECORD
from tir_mlir.runtime.call import function
from tir_mlir.runtime.call.function import PREFIX, CheckedFunction, Entries, OutOfBoundsRecord, functions
from tir_mlir.runtime.call.signature import CallSignature, ProgramFunction
from tir_mlir.runtime.drivers import cpu_needs, shared_libraries
from tir_mlir.runtime.drivers.compiled_code import CompiledCode, LoweredProgram
from tir_mlir.runtime.llvm.llvm_c import NO_SLP
from tir_mlir.runtime.llvm.object_code import store_single_lanes
from tir_mlir.runtime.tools import c_tools, files, toolchain
from tir_mlir.target import assumed_cpu


class Aot(CompiledCode):
    """The object files (`objects`) and shared object of a module, in a temporary folder owned by this object; `libs`:
    the shared libraries that they need."""

    def __init__(self, program: LoweredProgram, signatures: Sequence[CallSignature], libs: Sequence[str]):
        cpu_needs.require(program.needs)
        c_tools.require('build(..., driver="tools")', "mlir-translate", "opt", "llc")
        lowered, self._calls_out, self._sites = program.module, program.calls_out, program.sites
        self._folder = files.folder()
        weakref.finalize(self, self._folder.cleanup)  # no ResourceWarning for an unclosed folder
        missing = [
            name for name in shared_libraries.undefined_functions(lowered) if name not in shared_libraries.SUPPORT
        ]
        libs = [*libs, *shared_libraries.openmp_for(lowered)]
        shared_libraries.require(missing, libs)
        self.llvm_ir = to_llvm_ir(str(lowered))
        self._object = self._path("module.o")
        types = function.c_types(lowered, [s.name for s in signatures])
        compile_object(f"{self.llvm_ir}\n{function.text(types, declare=False)}\n", self._object)
        self.objects, self.libs = [self._object], libs
        for n, data in enumerate(_needed_objects(lowered, program)):
            self.objects.append(self._path(f"support{n}.o"))
            Path(self.objects[-1]).write_bytes(data)
        self._shared = self._path("module.so")
        c_tools.link_shared(self.objects, self._shared, libs)
        self._library = ctypes.CDLL(self._shared)

    def functions(self, signatures: Sequence[CallSignature]) -> dict[str, ProgramFunction]:
        def address(symbol: str) -> int:
            return ctypes.cast(getattr(self._library, symbol), ctypes.c_void_p).value or 0

        entries = {s.name: Entries(address(PREFIX + s.name), address(function.NAME + s.name)) for s in signatures}
        if self._sites is None:
            return functions(signatures, entries, self, self._calls_out)
        record = OutOfBoundsRecord(address(RECORD) if self._sites else 0, self._sites)
        return {s.name: CheckedFunction(s, entries[s.name], self, record) for s in signatures}

    def assembly(self) -> str:
        """The machine code, disassembled."""
        return toolchain.run("llvm-objdump", ["-d", "--no-show-raw-insn", self._object])

    def _path(self, name: str) -> str:
        return str(Path(self._folder.name, name))


def objects_by_tools(module: ir.Module, program: LoweredProgram) -> list[bytes]:
    """The module of a program, with more functions -> its object file, and those of what it needs."""
    c_tools.require('export of build(..., driver="tools")', "mlir-translate", "opt", "llc")
    with files.folder() as folder:
        result = Path(folder, "module.o")
        compile_object(to_llvm_ir(str(module)), str(result))
        return [result.read_bytes(), *_needed_objects(module, program)]


def _needed_objects(module: ir.Module, program: LoweredProgram) -> list[bytes]:
    return [*_support(module, program.low_precision), *permission(program.needs)]


def permission(needs: Sequence[Sequence[str]]) -> list[bytes]:
    """The object file that asks for tile registers when it is loaded, if code needs them."""
    return [_compile_source("tile_permission.c")] if cpu_needs.asks_for_tiles(needs) else []


def _support(module: ir.Module, low_precision: bool) -> list[bytes]:
    """The object files of the functions that code generation calls, if it does. They are weak, so that a program may
    have several of them."""
    sources = ["support.c"] if shared_libraries.needs_support(module, low_precision) else []
    sources += ["half.c"] if low_precision else []
    return [_compile_source(source, "-Dvisibility(how)=visibility(how), weak") for source in sources]


def _compile_source(name: str, *options: str) -> bytes:
    with files.folder() as folder:
        target = Path(folder, "made.o")
        c_tools.compile_c(Path(__file__).with_name(name), target, *options)
        return target.read_bytes()


def to_llvm_ir(text: str) -> str:
    """A module in the llvm dialect -> LLVM IR text, by mlir-translate."""
    return toolchain.run("mlir-translate", ["--mlir-to-llvmir"], input=text)


def compile_object(llvm_ir: str, target: str) -> None:
    """LLVM IR -> an optimized object file for this CPU."""
    cpu = [f"-mtriple={_triple()}", *_cpu_options()]  # without a triple opt assumes no vector registers
    optimized = toolchain.run("opt", ["-O3", NO_SLP, *cpu, "-S", "-"], input=llvm_ir)
    options = ["-O3", *cpu, "-filetype=obj", "--relocation-model=pic", "-", "-o", target]
    toolchain.run("llc", options, input=store_single_lanes(optimized))


def _cpu_options() -> list[str]:
    cpu = assumed_cpu()
    if cpu is None:
        return ["-mcpu=native"]
    return [f"-mcpu={cpu.cpu}", f"-mattr={cpu.llvm_features}"]


def _triple() -> str:
    match = re.search(r"Default target: (\S+)", toolchain.run("llc", ["--version"]))
    return match.group(1) if match else ""
