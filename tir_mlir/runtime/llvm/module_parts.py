"""Parts of a large LLVM module, compiled by threads: the functions of its nests need nothing of each other."""

from __future__ import annotations

import ctypes

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import attrs
from tir_mlir.runtime.llvm.linkage import EXTERNAL, INTERNAL, defined, name_of
from tir_mlir.runtime.llvm.llvm_c import llvm
from tir_mlir.target.host import cores

LEAST = 32
"""Functions of nests in a part: below, a thread costs more than it gains."""
MOST = 8
"""Parts of a module."""
BEFORE = b"always-inline,globaldce,deadargelim"
"""Passes on the whole module: afterwards the signatures of its functions are fixed."""
AFTER = b"elim-avail-extern,globaldce,default<O3>"
"""Passes on a part: its declarations first, then as for a whole module."""
_AVAILABLE_EXTERNALLY, _PRIVATE = 1, 9  # LLVMLinkage
_LOCAL = (INTERNAL, _PRIVATE)


def count(module: int | ctypes.c_void_p) -> int:
    """In how many parts to compile a module: 1 unless it has many functions of nests, and can be divided."""
    nests = sum(map(_is_nest, defined(module, "Function")))
    parts = min(cores(), nests // LEAST, MOST)
    return parts if parts > 1 and _is_divisible(module) else 1


def _is_divisible(module: int | ctypes.c_void_p) -> bool:
    """Whether parts of a module can share what it defines. A variable with a name that others see is defined by one
    part; a local one would be a different variable in each."""
    api, length = llvm(), ctypes.c_size_t()
    if api.LLVMGetFirstGlobalAlias(module) or api.LLVMGetFirstGlobalIFunc(module):
        return False
    api.LLVMGetModuleInlineAsm(module, ctypes.byref(length))
    if length.value:
        return False
    linkages = (EXTERNAL, *_LOCAL)
    if any(api.LLVMGetLinkage(f) not in linkages for f in defined(module, "Function")):
        return False
    return all(
        api.LLVMGetLinkage(v) in linkages
        and not api.LLVMIsThreadLocal(v)
        and (api.LLVMIsGlobalConstant(v) or api.LLVMGetLinkage(v) == EXTERNAL)
        for v in defined(module, "Global")
    )


def bitcode(module: int | ctypes.c_void_p) -> bytes:
    """The bitcode of a module whose functions of nests are visible to other parts."""
    for function in defined(module, "Function"):
        if _is_nest(function):
            llvm().LLVMSetLinkage(function, EXTERNAL)
    buffer = llvm().LLVMWriteBitcodeToMemoryBuffer(module)
    try:
        return ctypes.string_at(llvm().LLVMGetBufferStart(buffer), llvm().LLVMGetBufferSize(buffer))
    finally:
        llvm().LLVMDisposeMemoryBuffer(buffer)


def read(context: int, data: bytes) -> ctypes.c_void_p:
    """Bitcode -> a module of the context."""
    buffer = llvm().LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"tir_mlir")
    module = ctypes.c_void_p()
    failed = llvm().LLVMParseBitcodeInContext2(context, buffer, ctypes.byref(module))
    llvm().LLVMDisposeMemoryBuffer(buffer)
    if failed:
        raise BuildError("the bitcode of the lowered module cannot be read back")
    return module


def keep_part(module: ctypes.c_void_p, number: int, parts: int) -> None:
    """Make declarations, once AFTER ran, of what other parts define. The first part defines all that is no nest."""
    nest = 0
    for function in defined(module, "Function"):
        owner = 0
        if _is_nest(function):
            owner, nest = nest % parts, nest + 1
        if owner != number:
            _declare(function)
    if number:
        for variable in defined(module, "Global"):
            _declare(variable)


def _declare(value: int) -> None:
    if llvm().LLVMGetLinkage(value) == EXTERNAL:
        llvm().LLVMSetLinkage(value, _AVAILABLE_EXTERNALLY)


def _is_nest(function: int) -> bool:
    return attrs.NEST_MARK in name_of(function)
