"""Compile the body of each function once, though it has several entries."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

from tir_mlir.dialect.calls import body_symbol
from tir_mlir.runtime.llvm.llvm_c import llvm
from tir_mlir.runtime.llvm.module_parts import INTERNAL

_FUNCTION_INDEX = 0xFFFFFFFF


def keep_single(module: int | ctypes.c_void_p, context: int, prefix: str, names: Iterable[str]) -> None:
    """Let LLVM inline each function only into its C interface, the function `prefix` + name.

    The function becomes internal. LLVM would otherwise copy it into the C interface and into the entries that call
    this, and optimize each copy.
    """
    for name in names:
        body, entry = (llvm().LLVMGetNamedFunction(module, n.encode()) for n in (body_symbol(name), prefix + name))
        if body and entry and not llvm().LLVMIsDeclaration(body):
            llvm().LLVMSetLinkage(body, INTERNAL)
            add_attribute(entry, context, "noinline")


def add_attribute(function: int, context: int, name: str) -> None:
    """Add an attribute without a value to a function."""
    kind = llvm().LLVMGetEnumAttributeKindForName(name.encode(), len(name))
    llvm().LLVMAddAttributeAtIndex(function, _FUNCTION_INDEX, llvm().LLVMCreateEnumAttribute(context, kind, 0))
