"""LLVM's C API through ctypes, in the LLVM library that MLIR's bindings loaded."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import POINTER, c_char, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.target.host import library_file

_API = ctypes.PyDLL(None)  # CPython's C API; prototypes set in ctypes.pythonapi would be global
_P, _S = c_void_p, c_char_p
_OUT = POINTER(c_void_p)

# name -> result, parameters
_PROTOTYPES: dict[str, tuple[type | None, ...]] = {
    "mlirTranslateModuleToLLVMIR": (_P, _P, _P),
    "LLVMGetVersion": (None, POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)),
    "LLVMDisposeMessage": (None, _P),
    "LLVMGetErrorMessage": (_P, _P),
    "LLVMDisposeErrorMessage": (None, _P),
    "LLVMGetDefaultTargetTriple": (_P,),
    "LLVMGetHostCPUName": (_P,),
    "LLVMGetHostCPUFeatures": (_P,),
    "LLVMGetTargetFromTriple": (c_int, _S, _OUT, _OUT),
    "LLVMCreateTargetMachine": (_P, _P, _S, _S, _S, c_int, c_int, c_int),
    "LLVMDisposeTargetMachine": (None, _P),
    "LLVMSetTargetMachineAsmVerbosity": (None, _P, c_int),
    "LLVMCreateTargetDataLayout": (_P, _P),
    "LLVMDisposeTargetData": (None, _P),
    "LLVMSetTarget": (None, _P, _S),
    "LLVMSetModuleDataLayout": (None, _P, _P),
    "LLVMContextCreate": (_P,),
    "LLVMContextDispose": (None, _P),
    "LLVMContextSetDiagnosticHandler": (None, _P, _P, _P),
    "LLVMGetDiagInfoDescription": (_P, _P),
    "LLVMGetDiagInfoSeverity": (c_int, _P),
    "LLVMCreateMemoryBufferWithMemoryRangeCopy": (_P, _S, c_size_t, _S),
    "LLVMDisposeMemoryBuffer": (None, _P),
    "LLVMGetBufferStart": (_P, _P),
    "LLVMGetBufferSize": (c_size_t, _P),
    "LLVMParseIRInContext": (c_int, _P, _P, _OUT, _OUT),
    "LLVMLinkModules2": (c_int, _P, _P),
    "LLVMVerifyModule": (c_int, _P, c_int, _OUT),
    "LLVMDisposeModule": (None, _P),
    "LLVMCreatePassBuilderOptions": (_P,),
    "LLVMDisposePassBuilderOptions": (None, _P),
    "LLVMPassBuilderOptionsSetLoopVectorization": (None, _P, c_int),
    "LLVMPassBuilderOptionsSetLoopInterleaving": (None, _P, c_int),
    "LLVMPassBuilderOptionsSetLoopUnrolling": (None, _P, c_int),
    "LLVMGetFirstFunction": (_P, _P),
    "LLVMGetNextFunction": (_P, _P),
    "LLVMIsDeclaration": (c_int, _P),
    "LLVMGetLinkage": (c_int, _P),
    "LLVMIsGlobalConstant": (c_int, _P),
    "LLVMIsThreadLocal": (c_int, _P),
    "LLVMGetFirstGlobalAlias": (_P, _P),
    "LLVMGetFirstGlobalIFunc": (_P, _P),
    "LLVMGetModuleInlineAsm": (_P, _P, POINTER(c_size_t)),
    "LLVMWriteBitcodeToMemoryBuffer": (_P, _P),
    "LLVMParseBitcodeInContext2": (c_int, _P, _P, _OUT),
    "LLVMGetValueName2": (_S, _P, POINTER(c_size_t)),
    "LLVMGetEntryBasicBlock": (_P, _P),
    "LLVMGetNamedFunction": (_P, _P, _S),
    "LLVMGetNamedGlobal": (_P, _P, _S),
    "LLVMGetFirstGlobal": (_P, _P),
    "LLVMGetNextGlobal": (_P, _P),
    "LLVMSetLinkage": (None, _P, c_int),
    "LLVMSetVisibility": (None, _P, c_int),
    "LLVMGlobalGetValueType": (_P, _P),
    "LLVMPrintTypeToString": (_P, _P),
    "LLVMPrintModuleToString": (_P, _P),
    "LLVMGetModuleContext": (_P, _P),
    "LLVMGetEnumAttributeKindForName": (c_uint, _S, c_size_t),
    "LLVMGetEnumAttributeAtIndex": (_P, _P, c_uint, c_uint),
    "LLVMCreateEnumAttribute": (_P, _P, c_uint, c_uint64),
    "LLVMAddAttributeAtIndex": (None, _P, c_uint, _P),
    "LLVMGetFirstInstruction": (_P, _P),
    "LLVMGetNextInstruction": (_P, _P),
    "LLVMGetFirstBasicBlock": (_P, _P),
    "LLVMGetNextBasicBlock": (_P, _P),
    "LLVMIsACallInst": (_P, _P),
    "LLVMGetCalledValue": (_P, _P),
    "LLVMIsAInlineAsm": (_P, _P),
    "LLVMAddCallSiteAttribute": (None, _P, c_uint, _P),
    "LLVMGetInstructionOpcode": (c_int, _P),
    "LLVMRunPasses": (_P, _P, _S, _P, _P),
    "LLVMTargetMachineEmitToMemoryBuffer": (c_int, _P, _P, c_int, _OUT, _OUT),
    "LLVMOrcCreateLLJIT": (_P, _OUT, _P),
    "LLVMOrcDisposeLLJIT": (_P, _P),
    "LLVMOrcLLJITGetMainJITDylib": (_P, _P),
    "LLVMOrcLLJITGetExecutionSession": (_P, _P),
    "LLVMOrcLLJITGetGlobalPrefix": (c_char, _P),
    "LLVMOrcExecutionSessionSetErrorReporter": (None, _P, _P, _P),
    "LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess": (_P, _OUT, c_char, _P, _P),
    "LLVMOrcCreateDynamicLibrarySearchGeneratorForPath": (_P, _OUT, _S, c_char, _P, _P),
    "LLVMOrcJITDylibAddGenerator": (None, _P, _P),
    "LLVMOrcLLJITAddObjectFile": (_P, _P, _P, _P),
    "LLVMOrcLLJITLookup": (_P, _P, POINTER(c_uint64), _S),
}

_ARCHITECTURES = {"x86_64": "X86", "amd64": "X86", "aarch64": "AArch64", "arm64": "AArch64"}
_PARTS = ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser")
_GPUS = {"nvptx64": "NVPTX"}
"""Architectures without an assembly parser."""


class _LlvmApi:
    """The functions, bound lazily: a build with a cache hit needs few of them."""

    def __init__(self, library: ctypes.CDLL):
        self._library = library

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._library, name)
        function.restype, *function.argtypes = _PROTOTYPES[name]
        setattr(self, name, function)
        return function


_lock = threading.RLock()
"""Held while what is global to LLVM is set up. Two threads that register a target at once list it twice, and LLVM
cannot choose between the two; an option that is set twice aborts the process."""
_found: list[_LlvmApi | None] = []  # what `llvm` returns, once looked up


def _unlock() -> None:
    """Replace the lock in a forked child, where the thread that holds it does not exist."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


