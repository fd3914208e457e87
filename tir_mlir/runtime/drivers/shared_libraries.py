"""Which symbols shared libraries and the process itself provide: checked before code
is made, so that a missing one is an error with its name."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import visit

SUPPORT = ("memrefCopy", "__truncsfbf2", "__truncdfbf2")
"""What support.c defines: functions that lowering or code generation calls."""


def has(lib: str, symbol: str) -> bool:
    """Whether the shared library at that path has the symbol. BuildError when it cannot be loaded."""
    try:
        getattr(load(lib), symbol)
    except AttributeError:
        return False
    return True


def provided(symbol: str, libs: Sequence[str] = ()) -> bool:
    """Whether one of the libraries or the process has the symbol."""
    if any(has(lib, symbol) for lib in libs):
        return True
    try:
        getattr(_process(), symbol)
    except AttributeError:
        return False
    return True


def undefined(lowered: ir.Module) -> list[str]:
    """The functions that a module in the llvm dialect declares and uses, intrinsics left out."""
    names = []
    for op in lowered.body.operations:
        if op.operation.name == "llvm.func" and not len(op.operation.regions[0].blocks):
            names.append(ir.StringAttr(op.attributes["sym_name"]).value)
    return [name for name in names if not name.startswith("llvm.")]


def require(names: Sequence[str], libs: Sequence[str]) -> None:
    """BuildError unless the libraries or the process have every one of these functions."""
    missing = [name for name in names if not provided(name, libs)]
    if missing:
        places = ", ".join(libs) or "no library was given"
        raise BuildError(
            f"the compiled program calls {', '.join(map(repr, missing))}, which neither this process nor a library "
            f"provides ({places}); pass the shared object that does: build(mod, libs=[...])"
        )


def needs_support(lowered: ir.Module, low_precision: bool) -> bool:
    """Whether a module needs support.c: calls of its conversions to bfloat16 appear only in machine code."""
    return low_precision or any(name in SUPPORT for name in undefined(lowered))


def openmp_for(lowered: ir.Module) -> list[str]:
    """The OpenMP runtime when the module has OpenMP operations; their calls appear only in LLVM IR."""
    found = False

    def look(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = op.name.startswith("omp.")
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    visit(lowered.operation, look)
    return [openmp()] if found else []


def openmp() -> str:
    """libiomp5 of the intel-openmp wheel (TIR_OPENMP overrides)."""
    override = os.environ.get("TIR_OPENMP")
    places = [Path(override)] if override else [Path(p, "lib", "libiomp5.so") for p in (sys.prefix, sys.base_prefix)]
    for place in places:
        if place.is_file():
            return str(place)
    raise BuildError(
        f"the OpenMP runtime for parallel loops was not found at {', '.join(map(str, places))}; "
        "install it with `pip install intel-openmp`, or set TIR_OPENMP to a libiomp5.so or libomp.so (not libgomp)"
    )


@functools.cache
def load(lib: str) -> ctypes.CDLL:
    """Load a shared library; once a path."""
    try:
        return ctypes.CDLL(lib)
    except OSError as error:
        raise BuildError(f"the shared library {lib!r} cannot be loaded: {error}") from error


@functools.cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None)
