"""The types of PTX and the NumPy types that hold their bits."""

from __future__ import annotations

from typing import Any

import numpy as np

DTYPES: dict[str, Any] = {
    "b8": np.uint8, "u8": np.uint8, "s8": np.int8, "e4m3": np.uint8, "e5m2": np.uint8,
    "b16": np.uint16, "u16": np.uint16, "s16": np.int16, "f16": np.float16, "bf16": np.uint16,
    "b32": np.uint32, "u32": np.uint32, "s32": np.int32, "f32": np.float32, "tf32": np.uint32,
    "f16x2": np.uint32, "bf16x2": np.uint32, "e4m3x2": np.uint16, "e5m2x2": np.uint16,
    "b64": np.uint64, "u64": np.uint64, "s64": np.int64, "f64": np.float64, "f32x2": np.uint64,
    "pred": np.bool_,
}  # fmt: skip
"""PTX type -> NumPy type of the same width. `bf16`, `tf32`, packed and 8-bit floats are held as bits."""

UNSIGNED: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""Bytes -> the unsigned NumPy type of this width."""
SIGNED: dict[int, Any] = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
"""Bytes -> the signed NumPy type of this width."""
WIDER: dict[str, str] = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
"""The result type of `mul.wide` and `mad.wide`."""


def size_of(name: str) -> int:
    """The bytes of a PTX type."""
    return np.dtype(DTYPES[name]).itemsize


def is_float(name: str) -> bool:
    """Whether the type is a scalar or packed floating-point type."""
    return name.startswith(("f", "bf", "tf", "e4", "e5"))


def is_signed(name: str) -> bool:
    """Whether the type is a signed integer."""
    return name.startswith("s")
