"""LLVM by its C interface: the LLVM that MLIR's bindings brought into this process, called through ctypes."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
from ctypes import POINTER, c_char, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from typing import Any

from mlir import ir

from tir_mlir.runtime.llvm_flags import loaded_libraries, turn_off_slp

_P, _S = c_void_p, c_char_p
_OUT = POINTER(c_void_p)

# name -> result, parameters
_PROTOTYPES: dict[str, tuple[Any, ...]] = {
    "mlirTranslateModuleToLLVMIR": (_P, _P, _P),
    "LLVMDisposeMessage": (None, _P),
    "LLVMGetErrorMessage": (_P, _P),
    "LLVMDisposeErrorMessage": (None, _P),
    "LLVMGetDefaultTargetTriple": (_P,),
    "LLVMGetHostCPUName": (_P,),
    "LLVMGetHostCPUFeatures": (_P,),
    "LLVMGetTargetFromTriple": (c_int, _S, _OUT, _OUT),
    "LLVMCreateTargetMachine": (_P, _P, _S, _S, _S, c_int, c_int, c_int),
    "LLVMDisposeTargetMachine": (None, _P),
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


@functools.cache
def llvm() -> Any:
    """The functions, with prototypes, the host's target set up; None where they are out of reach.

    They are looked up in the library of MLIR's bindings and what that was linked with: a process may hold another LLVM.
    """
    architecture = _ARCHITECTURES.get(platform.machine().lower())
    for path in loaded_libraries():
        if architecture is None or "MLIRPythonCAPI" not in path:
            continue
        try:
            library = ctypes.CDLL(path)
            for name, (result, *parameters) in _PROTOTYPES.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, parameters
            for part in _PARTS:
                getattr(library, f"LLVMInitialize{architecture}{part}")()
            turn_off_slp(library)
        except (OSError, AttributeError):
            continue
        return library
    return None


@functools.cache
def identity() -> str:
    """Which builds of LLVM and MLIR these are, so that a cache stays right when another is installed."""
    found = [(path, os.stat(path)) for path in loaded_libraries()]
    return " ".join(f"{path} {stat.st_size} {stat.st_mtime_ns}" for path, stat in found)


def address_of(op: ir.Operation) -> int:
    """Where the C++ object behind an operation lies."""
    capsule = ctypes.py_object(op._CAPIPtr)  # pyright: ignore[reportAttributeAccessIssue]
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = c_char_p, (ctypes.py_object,)
    pointer.restype, pointer.argtypes = c_void_p, (ctypes.py_object, c_char_p)
    return pointer(capsule, name(capsule))


def message(pointer: int | None) -> str:
    """The text of a message that LLVM made for us, which is freed."""
    if not pointer:
        return ""
    text = ctypes.string_at(pointer).decode(errors="replace")
    llvm().LLVMDisposeMessage(pointer)
    return text


def error(pointer: int | None) -> str:
    """The text of an LLVMErrorRef, which is used up; empty for success."""
    if not pointer:
        return ""
    text = llvm().LLVMGetErrorMessage(pointer)
    words = ctypes.string_at(text).decode(errors="replace")
    llvm().LLVMDisposeErrorMessage(text)
    return words
