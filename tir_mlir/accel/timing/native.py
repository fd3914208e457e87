"""The functions of clocks.c in this process."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from ctypes import POINTER, c_int64, c_void_p
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.runtime.cache import store
from tir_mlir.runtime.cache.fingerprint import FORMAT, installation
from tir_mlir.runtime.llvm import llvm_c, object_code

if TYPE_CHECKING:
    from tir_mlir.accel.timing.stream import Integers

_FIELDS = (
    "count: lane kind argument waited cycles latency marks fifo puts spans first end access holds resource hold "
    "lanes: causes: cores: queue strict core interlocked fenced is_cpu dispatch: host: ports cause refuses depth "
    "history tokens next stop now free issued started done written writer read port pushes takes pushed taken "
    "start stalls blocked fault: place: mark:"
)
"""Those of tir_accel_run: with a colon a number, else an array."""


class Run(ctypes.Structure):
    """tir_accel_run"""

    _fields_ = [(word.rstrip(":"), c_int64 if word.endswith(":") else c_void_p) for word in _FIELDS.split()]


def make_run(numbers: Mapping[str, int], arrays: Mapping[str, Integers]) -> Run:
    """The argument of the functions. The arrays have to live as long as it."""
    run = Run(**numbers)
    for name, array in arrays.items():
        assert array.dtype == np.int64 and array.flags.c_contiguous, name
        setattr(run, name, array.ctypes.data)
    return run


@functools.cache
def _code() -> llvm_c.Code:
    text = Path(__file__).with_name("clocks.ll").read_text()
    host = object_code.target()
    key = store.digest(FORMAT, installation(), host.triple, host.cpu, host.features, text)
    data = store.load("entry", key)
    if data is None:
        data = object_code.compile_text(text)
        store.save("entry", key, data)
    return llvm_c.Code([data]).keep()


def clock(run: Run) -> int:
    """Run the clocks. Returns the cycles of the whole run."""
    function = ctypes.CFUNCTYPE(c_int64, POINTER(Run))(_code().address("tir_accel_clock"))
    return function(ctypes.byref(run))


def find_needs(run: Run, last: Integers, needs: Integers) -> None:
    """Fill `needs`, see clocks.c."""
    function = ctypes.CFUNCTYPE(None, POINTER(Run), c_void_p, c_void_p)(_code().address("tir_accel_needs"))
    function(ctypes.byref(run), last.ctypes.data, needs.ctypes.data)


def find_known(run: Run, at_core: Integers, at_lane: Integers, at_token: Integers, known: Integers) -> None:
    """Fill `known`, see clocks.c."""
    arguments = [a.ctypes.data for a in (at_core, at_lane, at_token, known)]
    prototype = ctypes.CFUNCTYPE(None, POINTER(Run), *[c_void_p] * 4)
    prototype(_code().address("tir_accel_known"))(ctypes.byref(run), *arguments)
