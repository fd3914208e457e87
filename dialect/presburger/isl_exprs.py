"""Conversion of `isl.Aff` to MLIR affine expressions, recovering quotients, remainders and digits.

isl writes a quotient in several ways, as `-((-x - 1) floordiv 16) - 1` or `x - (15 * x + 15) floordiv 16` for
`x floordiv 16`. All of them become the last one, so that terms cancel and digits are seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import islpy as isl
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Index, compose
from tir_mlir.dialect.presburger.sets import dim_type

AffineExpr = ir.AffineExpr


def to_index(aff: isl.Aff, dims: Sequence[ir.Value | Index], symbols: Mapping[str, ir.Value] | None = None) -> Index:
    """An isl expression as an index expression; `dims` are the values, or expressions, of its dimensions."""
    params = [aff.get_dim_name(dim_type.param, i) or "" for i in range(aff.dim(dim_type.param))]
    values = [*dims, *((symbols or {})[p] for p in params if symbols and p in symbols)]
    if len(values) != len(dims) + len(params):
        raise NotProvable("an expression over shape variables that are not in scope")
    if not aff.get_denominator_val().is_one():
        raise NotProvable("an expression with a fraction has no affine form")
    exprs = [AffineExpr.get_dim(i) for i in range(len(values))]
    return compose(recover(aff, exprs, len(dims)), [Index.wrap(v) for v in values])


class _Quotient(NamedTuple):
    """`(sum of factor * variable + nested + constant) floordiv divisor`; `nested`: quotients in it, None without."""

    factors: tuple[tuple[int, int], ...]
    nested: ir.AffineExpr | None
    constant: int
    divisor: int

    def numerator(self, exprs: Sequence[ir.AffineExpr]) -> ir.AffineExpr:
        return _sum(dict(self.factors), self.constant, exprs, self.nested)


def _coefficients(aff: isl.Aff, dims: int) -> tuple[dict[int, int], dict[int, int], int]:
    """Coefficients of variables (dims then params) and of the floor terms, and the constant, times the denominator."""
    scale = aff.get_denominator_val().to_python()
    plain: dict[int, int] = {}
    for i in range(dims):
        value = aff.get_coefficient_val(dim_type.in_, i)
        if not value.is_zero():
            plain[i] = (value * scale).to_python()
    for i in range(aff.dim(dim_type.param)):
        value = aff.get_coefficient_val(dim_type.param, i)
        if not value.is_zero():
            plain[dims + i] = (value * scale).to_python()
    divs: dict[int, int] = {}
    for i in range(aff.dim(dim_type.div)):
        value = aff.get_coefficient_val(dim_type.div, i)
        if not value.is_zero():
            divs[i] = (value * scale).to_python()
    constant = (aff.get_constant_val() * scale).to_python()
    for number in (constant, *plain.values(), *divs.values()):
        if not -(2**63) <= number < 2**63:
            raise NotProvable(f"an expression over {number}, which does not fit an index (64 bits)")
    return plain, divs, constant


def recover(aff: isl.Aff, exprs: Sequence[ir.AffineExpr], dims: int) -> ir.AffineExpr:
    """Rebuild the expression, with `x - m * floor(x / m)` as `x mod m` if that has fewer terms, and
    `floor(x / a) - b * floor(x / (a * b))`, a digit of x, as `(x mod (a * b)) floordiv a`."""
    plain, divs, constant = _coefficients(aff, dims)
    quotients: dict[_Quotient, int] = {}
    for number, factor in divs.items():
        quotient, sign, outside, carried = _quotient(aff.get_div(number), exprs, dims)
        quotients[quotient] = quotients.get(quotient, 0) + sign * factor
        plain = _plus(plain, outside, factor)
        constant += factor * carried
    quotients = {q: f for q, f in quotients.items() if f}
    expr = AffineExpr.get_constant(0)
    for low, high in _digits(quotients):
        factor = quotients.pop(low)
        del quotients[high]
        constant -= factor * ((high.constant - low.constant) // low.divisor)
        remainder = AffineExpr.get_mod(high.numerator(exprs), high.divisor)
        expr = expr + AffineExpr.get_floor_div(remainder, low.divisor) * factor
    for quotient, factor in quotients.items():
        times, inner = -factor // quotient.divisor, dict(quotient.factors)
        if factor % quotient.divisor == 0 and quotient.nested is None:
            terms_left, rest_constant = _plus(plain, inner, -times), constant - times * quotient.constant
            if len(terms_left) + bool(rest_constant) < len(plain) + bool(constant):
                plain, constant = terms_left, rest_constant
                expr = expr + AffineExpr.get_mod(quotient.numerator(exprs), quotient.divisor) * times
                continue
        expr = expr + AffineExpr.get_floor_div(quotient.numerator(exprs), quotient.divisor) * factor
    return _sum(plain, constant, exprs, expr)


def _quotient(
    argument: isl.Aff, exprs: Sequence[ir.AffineExpr], dims: int
) -> tuple[_Quotient, int, dict[int, int], int]:
    """The floor of an expression as (quotient, sign, outside, constant): `sign * quotient + outside + constant`.

    A numerator of negative factors (of factors that are, to the nearest multiple of the divisor) is negated, if its
    constant gets no larger by that: `(-x - 1) floordiv 16` is `-(x floordiv 16) - 1`.
    """
    divisor = argument.get_denominator_val().to_python()
    factors, divs, constant = _coefficients(argument, dims)
    if divs:
        return _Quotient((), recover(argument, exprs, dims), 0, divisor), 1, {}, 0
    negated = (divisor - 1 - constant) % divisor
    outside: dict[int, int] = {}
    if not all(f < 0 for f in factors.values()):
        outside = {v: near for v, f in factors.items() if (near := (2 * f + divisor - 1) // (2 * divisor))}
    inner = _plus(factors, outside, -divisor)
    smaller = negated < constant % divisor if outside else negated <= constant % divisor
    if smaller and all(f < 0 for f in inner.values()):
        opposite = tuple(sorted((v, -f) for v, f in inner.items()))
        return _Quotient(opposite, None, negated, divisor), -1, outside, -((divisor - 1 - constant) // divisor)
    carried = 0 if constant % divisor else constant // divisor
    return _Quotient(tuple(sorted(factors.items())), None, constant - carried * divisor, divisor), 1, {}, carried


def _plus(terms: Mapping[int, int], more: Mapping[int, int], factor: int) -> dict[int, int]:
    """`terms + factor * more`, without terms that cancel."""
    result = dict(terms)
    for variable, value in more.items():
        result[variable] = result.get(variable, 0) + factor * value
    return {variable: value for variable, value in result.items() if value}


def _sum(
    factors: Mapping[int, int], constant: int, exprs: Sequence[ir.AffineExpr], first: ir.AffineExpr | None = None
) -> ir.AffineExpr:
    expr = AffineExpr.get_constant(0) if first is None else first
    for number, factor in factors.items():
        expr = expr + exprs[number] * factor
    return expr + constant


def _digits(quotients: Mapping[_Quotient, int]) -> list[tuple[_Quotient, _Quotient]]:
    """Pairs of quotients that form a digit: `f * (floor(x / a) - b * floor(x / (a * b)))`."""
    pairs: list[tuple[_Quotient, _Quotient]] = []
    for low, high in permutations(quotients, 2):
        cuts = high.divisor % low.divisor == 0
        fits = cuts and quotients[high] == -quotients[low] * (high.divisor // low.divisor)
        same = low.factors == high.factors and (high.constant - low.constant) % low.divisor == 0
        plain = low.nested is None and high.nested is None
        if fits and same and plain and not {low, high} & {q for pair in pairs for q in pair}:
            pairs.append((low, high))
    return pairs
