"""llama.cpp: the products of its library ggml, as the package llama-cpp-python brings it, called through ctypes."""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from contest import Contestant

_F32, _Q4_0 = 0, 2
_ROOM = 1 << 22
"""Bytes for the facts about tensors and for a graph."""
_pointer = ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "ggml_new_tensor_2d": (_pointer, _pointer, ctypes.c_int, ctypes.c_int64, ctypes.c_int64),
    "ggml_mul_mat": (_pointer, _pointer, _pointer, _pointer),
    "ggml_new_graph": (_pointer, _pointer),
    "ggml_build_forward_expand": (None, _pointer, _pointer),
    "ggml_get_data": (_pointer, _pointer),
    "ggml_backend_alloc_ctx_tensors_from_buft": (_pointer, _pointer, _pointer),
    "ggml_backend_tensor_set": (None, _pointer, _pointer, ctypes.c_size_t, ctypes.c_size_t),
    "ggml_backend_graph_compute": (ctypes.c_int, _pointer, _pointer),
    "ggml_backend_cpu_buffer_type": (_pointer,),
    "ggml_backend_buft_name": (ctypes.c_char_p, _pointer),
    "ggml_backend_reg_dev_get": (_pointer, _pointer, ctypes.c_size_t),
    "ggml_backend_reg_get_proc_address": (_pointer, _pointer, ctypes.c_char_p),
    "ggml_backend_cpu_reg": (_pointer,),
    "ggml_backend_cpu_init": (_pointer,),
    "ggml_backend_cpu_set_n_threads": (None, _pointer, ctypes.c_int),
}
"""Name -> result, parameters."""


class _Room(ctypes.Structure):
    _fields_ = (("size", ctypes.c_size_t), ("memory", _pointer), ("without_data", ctypes.c_bool))


_threads = 1


def missing() -> str | None:
    return None if _folder() is not None else "llama.cpp is not installed: pip install llama-cpp-python"


def set_threads(number: int) -> None:
    global _threads
    _threads = number


def describe() -> str:
    return f"llama-cpp-python {importlib.metadata.version('llama-cpp-python')}"


def product(values: np.ndarray, scales: np.ndarray, x: np.ndarray) -> Contestant:
    """x [m, k] @ W[n, k].T of weights in q4_0, in the order in which llama.cpp packs them for AVX2 and more.

    values: uint8 [n, k / 2], groups of 16 bytes; scales: float16 [n, k / 32]; x: float32, which the product rounds to
    int8 by groups of 32. Packing for AMX is left out: it crashes where GCC drops the tile configuration.
    """
    ggml = _ggml()
    n, groups = scales.shape
    blocks = np.concatenate([scales.view(np.uint8).reshape(n, groups, 2), values.reshape(n, groups, 16)], axis=2)
    rows, arguments = np.ascontiguousarray(blocks), _context(ggml)
    weights = ggml.ggml_new_tensor_2d(held := _context(ggml), _Q4_0, groups * 32, n)
    ggml.ggml_backend_alloc_ctx_tensors_from_buft(held, _packed(ggml))
    ggml.ggml_backend_tensor_set(weights, rows.ctypes.data, 0, rows.nbytes)
    given = ggml.ggml_new_tensor_2d(arguments, _F32, x.shape[1], x.shape[0])
    result = ggml.ggml_mul_mat(arguments, weights, given)
    graph = ggml.ggml_new_graph(arguments)
    ggml.ggml_build_forward_expand(graph, result)
    ggml.ggml_backend_alloc_ctx_tensors_from_buft(arguments, ggml.ggml_backend_cpu_buffer_type())
    ggml.ggml_backend_tensor_set(given, np.ascontiguousarray(x).ctypes.data, 0, x.nbytes)
    backend = ggml.ggml_backend_cpu_init()
    ggml.ggml_backend_cpu_set_n_threads(backend, _threads)
    floats = ctypes.cast(ggml.ggml_get_data(result), ctypes.POINTER(ctypes.c_float))
    found = np.ctypeslib.as_array(floats, (x.shape[0], n))
    return Contestant(lambda: ggml.ggml_backend_graph_compute(backend, graph), lambda: found)


def _context(ggml: Any) -> Any:
    return ggml.ggml_init(_Room(_ROOM, None, True))


def _packed(ggml: Any) -> Any:
    """The kind of memory that packs what is written to it for this CPU; else the plain one."""
    registry = ggml.ggml_backend_cpu_reg()
    address = ggml.ggml_backend_reg_get_proc_address(registry, b"ggml_backend_dev_get_extra_bufts")
    found = ctypes.CFUNCTYPE(ctypes.POINTER(_pointer), _pointer)(address) if address else None
    kinds = found(ggml.ggml_backend_reg_dev_get(registry, 0)) if found else [None]
    number = 0
    while kinds[number]:
        if ggml.ggml_backend_buft_name(kinds[number]) == b"CPU_REPACK":
            return kinds[number]
        number += 1
    return ggml.ggml_backend_cpu_buffer_type()


def _folder() -> Path | None:
    spec = importlib.util.find_spec("llama_cpp")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "lib"


class _Functions:
    """The functions of both libraries."""

    def __init__(self, base: ctypes.CDLL, cpu: ctypes.CDLL):
        self.ggml_init = base.ggml_init
        self.ggml_init.restype, self.ggml_init.argtypes = _pointer, (_Room,)
        for name, (result, *parameters) in _SIGNATURES.items():
            function = getattr(cpu if name.startswith("ggml_backend_cpu_") and hasattr(cpu, name) else base, name)
            function.restype, function.argtypes = result, parameters
            setattr(self, name, function)


@functools.cache
def _ggml() -> Any:
    folder = _folder()
    assert folder is not None
    names = (next(folder.glob(f"*ggml-{part}.*")) for part in ("base", "cpu"))
    return _Functions(*(ctypes.CDLL(str(name), mode=ctypes.RTLD_GLOBAL) for name in names))
