"""Intel MKL: libmkl_rt of the `mkl` wheel, called through ctypes with arguments converted in advance."""

from __future__ import annotations

import ctypes
import functools
import sys
from pathlib import Path

import numpy as np

from contest import Contestant

_ROW_MAJOR, _PLAIN, _TRANSPOSED, _ONE_OFFSET = 101, 111, 112, 173
_int, _pointer = ctypes.c_int, ctypes.c_void_p


def missing() -> str | None:
    return None if _library() is not None else "libmkl_rt is not installed: pip install mkl"


def set_threads(number: int) -> None:
    library = _library()
    if library is not None:
        library.MKL_Set_Num_Threads(_int(number))


def describe() -> str:
    library, text = _library(), ctypes.create_string_buffer(198)
    if library is not None:
        library.mkl_get_version_string(text, _int(len(text)))
    return text.value.decode().strip()


def product(a: np.ndarray, b: np.ndarray) -> Contestant:
    """cblas_sgemm or cblas_dgemm: a @ b; a and b may be transposed views."""
    library = _library()
    assert library is not None
    name, number = {"float32": ("cblas_sgemm", ctypes.c_float), "float64": ("cblas_dgemm", ctypes.c_double)}[
        a.dtype.name
    ]
    c = np.empty((a.shape[0], b.shape[1]), a.dtype)
    (m, k), n = a.shape, b.shape[1]
    arguments = (
        _int(_ROW_MAJOR), _int(_order(a)), _int(_order(b)), _int(m), _int(n), _int(k), number(1),
        _pointer(a.ctypes.data), _int(_leading(a)), _pointer(b.ctypes.data), _int(_leading(b)),
        number(0), _pointer(c.ctypes.data), _int(n),
    )  # fmt: skip
    function = getattr(library, name)
    function.restype = None
    return Contestant(lambda keep=(a, b): function(*arguments), lambda: c)


def integer_product(a: np.ndarray, b: np.ndarray) -> Contestant:
    """cblas_gemm_s8u8s32: int8 @ int8 in int32.

    In row-major order it takes a as uint8: a + 128 is computed before the calls, and the routine subtracts the 128.
    """
    library = _library()
    assert library is not None
    function = library.cblas_gemm_s8u8s32
    function.restype = None
    (m, k), n = a.shape, b.shape[1]
    shifted = (a.astype(np.int16) + 128).astype(np.uint8)
    c, zero = np.empty((m, n), np.int32), np.zeros(1, np.int32)
    arguments = (
        _int(_ROW_MAJOR), _int(_order(shifted)), _int(_order(b)), _int(_ONE_OFFSET), _int(m), _int(n), _int(k),
        ctypes.c_float(1), _pointer(shifted.ctypes.data), _int(_leading(shifted)), ctypes.c_int8(-128),
        _pointer(b.ctypes.data), _int(_leading(b)), ctypes.c_int8(0), ctypes.c_float(0), _pointer(c.ctypes.data),
        _int(n), _pointer(zero.ctypes.data),
    )  # fmt: skip
    return Contestant(lambda keep=(shifted, b, zero): function(*arguments), lambda: c)


def _order(matrix: np.ndarray) -> int:
    return _PLAIN if matrix.strides[1] == matrix.itemsize else _TRANSPOSED


def _leading(matrix: np.ndarray) -> int:
    return max(matrix.strides) // matrix.itemsize


@functools.cache
def _library() -> ctypes.CDLL | None:
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix)):
        for path in sorted(Path(prefix).glob("lib/libmkl_rt.so*"), reverse=True):
            try:
                return ctypes.CDLL(str(path))
            except OSError:
                continue
    return None
