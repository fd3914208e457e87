"""Symbols provided by shared libraries and by the process, checked before code is generated, so that an error names the
missing symbol."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir.lowering_op_views import LLVMFuncOp
from tir_mlir.dialect.ir.op_views import isa

SUPPORT = ("memrefCopy", "__truncsfbf2", "__truncdfbf2")
"""Defined in support.c: functions that lowering or code generation calls."""


def has(lib: str, symbol: str) -> bool:
    """Whether the shared library at `lib` defines the symbol. BuildError if it cannot be loaded."""
    try:
        getattr(load(lib), symbol)
    except AttributeError:
        return False
    return True


def is_defined(symbol: str, libs: Sequence[str] = ()) -> bool:
    """Whether one of the libraries or the process defines the symbol."""
    if any(has(lib, symbol) for lib in libs):
        return True
    try:
        getattr(_process(), symbol)
    except AttributeError:
        return False
    return True


def in_c_library(symbol: str) -> bool:
    """Whether the C library of this process, or its math library, has a function of this name."""
    if not sys.platform.startswith("linux"):
        return False
    return any(has(lib, symbol) for lib in ("libc.so.6", "libm.so.6"))


def undefined_functions(lowered: ir.Module) -> list[str]:
    """The functions that a module in the llvm dialect declares and uses, except intrinsics."""
    names = []
    for op in lowered.body.operations:
        if isa(op, LLVMFuncOp) and not len(op.operation.regions[0].blocks):
            names.append(ir.StringAttr(op.attributes["sym_name"]).value)
    return [name for name in names if not name.startswith("llvm.")]


def require(names: Sequence[str], libs: Sequence[str]) -> None:
    """Raise BuildError unless the libraries or the process define all of these functions."""
    missing = [name for name in names if not is_defined(name, libs)]
    if missing:
        libraries = ", ".join(libs) or "no libs given"
        raise BuildError(
            f"the compiled program calls {', '.join(map(repr, missing))}, which neither this process nor a library "
            f"provides ({libraries}); pass the shared object that does: build(mod, libs=[...])"
        )


def needs_support(lowered: ir.Module, low_precision: bool) -> bool:
    """Whether a module needs support.c: calls of its conversions to bfloat16 appear only in machine code."""
    return low_precision or any(name in SUPPORT for name in undefined_functions(lowered))


@functools.cache
def load(lib: str) -> ctypes.CDLL:
    """Load a shared library, once per path."""
    try:
        return ctypes.CDLL(lib)
    except OSError as error:
        raise BuildError(f"the shared library {lib!r} cannot be loaded: {error}") from error


@functools.cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None)
