"""Tensors of safetensors files, read one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.llm.checks.matching import WEIGHTS
from tir_mlir.llm.native.parts import Rows
from tir_mlir.runtime.tools import given_files

if TYPE_CHECKING:
    from tir_mlir.runtime.tools.given_files import Json

_TYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16, "I32": np.int32, "I8": np.int8, "U8": np.uint8}
_UNREAD = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "U32": 32, "I64": 64, "U64": 64, "F64": 64, "C64": 64,
}  # fmt: skip
"""The bits of an element of further types of the format, which are not read."""
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
    def bytes(self) -> int:
        """Of all elements."""
        return prod(self.shape) * self.bits // 8

    @property
    def bits(self) -> int:
        """Of an element."""
        return _bits(self.dtype)

    @property
    def _element(self) -> np.dtype:
        """Raises ArgumentError for a type that is not read."""
        if self.dtype not in _TYPES:
            known = ", ".join(_TYPES)
            raise ArgumentError(f"{self.path}: a part of a weight is of type {self.dtype}; fix: a file of {known}")
        return np.dtype(_TYPES[self.dtype])

    def read(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Rows `start` to `stop` as float32, in memory of their own."""
        stop = self.shape[0] if stop is None else stop
        element, row = self._element, prod(self.shape[1:])
        where = self.offset + start * row * element.itemsize
        found = np.fromfile(self.path, element, (stop - start) * row, offset=where)
        if self.dtype == "BF16":
            bits = found.astype(np.uint32)
            bits <<= 16  # in place: a tensor takes longer to write than to compute
            found = bits.view(np.float32)
        return found.astype(np.float32, copy=False).reshape(stop - start, *self.shape[1:])

    def read_encoded(self, start: int = 0, stop: int | None = None) -> np.ndarray:
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
        return np.fromfile(self.path, self._element, prod(self.shape), offset=self.offset).reshape(self.shape)

    def check(self, name: str) -> None:
        """Raises ArgumentError for a type that is not read. name: of the tensor."""
        if self.dtype not in WEIGHTS:
            raise ArgumentError(f"{self.path}: {name} is of type {self.dtype}; fix: a file of {', '.join(WEIGHTS)}")

    def rows(self) -> Rows:
        """All rows, mapped."""
        width = self.shape[1]
        element = np.dtype(_TYPES[self.dtype]).itemsize
        data = np.memmap(self.path, np.uint8, "r", self.offset, (self.shape[0], width * element))
        return Rows(self.dtype, data, width)


def tensors_of(folder: Path) -> dict[str, StoredTensor]:
    """The tensors of the safetensors files of a folder, by name. No elements are read. Raises ArgumentError for a file
    that is missing, outside of the folder, cut short or not of this format, for a tensor that is not in the file that
    the index tells, and for tensors that lie over each other or in two files."""
    found = dict[str, StoredTensor]()
    for path in _files(folder):
        size, start, facts = _header(path)
        tensors = {name: _tensor(path, name, facts[name], start, size) for name in facts if name != _METADATA}
        given_files.check_disjoint(
            path, [(each.offset, each.offset + each.bytes, name) for name, each in tensors.items()]
        )
        if twice := found.keys() & tensors.keys():
            raise ArgumentError(
                f"{path}: {min(twice)} is in {found[min(twice)].path.name} too; fix: copy the files again"
            )
        found |= tensors
    for name, file in _index(folder).items():
        if name not in found or found[name].path != folder / file:
            raise ArgumentError(f"{folder / INDEX}: {name} is not in {file}; fix: copy the files again")
    return found


def metadata_of(folder: Path) -> dict[str, str]:
    """What the writer of the files of a folder said about them, by key. Raises ArgumentError as `tensors_of`."""
    found = dict[str, str]()
    for path in _files(folder):
        facts = _header(path)[2].get(_METADATA) or {}
        texts = {key: text for key, text in facts.items() if isinstance(text, str)} if isinstance(facts, dict) else {}
        if not isinstance(facts, dict) or len(texts) < len(facts):
            raise ArgumentError(f"{path}: {_METADATA} is not texts by name; fix: write the file again")
        found |= texts
    return found


def _files(folder: Path) -> list[Path]:
    names = sorted(set(_index(folder).values())) or [WHOLE]
    if names == [WHOLE] and not (folder / WHOLE).exists():
        raise ArgumentError(
            f"{folder / WHOLE}: no such file; fix: a folder with {WHOLE}, or with {INDEX} and its files"
        )
    return [given_files.file_inside(folder, name) for name in names]


def _index(folder: Path) -> dict[str, str]:
    """The file of each tensor; none where one file has all."""
    if not (folder / INDEX).exists():
        return {}
    path = given_files.file_inside(folder, INDEX)
    found = given_files.object_of(given_files.read_text(path), path).get("weight_map")
    if not isinstance(found, dict) or not found or not all(isinstance(file, str) for file in found.values()):
        raise ArgumentError(f"{path}: weight_map is not names of files by tensor; fix: copy the file again")
    return found


def _header(path: Path) -> tuple[int, int, dict[str, Json]]:
    """The bytes of a file, where its elements start, the facts of each tensor."""
    size = given_files.regular_file(path).stat().st_size
    with path.open("rb") as file:
        head = int.from_bytes(file.read(8), "little")
        if size < 8 or head > size - 8:
            raise ArgumentError(f"{path}: {size} bytes are less than its header says; fix: copy the file again")
        if head > given_files.TEXT:
            raise ArgumentError(f"{path}: a header of {head} bytes is too long; fix: a safetensors file")
        return size, 8 + head, given_files.object_of(file.read(head), path)


def _tensor(path: Path, name: str, fact: Json, start: int, size: int) -> StoredTensor:
    facts: Mapping[str, Json] = fact if isinstance(fact, dict) else {}
    dtype, shape, offsets = facts.get("dtype"), facts.get("shape"), facts.get("data_offsets")
    if not isinstance(dtype, str) or not are_counts(shape) or not are_counts(offsets) or len(offsets) != 2:
        text = short_repr(fact)
        raise ArgumentError(
            f"{path}: {short_repr(name)} is {text}, not a type, a shape and two offsets; fix: write it again"
        )
    begin, end = offsets
    if dtype not in _TYPES and dtype not in _UNREAD:
        raise ArgumentError(f"{path}: {name} is of type {dtype}, which the format does not have; fix: write it again")
    if 8 * (end - begin) != prod(shape) * _bits(dtype):
        raise ArgumentError(
            f"{path}: {name} of shape {tuple(shape)} has {end - begin} bytes; fix: write the file again"
        )
    given_files.check_inside(path, name, size, start + begin, end - begin)
    return StoredTensor(path, dtype, tuple(shape), start + begin)


def are_counts(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(type(each) is int and 0 <= each < 1 << 63 for each in value)


def _bits(dtype: str) -> int:
    return 8 * np.dtype(_TYPES[dtype]).itemsize if dtype in _TYPES else _UNREAD[dtype]
