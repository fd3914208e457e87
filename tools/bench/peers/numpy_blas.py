"""NumPy with the BLAS it came with (OpenBLAS in the wheels)."""

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
    """NumPy is always there; but without a way to set its threads the comparison would not be fair."""
    return None if _setter() is not None else "no OpenBLAS in this NumPy whose threads can be set"


def set_threads(number: int) -> None:
    setter = _setter()
    if setter is not None:
        setter(ctypes.c_int(number))


def describe() -> str:
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]  # type: ignore[index]
    return f"NumPy {np.__version__} with {blas['name']} {blas['version']}"


def product(a: np.ndarray, b: np.ndarray, dtype: Any) -> Contestant:
    """a @ b into an array that is there already; a and b may be transposed views."""
    c = np.empty((a.shape[0], b.shape[1]), dtype)
    return Contestant(lambda: np.matmul(a, b, out=c), lambda: c)


@functools.cache
def _setter() -> Any:
    """The function of the loaded OpenBLAS that sets its threads."""
    np.ones((2, 2)) @ np.ones((2, 2))
    for path in _loaded("openblas"):
        library = ctypes.CDLL(path)
        for name in _SETTERS:
            if hasattr(library, name):
                return getattr(library, name)
    return None


def _loaded(word: str) -> list[str]:
    """Shared libraries of this process with that word in their name."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        beside = Path(np.__file__).parent
        return [str(p) for p in (*beside.parent.glob(f"numpy.libs/*{word}*"), *beside.glob(f".dylibs/*{word}*"))]
    paths = {line.split(maxsplit=5)[5] for line in lines if line.count("/")}
    return sorted(path for path in paths if word in Path(path).name)
