"""Large arrays in the cache, in files of their own that are mapped: rounded weights of language models.

The folder is bounded by TIR_WEIGHTS_SIZE (MiB), apart from that of code; the least recently used files are removed.
Entries are not verified by a checksum of their data, which would read all of it: a file is whole or not there.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterator

import numpy as np

from tir_mlir.dialect.diagnostics import ToolError, variables
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.tools import files
from tir_mlir.runtime.tools.toolchain import cache_folder

KIND = "weights"
_SIZE, _DEFAULT = "TIR_WEIGHTS_SIZE", 4096
_PAGE = 4096
_MARK = b"tir_mlir"


def limit() -> int:
    """The bound in bytes; 0: nothing is kept."""
    bound = variables.mebibytes(_SIZE, _DEFAULT, "keeps no weights")
    return bound if store.limit() else 0


def load(name: str) -> dict[str, np.ndarray] | None:
    """The arrays of an entry, uint8, mapped to be read only; None if there is none, or one of another user."""
    if not limit():
        return None
    try:
        path = cache_folder() / KIND / name
        with files.open_regular(path) as file:
            facts = os.fstat(file.fileno())
            if facts.st_uid not in (os.geteuid(), 0):
                return None
            index = _index(file.fileno(), facts.st_size)
            os.utime(file.fileno())  # mark as recently used
            return {key: np.memmap(file, np.uint8, "r", start, (size,)) for key, (start, size) in index.items()}
    except (OSError, ValueError, ToolError):
        return None


def _index(file: int, size: int) -> dict[str, tuple[int, int]]:
    """Where each array is. Raises ValueError for a file that is not an entry."""
    tail = os.pread(file, 16, size - 16) if size >= 16 else b""
    if tail[:8] != _MARK:
        raise ValueError("no entry")
    length = int.from_bytes(tail[8:], "little")
    return {key: tuple(span) for key, span in json.loads(os.pread(file, length, size - 16 - length)).items()}


class MappedEntryWriter:
    """An entry that is written array by array. A file system that refuses, or a bound that is reached, ends that:
    arrays are then those that were given."""

    def __init__(self, name: str | None):
        self._name, self._places, self._end = name, dict[str, tuple[int, int]](), 0
        self._file = None
        if name is None or not limit():
            return
        with contextlib.suppress(OSError, ToolError):
            folder = cache_folder() / KIND
            folder.mkdir(parents=True, exist_ok=True)
            self._path = folder / f"new-{uuid.uuid4().hex}"
            self._file = files.create(self._path)

    def add(self, key: str, array: np.ndarray) -> np.ndarray:
        """An array of bytes, and where it lies from now on: mapped, or as it is."""
        if self._file is None:
            return array
        start = -(-self._end // _PAGE) * _PAGE
        try:
            if start + array.nbytes > limit():
                raise OSError("the bound is reached")
            self._file.seek(start)
            self._file.write(array.data)
            self._file.flush()
            mapped = np.memmap(self._file, np.uint8, "r", start, array.shape) if array.nbytes else array
        except OSError:
            self.abandon()
            return array
        self._places[key], self._end = (start, array.nbytes), start + array.nbytes
        return mapped

    def finish(self) -> None:
        """Publish the file as an entry of the cache."""
        if self._file is None:
            return
        text = json.dumps(self._places).encode()
        try:
            self._file.seek(self._end)
            self._file.write(text + _MARK + len(text).to_bytes(8, "little"))
            self._file.close()
            self._path.replace(self._path.with_name(str(self._name)))
        except OSError:
            self.abandon()
            return
        self._file = None
        store.trim([KIND], limit(), limit(), keep=str(self._name))

    def abandon(self) -> None:
        """Remove what was written. Arrays that are mapped remain."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
                self._path.unlink()
            self._file = None


@contextlib.contextmanager
def writing(name: str | None) -> Iterator[MappedEntryWriter]:
    """A writer that is finished at the end, and abandoned at an error; None: one that writes nothing."""
    writer = MappedEntryWriter(name)
    try:
        yield writer
        writer.finish()
    finally:
        writer.abandon()
