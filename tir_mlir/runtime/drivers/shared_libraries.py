"""Symbols provided by shared libraries and by the process, checked before code is generated, so that an error names the
missing symbol."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError, variables
from tir_mlir.dialect.ir import visit
from tir_mlir.dialect.ir.lowering_op_views import LLVMFuncOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.target.host import library_file

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


# The OpenMP runtime of parallel loops: LLVM's libomp or Intel's libiomp5, which is the same source under another name.
#
# A process must not load both, as the second one ends it: a runtime that another package brings (MKL has Intel's,
# PyTorch for macOS LLVM's) goes first.


_PACKAGE = "cmeel-libomp"
_FILES = {"intel-openmp": "iomp5", **({"torch": "omp"} if sys.platform == "darwin" else {}), _PACKAGE: "omp"}
"""The packages that have a runtime and its name in each; the first that is found is taken."""

_IN_CACHE = "openmp"
"""The runtime as an entry of the cache names it, which another installation may read."""


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
    """The path of the runtime, wherever its package is on sys.path (TIR_OPENMP overrides). Raises BuildError."""
    override = variables.text("TIR_OPENMP")
    candidates = []
    for path in [Path(override)] if override else _candidate_paths():
        if path.is_file():
            return str(path)
        if path not in candidates:
            candidates.append(path)
    packages = [] if override else [f"{name} in {d.locate_file('')}" for name in _FILES for d in _distributions(name)]
    without = "; `pip install --target` leaves libraries out, `pip install --prefix` and `--user` do not"
    raise BuildError(
        f"the OpenMP runtime for parallel loops was not found at {', '.join(map(str, candidates))}"
        + (f"; the package {packages[0]} is without it{without}" if packages else "")
        + f"; fix: `pip install {_PACKAGE}`, or set TIR_OPENMP to a libomp or libiomp5 (not libgomp)"
    )


def portable_libraries(libs: Sequence[str]) -> list[str]:
    """The libraries as an entry of the cache names them: of the OpenMP runtime not the path."""
    return [_IN_CACHE if Path(lib).is_absolute() and lib == openmp() else lib for lib in libs]


def local_libraries(libs: Sequence[str]) -> list[str]:
    """Inverse of `portable` in this installation. Raises BuildError."""
    return [openmp() if lib == _IN_CACHE else lib for lib in libs]


def bundled_libraries(libs: Sequence[str]) -> dict[str, Path]:
    """Those of the libraries that an exported program has to bring along: the runtime, and the file that it is."""
    return {lib: Path(lib).resolve() for lib in libs if Path(lib).is_absolute() and lib == openmp()}


def _candidate_paths() -> Iterator[Path]:
    """Where a runtime may be: in the environment, where a package's list of files says, next to what is imported."""
    for package, library in _FILES.items():
        name = library_file(library)
        yield from (Path(prefix, "lib", name) for prefix in (sys.prefix, sys.base_prefix))
        for distribution in _distributions(package):
            listed = [file for file in distribution.files or () if file.name == name]
            yield from (Path(os.path.normpath(str(distribution.locate_file(file)))) for file in listed)
        yield from (Path(entry, "lib", name) for entry in sys.path if entry)


def _distributions(package: str) -> Iterable[metadata.Distribution]:
    return metadata.distributions(name=package)
