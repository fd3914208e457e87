"""NumPy with the BLAS bundled in its wheel (OpenBLAS)."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path
from typing import Any

import numpy as np

from contest import Contestant

_SETTERS = ("scipy_openblas_set_num_threads64_", "scipy_openblas_set_num_threads",
            "openblas_set_num_threads64_", "openblas_set_num_threads")  # fmt: skip


def missing() -> str | None:
    """Return why NumPy cannot take part: without control of its threads the comparison would be unfair."""
    return None if _setter() is not None else "this NumPy has no OpenBLAS with a thread setting"


def set_threads(number: int) -> None:
    setter = _setter()
    if setter is not None:
        setter(ctypes.c_int(number))


def describe() -> str:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]  # type: ignore[index]
    return f"NumPy {np.__version__} with {blas['name']} {blas['version']}"


def product(a: np.ndarray, b: np.ndarray, dtype: Any = np.float32) -> Contestant:
    """a @ b into a preallocated array; a and b may be transposed views."""
    c = np.empty((a.shape[0], b.shape[1]), dtype)
    return Contestant(lambda: np.matmul(a, b, out=c), lambda: c)


@functools.cache
def _setter() -> Any:
    """Return the function of the loaded OpenBLAS that sets its thread count."""
    np.ones((2, 2)) @ np.ones((2, 2))
    for path in _loaded("openblas"):
        library = ctypes.CDLL(path)
        for name in _SETTERS:
            if hasattr(library, name):
                return getattr(library, name)
    return None


def _loaded(word: str) -> list[str]:
    """Return the shared libraries of this process whose name contains `word`."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        beside = Path(np.__file__).parent
        return [str(p) for p in (*beside.parent.glob(f"numpy.libs/*{word}*"), *beside.glob(f".dylibs/*{word}*"))]
    paths = {line.split(maxsplit=5)[5] for line in lines if line.count("/")}
    return sorted(path for path in paths if word in Path(path).name)
