"""Arrays that start on a boundary of a cache line."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from ctypes import addressof, c_char
from itertools import pairwise, product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.target.host import cores

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

LINE = 64
"""Bytes of a cache line, and of the widest vector."""


def empty(shape: int | Sequence[int], dtype: DTypeLike = "float32", align: int = LINE) -> np.ndarray:
    """An uninitialized array whose first element lies at a multiple of `align` bytes.

    NumPy's own arrays start at a multiple of 16: every vector of 64 bytes then crosses two cache lines. The rows lie at
    multiples of `align` if their size is one. dtype: a NumPy type or its name; "bfloat16": its bits, as uint16.
    Raises ArgumentError for an align that is not a power of two, a negative extent, or an unknown type.
    """
    return empty_array_maker(shape, dtype, align)()


def empty_array_maker(shape: int | Sequence[int], dtype: DTypeLike, align: int = LINE) -> Callable[[], np.ndarray]:
    """A function that returns an `empty` array of this kind; what is asked is checked once, here."""
    extents, element = _extents(shape), _element(dtype)
    if not isinstance(align, int) or align < 1 or align & (align - 1):
        raise ArgumentError(f"empty: align must be a power of two, in bytes, not {short_repr(align)}")
    size, byte = prod(extents) * element.itemsize + align, np.dtype(np.uint8)

    def make() -> np.ndarray:
        memory = np.empty(size, byte)
        start = -addressof(c_char.from_buffer(memory.data)) % align  # a fifth of the time of `memory.ctypes.data`
        return np.ndarray(extents, element, memory, start)

    return make


def _extents(shape: int | Sequence[int]) -> tuple[int, ...]:
    try:
        extents = tuple(operator.index(e) for e in (shape if isinstance(shape, Sequence) else (shape,)))
    except TypeError:
        raise ArgumentError(f"empty: the shape must be integers, not {short_repr(shape)}") from None
    if any(e < 0 for e in extents):
        raise ArgumentError(f"empty: the shape has a negative extent: {short_repr(extents)}")
    return extents


def _element(dtype: DTypeLike) -> np.dtype:
    try:
        element = np.dtype(np.uint16 if isinstance(dtype, str) and dtype == "bfloat16" else dtype)
    except TypeError:
        raise ArgumentError(f"empty: unknown dtype {short_repr(dtype)}") from None
    if element.hasobject:
        raise ArgumentError(f"empty: dtype {short_repr(dtype)} holds Python objects; pass a type of numbers")
    return element


# Copies of arrays to another order of axes, block by block, so that each cache line is read once.
#
# NumPy walks the target in its order: of a transposed matrix it reads a line again for each of its elements.


RUN = 128
"""Elements next to each other in memory, in the source and in the target, that a block has if there are as many."""
BLOCK = 16384
"""Elements of a block: NumPy takes a microsecond to start a copy, and these remain in the caches of a core."""
NEAR = 512
"""Cache lines that remain in the first cache until they are read again."""
PART = 1 << 20
"""Bytes of a part that a thread copies: a hundred times what starting a thread takes where the memory is new."""


def copy_into(target: np.ndarray, source: np.ndarray) -> None:
    """target[...] = source, of one shape and type, at the speed of memory whatever their strides are.

    Large arrays are copied side by side by threads, on the CPUs of the process: new memory costs several times what the
    copy costs, as the system gives it page by page when it is first written. They must not overlap.
    """
    outer = next((axis for axis in reversed(_inner_axes(target)) if target.shape[axis] > 1), 0)
    number = min(cores(), target.nbytes // PART, target.shape[outer]) if target.nbytes >= 2 * PART else 1
    if number < 2:
        _copy(target, source)
        return
    from concurrent.futures import ThreadPoolExecutor  # few copies need it

    ends = [target.shape[outer] * n // number for n in range(number + 1)]
    parts = [(slice(None),) * outer + (slice(*bounds),) for bounds in pairwise(ends)]
    with ThreadPoolExecutor(number - 1) as pool:
        others = [pool.submit(_copy, target[part], source[part]) for part in parts[1:]]
        _copy(target[parts[0]], source[parts[0]])
    for other in others:
        other.result()


def _copy(target: np.ndarray, source: np.ndarray) -> None:
    if not _reads_again(target, source):
        np.copyto(target, source)
        return
    block = _block(target, source)
    for corner in product(*(range(0, size, step) for size, step in zip(target.shape, block, strict=True))):
        part = tuple(slice(start, start + step) for start, step in zip(corner, block, strict=True))
        np.copyto(target[part], source[part])


def _reads_again(target: np.ndarray, source: np.ndarray) -> bool:
    """Whether more lines than `NEAR` are read between two elements of a line of the source, in the target's order."""
    lines = 1
    (adjacent, *_), order = (_inner_axes(source) or [None]), _inner_axes(target)
    for axis in order[: order.index(adjacent)] if adjacent in order else ():
        lines *= target.shape[axis]
    return lines > NEAR


def _inner_axes(array: np.ndarray) -> list[int]:
    """The axes by their steps in memory, from the one with adjacent elements; not those that do not move."""
    axes = [axis for axis, step in enumerate(array.strides) if array.shape[axis] > 1 and step]
    return sorted(axes, key=lambda axis: (abs(array.strides[axis]), -axis))


def _block(target: np.ndarray, source: np.ndarray) -> list[int]:
    """The shape of a block: `RUN` elements along the inner axes of both sides, then as many as `BLOCK` allows."""
    block = [1] * target.ndim
    for array in (target, source):
        run = 1
        for axis in _inner_axes(array):
            block[axis] = max(block[axis], min(target.shape[axis], -(-RUN // run)))
            run *= block[axis]
            if run >= RUN:
                break
    for axis in _inner_axes(target):
        block[axis] = min(target.shape[axis], block[axis] * max(1, BLOCK // prod(block)))
    return block
