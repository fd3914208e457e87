"""Arrays that start on a boundary of a cache line."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr

LINE = 64
"""Bytes of a cache line, and of the widest vector."""


def empty(shape: int | Sequence[int], dtype: Any = "float32", align: int = LINE) -> np.ndarray:
    """An uninitialized array whose first element lies at a multiple of `align` bytes.

    NumPy's own arrays start at a multiple of 16: every vector of 64 bytes then crosses two cache lines. The rows lie at
    multiples of `align` if their size is one. dtype: a NumPy type or its name; "bfloat16": its bits, as uint16.
    Raises ArgumentError for an align that is not a power of two, a negative extent, or an unknown type.
    """
    extents = _extents(shape)
    element = _element(dtype)
    if not isinstance(align, int) or align < 1 or align & (align - 1):
        raise ArgumentError(f"empty: align must be a power of two, in bytes, not {short_repr(align)}")
    size = prod(extents) * element.itemsize
    memory = np.empty(size + align, np.uint8)
    start = -memory.ctypes.data % align
    return memory[start : start + size].view(element).reshape(extents)


def _extents(shape: int | Sequence[int]) -> tuple[int, ...]:
    try:
        extents = tuple(operator.index(e) for e in (shape if isinstance(shape, Sequence) else (shape,)))
    except TypeError:
        raise ArgumentError(f"empty: the shape must be integers, not {short_repr(shape)}") from None
    if any(e < 0 for e in extents):
        raise ArgumentError(f"empty: the shape has a negative extent: {short_repr(extents)}")
    return extents


def _element(dtype: Any) -> np.dtype:
    try:
        element = np.dtype(np.uint16 if isinstance(dtype, str) and dtype == "bfloat16" else dtype)
    except TypeError:
        raise ArgumentError(f"empty: unknown dtype {short_repr(dtype)}") from None
    if element.hasobject:
        raise ArgumentError(f"empty: dtype {short_repr(dtype)} holds Python objects; pass a type of numbers")
    return element
