"""Memory that ends, or begins, where a process may not go: an access beyond it ends the process."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

from tir_mlir.accel.semantics import Array


class GuardedMemory:
    """Bytes between two pages that may not be accessed; those that are handed out end at the second one, or begin
    behind the first one."""

    def __init__(self, size: int):
        page = mmap.PAGESIZE
        self._room = max(1, -(-size // page)) * page
        self._pages = mmap.mmap(-1, self._room + 2 * page)
        self._start = ctypes.addressof(ctypes.c_char.from_buffer(self._pages)) + page
        for guard in (self._start - page, self._start + self._room):
            _forbid(guard, page)

    def place(self, size: int, at_end: bool) -> tuple[Array, int]:
        """So many bytes, and their address. They end where the memory does, or begin there."""
        address = self._start + (self._room - size if at_end else 0)
        if size == 0:
            return np.zeros(0, np.uint8), address
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address)), address

    def distance(self, address: int) -> int | None:
        """How many bytes an address is behind the end of this memory, or before its start (negative); None for one
        that is nowhere near it."""
        if self._start - mmap.PAGESIZE <= address < self._start:
            return address - self._start
        beyond = address - (self._start + self._room)
        return beyond + 1 if 0 <= beyond < mmap.PAGESIZE else None


def _forbid(address: int, size: int) -> None:
    none = 0  # PROT_NONE
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), none) != 0:
        raise OSError(ctypes.get_errno(), "mprotect")
