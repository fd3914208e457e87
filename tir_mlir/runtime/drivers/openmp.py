"""The OpenMP runtime of parallel loops: LLVM's libomp or Intel's libiomp5, which is the same source under another name.

A process must not load both, as the second one ends it: a runtime that another package brings (MKL has Intel's, PyTorch
for macOS LLVM's) goes first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError, variables
from tir_mlir.dialect.ir import visit
from tir_mlir.target.host import library_file

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
