"""Integer arithmetic: Python ints in the signed range of their type; i1 is a bool."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tir_mlir.interpreter.poison import Poison, is_poison

Integer: TypeAlias = "int | Poison"


def signed_wrap_text(text: str, width: int) -> str:
    """Python text that wraps a value to the signed range of `width` bits."""
    half, mask = 1 << width - 1, (1 << width) - 1
    return f"({text} + {half} & {mask}) - {half}"


def as_int(value: Integer) -> Integer:
    """A bool as 0 or 1."""
    return value if is_poison(value) else int(value)


def divide(a: Integer, b: Integer) -> Integer:
    """Division rounded towards zero. Raises ZeroDivisionError."""
    if is_poison(a) or is_poison(b):
        return a // b
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: Integer, b: Integer) -> Integer:
    """With the sign of `a`."""
    if is_poison(a) or is_poison(b):
        return a % b
    return a - divide(a, b) * b


def larger(a: Integer, b: Integer) -> Integer:
    return a if is_poison(a) else b if is_poison(b) else max(a, b)


def smaller(a: Integer, b: Integer) -> Integer:
    return a if is_poison(a) else b if is_poison(b) else min(a, b)


def exact_shift(word: str, width: int) -> Callable[[Integer, Integer], Integer]:
    """`shli` or `shrsi` of an integer of any size; POISON for a shift by the width of its type or more."""

    def run(a: Integer, b: Integer) -> Integer:
        if is_poison(a) or is_poison(b):
            return a if is_poison(a) else b
        if not 0 <= b < width:
            return Poison(f"a shift of a {width}-bit integer by {b}")
        return a << b if word == "shli" else a >> b

    return run


def shift(word: str, width: int) -> Callable[[Integer, Integer], Integer]:
    """`shli`, `shrsi` or `shrui`; POISON for a shift by the width or more."""
    half, mask = 1 << width - 1, (1 << width) - 1

    def run(a: Integer, b: Integer) -> Integer:
        if is_poison(a) or is_poison(b):
            return a if is_poison(a) else b
        if not 0 <= b < width:
            return Poison(f"a shift of a {width}-bit integer by {b}")
        if word == "shrsi":
            return a >> b
        return ((a << b if word == "shli" else (a & mask) >> b) + half & mask) - half

    return run


def count(word: str, width: int) -> Callable[[Integer], Integer]:
    """`ctlz`, `cttz`, `ctpop`."""
    mask = (1 << width) - 1

    def run(a: Integer) -> Integer:
        if is_poison(a):
            return a
        bits = a & mask
        if word == "ctpop":
            return bits.bit_count()
        if not bits:
            return width
        return width - bits.bit_length() if word == "ctlz" else (bits & -bits).bit_length() - 1

    return run


def regroup_bits(values: list[Integer], old: int, new: int) -> list[Integer]:
    """The bits of integers of `old` bits as integers of `new` bits, the lowest first."""
    if old > new:
        return [v if is_poison(v) else _to_signed(v >> shift, new) for v in values for shift in range(0, old, new)]
    joined: list[Integer] = []
    for first in range(0, len(values), new // old):
        parts = values[first : first + new // old]
        poison = next((p for p in parts if is_poison(p)), None)
        word = sum((p & (1 << old) - 1) << n * old for n, p in enumerate(parts) if not is_poison(p))
        joined.append(_to_signed(word, new) if poison is None else poison)
    return joined


def _to_signed(value: int, width: int) -> int:
    half = 1 << width - 1
    return (value + half & (1 << width) - 1) - half
