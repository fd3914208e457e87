"""Functions of mathematics that hardware has not: of the gamma and of the error function.

They are computed in float64, whose rounding is far below that of float32.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TypeVar

from tir_mlir import te
from tir_mlir.te.expr import t_call
from tir_mlir.topi.elementwise import map_elements
from tir_mlir.topi.operands import as_type, floats

__all__ = ["digamma", "erfc", "erfinv", "lgamma"]

WIDE = "float64"
Unary = TypeVar("Unary", bound=Callable[..., te.Tensor])
STEPS = 7
"""The argument of the asymptotic series is made this much larger."""


def _float64_unary(function: Callable[[te.Expr], te.Expr]) -> Callable[[Unary], Unary]:
    """Make a declaration the function of every element of a tensor of floats, computed in float64."""

    def decorate(declared: Unary) -> Unary:
        name = declared.__name__

        @functools.wraps(declared)
        def operator(x: te.Tensor) -> te.Tensor:
            operand = floats(name, "x", x)
            dtype = operand.dtype
            return map_elements(name, operand, lambda v: as_type(function(as_type(v, dtype, WIDE)), WIDE, dtype))

        return operator  # pyright: ignore[reportReturnType]

    return decorate


def _number(value: float) -> te.Expr:
    return te.infinity(WIDE) if value == math.inf else t_call(WIDE, float(value))


def _series(x: te.Expr, coefficients: list[float]) -> te.Expr:
    """c0 + x * (c1 + x * (..))."""
    total = _number(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + _number(coefficient)
    return total


def _is_whole(x: te.Expr) -> te.Expr:
    return t_call("EQ", te.floor(x), x)


def _log_gamma(x: te.Expr) -> te.Expr:
    """Stirling's series of x + 7, less log(x (x + 1) .. (x + 6)); of x < 1/2 by reflection."""
    low = x < _number(0.5)
    positive = te.Select(low, _number(1) - x, x)
    product = positive
    for step in range(1, STEPS):
        product = product * (positive + _number(step))
    large = positive > _number(1e10)
    z = te.Select(large, positive, positive + _number(STEPS))
    inverse = _number(1) / z
    tail = inverse * _series(inverse * inverse, [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360])
    stirling = (z - _number(0.5)) * te.log(z) - z + _number(0.5 * math.log(2 * math.pi)) + tail
    gamma = te.Select(large, stirling, stirling - te.log(product))
    gamma = te.Select(te.isinf(x), _number(math.inf), gamma)
    sine = te.sin((x - te.floor(x)) * _number(math.pi))
    mirrored = _number(math.log(math.pi)) - te.log(te.abs(sine)) - gamma
    mirrored = te.Select(te.any(_is_whole(x), te.isinf(x)), _number(math.inf), mirrored)
    return te.Select(te.isnan(x), x, te.Select(low, mirrored, gamma))


def _digamma(x: te.Expr) -> te.Expr:
    """The asymptotic series of x + 7, less 1 / x + .. + 1 / (x + 6); of x < 1/2 by reflection."""
    low = x < _number(0.5)
    positive = te.Select(low, _number(1) - x, x)
    added = _number(1) / positive
    for step in range(1, STEPS):
        added = added + _number(1) / (positive + _number(step))
    z = positive + _number(STEPS)
    inverse = _number(1) / z
    square = inverse * inverse
    tail = square * _series(square, [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760])
    psi = te.log(z) - inverse * _number(0.5) - tail - added
    psi = te.Select(te.isinf(positive), _number(math.inf), psi)
    angle = (x - te.floor(x)) * _number(math.pi)
    mirrored = psi - _number(math.pi) * te.cos(angle) / te.sin(angle)
    zero = t_call("EQ", x, _number(0))
    nan = _number(math.inf) - te.infinity(WIDE)
    mirrored = te.Select(zero, te.copysign(_number(math.inf), -x), te.Select(_is_whole(x), nan, mirrored))
    return te.Select(te.isnan(x), x, te.Select(low, mirrored, psi))