def llvm() -> _LlvmApi:
    """The functions of `_PROTOTYPES`, with the host target initialized, where LLVM was found."""
    found = find_llvm()
    assert found is not None
    return found


def find_llvm() -> _LlvmApi | None:
    """What `llvm` returns; None if LLVM cannot be reached.

    They are looked up in the library of MLIR's bindings and its dependencies: a process may contain another LLVM.
    """
    if not _found:
        with _lock:
            if not _found:
                _found.append(_look_up())
    return _found[0]


def _look_up() -> _LlvmApi | None:
    architecture = _ARCHITECTURES.get(platform.machine().lower())
    path = _bindings()
    if architecture is None or path is None:
        return None
    try:
        library = ctypes.CDLL(path)
        for name in ("mlirTranslateModuleToLLVMIR", "LLVMOrcCreateLLJIT"):
            getattr(library, name)
        _initialize(library, architecture)
        turn_off_slp(library)
    except (OSError, AttributeError):
        return None
    return _LlvmApi(library)


def _initialize(library: ctypes.CDLL, architecture: str, parts: Sequence[str] = _PARTS) -> None:
    with _lock:
        for part in parts:
            getattr(library, f"LLVMInitialize{architecture}{part}")()


def set_up(architecture: str) -> None:
    """Initialize LLVM's target for an architecture, if it is built in. Requires `llvm()`."""
    if (gpu_name := _GPUS.get(architecture)) is not None:
        _initialize(ctypes.CDLL(_bindings()), gpu_name, _PARTS[:-1])
    llvm_name = _ARCHITECTURES.get(architecture.lower())
    if llvm_name and llvm_name != _ARCHITECTURES.get(platform.machine().lower()):
        with suppress(AttributeError):  # not built in: the target lookup of its triple will fail
            _initialize(ctypes.CDLL(_bindings()), llvm_name)


def _bindings() -> str | None:
    """The shared library that MLIR's Python modules share."""
    import mlir._mlir_libs as libs

    for folder in libs.__path__:
        path = os.path.join(folder, library_file("MLIRPythonCAPI"))
        if os.path.exists(path):
            return path
    return None


def version() -> str:
    """The version of LLVM. Requires `llvm()`."""
    numbers = [c_uint() for _ in range(3)]
    llvm().LLVMGetVersion(*map(ctypes.byref, numbers))
    return ".".join(str(n.value) for n in numbers)


def libraries() -> list[str]:
    """The files of LLVM and MLIR that this process loaded."""
    bindings = _bindings() or ""
    bundled = os.path.join(os.path.dirname(bindings), "..", "..", "llvm", "lib", library_file("LLVM"))  # in the wheels
    return [os.path.normpath(path) for path in (bindings, bundled) if os.path.exists(path)]


