"""Whether the system supports the tile registers of AMX, which the CPU alone does not say."""

from __future__ import annotations

import ctypes
import functools
import sys

_ARCH_PRCTL, _GET_SUPPORTED, _TILE_DATA = 158, 0x1021, 18


@functools.cache
def has_tiles() -> bool:
    """Whether Linux would let a process use tile registers. Nothing is asked for."""
    if not sys.platform.startswith("linux"):
        return False
    known = ctypes.c_uint64()
    syscall = ctypes.CDLL(None).syscall
    syscall.restype, syscall.argtypes = ctypes.c_long, (ctypes.c_long, ctypes.c_long, ctypes.c_void_p)
    answered = syscall(_ARCH_PRCTL, _GET_SUPPORTED, ctypes.addressof(known)) == 0
    return answered and bool(known.value >> _TILE_DATA & 1)
