"""Memory of a run: allocations, views and pointers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.dialect.diagnostics import OutOfBoundsError
from tir_mlir.interpreter.floats import ROUND
from tir_mlir.interpreter.poison import POISON, is_poison

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from tir_mlir.interpreter.poison import Number


_serial = itertools.count(1)
_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i1": "bool", "index": "int64"}
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "index": 8, "ptr": 8, "i1": 1}
"""Bytes per element of float kinds."""
_INTEGERS = {"i": "int", "u": "uint"}


class Memory:
    """The contents of an allocation or array: a list of numbers. `number` is unique in the process.

    Unsigned integers (dtype `u8`) are held as signed ones; a View shows them as they are.
    """

    __slots__ = ("data", "dtype", "name", "number", "freed")

    def __init__(self, name: str, dtype: str, data: list[Any]):
        self.name = name
        self.dtype = dtype
        self.data = data
        self.number = next(_serial)
        self.freed = False


class View:
    """A memref: an indexed view of a memory. Prints as an array.

    `A[i, j]`, slices and `A.numpy()` return numbers; POISON for uninitialized elements.
    """

    __slots__ = ("name", "memory", "data", "offset", "shape", "strides")

    def __init__(self, name: str, memory: Memory, offset: int, shape: Sequence[int], strides: Sequence[int]):
        self.name = name
        self.memory = memory
        self.data = memory.data
        self.offset = offset
        self.shape = tuple(shape)
        self.strides = tuple(strides)

    @property
    def dtype(self) -> str:
        kind = self.memory.dtype
        return _NAMES.get(kind) or _INTEGERS[kind[0]] + kind[1:]

    def offset_of(self, index: Sequence[int]) -> int:
        """The offset of an element. Raises OutOfBoundsError."""
        if len(index) != len(self.shape) or not all(0 <= i < n for i, n in zip(index, self.shape, strict=True)):
            raise_out_of_bounds(self, tuple(index))
        return self.offset + sum(i * s for i, s in zip(index, self.strides, strict=True))

    def numpy(self) -> np.ndarray:
        """A copy as an array of objects."""
        array = np.empty(self.shape, object)
        for index in np.ndindex(self.shape):
            array[index] = reinterpret_unsigned(self.memory.dtype, self.data[self.offset_of(index)])
        return array

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __getitem__(self, index: Any) -> Any:
        index = index if isinstance(index, tuple) else (index,)
        if len(index) == len(self.shape) and all(isinstance(i, (int, np.integer)) for i in index):
            return reinterpret_unsigned(self.memory.dtype, self.data[self.offset_of([int(i) for i in index])])
        return self.numpy()[index]

    def __setitem__(self, index: Any, value: Number) -> None:
        index = index if isinstance(index, tuple) else (index,)
        self.data[self.offset_of([int(i) for i in index])] = _as(self.memory.dtype, value)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        texts = np.empty(self.shape, object)
        texts[...] = [[]] if texts.size == 0 else None
        for index, value in np.ndenumerate(self.numpy()):
            texts[index] = "?" if is_poison(value) else _text(value)
        width = max((len(t) for t in texts.flat), default=0) if texts.size else 0
        body = np.array2string(texts, formatter={"all": lambda t: str(t).rjust(width)}) if texts.size else "[]"
        return f"{self.name}: {self.dtype} {self.shape}\n{body}"


class Pointer:
    """An address: a memory and a byte offset."""

    __slots__ = ("memory", "byte")

    def __init__(self, memory: Memory, byte: int = 0):
        self.memory = memory
        self.byte = byte

    def __add__(self, offset: int) -> Pointer:
        return Pointer(self.memory, self.byte + offset)

    __radd__ = __add__

    def __sub__(self, less: Any) -> Any:
        return self.byte - less.byte if isinstance(less, Pointer) else Pointer(self.memory, self.byte - less)

    def element(self, size: int) -> int:
        """The offset of the element pointed at. Raises OutOfBoundsError."""
        index, remainder = divmod(self.byte, size)
        if remainder or not 0 <= index <= len(self.memory.data):
            raise OutOfBoundsError(
                f"a pointer into {self.memory.name} is at byte offset {self.byte} of {len(self.memory.data) * size}",
                self.memory.name,
            )
        return index

    def view(self, shape: Sequence[int], strides: Sequence[int] | None = None) -> View:
        """The memory at this address as a view, for Python kernels."""
        kind = self.memory.dtype
        strides = row_major(shape) if strides is None else strides
        return View(self.memory.name, self.memory, self.element(BYTES.get(kind) or int(kind[1:]) // 8), shape, strides)

    def __repr__(self) -> str:
        return f"&{self.memory.name} + {self.byte} bytes"


def alloc(name: str, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> View:
    """Allocate uninitialized memory."""
    strides = row_major(shape) if strides is None else strides
    size = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    try:
        elements = [POISON] * size
    except MemoryError:
        raise MemoryError(f"buffer {name} has {size:,} elements, which do not fit in memory") from None
    return View(name, Memory(name, dtype, elements), 0, shape, strides)


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(strides[::-1])


def raise_out_of_bounds(view: View, index: tuple[int, ...], lanes: str = "") -> None:
    """Raise OutOfBoundsError."""
    index_text = ", ".join(map(str, index))
    shape = "(" + ", ".join(map(str, view.shape)) + "," * (len(view.shape) == 1) + ")"
    raise OutOfBoundsError(
        f"{view.name}[{index_text}]{lanes} is outside {view.name}, whose shape is {shape}", view.name, index, view.shape
    )


def reinterpret_unsigned(kind: str, value: Number) -> Number:
    """A number as its element kind has it: -56 of u8 is 200."""
    return value if kind[:1] != "u" or is_poison(value) else int(value) % (1 << int(kind[1:]))


def _as(kind: str, value: Number) -> Number:
    """Round a number to the element kind of a memory."""
    if kind in ROUND:
        return ROUND[kind](float(value))
    half, mask = 1 << int(kind[1:]) - 1, (1 << int(kind[1:])) - 1
    return bool(value) if kind == "i1" else (int(value) + half & mask) - half


def _text(value: Number) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        plain = value == 0 or 1e-4 <= abs(value) < 1e16
        return np.format_float_positional(value, precision=6, trim="0") if plain else f"{value:g}"
    return str(value)
