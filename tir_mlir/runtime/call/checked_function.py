"""Compiled functions with bounds checks: a call that accessed something outside raises."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from typing import Any

from tir_mlir.dialect.diagnostics import CheckedSite
from tir_mlir.runtime.call.function import CompiledFunction, Entries
from tir_mlir.runtime.call.signature import CallSignature


class CheckedFunction(CompiledFunction):
    """A function whose code records the first access outside its buffer.

    Calls of the functions of a library run one after the other, as they share the record.
    """

    def __init__(self, signature: CallSignature, entries: Entries, owner: object, record: OutOfBoundsRecord):
        super().__init__(signature, entries, owner)
        self._record = record

    def __call__(self, /, *args: Any, **named: Any) -> None:
        with self._record.lock:
            self._record.clear()
            super().__call__(*args, **named)
            self._record.check()


class OutOfBoundsRecord:
    """The record in the memory of a library: {site + 1 or 0, index and extent per dimension}."""

    def __init__(self, address: int, sites: Sequence[CheckedSite]):
        self.lock = threading.Lock()
        self._sites = sites
        length = 1 + 2 * max((s.rank for s in sites), default=0)
        self._words = (ctypes.c_int64 * length).from_address(address) if sites else (ctypes.c_int64 * 1)()

    def clear(self) -> None:
        self._words[0] = 0

    def check(self) -> None:
        """Raise OutOfBoundsError if there was an access outside."""
        if not self._words[0]:
            return
        site = self._sites[self._words[0] - 1]
        pairs = self._words[1 : 1 + 2 * site.rank]
        raise site.error(tuple(pairs[::2]), tuple(pairs[1::2]))
