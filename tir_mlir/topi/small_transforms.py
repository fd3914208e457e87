"""Fourier transforms of 2, 3, 4, 5 and 8 numbers as statements, with few products."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin, sqrt
from typing import TypeAlias

Complex: TypeAlias = tuple[str, str]
"""The text of the real and of the imaginary part of a number."""


class Statements:
    """Statements of complex arithmetic, each of which names a value."""

    def __init__(self, dtype: str):
        self.dtype = dtype
        self.lines: list[str] = []

    def let(self, value: str) -> str:
        """A name for a value."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        return name

    def constant(self, value: float) -> str:
        return f"T.{self.dtype}({value!r})"

    def add(self, a: Complex, b: Complex) -> Complex:
        return self.let(f"{a[0]} + {b[0]}"), self.let(f"{a[1]} + {b[1]}")

    def subtract(self, a: Complex, b: Complex) -> Complex:
        return self.let(f"{a[0]} - {b[0]}"), self.let(f"{a[1]} - {b[1]}")

    def sums_with_i(self, a: Complex, b: Complex) -> tuple[Complex, Complex]:
        """a - i b and a + i b."""
        less = self.let(f"{a[0]} + {b[1]}"), self.let(f"{a[1]} - {b[0]}")
        return less, (self.let(f"{a[0]} - {b[1]}"), self.let(f"{a[1]} + {b[0]}"))

    def product(self, a: Complex, b: Complex) -> Complex:
        return self.let(f"{a[0]} * {b[0]} - {a[1]} * {b[1]}"), self.let(f"{a[0]} * {b[1]} + {a[1]} * {b[0]}")

    def scaled_sum(self, first: Complex | None, *terms: tuple[float, Complex]) -> Complex:
        """first + factor * number + ..."""
        real, imaginary = (
            " + ".join([*([first[n]] if first else []), *(f"{self.constant(c)} * {x[n]}" for c, x in terms)])
            for n in (0, 1)
        )
        return self.let(real), self.let(imaginary)


def transform(s: Statements, x: Sequence[Complex]) -> list[Complex]:
    """The transform of 2, 3, 4, 5 or 8 numbers: sum_j x[j] * exp(-2 pi i j k / n)."""
    return {2: _radix2, 3: _radix3, 4: _radix4, 5: _radix5, 8: _radix8}[len(x)](s, x)


def _radix2(s: Statements, x: Sequence[Complex]) -> list[Complex]:
    return [s.add(*x), s.subtract(*x)]


def _radix3(s: Statements, x: Sequence[Complex]) -> list[Complex]:
    both = s.add(x[1], x[2])
    turned = s.scaled_sum(None, (sqrt(0.75), s.subtract(x[1], x[2])))
    return [s.add(x[0], both), *s.sums_with_i(s.scaled_sum(x[0], (-0.5, both)), turned)]


def _radix4(s: Statements, x: Sequence[Complex]) -> list[Complex]:
    even, odd = _radix2(s, x[::2]), _radix2(s, x[1::2])
    first, third = s.sums_with_i(even[1], odd[1])
    return [s.add(even[0], odd[0]), first, s.subtract(even[0], odd[0]), third]


def _radix5(s: Statements, x: Sequence[Complex]) -> list[Complex]:
    outer, inner = s.add(x[1], x[4]), s.add(x[2], x[3])
    outer_less, inner_less = s.subtract(x[1], x[4]), s.subtract(x[2], x[3])
    (c1, s1), (c2, s2) = ((cos(a), sin(a)) for a in (2 * pi / 5, 4 * pi / 5))
    one = s.scaled_sum(x[0], (c1, outer), (c2, inner)), s.scaled_sum(None, (s1, outer_less), (s2, inner_less))
    two = s.scaled_sum(x[0], (c2, outer), (c1, inner)), s.scaled_sum(None, (s2, outer_less), (-s1, inner_less))
    (first, fourth), (second, third) = s.sums_with_i(*one), s.sums_with_i(*two)
    return [s.add(x[0], s.add(outer, inner)), first, second, third, fourth]


def _radix8(s: Statements, x: Sequence[Complex]) -> list[Complex]:
    even, odd, root = _radix4(s, x[::2]), _radix4(s, x[1::2]), s.constant(sqrt(0.5))
    one = s.let(f"({odd[1][0]} + {odd[1][1]}) * {root}"), s.let(f"({odd[1][1]} - {odd[1][0]}) * {root}")
    three = s.let(f"({odd[3][1]} - {odd[3][0]}) * {root}"), s.let(f"({odd[3][0]} + {odd[3][1]}) * {root}")
    second, sixth = s.sums_with_i(even[2], odd[2])
    third = s.let(f"{even[3][0]} + {three[0]}"), s.let(f"{even[3][1]} - {three[1]}")
    seventh = s.let(f"{even[3][0]} - {three[0]}"), s.let(f"{even[3][1]} + {three[1]}")
    return [
        s.add(even[0], odd[0]), s.add(even[1], one), second, third,
        s.subtract(even[0], odd[0]), s.subtract(even[1], one), sixth, seventh,
    ]  # fmt: skip
