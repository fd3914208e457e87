"""The functions of loop.c in this process."""

from __future__ import annotations

import ctypes
import functools
from ctypes import POINTER, c_double, c_float, c_int64, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from tir_mlir.runtime.cache import store
from tir_mlir.runtime.cache.fingerprint import FORMAT, installation
from tir_mlir.runtime.llvm import llvm_c, object_code

_FUNCTIONS: dict[str, tuple[type | None, list[type]]] = {
    "bytes": (c_int64, [c_void_p]),
    "start": (c_void_p, [c_void_p, c_void_p]),
    "prompt": (None, [c_void_p, c_int64, POINTER(c_int64), c_int64, c_int64]),
    "step": (None, [c_void_p, POINTER(c_int64)]),
    "scores": (POINTER(c_float), [c_void_p]),
    "drawn": (c_double, [c_uint64, c_uint64, c_uint64]),
    "token": (c_int64, [c_void_p, c_int64, c_void_p, c_uint64, c_uint64, c_void_p, c_void_p]),
    "next": (None, [c_void_p, c_void_p, c_uint64, POINTER(c_int64)]),
    "row": (None, [c_int64, c_void_p, c_int64, c_void_p]),
}


class LoopSampling(ctypes.Structure):
    """tir_llm_sampling"""

    _fields_ = [("temperature", c_double), ("top_p", c_double), ("top_k", c_int64), ("seed", c_uint64)]


@functools.cache
def loop() -> _Loop:
    """The functions `tir_llm_NAME` by NAME. They release the GIL."""
    text = Path(__file__).with_name("loop.ll").read_text()
    host = object_code.target()
    key = store.digest(FORMAT, installation(), host.triple, host.cpu, host.features, text)
    data = store.load("entry", key)
    if data is None:
        data = object_code.compile_text(text)
        store.save("entry", key, data)
    return _Loop(llvm_c.Code([data]).keep())


class _Loop:
    """Attributes: functions by ctypes."""

    def __init__(self, code: llvm_c.Code):
        self._code = code
        for name, (result, arguments) in _FUNCTIONS.items():
            setattr(self, name, ctypes.CFUNCTYPE(result, *arguments)(code.address(f"tir_llm_{name}")))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"loop.c has no tir_llm_{name}")
