"""Float arithmetic: float64 is Python's float, float32 and float16 are NumPy scalars, bfloat16 is a rounded float32."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.constants.float_constants import to_odd
from tir_mlir.interpreter.poison import Poison, is_poison

if TYPE_CHECKING:
    from tir_mlir.interpreter.poison import Number


f16, f32 = np.float16, np.float32
_INF = math.inf


def bf16(value: Number) -> Number:
    """A float32 rounded to bfloat16, ties to even."""
    if value.__class__ is Poison:
        return value
    if value != value or value in (_INF, -_INF):
        return f32(value)
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    rounded = bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000
    return f32(struct.unpack("<f", struct.pack("<I", rounded))[0])


def to_f64(value: Number) -> Number:
    return value if is_poison(value) else float(value)


def to_f32(value: Number) -> Number:
    return value if is_poison(value) else f32(to_odd(value) if type(value) is int else value)


def to_f16(value: Number) -> Number:
    return value if is_poison(value) else f16(to_odd(value) if type(value) is int else value)


def to_bf16(value: Number) -> Number:
    """Convert a float or integer to bfloat16 with a single rounding."""
    if is_poison(value):
        return value
    exact = to_odd(value) if type(value) is int else float(value)
    near = f32(exact)
    if not math.isfinite(near) or float(near) == exact:
        return bf16(near)
    (bits,) = struct.unpack("<I", struct.pack("<f", near))
    return bf16(near if bits & 1 else np.nextafter(near, f32(_INF if exact > float(near) else -_INF)))


ROUND: dict[str, Callable[[Number], Number]] = {"f64": to_f64, "f32": to_f32, "f16": to_f16, "bf16": to_bf16}


def div(a: Number, b: Number) -> Number:
    """IEEE division of float64, including by zero."""
    if is_poison(a) or is_poison(b):
        return a if is_poison(a) else b
    if b:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(_INF, a) * math.copysign(1.0, b)


def rem(a: Number, b: Number) -> Number:
    """The remainder with the sign of `a`."""
    if is_poison(a) or is_poison(b):
        return a if is_poison(a) else b
    remainder = np.fmod(a, b)
    return float(remainder) if a.__class__ is float else remainder


def maximum(a: Number, b: Number) -> Number:
    """IEEE maximum: NaN if either operand is; 0.0 > -0.0."""
    if is_poison(a) or is_poison(b):
        return a if is_poison(a) else b
    if a > b:
        return a
    if b > a:
        return b
    return (b if math.copysign(1.0, a) < 0 else a) if a == b else a + b


def minimum(a: Number, b: Number) -> Number:
    if is_poison(a) or is_poison(b):
        return a if is_poison(a) else b
    if a < b:
        return a
    if b < a:
        return b
    return (a if math.copysign(1.0, a) < 0 else b) if a == b else a + b


def maxnum(a: Number, b: Number) -> Number:
    """`maxnum`: if one operand is NaN, the other."""
    if is_poison(a) or is_poison(b):
        return a if is_poison(a) else b
    return b if a != a else a if b != b else maximum(a, b)


def minnum(a: Number, b: Number) -> Number:
    if is_poison(a) or is_poison(b):
        return a if is_poison(a) else b
    return b if a != a else a if b != b else minimum(a, b)


def exact_max(a: Number, b: Number) -> Number:
    """The larger of two exact numbers."""
    return a if is_poison(a) else b if is_poison(b) else max(a, b)


def exact_min(a: Number, b: Number) -> Number:
    return a if is_poison(a) else b if is_poison(b) else min(a, b)


def compare(predicate: int, a: Number, b: Number) -> Number:
    """A `cmpf` predicate that depends on NaN: `one`, `ord`, `ueq`, ..., by its number in MLIR."""
    if is_poison(a) or is_poison(b):
        return a if is_poison(a) else b
    unordered = bool(a != a or b != b)
    ordered = {
        0: False,
        6: a != b,
        7: True,
        15: True,
        8: a == b,
        9: a > b,
        10: a >= b,
        11: a < b,
        12: a <= b,
        14: False,
    }
    if predicate in (0, 15):
        return ordered[predicate]
    return predicate >= 8 if unordered else bool(ordered[predicate])


# --- a * b + c, rounded once ------------------------------------------------------------------------------------------


def fma64(a: Number, b: Number, c: Number) -> Number:
    if is_poison(s := a * b + c):
        return s
    if not math.isfinite(s) or not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return s
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    return float(exact) if exact else s


def fma_narrow(a: Number, b: Number, c: Number) -> Number:
    """fma of float32 or narrower: a float64 that rounds to the same result as the exact value."""
    if is_poison(s := a * b + c):
        return s
    product, addend = float(a) * float(b), float(c)  # the product is exact
    total = product + addend
    if not math.isfinite(total):
        return total
    back = total - product
    rounding_error = (product - (total - back)) + (addend - back)
    if rounding_error and not struct.pack("<d", total)[0] & 1:
        total = math.nextafter(total, _INF if rounding_error > 0 else -_INF)
    return total


def fma(kind: str) -> Callable[[Number, Number, Number], Number]:
    """The fma of a type; bfloat16 uses float32."""
    if kind == "f64":
        return fma64
    if kind == "bf16":
        return lambda a, b, c: bf16(to_f32(fma_narrow(a, b, c)))
    return lambda a, b, c: ROUND[kind](fma_narrow(a, b, c))


# --- bits -------------------------------------------------------------------------------------------------------------

_FORMATS = {"f64": ("<d", "<q"), "f32": ("<f", "<i"), "f16": ("<e", "<h")}


def bits_of(kind: str) -> Callable[[Number], Number]:
    """Bitcast from float to integer."""
    if kind == "bf16":
        return lambda a: a if is_poison(a) else struct.unpack("<i", struct.pack("<f", a))[0] >> 16
    as_float, as_int = _FORMATS[kind]
    return lambda a: a if is_poison(a) else struct.unpack(as_int, struct.pack(as_float, a))[0]


def from_bits(kind: str) -> Callable[[Number], Number]:
    """Bitcast from integer to float."""
    if kind == "bf16":
        return lambda a: a if is_poison(a) else f32(struct.unpack("<f", struct.pack("<I", (int(a) & 0xFFFF) << 16))[0])
    as_float, as_int = _FORMATS[kind]
    round_ = ROUND[kind]
    return lambda a: a if is_poison(a) else round_(struct.unpack(as_float, struct.pack(as_int, a))[0])


def truncate(a: Number) -> Number:
    """An exact number, rounded towards zero to an integer of any size; POISON if it is not finite."""
    if is_poison(a):
        return a
    return int(a) if math.isfinite(a) else Poison(f"a cast of {a} to an integer")


def to_int(width: int, signed: bool = True) -> Callable[[Number], Number]:
    """Truncate a float to an integer; POISON if it is out of range."""
    low, high = (-(1 << width - 1), 1 << width - 1) if signed else (0, 1 << width)
    half, mask = 1 << width - 1, (1 << width) - 1

    def convert(a: Number) -> Number:
        if is_poison(a):
            return a
        if not math.isfinite(a) or not low <= (truncated := int(a)) < high:
            return Poison(f"a cast of {a} to a {width}-bit integer, which is out of range")
        return (truncated + half & mask) - half

    return convert
