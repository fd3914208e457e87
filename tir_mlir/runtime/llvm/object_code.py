"""Code generation: a module in the llvm dialect, or LLVM IR text, to an object file in memory."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from mlir import ir

from tir_mlir.dialect.calls import function_name
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import attrs
from tir_mlir.runtime.llvm import module_parts
from tir_mlir.runtime.llvm.llvm_c import address_of, error, llvm, message, raised_after, set_up

_NONE, _AGGRESSIVE, _PIC, _DEFAULT_MODEL, _OBJECT, _RETURN_STATUS = 0, 3, 2, 0, 1, 2
_UNREACHABLE = 7
LIGHT_PASSES = b"always-inline,globaldce,default<O1>"
OPTIMIZE = b"always-inline,globaldce,deadargelim,default<O3>"  # inline kernels before optimizing them
NO_PASSES = b""
_Handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class LLVMTarget:
    """Triple, CPU and features to generate code for, in LLVM's spelling."""

    triple: bytes
    cpu: bytes
    features: bytes


@functools.cache
def target() -> LLVMTarget:
    """The target of this machine."""
    names = ("LLVMGetDefaultTargetTriple", "LLVMGetHostCPUName", "LLVMGetHostCPUFeatures")
    return LLVMTarget(*(message(getattr(llvm(), name)()).encode() for name in names))


def compile_module(
    module: ir.Module,
    extra: str,
    clock: Callable[[str], Any],
    wanted: LLVMTarget | None = None,
    passes: bytes = OPTIMIZE,
    link: Callable[[int, int], None] = lambda made, context: None,
    parts: bool = False,
) -> list[bytes]:
    """Compile a module in the llvm dialect, with `extra` LLVM IR linked in, to an object file for `wanted`, default
    this machine; with `parts`, a large module to several. `passes`: the LLVM pass pipeline; NO_PASSES for code that
    runs once. `link` links more into the LLVM module, given the module and its context. Raises BuildError."""
    with context() as inside:
        with clock("translate"):
            made = _translated(module, extra, link, inside)
        with clock("compile"):
            number = module_parts.count(made) if parts and passes == OPTIMIZE else 1
            if number > 1:
                return _compile_parts(made, wanted or target(), number)
            return [_compile(made, passes, wanted or target(), _AGGRESSIVE if passes else _NONE)]


def llvm_ir(module: ir.Module, link: Callable[[int, int], None]) -> str:
    """The LLVM IR of a module in the llvm dialect, with what `link` links into it. Raises BuildError."""
    with context() as inside:
        return message(llvm().LLVMPrintModuleToString(_translated(module, "", link, inside)))


def _translated(module: ir.Module, extra: str, link: Callable[[int, int], None], inside: int) -> int:
    made = llvm().mlirTranslateModuleToLLVMIR(address_of(module.operation), inside)
    if not made:
        raise BuildError("the lowered module cannot be translated to LLVM IR (the reason is on stderr)")
    add(made, inside, extra)
    link(made, inside)
    return made


def add(made: int, inside: int, text: str) -> None:
    """Link LLVM IR into a module of the context. Raises BuildError."""
    if llvm().LLVMLinkModules2(made, parse(inside, text)):
        raise BuildError("a support function cannot be linked to the lowered module")


def _compile_parts(made: int, wanted: LLVMTarget, number: int) -> list[bytes]:
    """Compile a module in parts, each by a thread with a context of its own."""
    from concurrent.futures import ThreadPoolExecutor  # few builds need it

    with _prepared(made, wanted, _AGGRESSIVE) as machine:
        _optimize(made, module_parts.BEFORE, machine)
    data = module_parts.bitcode(made)

    def part(n: int) -> bytes:
        with context() as inside:
            mine = module_parts.read(inside, data)
            module_parts.keep_part(mine, n, number)
            return _compile(mine, module_parts.AFTER, wanted)

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(part, range(number)))


def compile_text(text: str, passes: bytes = NO_PASSES, wanted: LLVMTarget | None = None) -> bytes:
    """Compile LLVM IR text to an object file for `wanted`, default this machine."""
    with context() as inside:
        return _compile(parse(inside, text), passes, wanted or target())


@contextmanager
def context() -> Iterator[int]:
    """An LLVM context whose diagnostics raise BuildError (by default LLVM exits the process)."""
    complaints: list[str] = []

    def hear(info: int, _: int) -> None:
        if llvm().LLVMGetDiagInfoSeverity(info) == 0:
            complaints.append(message(llvm().LLVMGetDiagInfoDescription(info)))

    handler = _Handler(hear)
    made = llvm().LLVMContextCreate()
    try:
        llvm().LLVMContextSetDiagnosticHandler(made, handler, None)
        with raised_after(hear):
            yield made
    finally:
        llvm().LLVMContextDispose(made)  # and all of its modules
    if complaints:
        raise BuildError("the lowered module cannot be compiled: " + "; ".join(complaints))


