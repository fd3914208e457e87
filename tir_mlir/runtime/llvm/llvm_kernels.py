"""Link kernels as LLVM IR, by LLVM's linker, if mlir-translate is not installed to import them as MLIR."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from tir_mlir.dialect.diagnostics import BuildError, ToolError
from tir_mlir.runtime.llvm import object_code
from tir_mlir.runtime.llvm.llvm_c import llvm, message
from tir_mlir.runtime.llvm.object_code import INTERNAL, add_attribute
from tir_mlir.runtime.tools import toolchain

_FUNCTION_INDEX = 0xFFFFFFFF
_KEPT = ("noinline", "optnone")
_MLIR_TYPES = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16"}


@dataclass(frozen=True)
class LlvmText:
    """A module of LLVM IR, as text."""

    text: str

    @cached_property
    def functions(self) -> dict[str, str]:
        """Name -> type (`!llvm.func<i32 (ptr, f32)>`) of the functions that the text defines. Raises BuildError."""
        _survive(self.text)
        types: dict[str, str] = {}
        with object_code.context() as context:
            for function in _defined_functions(object_code.parse(context, self.text)):
                kind = llvm().LLVMPrintTypeToString(llvm().LLVMGlobalGetValueType(function))
                types[_name(function)] = _mlir_type(message(kind))
        return types


def link_kernels(module: int | ctypes.c_void_p, context: int, kernels: Collection[tuple[str, Collection[str]]]) -> None:
    """Link texts of LLVM IR into an LLVM module, each with the functions that the module calls from it.

    These become internal and are always inlined; everything else in a text is local to it. Raises BuildError.
    """
    for text, callees in kernels:
        kernel = object_code.parse(context, text)
        if llvm().LLVMGetNamedGlobal(kernel, b"llvm.global_ctors"):
            raise BuildError("the C++ kernel has static constructors, which are not run; use constants")
        for function in _defined_functions(kernel):
            if _name(function) not in callees:
                llvm().LLVMSetLinkage(function, INTERNAL)
        _make_globals_local(kernel)
        if llvm().LLVMLinkModules2(module, kernel):
            raise BuildError(f"the LLVM IR of {', '.join(callees)} cannot be linked to the program")
        for name in callees:
            _inline(llvm().LLVMGetNamedFunction(module, name.encode()), context)


def _survive(text: str) -> None:
    """Parse a text in a subprocess first: on some malformed texts LLVM aborts the process or does not terminate."""
    try:
        toolchain.run("llvm-as", ["-o", os.devnull], input=text, timeout=20 + len(text) / 1e5)
    except toolchain.MissingTool:
        return  # tool not installed: no check
    except ToolError as error:
        raise BuildError(f"this LLVM IR cannot be read (create_llvm makes it from C):\n{error}") from error


def _defined_functions(module: int | ctypes.c_void_p) -> list[int]:
    functions, function = [], llvm().LLVMGetFirstFunction(module)
    while function:
        if not llvm().LLVMIsDeclaration(function):
            functions.append(function)
        function = llvm().LLVMGetNextFunction(function)
    return functions


def _make_globals_local(module: int | ctypes.c_void_p) -> None:
    variable = llvm().LLVMGetFirstGlobal(module)
    while variable:
        if not llvm().LLVMIsDeclaration(variable) and not _name(variable).startswith("llvm."):
            llvm().LLVMSetLinkage(variable, INTERNAL)
        variable = llvm().LLVMGetNextGlobal(variable)


def _inline(function: int, context: int) -> None:
    llvm().LLVMSetLinkage(function, INTERNAL)
    for attribute in _KEPT:
        kind = llvm().LLVMGetEnumAttributeKindForName(attribute.encode(), len(attribute))
        if llvm().LLVMGetEnumAttributeAtIndex(function, _FUNCTION_INDEX, kind):
            return
    add_attribute(function, context, "alwaysinline")


def _name(value: int) -> str:
    return llvm().LLVMGetValueName2(value, ctypes.byref(ctypes.c_size_t())).decode()


def _mlir_type(text: str) -> str:
    """`i32 (ptr, float)` as MLIR writes it."""
    return "!llvm.func<" + re.sub(r"\b(float|double|half|bfloat)\b", lambda m: _MLIR_TYPES[m[0]], text) + ">"
