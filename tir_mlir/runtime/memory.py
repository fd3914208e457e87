"""Whether the process can have the memory that a program takes for its own buffers."""

from __future__ import annotations

import ctypes

from tir_mlir.dialect.errors import BuildError

LEAST = 1 << 30
"""Bytes: less than this is not asked for."""
MOST = 1 << 47
"""Bytes that a process can address."""


def require(size: int) -> None:
    """BuildError unless the process can have `size` bytes at once: code that does not get its memory ends it."""
    if size < LEAST:
        return
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    libc.free.argtypes = (ctypes.c_void_p,)
    got = libc.malloc(size) if size < MOST else None
    if not got:
        raise BuildError(
            f"the program takes {size / (1 << 30):,.0f} GiB of memory for its own buffers, more than this process can"
            " have; a buffer shrinks to what is in use where its producer is computed at a loop of its consumer"
        )
    libc.free(got)