def parse(context: int, text: str) -> ctypes.c_void_p:
    """LLVM IR -> a module of the context. Raises BuildError."""
    data = text.encode()
    buffer = llvm().LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"tir_mlir")
    made, why = ctypes.c_void_p(), ctypes.c_void_p()
    if llvm().LLVMParseIRInContext(context, buffer, ctypes.byref(made), ctypes.byref(why)):
        raise BuildError(f"LLVM IR cannot be read: {message(why.value)}")
    return made


@contextmanager
def _prepared(made: int | ctypes.c_void_p, wanted: LLVMTarget, level: int) -> Iterator[int]:
    """The code generator for a valid module, which gets its target."""
    machine = _machine(wanted, level)
    with ExitStack() as after:
        after.callback(llvm().LLVMDisposeTargetMachine, machine)
        layout = llvm().LLVMCreateTargetDataLayout(machine)
        after.callback(llvm().LLVMDisposeTargetData, layout)
        llvm().LLVMSetTarget(made, wanted.triple)
        llvm().LLVMSetModuleDataLayout(made, layout)
        why = ctypes.c_void_p()
        if llvm().LLVMVerifyModule(made, _RETURN_STATUS, ctypes.byref(why)):
            raise BuildError(f"the lowered module is not valid LLVM IR: {message(why.value)}")
        message(why.value)
        yield machine


def _compile(made: int | ctypes.c_void_p, passes: bytes, wanted: LLVMTarget, level: int = _AGGRESSIVE) -> bytes:
    with _prepared(made, wanted, level) as machine, ExitStack() as after:
        if passes:
            _optimize(made, passes, machine)
            _check_defined(made)
        buffer, why = ctypes.c_void_p(), ctypes.c_void_p()
        if llvm().LLVMTargetMachineEmitToMemoryBuffer(machine, made, _OBJECT, ctypes.byref(why), ctypes.byref(buffer)):
            raise BuildError(f"the lowered module cannot be compiled: {message(why.value)}")
        after.callback(llvm().LLVMDisposeMemoryBuffer, buffer)
        return ctypes.string_at(llvm().LLVMGetBufferStart(buffer), llvm().LLVMGetBufferSize(buffer))


def _optimize(made: int | ctypes.c_void_p, passes: bytes, machine: int) -> None:
    options = llvm().LLVMCreatePassBuilderOptions()
    for name in ("LoopVectorization", "LoopInterleaving", "LoopUnrolling"):
        getattr(llvm(), f"LLVMPassBuilderOptionsSet{name}")(options, 1)
    failed = error(llvm().LLVMRunPasses(made, passes, machine, options))
    llvm().LLVMDisposePassBuilderOptions(options)
    if failed:
        raise BuildError(f"LLVM's passes failed: {failed}")


def _check_defined(made: int | ctypes.c_void_p) -> None:
    """Raise BuildError for a function that was optimized to nothing (ORC aborts on a symbol without code)."""
    function = llvm().LLVMGetFirstFunction(made)
    while function:
        name = llvm().LLVMGetValueName2(function, ctypes.byref(ctypes.c_size_t())).decode()
        public = llvm().LLVMGetLinkage(function) == module_parts.EXTERNAL or attrs.NEST_MARK in name
        if public and not llvm().LLVMIsDeclaration(function):
            first = llvm().LLVMGetFirstInstruction(llvm().LLVMGetEntryBasicBlock(function))
            if llvm().LLVMGetInstructionOpcode(first) == _UNREACHABLE:
                program = function_name(name).split(attrs.NEST_MARK)[0]
                raise BuildError(
                    f"{program} has undefined behavior in every run, so that LLVM removed it:"
                    " check its kernels (an integer overflow, a null pointer)"
                )
        function = llvm().LLVMGetNextFunction(function)


def has_generator(triple: bytes) -> bool:
    """Whether the LLVM of this process has a code generator for a triple."""
    found, why = ctypes.c_void_p(), ctypes.c_void_p()
    set_up(triple.decode().split("-")[0])
    failed = llvm().LLVMGetTargetFromTriple(triple, ctypes.byref(found), ctypes.byref(why))
    message(why.value)
    return not failed


def _machine(wanted: LLVMTarget, level: int) -> int:
    found, why = ctypes.c_void_p(), ctypes.c_void_p()
    set_up(wanted.triple.decode().split("-")[0])
    if llvm().LLVMGetTargetFromTriple(wanted.triple, ctypes.byref(found), ctypes.byref(why)):
        raise BuildError(f"LLVM has no code generator for {wanted.triple.decode()}: {message(why.value)}")
    return llvm().LLVMCreateTargetMachine(
        found, wanted.triple, wanted.cpu, wanted.features, level, _PIC, _DEFAULT_MODEL
    )
