"""Arithmetic on constants, as compiled code computes it: each result rounded to its type, NaN and signed zeros kept."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

_NUMPY = {"float16": np.float16, "float32": np.float32, "float64": np.float64}


def round_to_dtype(value: float, dtype: str) -> float:
    """The nearest number of a float type, ties to even; infinity above its range."""
    try:
        value = to_odd(value) if isinstance(value, int) and dtype != "float64" else float(value)
    except OverflowError:  # an integer
        return math.inf if value > 0 else -math.inf
    if dtype != "bfloat16":
        with np.errstate(over="ignore"):
            return float(_NUMPY[dtype](value))
    near = round_to_dtype(value, "float32")
    if not math.isfinite(near):
        return near
    (bits,) = struct.unpack("<I", struct.pack("<f", near))
    if near != value and not bits & 1:  # the first rounding must not make a tie: to odd
        bits += 1 if (abs(near) < abs(value)) else -1
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def to_odd(value: int) -> float:
    """An integer as a double, rounded to odd: a second rounding, to fewer bits, is as one."""
    near = float(value)
    if int(near) == value or struct.pack("<d", near)[0] & 1:
        return near
    return math.nextafter(near, math.inf if value > int(near) else -math.inf)


def maximum(a: Any, b: Any) -> Any:
    """The larger number; NaN if either is; 0.0 is above -0.0. As `arith.maximumf`, and as NumPy but for the zeros."""
    if a != a or b != b:
        return a if a != a else b
    if a == b == 0:
        return a if math.copysign(1, a) > 0 else b
    return max(a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller number; NaN if either is; -0.0 is below 0.0."""
    if a != a or b != b:
        return a if a != a else b
    if a == b == 0:
        return a if math.copysign(1, a) < 0 else b
    return min(a, b)


def divide(a: float, b: float) -> float:
    """IEEE division: by zero it gives an infinity or NaN."""
    if b:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _remainder(a: float, b: float) -> float:
    return math.fmod(a, b) if b and math.isfinite(a) else math.nan


def _power(a: float, b: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.power(np.float64(a), np.float64(b)))


FLOAT_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": divide, "max": maximum, "min": minimum,
    "truncmod": _remainder, "**": _power,
}  # fmt: skip


def fold(op: str, a: float, b: float, dtype: str) -> float | None:
    """`a op b` of a float type; None for an operation that floats do not have.

    The operands are rounded to the type first. A float64 result of narrower operands, rounded again, is rounded
    correctly: it has more than twice their bits.
    """
    make = FLOAT_OPERATIONS.get(op)
    return None if make is None else round_to_dtype(make(round_to_dtype(a, dtype), round_to_dtype(b, dtype)), dtype)