def address_of(op: ir.Operation) -> int:
    """The address of the C++ object of an op."""
    capsule = ctypes.py_object(op._CAPIPtr)  # pyright: ignore[reportAttributeAccessIssue]
    name, pointer = _API.PyCapsule_GetName, _API.PyCapsule_GetPointer
    name.restype, name.argtypes = c_char_p, (ctypes.py_object,)
    pointer.restype, pointer.argtypes = c_void_p, (ctypes.py_object, c_char_p)
    return pointer(capsule, name(capsule))


def message(pointer: int | None) -> str:
    """The text of an LLVM message; frees it."""
    if not pointer:
        return ""
    text = ctypes.string_at(pointer).decode(errors="replace")
    llvm().LLVMDisposeMessage(pointer)
    return text


def error(pointer: int | None) -> str:
    """The text of an LLVMErrorRef, which is consumed; empty for success."""
    if not pointer:
        return ""
    text = llvm().LLVMGetErrorMessage(pointer)
    words = ctypes.string_at(text).decode(errors="replace")
    llvm().LLVMDisposeErrorMessage(text)
    return words


NO_SLP = "-vectorize-slp=false"
"""LLVM 22.1's superword vectorizer turns some reversed, shuffled loads into code in which a value is used before it is
defined, and code generation then aborts the process (see test_jit_slp.py). Loops are vectorized without it."""

_without: set[int | None] = set()  # option parsers already set: setting an option twice aborts the process


def turn_off_slp(library: ctypes.CDLL) -> None:
    """Disable the SLP vectorizer in one LLVM. AttributeError if the library does not export its option parser."""
    parse = library.LLVMParseCommandLineOptions
    parse.restype = None
    address = ctypes.cast(parse, ctypes.c_void_p).value
    with _lock:
        if address not in _without:
            parse(2, (ctypes.c_char_p * 2)(b"tir_mlir", NO_SLP.encode()), None)
            _without.add(address)


_made_lock = threading.RLock()
_caught_exceptions: dict[int, list[BaseException]] = {}  # id of a running callback -> exceptions raised in it
_previous_hook: Callable[[sys.UnraisableHookArgs], object] = sys.unraisablehook


@contextmanager
def reraise_from_callback(function: Callable[..., object]) -> Iterator[None]:
    """Context in which C may call `function`; an exception raised in it is re-raised at the end."""
    global _previous_hook
    caught: list[BaseException] = []
    with _made_lock:
        if not _caught_exceptions:
            _previous_hook, sys.unraisablehook = sys.unraisablehook, _keep
        _caught_exceptions[id(function)] = caught
    try:
        yield
    finally:
        with _made_lock:
            del _caught_exceptions[id(function)]
            if not _caught_exceptions and sys.unraisablehook is _keep:
                sys.unraisablehook = _previous_hook
    if caught:
        raise caught[0]


def _keep(unraisable: sys.UnraisableHookArgs) -> None:
    caught = _caught_exceptions.get(id(unraisable.object))
    if caught is None or unraisable.exc_value is None:
        _previous_hook(unraisable)
    else:
        caught.append(unraisable.exc_value)


_Reporter = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


@_Reporter
def _report(_: int, why: int) -> None:
    """Silence ORC's error reporter: the failed lookup returns the same error."""
    error(why)


class Code:
    """The code of object files, linked with each other, the process and shared libraries; freed with this object."""

    def __init__(self, objects: Sequence[bytes], libs: Sequence[str] = ()):
        jit = ctypes.c_void_p()
        _check(llvm().LLVMOrcCreateLLJIT(ctypes.byref(jit), None))
        self._jit = jit
        self._free = weakref.finalize(self, llvm().LLVMOrcDisposeLLJIT, jit)
        self._free.atexit = False  # not at exit: OpenMP threads may still be running in it
        llvm().LLVMOrcExecutionSessionSetErrorReporter(llvm().LLVMOrcLLJITGetExecutionSession(jit), _report, None)
        dylib = llvm().LLVMOrcLLJITGetMainJITDylib(jit)
        prefix = llvm().LLVMOrcLLJITGetGlobalPrefix(jit)
        generator = ctypes.c_void_p()
        for lib in libs:
            make = llvm().LLVMOrcCreateDynamicLibrarySearchGeneratorForPath
            _check(make(ctypes.byref(generator), lib.encode(), prefix, None, None))
            llvm().LLVMOrcJITDylibAddGenerator(dylib, generator)
        make = llvm().LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess
        _check(make(ctypes.byref(generator), prefix, None, None))
        llvm().LLVMOrcJITDylibAddGenerator(dylib, generator)
        for data in objects:
            buffer = llvm().LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"tir_mlir")
            _check(llvm().LLVMOrcLLJITAddObjectFile(jit, dylib, buffer))

    def keep(self) -> Code:
        """Never free the code."""
        self._free.detach()
        return self

    def address(self, symbol: str) -> int:
        """The address of a function. Raises BuildError if it or a function that it calls is undefined."""
        pointer = ctypes.c_uint64()
        _check(llvm().LLVMOrcLLJITLookup(self._jit, ctypes.byref(pointer), symbol.encode()))
        return pointer.value


def _check(why: int | None) -> None:
    if why:
        raise BuildError(f"the compiled code cannot be loaded: {error(why)}")
