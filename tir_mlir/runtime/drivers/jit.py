"""In-process driver: compile a module in the llvm dialect to an object file in memory, and load it."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import RECORD, BuildError, CheckedSite
from tir_mlir.runtime.call import function
from tir_mlir.runtime.call.function import PREFIX, CheckedFunction, Entries, OutOfBoundsRecord, functions
from tir_mlir.runtime.call.signature import CallSignature, ProgramFunction
from tir_mlir.runtime.drivers import cpu_needs, shared_libraries
from tir_mlir.runtime.drivers.compiled_code import CompiledCode, LoweredProgram
from tir_mlir.runtime.llvm import object_code
from tir_mlir.runtime.llvm.llvm_c import Code
from tir_mlir.runtime.llvm.llvm_kernels import link_kernels
from tir_mlir.runtime.llvm.object_code import keep_single, show_only
from tir_mlir.runtime.timing import Clock
from tir_mlir.runtime.tools import files, toolchain


@dataclass(frozen=True)
class Compiled:
    """Object files and what is needed to run them: the cache entry of a program.

    data: the object files, one behind the other.
    sizes: their lengths.
    libs: shared libraries that it calls.
    calls_out: it calls code that was not compiled with it.
    warned: warnings of the lowering.
    scratch: bytes that a call allocates for buffers of the program.
    sites: the fields of the accesses that the code checks; None for code without checks.
    needs: the CPU features that its kernels need, see `cpu_needs`.
    support: functions of `support_code` are to be linked.
    units: what the program calls the functions of other modules, by their symbols.
    """

    data: bytes
    sizes: list[int]
    libs: list[str]
    calls_out: bool
    warned: list[str]
    scratch: int = 0
    sites: list[Any] | None = None
    needs: list[list[str]] = field(default_factory=list)
    support: bool = False
    units: dict[str, str] = field(default_factory=dict)

    @property
    def objects(self) -> list[bytes]:
        """The object files."""
        ends = list(accumulate(self.sizes))
        return [self.data[end - size : end] for size, end in zip(self.sizes, ends, strict=True)]

    def to_bytes(self) -> bytes:
        head = {k: v for k, v in asdict(self).items() if k != "data"}
        head["libs"] = shared_libraries.portable_libraries(self.libs)
        return json.dumps(head).encode() + b"\n" + self.data

    @staticmethod
    def from_bytes(text: bytes) -> Compiled | None:
        """Inverse of `to_bytes`; None for anything else."""
        head, _, data = text.partition(b"\n")
        try:
            facts = json.loads(head)
            return Compiled(data, **{**facts, "libs": shared_libraries.local_libraries(facts["libs"])})
        except (ValueError, TypeError, KeyError, BuildError):
            return None


def compile_program(
    program: LoweredProgram,
    names: Sequence[str],
    libs: Sequence[str],
    clock: Clock,
    llvm_target: object_code.LLVMTarget | None = None,
    passes: bytes = object_code.OPTIMIZE,
    support: bool = True,
) -> Compiled:
    """Compile a program to object files. libs: all shared libraries that it needs. support: what it needs of
    `support_code` is part of it."""
    lowered = program.module
    extra = function.text(function.c_types(lowered, names), declare=True)
    needs_support = shared_libraries.needs_support(lowered, program.low_precision)
    if support and needs_support:
        extra += "\n" + _support("support.ll")

    def link(llvm_module: int, context: int) -> None:
        if support and program.low_precision:  # also with F16C, which converts from and to float32 only
            object_code.add(llvm_module, context, _support("half.ll"))
        link_kernels(llvm_module, context, program.kernels)
        keep_single(llvm_module, context, PREFIX, names)

    objects = object_code.compile_module(lowered, extra, clock, llvm_target, passes, link, parts=True)
    return _pack_objects(program, objects, libs, needs_support and not support)


def _pack_objects(
    program: LoweredProgram, objects: Sequence[bytes], libs: Sequence[str], support: bool = False
) -> Compiled:
    sizes, needs = [len(part) for part in objects], [list(need) for need in program.needs]
    sites = None if program.sites is None else [astuple(site) for site in program.sites]
    facts = list(libs), program.calls_out, list(program.warned), program.scratch, sites, needs, support
    return Compiled(b"".join(objects), sizes, *facts)


def compile_unit(
    program: LoweredProgram,
    symbol: str,
    libs: Sequence[str],
    clock: Clock,
    llvm_target: object_code.LLVMTarget | None = None,
    passes: bytes = object_code.OPTIMIZE,
) -> Compiled:
    """Compile a function that is called from other modules to an object file that defines its symbol and nothing else.
    What it needs of `support_code` is linked once for all."""

    def link(llvm_module: int, context: int) -> None:
        link_kernels(llvm_module, context, program.kernels)
        show_only(llvm_module, [symbol], [])

    objects = object_code.compile_module(program.module, "", clock, llvm_target, passes, link)
    return _pack_objects(program, objects, libs, shared_libraries.needs_support(program.module, program.low_precision))


def support_code() -> bytes:
    """An object file of the functions of support.c and half.c."""
    return object_code.compile_texts([_support("support.ll"), _support("half.ll")])


def compile_for_c(
    lowered: ir.Module,
    names: Sequence[str],
    clock: Clock,
    llvm_target: object_code.LLVMTarget | None = None,
    low_precision: bool | None = False,
    kernels: Sequence[tuple[str, list[str]]] = (),
) -> bytes:
    """Compile a module in the llvm dialect, with C functions (see `c_entry`), to one object file that defines `names`
    and nothing else that others see. low_precision: None for another CPU, whose C compiler has support functions."""
    needs_support = low_precision is not None and shared_libraries.needs_support(lowered, low_precision)
    extra = _support("support.ll") if needs_support else ""

    def link(llvm_module: int, context: int) -> None:
        libcalls = {*shared_libraries.SUPPORT}
        if low_precision:
            half = _support("half.ll")
            libcalls |= set(re.findall(r"^define .*?@(\w+)\(", half, re.MULTILINE))
            object_code.add(llvm_module, context, half)
        link_kernels(llvm_module, context, kernels)
        show_only(llvm_module, names, libcalls)

    (data,) = object_code.compile_module(lowered, extra, clock, llvm_target, link=link)
    return data


def _support(file: str) -> str:
    return Path(__file__).with_name(file).read_text()


def needed_libraries(
    lowered: ir.Module, libs: Sequence[str], kernels: Sequence[tuple[str, list[str]]] = (), units: Sequence[str] = ()
) -> list[str]:
    """The given shared libraries, and the OpenMP runtime if it is called. units: symbols of code that is linked with
    this. BuildError for an undefined symbol."""
    provided = {*shared_libraries.SUPPORT, *(name for _, names in kernels for name in names), *units}
    missing = [name for name in shared_libraries.undefined_functions(lowered) if name not in provided]
    libraries = [*libs, *shared_libraries.openmp_for(lowered)]
    shared_libraries.require(missing, libraries)
    for lib in libraries:
        shared_libraries.load(lib)
    return libraries


class Jit(CompiledCode):
    """The loaded code of a module. Its functions keep it alive."""

    def __init__(self, compiled: Compiled, names: Sequence[str]):
        self._compiled, self.scratch = compiled, compiled.scratch
        require(compiled.scratch)
        cpu_needs.require(compiled.needs)
        for lib in compiled.libs:
            shared_libraries.load(lib)  # raises BuildError if it cannot be loaded
        self._code = Code(compiled.objects, compiled.libs)
        self._entries = {n: Entries(*(self._code.address(p + n) for p in (PREFIX, function.NAME))) for n in names}

    def functions(self, signatures: Sequence[CallSignature]) -> dict[str, ProgramFunction]:
        if self._compiled.sites is None:
            return functions(signatures, self._entries, self, self._compiled.calls_out)
        sites = [CheckedSite(*fields) for fields in self._compiled.sites]
        record = OutOfBoundsRecord(self.address(RECORD) if sites else 0, sites)
        return {s.name: CheckedFunction(s, self._entries[s.name], self, record) for s in signatures}

    def address(self, symbol: str) -> int:
        """The address of a symbol. Raises BuildError if it is not defined."""
        return self._code.address(symbol)

    def assembly(self) -> str:
        """The machine code, disassembled."""
        texts = []
        for data in self._compiled.objects:
            with files.temporary_file(data, ".o") as path:
                texts.append(toolchain.run("llvm-objdump", ["-d", "--no-show-raw-insn", path]))
        text = "".join(texts)
        for symbol, name in self._compiled.units.items():
            text = text.replace(symbol, name)
        return text


LEAST = 1 << 30
"""Bytes; smaller allocations are not checked."""
MOST = 1 << 47
"""Bytes of the address space of a process."""


def require(size: int) -> None:
    """Raise BuildError unless the process can allocate `size` bytes: compiled code aborts if malloc fails."""
    if size < LEAST:
        return
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    libc.free.argtypes = (ctypes.c_void_p,)
    got = libc.malloc(size) if size < MOST else None
    if not got:
        raise BuildError(
            f"the program takes {size / (1 << 30):,.0f} GiB of memory for its own buffers, more than this process can"
            " allocate; compute_at of the producer at a loop of its consumer shrinks a buffer"
        )
    libc.free(got)
