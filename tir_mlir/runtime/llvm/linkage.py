"""Linkage of what a module defines: which functions LLVM compiles once, what an object file shows to the linker."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterable, Iterator

from tir_mlir.dialect.calls import body_symbol
from tir_mlir.runtime.llvm.llvm_c import llvm

EXTERNAL, INTERNAL = 0, 8  # LLVMLinkage
_WEAK_ODR, _HIDDEN = 6, 1  # LLVMLinkage, LLVMVisibility
_FUNCTION_INDEX = 0xFFFFFFFF


def name_of(value: int) -> str:
    """The name of a function or variable."""
    return llvm().LLVMGetValueName2(value, ctypes.byref(ctypes.c_size_t())).decode()


def defined(module: int | ctypes.c_void_p, kind: str) -> Iterator[int]:
    """The functions ("Function") or variables ("Global") that a module defines."""
    value = getattr(llvm(), f"LLVMGetFirst{kind}")(module)
    while value:
        if not llvm().LLVMIsDeclaration(value):
            yield value
        value = getattr(llvm(), f"LLVMGetNext{kind}")(value)


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


def show_only(module: int | ctypes.c_void_p, names: Collection[str], libcalls: Collection[str]) -> None:
    """Make all that a module defines internal but `names`. What code generation itself may call, `libcalls`, stays
    hidden and weak: several objects that have it are linked."""
    for value in (*defined(module, "Function"), *defined(module, "Global")):
        name = name_of(value)
        if name in libcalls:
            llvm().LLVMSetLinkage(value, _WEAK_ODR)
            llvm().LLVMSetVisibility(value, _HIDDEN)
        elif name not in names and not name.startswith("llvm."):
            llvm().LLVMSetLinkage(value, INTERNAL)
