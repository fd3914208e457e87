"""Conversion of `isl.Aff` to MLIR affine expressions, recovering remainders and digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

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
    expr = AffineExpr.get_constant(0)
    for first, second in _digits(aff, divs, dims):
        small, large = (aff.get_div(n).get_denominator_val().to_python() for n in (first, second))
        remainder = AffineExpr.get_mod(recover(aff.get_div(first), exprs, dims), large)
        expr = expr + AffineExpr.get_floor_div(remainder, small) * divs[first]
        divs = {n: f for n, f in divs.items() if n not in (first, second)}
    for number, factor in divs.items():
        argument = aff.get_div(number)
        divisor = argument.get_denominator_val().to_python()
        inner, inner_divs, inner_constant = _coefficients(argument, dims)
        numerator = recover(argument, exprs, dims)
        if factor % divisor == 0 and not inner_divs:
            times = -factor // divisor
            remainder = {k: plain.get(k, 0) - times * inner.get(k, 0) for k in {*plain, *inner}}
            remainder = {k: v for k, v in remainder.items() if v}
            if len(remainder) + bool(constant - times * inner_constant) < len(plain) + bool(constant):
                plain, constant = remainder, constant - times * inner_constant
                expr = expr + AffineExpr.get_mod(numerator, divisor) * times
                continue
        expr = expr + AffineExpr.get_floor_div(numerator, divisor) * factor
    for number, factor in plain.items():
        expr = expr + exprs[number] * factor
    return expr + constant


def _digits(aff: isl.Aff, divs: Mapping[int, int], dims: int) -> list[tuple[int, int]]:
    """Pairs of floor terms that form a digit: `f * (floor(x / a) - b * floor(x / (a * b)))`."""
    parts = {n: (aff.get_div(n).get_denominator_val().to_python(), _coefficients(aff.get_div(n), dims)) for n in divs}
    pairs: list[tuple[int, int]] = []
    for first, second in permutations(divs, 2):
        (small, first_part), (large, second_part) = parts[first], parts[second]
        fits = large % small == 0 and divs[second] == -divs[first] * (large // small) and first_part == second_part
        if fits and not first_part[1] and not {first, second} & {n for pair in pairs for n in pair}:
            pairs.append((first, second))
    return pairs