def _erfc(x: te.Expr) -> te.Expr:
    """1 - erf(x); above 2 a continued fraction, as the difference would lose its digits."""
    far = te.max(x, _number(2))
    half = _number(0.5) / (far * far)
    fraction = _number(1)
    for step in range(40, 0, -1):
        fraction = _number(1) + half * _number(step) / fraction
    tail = te.exp(-(far * far)) / (far * _number(math.sqrt(math.pi)) * fraction)
    return te.Select(x > _number(2), te.Select(te.isinf(x), _number(0), tail), _number(1) - te.erf(x))


_CENTER = [1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06, -3.5233877e-06]
_CENTER += [3.43273939e-07, 2.81022636e-08]
_TAIL = [2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844, 0.00134934322]
_TAIL += [0.000100950558, -0.000200214257]


def _clamp_below_one(x: te.Expr) -> te.Expr:
    return te.max(te.min(x, _number(1 - 2**-53)), _number(2**-53 - 1))


def _erfinv_polynomial(x: te.Expr, w: te.Expr) -> te.Expr:
    """M. Giles' polynomials of w = -log(1 - x * x)."""
    center = _series(w - _number(2.5), _CENTER)
    tail = _series(te.sqrt(te.max(w, _number(5))) - _number(3), _TAIL)
    return te.Select(w < _number(5), center, tail) * _clamp_below_one(x)


def _newton(x: te.Expr, y: te.Expr) -> te.Expr:
    """A step of Newton's method for erf(y) = x."""
    return y - (te.erf(y) - _clamp_below_one(x)) * _number(math.sqrt(math.pi) / 2) * te.exp(y * y)


def _fix_erfinv_ends(x: te.Expr, y: te.Expr) -> te.Expr:
    """Infinite at -1 and 1, NaN beyond."""
    size = te.abs(x)
    ends = te.Select(t_call("EQ", size, _number(1)), te.copysign(_number(math.inf), x), y)
    nan = _number(math.inf) - te.infinity(WIDE)
    return te.Select(te.any(size > _number(1), te.isnan(x)), nan, ends)


def erfinv(x: te.Tensor) -> te.Tensor:
    """The number whose error function is x, element by element; of floats. -1 and 1 give the infinities, numbers beyond
    them NaN. It is computed in `float64`.
    """
    operand = floats("erfinv", "x", x)
    wide = map_elements("wide", operand, lambda v: as_type(v, operand.dtype, WIDE))
    log = map_elements(
        "log", wide, lambda v: -te.log((_number(1) - _clamp_below_one(v)) * (_number(1) + _clamp_below_one(v)))
    )
    y = te.compute(x.shape, lambda *i: _erfinv_polynomial(wide(*i), log(*i)), name="T_near")
    for _ in range(2 if operand.dtype == WIDE else 0):  # the polynomials have the digits of float32
        y = te.compute(x.shape, lambda *i, y=y: _newton(wide(*i), y(*i)), name="T_newton")
    return te.compute(
        x.shape, lambda *i: as_type(_fix_erfinv_ends(wide(*i), y(*i)), WIDE, operand.dtype), name="T_erfinv"
    )


@_float64_unary(_log_gamma)
def lgamma(x: te.Tensor) -> te.Tensor:
    """The logarithm of the absolute value of the gamma function, element by element, of floats."""
    ...


@_float64_unary(_digamma)
def digamma(x: te.Tensor) -> te.Tensor:
    """The derivative of the logarithm of the gamma function, element by element; of floats. NaN at the negative
    integers, an infinity of the other sign at zero. It is computed in `float64`.
    """
    ...


@_float64_unary(_erfc)
def erfc(x: te.Tensor) -> te.Tensor:
    """1 - erf(x), element by element; of floats. Small results keep their digits where erf(x) is near 1, as a
    difference would not. It is computed in `float64`.
    """
    ...
