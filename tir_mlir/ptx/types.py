"""The types of PTX and the NumPy types that hold their bits."""

from __future__ import annotations

import re
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

UNSIGNED: dict[int, type[np.unsignedinteger]] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
"""Bytes -> the unsigned NumPy type of this width."""
SIGNED: dict[int, type[np.signedinteger]] = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
"""Bytes -> the signed NumPy type of this width."""
WIDER: dict[str, str] = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
"""The result type of `mul.wide` and `mad.wide`."""


_INTEGER = re.compile(r"(-?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|(0[0-7]*)|([1-9][0-9]*))U?$")

_FLOAT = re.compile(r"-?(\d+\.\d*|\.\d+)([eE][-+]?\d+)?$|-?\d+[eE][-+]?\d+$")
_FLOAT_BITS = re.compile(r"0[fF]([0-9a-fA-F]{8})$|0[dD]([0-9a-fA-F]{16})$")


def integer(text: str) -> int:
    """An integer literal: decimal, `0x`, `0b`, octal with a leading 0, with or without `U`. Raises ValueError."""
    match = _INTEGER.match(text)
    if match is None:
        raise ValueError(f"{text} is not an integer literal")
    sign, *digits = match.groups()
    value = next(int(d, base) for d, base in zip(digits, (16, 2, 8, 10), strict=False) if d)
    return -value if sign else value


def number(text: str) -> int | float | np.floating:
    """A literal: an integer, a float's bits `0f3F800000` and `0d3FF0000000000000` as NumPy's float32 and float64, or a
    decimal float. Raises ValueError."""
    match = _FLOAT_BITS.match(text)
    if match is None:
        return float(text) if _FLOAT.match(text) else integer(text)
    single, double = match.groups()
    return np.uint32(int(single, 16)).view(np.float32) if single else np.uint64(int(double, 16)).view(np.float64)


def size_of(name: str) -> int:
    """The bytes of a PTX type."""
    return np.dtype(DTYPES[name]).itemsize


def is_float(name: str) -> bool:
    """Whether the type is a scalar or packed floating-point type."""
    return name.startswith(("f", "bf", "tf", "e4", "e5"))


def is_signed(name: str) -> bool:
    """Whether the type is a signed integer."""
    return name.startswith("s")
