"""Scalar functions of the `T` namespace: arithmetic, comparisons, mathematics, casts, type limits."""

from __future__ import annotations

from typing import Any

from tir_mlir.script.language.markers import construct


@construct
def exp(x: Any) -> Any:
    """e to the power x."""


@construct
def exp2(x: Any) -> Any:
    """2 to the power x."""


@construct
def expm1(x: Any) -> Any:
    """exp(x) - 1, accurate also where x is near 0."""


@construct
def log(x: Any) -> Any:
    """The natural logarithm."""


@construct
def log2(x: Any) -> Any:
    """The logarithm to base 2."""


@construct
def log10(x: Any) -> Any:
    """The logarithm to base 10."""


@construct
def log1p(x: Any) -> Any:
    """log(1 + x)."""


@construct
def sqrt(x: Any) -> Any:
    """The square root."""


@construct
def rsqrt(x: Any) -> Any:
    """1 / sqrt(x)."""


@construct
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""


@construct
def tan(x: Any) -> Any:
    """The tangent."""


@construct
def sin(x: Any) -> Any:
    """The sine."""


@construct
def cos(x: Any) -> Any:
    """The cosine."""


@construct
def atan(x: Any) -> Any:
    """The arc tangent."""


@construct
def asin(x: Any) -> Any:
    """The arc sine."""


@construct
def acos(x: Any) -> Any:
    """The arc cosine."""


@construct
def sinh(x: Any) -> Any:
    """The hyperbolic sine."""


@construct
def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""


@construct
def asinh(x: Any) -> Any:
    """The inverse hyperbolic sine."""


@construct
def acosh(x: Any) -> Any:
    """The inverse hyperbolic cosine."""


@construct
def atanh(x: Any) -> Any:
    """The inverse hyperbolic tangent."""


@construct
def erf(x: Any) -> Any:
    """The error function."""


@construct
def floor(x: Any) -> Any:
    """The greatest integer not above x, as a float."""


@construct
def ceil(x: Any) -> Any:
    """The least integer not below x, as a float."""


@construct
def round(x: Any) -> Any:
    """The nearest integer, ties to even, as a float: 0.5 -> 0.0, 1.5 -> 2.0. As NumPy rounds."""


@construct
def round_half_away(x: Any) -> Any:
    """The nearest integer, ties away from zero, as a float: 0.5 -> 1.0. As C rounds; TVM has no such function."""


@construct
def nearbyint(x: Any) -> Any:
    """The nearest integer, ties to even, as a float."""


@construct
def trunc(x: Any) -> Any:
    """x without its fraction, as a float."""


@construct
def abs(x: Any) -> Any:
    """The absolute value, of ints and floats."""


@construct
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""


@construct
def isnan(x: Any) -> Any:
    """Whether x is not a number."""


@construct
def isinf(x: Any) -> Any:
    """Whether x is infinite."""


@construct
def isfinite(x: Any) -> Any:
    """Whether x is neither infinite nor NaN."""


@construct
def popcount(x: Any) -> Any:
    """The number of one bits."""


@construct
def clz(x: Any) -> Any:
    """The number of leading zero bits."""


@construct
def bitwise_not(x: Any) -> Any:
    """Bitwise complement."""


@construct
def Not(x: Any) -> Any:
    """Logical not; the same as `not x`."""


@construct
def max(x: Any, y: Any) -> Any:
    """The larger of two values; NaN if either is NaN."""


@construct
def min(x: Any, y: Any) -> Any:
    """The smaller of two values; NaN if either is NaN."""


@construct
def q_multiply_shift(x: Any, y: Any, q: Any, s: Any) -> Any:
    """The product of two int32 fixed-point numbers with q fractional bits, times 2 to the power s, rounded half up.

    `((x << max(s, 0)) * y + (1 << (r - 1))) >> r` with `r = q + max(-s, 0)`, in int64; q and s are constants.
    """


@construct
def q_multiply_shift_per_axis(
    x: Any, y: Any, ls: Any, rs: Any, q: Any, is_lshift_required: Any, is_rshift_required: Any
) -> Any:
    """The product of two int32 fixed-point numbers with q fractional bits and shifts from data, rounded half up.

    `((x << ls) * y + (1 << (q + rs - 1))) >> (q + rs)`, in int64; without `is_lshift_required` x is not shifted. As in
    TVM, `is_rshift_required` has no effect: the right shift by rs is always done.
    """


