"""Typed views of an arena: elements as bytes of its memory."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import NotInterpreted, OutOfBoundsError
from tir_mlir.interpreter.floats import ROUND, f16, f32
from tir_mlir.interpreter.memory import BYTES, Memory, View, row_major
from tir_mlir.interpreter.poison import is_poison

if TYPE_CHECKING:
    from tir_mlir.interpreter.poison import Number


_CODES = {"f64": "<d", "f32": "<f", "f16": "<e"}
_MAKE = {"f32": f32, "f16": f16}


def encode_number(kind: str, value: Number) -> list[int]:
    """The bytes of a number in memory, as elements of an int8 buffer."""
    if kind in _CODES:
        raw = struct.pack(_CODES[kind], ROUND[kind](value))
    elif kind == "bf16":
        raw = struct.pack("<f", ROUND[kind](value))[2:]
    else:
        width = _width(kind)
        raw = (int(value) & (1 << 8 * width) - 1).to_bytes(width, "little")
    return list(np.frombuffer(raw, np.int8).tolist())


def decode_number(kind: str, stored: list[int]) -> Number:
    """The number that bytes stand for."""
    raw = bytes(int(b) & 255 for b in stored)
    if kind in _CODES:
        (value,) = struct.unpack(_CODES[kind], raw)
        return _MAKE[kind](value) if kind in _MAKE else value
    if kind == "bf16":
        return f32(struct.unpack("<f", b"\0\0" + raw)[0])
    value = int.from_bytes(raw, "little", signed=True)
    return bool(value) if kind == "i1" else value


def _width(kind: str) -> int:
    return BYTES.get(kind) or int(kind[1:]) // 8


class ExactByte:
    """One byte of a number that is kept exactly."""

    __slots__ = ("kind", "value", "position")

    def __init__(self, kind: str, value: Number, position: int):
        self.kind, self.value, self.position = kind, value, position

    def __int__(self) -> int:
        return encode_number(self.kind, self.value)[self.position]


class Elements:
    """The elements of one kind from a byte of an arena on, by number. What was stored is what is loaded: through a view
    of the same type the number itself, through another one what its bytes stand for."""

    __slots__ = ("arena", "start", "kind", "width", "exact", "name")

    def __init__(self, arena: Memory, start: int, kind: str, exact: bool, name: str):
        self.arena, self.start, self.kind, self.exact, self.name = arena, start, kind, exact, name
        self.width = _width(kind)

    def __getitem__(self, number: int) -> Number:
        first = self.start + number * self.width
        stored = self.arena.data[first : first + self.width]
        if len(stored) < self.width:
            raise OutOfBoundsError(f"{self.name} is used after {self.arena.name} was deallocated", self.name)
        for byte in stored:
            if is_poison(byte):
                return byte
        if self.exact and any(byte.__class__ is ExactByte for byte in stored):
            return self._exact(stored)
        scalar = decode_number(self.kind, stored)
        return scalar.item() if self.exact and isinstance(scalar, np.generic) else scalar

    def _exact(self, stored: list[ExactByte]) -> Number:
        first = stored[0]
        complete = all(
            b.__class__ is ExactByte and b.value is first.value and b.position == n for n, b in enumerate(stored)
        )
        if complete and first.kind == self.kind:
            return first.value
        raise NotInterpreted(
            f"{self.name} reads bytes of {self.arena.name} that another type has written: exact numbers have no bytes"
        )

    def __setitem__(self, number: int, value: Number) -> None:
        first = self.start + number * self.width
        if is_poison(value):
            self.arena.data[first : first + self.width] = [value] * self.width
        elif self.exact:
            self.arena.data[first : first + self.width] = [ExactByte(self.kind, value, n) for n in range(self.width)]
        else:
            self.arena.data[first : first + self.width] = encode_number(self.kind, value)

    def __len__(self) -> int:
        return (len(self.arena.data) - self.start) // self.width


class TypedMemory(Memory):
    """The memory of a view: elements of an arena from a byte on."""

    __slots__ = ("arena", "start", "width")

    def __init__(self, name: str, kind: str, arena: Memory, start: int, exact: bool):
        cells = Elements(arena, start, kind, exact, name)
        super().__init__(name, kind, cells)  # type: ignore[arg-type]
        self.arena, self.start, self.width = arena, start, cells.width


def typed_view(name: str, arena: View, kind: str, offset: int, shape: tuple[int, ...], exact: bool) -> View:
    """`memref.view`. Raises OutOfBoundsError for a view that is not inside its arena."""
    backing, start = arena.memory, arena.offset + offset
    if isinstance(backing, TypedMemory):  # bytes of another arena, passed to a function
        backing, start = backing.arena, backing.start + start
    memory = TypedMemory(name, kind, backing, start, exact)
    size = memory.width
    for extent in shape:
        size *= extent
    if not 0 <= offset <= offset + size <= arena.shape[0]:
        raise OutOfBoundsError(
            f"the view {name} has the bytes {offset} to {offset + size} of {arena.name}, which has {arena.shape[0]}",
            name,
        )
    return View(name, memory, 0, shape, row_major(shape))
