"""The part of a GGUF file before the tensors, checked: counts and lengths are those that the file can hold."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.runtime.tools import given_files

if TYPE_CHECKING:
    from tir_mlir.runtime.tools.given_files import Json

_NUMBERS = {0: "u1", 1: "i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?", 10: "<u8", 11: "<i8", 12: "<f8"}
_STRING, _ARRAY = 8, 9
_RANKS, _ALIGNMENT = 4, 1 << 16
"""The most axes of a tensor of the format; the greatest alignment that is taken."""
_LONGEST = 1 << 16
"""The most elements of a list that are kept: lists of the tokenizer are longer."""


@dataclass(frozen=True)
class Info:
    """A tensor: its shape, the last axis of which is a row; the number of its type; where it starts, from the first."""

    shape: tuple[int, ...]
    kind: int
    at: int


@dataclass(frozen=True)
class Header:
    """facts: by key, a longer list as None; infos: by the names of tensors; start: where tensors start; size: of the
    file."""

    facts: Mapping[str, Json]
    infos: Mapping[str, Info]
    start: int
    size: int


def read_header(path: Path) -> Header:
    """The header of a GGUF file. Raises ArgumentError for one that is cut short or not of this format."""
    size = given_files.regular_file(path).stat().st_size
    if size < 24:
        raise ArgumentError(f"{path}: {size} bytes are not a GGUF file")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        facts, infos, end = _read(_HeaderReader(path, data))
    alignment = facts.get("general.alignment", 32)
    if type(alignment) is not int or not 0 < alignment <= _ALIGNMENT or alignment & (alignment - 1):
        raise ArgumentError(f"{path}: general.alignment is {short_repr(alignment)}; fix: a power of two")
    return Header(facts, infos, -(-end // alignment) * alignment, size)


def _read(reader: _HeaderReader) -> tuple[dict[str, Json], dict[str, Info], int]:
    """The facts, the tensors, the byte behind them."""
    path = reader.path
    if reader.take(4) != b"GGUF":
        raise ArgumentError(f"{path}: it is not a GGUF file")
    version, count, keys = reader.numbers("<IQQ")
    if version not in (2, 3):
        raise ArgumentError(f"{path}: version {version} of GGUF is not known; fix: write it as version 3")
    facts: dict[str, Json] = {}
    for _ in range(keys):
        key = reader.text()
        reader.check_unique(key, facts)
        facts[key] = reader.value(*reader.numbers("<I"))
    infos: dict[str, Info] = {}
    for _ in range(count):
        name = reader.text()
        reader.check_unique(name, infos)
        infos[name] = reader.info(name)
    return facts, infos, reader.at


class _HeaderReader:
    """What comes next in a file. at: the byte that is read next."""

    def __init__(self, path: Path, data: mmap.mmap):
        self.path, self.data, self.at = path, data, 0

    def take(self, count: int) -> bytes:
        self.check(count)
        self.at += count
        return self.data[self.at - count : self.at]

    def check(self, count: int) -> None:
        if count > len(self.data) - self.at:
            raise ArgumentError(f"{self.path}: its header is cut short or broken; fix: copy the file again")

    def numbers(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def text(self) -> str:
        (length,) = self.numbers("<Q")
        try:
            return self.take(length).decode()
        except UnicodeDecodeError as error:
            raise ArgumentError(f"{self.path}: a text of its header is not UTF-8; fix: copy the file again") from error

    def check_unique(self, name: str, known: Mapping[str, object]) -> None:
        if name in known:
            raise ArgumentError(f"{self.path}: {short_repr(name)} comes twice; fix: write the file again")

    def value(self, kind: int) -> Json:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            return self.elements(*self.numbers("<IQ"))
        return self.array(kind, 1)[0].item()

    def elements(self, kind: int, count: int) -> Sequence[Json] | None:
        """A list; None for one that is too long to be a fact of the architecture."""
        if kind != _STRING:
            found = self.array(kind, count)
            return found.tolist() if count <= _LONGEST else None
        self.check(8 * count)
        if count <= _LONGEST:
            return [self.text() for _ in range(count)]
        for _ in range(count):
            (length,) = self.numbers("<Q")
            self.check(length)
            self.at += length
        return None

    def array(self, kind: int, count: int) -> np.ndarray:
        if kind not in _NUMBERS:
            raise ArgumentError(f"{self.path}: its header has values of type {kind}; fix: write the file again")
        element = np.dtype(_NUMBERS[kind])
        self.check(element.itemsize * count)
        return np.frombuffer(self.take(element.itemsize * count), element)

    def info(self, name: str) -> Info:
        (rank,) = self.numbers("<I")
        if not 0 < rank <= _RANKS:
            raise ArgumentError(f"{self.path}: {short_repr(name)} has {rank} axes; fix: 1 to {_RANKS}")
        shape = self.numbers(f"<{rank}Q")[::-1]
        if 0 in shape:
            raise ArgumentError(f"{self.path}: {short_repr(name)} is of shape {shape}; fix: axes of 1 or more")
        kind, at = self.numbers("<IQ")
        return Info(shape, kind, at)
