"""Tensors of safetensors files, read one at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.llm.native.parts import Rows

_TYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16, "I32": np.int32, "I8": np.int8, "U8": np.uint8}
_WHOLE_NUMBERS = ("I32", "I8", "U8")
_METADATA = "__metadata__"
INDEX, WHOLE = "model.safetensors.index.json", "model.safetensors"


@dataclass(frozen=True)
class StoredTensor:
    """A tensor in a file: its elements start at `offset`. dtype: as the file names it."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int

    @property
    def bits(self) -> int:
        """Of an element."""
        return 8 * np.dtype(_TYPES[self.dtype]).itemsize

    def read(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Rows `start` to `stop` as float32, in memory of their own."""
        stop = self.shape[0] if stop is None else stop
        element, row = np.dtype(_TYPES[self.dtype]), prod(self.shape[1:])
        where = self.offset + start * row * element.itemsize
        found = np.fromfile(self.path, element, (stop - start) * row, offset=where)
        if self.dtype == "BF16":
            bits = found.astype(np.uint32)
            bits <<= 16  # in place: a tensor takes longer to write than to compute
            found = bits.view(np.float32)
        return found.astype(np.float32, copy=False).reshape(stop - start, *self.shape[1:])

    def stored(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """The same; of bfloat16 the bits, uint16."""
        if self.dtype != "BF16":
            return self.read(start, stop)
        stop, row = self.shape[0] if stop is None else stop, prod(self.shape[1:])
        found = np.fromfile(self.path, np.uint16, (stop - start) * row, offset=self.offset + start * row * 2)
        return found.reshape(stop - start, *self.shape[1:])

    def numbers(self) -> np.ndarray:
        """All elements; whole numbers as they are, others as float32."""
        if self.dtype not in _WHOLE_NUMBERS:
            return self.read()
        return np.fromfile(self.path, _TYPES[self.dtype], prod(self.shape), offset=self.offset).reshape(self.shape)

    def check(self) -> None:
        """Of floats there is nothing to check before they are read."""

    def rows(self) -> Rows:
        """All rows, mapped."""
        width = self.shape[1]
        element = np.dtype(_TYPES[self.dtype]).itemsize
        data = np.memmap(self.path, np.uint8, "r", self.offset, (self.shape[0], width * element))
        return Rows(self.dtype, data, width)


def tensors_of(folder: Path) -> dict[str, StoredTensor]:
    """The tensors of the safetensors files of a folder, by name. No elements are read. Raises ArgumentError for a file
    that is missing, cut short or not of this format, and for types other than F32, F16, BF16, I32, I8 and U8."""
    found = {}
    for path in _files(folder):
        size, start, facts = _header(path)
        found |= {name: _tensor(path, name, facts[name], start, size) for name in facts if name != _METADATA}
    return found


def metadata_of(folder: Path) -> dict[str, str]:
    """What the writer of the files of a folder told of them, by key. Raises ArgumentError as `tensors_of`."""
    return {key: text for path in _files(folder) for key, text in (_header(path)[2].get(_METADATA) or {}).items()}


def _files(folder: Path) -> list[Path]:
    index = folder / INDEX
    if not index.exists():
        return [folder / WHOLE]
    return [folder / name for name in sorted(set(_object(index.read_bytes(), index)["weight_map"].values()))]


def _header(path: Path) -> tuple[int, int, dict[str, Any]]:
    """The bytes of a file, where its elements start, the facts of each tensor."""
    if not path.exists():
        raise ArgumentError(f"{path}: there is no such file; fix: a folder with {WHOLE}, or with {INDEX} and its files")
    size = path.stat().st_size
    with path.open("rb") as file:
        head = int.from_bytes(file.read(8), "little")
        if size < 8 or head > size - 8:
            raise ArgumentError(f"{path}: {size} bytes are less than its header says; fix: copy the file again")
        return size, 8 + head, _object(file.read(head), path)


def _tensor(path: Path, name: str, fact: Mapping[str, Any], start: int, size: int) -> StoredTensor:
    dtype, shape, (begin, end) = fact["dtype"], tuple(fact["shape"]), fact["data_offsets"]
    if dtype not in _TYPES:
        raise ArgumentError(f"{path}: {name} is of type {dtype}; fix: a file of {', '.join(_TYPES)}")
    if end - begin != prod(shape) * np.dtype(_TYPES[dtype]).itemsize:
        raise ArgumentError(f"{path}: {name} of shape {shape} has {end - begin} bytes; fix: write the file again")
    if start + end > size:
        raise ArgumentError(f"{path}: it is cut short, {name} ends at byte {start + end} of {size}; fix: copy it again")
    return StoredTensor(path, dtype, shape, start + begin)


def _object(text: bytes, path: Path) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ArgumentError(f"{path}: its header is no JSON object; fix: a safetensors file")
    return found
