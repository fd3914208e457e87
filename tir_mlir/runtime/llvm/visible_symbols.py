"""What an object file shows to the linker."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterator

from tir_mlir.runtime.llvm.llvm_c import llvm
from tir_mlir.runtime.llvm.module_parts import INTERNAL

_WEAK_ODR, _HIDDEN = 6, 1  # LLVMLinkage, LLVMVisibility


def show_only(module: int | ctypes.c_void_p, names: Collection[str], libcalls: Collection[str]) -> None:
    """Make all that a module defines internal but `names`. What code generation itself may call, `libcalls`, stays
    hidden and weak: several objects that have it are linked."""
    for value in _defined(module):
        name = llvm().LLVMGetValueName2(value, ctypes.byref(ctypes.c_size_t())).decode()
        if name in libcalls:
            llvm().LLVMSetLinkage(value, _WEAK_ODR)
            llvm().LLVMSetVisibility(value, _HIDDEN)
        elif name not in names and not name.startswith("llvm."):
            llvm().LLVMSetLinkage(value, INTERNAL)


def _defined(module: int | ctypes.c_void_p) -> Iterator[int]:
    for kind in ("Function", "Global"):
        value = getattr(llvm(), f"LLVMGetFirst{kind}")(module)
        while value:
            if not llvm().LLVMIsDeclaration(value):
                yield value
            value = getattr(llvm(), f"LLVMGetNext{kind}")(value)
