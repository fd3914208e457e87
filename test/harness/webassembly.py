"""Run a WebAssembly module of this project in wasmtime, by the C interface of its functions."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest


class Module:
    """A loaded module; calls take arrays and return them afterwards."""

    def __init__(self, path: Path):
        wasmtime = pytest.importorskip("wasmtime", reason="wasmtime is not there: pip install wasmtime")
        self._store = wasmtime.Store()
        module = wasmtime.Module(self._store.engine, path.read_bytes())
        self._exports = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._memory = self._exports["memory"]

    @property
    def size(self) -> int:
        """Bytes of its memory."""
        return self._memory.data_len(self._store)

    def __call__(self, name: str, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        places = [self._place(array) for array in arrays]
        self._exports[f"_mlir_ciface_{name}"](self._store, *(descriptor for _, descriptor in places))
        found = [
            np.frombuffer(self._memory.read(self._store, at, at + a.nbytes), a.dtype).reshape(a.shape)
            for a, (at, _) in zip(arrays, places, strict=True)
        ]
        for pair in places:
            for at in pair:
                self._exports["free"](self._store, at)
        return found

    def _place(self, array: np.ndarray) -> tuple[int, int]:
        """The addresses of a copy of an array, and of its descriptor."""
        array = np.ascontiguousarray(array)
        at, descriptor = (self._exports["malloc"](self._store, n) for n in (array.nbytes, 16 + 16 * array.ndim))
        words = [*array.shape, *(s // array.itemsize for s in array.strides)]
        self._memory.write(self._store, array.tobytes(), at)
        self._memory.write(self._store, struct.pack(f"<IIq{len(words)}q", at, at, 0, *words), descriptor)
        return at, descriptor


def run(path: Path, name: str, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Call a function of a module once."""
    return Module(path)(name, arrays)