@construct
def fmod(x: Any, y: Any) -> Any:
    """The remainder of the division of floats rounded towards zero, with the sign of x."""


@construct
def hypot(x: Any, y: Any) -> Any:
    """sqrt(x * x + y * y), without overflow of the squares; infinite if x or y is, even if the other is NaN."""


@construct
def ldexp(x: Any, exponent: Any) -> Any:
    """x times 2 to the power of an integer, rounded once."""


@construct
def nextafter(x: Any, y: Any) -> Any:
    """The float next to x in the direction of y; y if they are equal."""


@construct
def pow(x: Any, y: Any) -> Any:
    """x to the power y. Of an integer x, y is a constant from 0 to 64."""


@construct
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (y, x)."""


@construct
def copysign(x: Any, y: Any) -> Any:
    """The magnitude of x with the sign of y."""


@construct
def floordiv(x: Any, y: Any) -> Any:
    """Division rounded down; the same as `x // y`."""


@construct
def floormod(x: Any, y: Any) -> Any:
    """The remainder of division rounded down; the same as `x % y`."""


@construct
def truncdiv(x: Any, y: Any) -> Any:
    """Integer division rounded towards zero."""


@construct
def truncmod(x: Any, y: Any) -> Any:
    """The remainder of division rounded towards zero."""


@construct
def ceildiv(x: Any, y: Any) -> Any:
    """Division rounded up."""


@construct
def divide(x: Any, y: Any) -> Any:
    """x / y, of floats."""


@construct
def add(x: Any, y: Any) -> Any:
    """x + y."""


@construct
def subtract(x: Any, y: Any) -> Any:
    """x - y."""


@construct
def multiply(x: Any, y: Any) -> Any:
    """x * y."""


@construct
def shift_left(x: Any, y: Any) -> Any:
    """x << y."""


@construct
def shift_right(x: Any, y: Any) -> Any:
    """x >> y, keeping the sign."""


@construct
def bitwise_and(x: Any, y: Any) -> Any:
    """x & y."""


@construct
def bitwise_or(x: Any, y: Any) -> Any:
    """x | y."""


@construct
def bitwise_xor(x: Any, y: Any) -> Any:
    """x ^ y."""


@construct
def And(x: Any, y: Any) -> Any:
    """Logical and; the same as `x and y`."""


@construct
def Or(x: Any, y: Any) -> Any:
    """Logical or; the same as `x or y`."""


@construct
def LT(x: Any, y: Any) -> Any:
    """x < y."""


@construct
def LE(x: Any, y: Any) -> Any:
    """x <= y."""


@construct
def GT(x: Any, y: Any) -> Any:
    """x > y."""


@construct
def GE(x: Any, y: Any) -> Any:
    """x >= y."""


@construct
def EQ(x: Any, y: Any) -> Any:
    """x == y."""


@construct
def NE(x: Any, y: Any) -> Any:
    """x != y."""


@construct
def fma(x: Any, y: Any, z: Any) -> Any:
    """x * y + z, rounded once."""


@construct
def Cast(dtype: str, value: Any) -> Any:
    """Convert: `T.Cast("float16", x)`. The same as `T.cast(x, "float16")` and `T.float16(x)`."""


@construct
def cast(value: Any, dtype: str) -> Any:
    """Convert: `T.cast(x, "float16")`. The same as `T.Cast("float16", x)`."""


@construct
def if_then_else(condition: Any, then_value: Any, else_value: Any) -> Any:
    """`then_value` or `else_value`; only the chosen one is evaluated."""


@construct
def Select(condition: Any, then_value: Any, else_value: Any) -> Any:
    """`then_value` or `else_value`; both are evaluated."""


@construct
def all(*conditions: Any) -> Any:
    """Conjunction; the same as `a and b`."""


@construct
def any(*conditions: Any) -> Any:
    """Disjunction; the same as `a or b`."""


@construct
def min_value(dtype: str) -> Any:
    """The smallest finite value of a type."""


@construct
def max_value(dtype: str) -> Any:
    """The largest finite value of a type."""


@construct
def infinity(dtype: str) -> Any:
    """Infinity of a float type."""


# TVM's aliases
power, fabs, Add, Sub, Mul = pow, abs, add, subtract, multiply
Max, Min, FloorDiv, FloorMod, Div = max, min, floordiv, floormod, divide
