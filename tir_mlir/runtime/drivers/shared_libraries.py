"""Symbols provided by shared libraries and by the process, checked before code is generated, so that an error names the
missing symbol."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import visit

SUPPORT = ("memrefCopy", "__truncsfbf2", "__truncdfbf2")
"""Defined in support.c: functions that lowering or code generation calls."""


def has(lib: str, symbol: str) -> bool:
    """Whether the shared library at `lib` defines the symbol. BuildError if it cannot be loaded."""
    try:
        getattr(load(lib), symbol)
    except AttributeError:
        return False
    return True


def provided(symbol: str, libs: Sequence[str] = ()) -> bool:
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


def undefined(lowered: ir.Module) -> list[str]:
    """The functions that a module in the llvm dialect declares and uses, except intrinsics."""
    names = []
    for op in lowered.body.operations:
        if op.operation.name == "llvm.func" and not len(op.operation.regions[0].blocks):
            names.append(ir.StringAttr(op.attributes["sym_name"]).value)
    return [name for name in names if not name.startswith("llvm.")]


def require(names: Sequence[str], libs: Sequence[str]) -> None:
    """Raise BuildError unless the libraries or the process define all of these functions."""
    missing = [name for name in names if not provided(name, libs)]
    if missing:
        places = ", ".join(libs) or "no libs given"
        raise BuildError(
            f"the compiled program calls {', '.join(map(repr, missing))}, which neither this process nor a library "
            f"provides ({places}); pass the shared object that does: build(mod, libs=[...])"
        )


def needs_support(lowered: ir.Module, low_precision: bool) -> bool:
    """Whether a module needs support.c: calls of its conversions to bfloat16 appear only in machine code."""
    return low_precision or any(name in SUPPORT for name in undefined(lowered))


def openmp_for(lowered: ir.Module) -> list[str]:
    """The OpenMP runtime if the module has omp ops (they become calls in LLVM IR only)."""
    found = False

    def look(op: ir.Operation) -> ir.WalkResult:
        nonlocal found
        found = op.name.startswith("omp.")
        return ir.WalkResult.INTERRUPT if found else ir.WalkResult.ADVANCE

    visit(lowered.operation, look)
    return [openmp()] if found else []


def openmp() -> str:
    """libiomp5 of the intel-openmp package, wherever that is on sys.path (TIR_OPENMP overrides)."""
    override = os.environ.get("TIR_OPENMP")
    places = []
    for path in [Path(override)] if override else _openmp_places():
        if path.is_file():
            return str(path)
        if path not in places:
            places.append(path)
    packages = [] if override else [str(d.locate_file("")) for d in metadata.distributions(name=_OPENMP_PACKAGE)]
    without = "; `pip install --target` leaves libraries out, `pip install --prefix` and `--user` do not"
    raise BuildError(
        f"the OpenMP runtime for parallel loops was not found at {', '.join(map(str, places))}"
        + (f"; the package {_OPENMP_PACKAGE} in {packages[0]} is without it{without}" if packages else "")
        + f"; fix: `pip install {_OPENMP_PACKAGE}`, or set TIR_OPENMP to a libiomp5.so or libomp.so (not libgomp)"
    )


def portable(libs: Sequence[str]) -> list[str]:
    """The libraries as an entry of the cache names them, which another installation may read: of the OpenMP runtime not
    the path."""
    return [_OPENMP_FILE if Path(lib).is_absolute() and lib == openmp() else lib for lib in libs]


def local(libs: Sequence[str]) -> list[str]:
    """Inverse of `portable` in this installation. Raises BuildError."""
    return [openmp() if lib == _OPENMP_FILE else lib for lib in libs]


_OPENMP_PACKAGE, _OPENMP_FILE = "intel-openmp", "libiomp5.so"


def _openmp_places() -> Iterator[Path]:
    """Where libiomp5 may be: in the environment; where the package's list of files says; beside what is imported."""
    yield from (Path(prefix, "lib", _OPENMP_FILE) for prefix in (sys.prefix, sys.base_prefix))
    for package in metadata.distributions(name=_OPENMP_PACKAGE):
        listed = [file for file in package.files or () if file.name == _OPENMP_FILE]
        yield from (Path(os.path.normpath(Path(str(package.locate_file(file))))) for file in listed)
    yield from (Path(entry, "lib", _OPENMP_FILE) for entry in sys.path if entry)


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
