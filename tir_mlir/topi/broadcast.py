"""Operators of two tensors, which broadcast as in NumPy."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

from tir_mlir import te
from tir_mlir.te.expr import t_call
from tir_mlir.topi.operands import (
    Elements,
    Operand,
    as_type,
    constant,
    describe_tensor,
    floats,
    is_float,
    numbers,
    of_type,
    one_type,
    refuse,
    shape_of,
    tensor,
    wide_type,
)
from tir_mlir.topi.sizes import are_equal, is_one, shape_text

__all__ = [
    "broadcast_to", "divide", "floor_divide", "floor_mod", "fmax", "fmin", "hypot", "logical_xor", "mod", "power",
    "where",
]  # fmt: skip

Index = Sequence[te.Size]
Combine = Callable[[te.Expr, te.Expr], te.Expr]
Binary = TypeVar("Binary", bound=Callable[..., te.Tensor])


BINARY_DOC = """{doc}

    topi.{name}(lhs, rhs)     # (n, 1, k) and (m, k) -> (n, m, k)

lhs, rhs: tensors of one type ({takes}), or one of them a number -> a tensor of {result}. Shapes broadcast
as in NumPy: aligned at the last axis, sizes equal or 1. Errors: GraphError for shapes or types that do not fit.
"""
"""The docstring of an operator of two tensors."""
KINDS = {"bools": "bool", "values": "any type"}
"""The operands of operators, where the record has another word for them."""


def broadcast_shape(op: str, *shapes: Sequence[te.Size]) -> tuple[te.Size, ...]:
    """The shape that shapes broadcast to: aligned at the last axis, sizes equal or 1."""
    rank = max(map(len, shapes))
    result: list[te.Size] = []
    for axis in range(-rank, 0):
        sizes = [s[axis] for s in shapes if len(s) >= -axis]
        wide = [s for s in sizes if not is_one(s)]
        for size in wide[1:]:
            if not are_equal(wide[0], size):
                shapes_text = " and ".join(map(shape_text, shapes))
                raise refuse(
                    op,
                    f"shapes {shapes_text} do not broadcast: axis {axis} has {wide[0]} and {size}",
                    "reshape or expand_dims one of them so that sizes are equal or 1",
                )
        result.append(wide[0] if wide else 1)
    return tuple(result)


def read(x: te.Tensor, index: Index, shape: Sequence[te.Size]) -> te.Expr:
    """The element of a tensor that a broadcast to `shape` has at an index."""
    index, shape = index[len(shape) - x.ndim :], shape[len(shape) - x.ndim :]
    return x(*(0 if is_one(n) and not is_one(m) else i for i, n, m in zip(index, x.shape, shape, strict=True)))


def broadcast_elements(name: str, dtype: str, values: Sequence[Operand], combine: Elements) -> te.Tensor:
    """The function of the elements of tensors that broadcast, and of numbers, which get a type."""
    shape = broadcast_shape(name, *(x.shape for x in values if isinstance(x, te.Tensor)))

    def element(*i: te.Expr) -> te.Expr:
        return combine(*(read(x, i, shape) if isinstance(x, te.Tensor) else constant(x, dtype) for x in values))

    return te.compute(shape, element, name=f"T_{name}")


def _common_type(name: str, lhs: Operand, rhs: Operand) -> str:
    """The type of two operands, at least one of them a tensor."""
    if isinstance(lhs, te.Tensor) and isinstance(rhs, te.Tensor):
        return one_type(name, lhs=lhs, rhs=rhs)
    return tensor(name, "lhs", lhs if isinstance(lhs, te.Tensor) else rhs).dtype


def operand_type(name: str, takes: str, lhs: Operand, rhs: Operand) -> str:
    """The type of two operands of a kind: "floats", "integers", "numbers", "bools", or "values" of any type."""
    tensors = {what: x for what, x in (("lhs", lhs), ("rhs", rhs)) if isinstance(x, te.Tensor)}
    if takes == "floats":
        for what, x in tensors.items():
            floats(name, what, x)
    dtype = _common_type(name, lhs, rhs)
    for what, x in tensors.items():
        if takes == "bools":
            of_type(name, what, x, ("bool",), "of bool")
        elif takes == "integers" and is_float(x.dtype):
            fix = f'cast it first: astype({what}, "int32")'
            raise refuse(name, f"{describe_tensor(what, x)} is not of integers", fix)
        elif takes == "numbers":
            numbers(name, what, x)
    return dtype


def _binary(combine: Callable[[str], Combine], takes: str = "numbers") -> Callable[[Binary], Binary]:
    """Make a declaration an operator of two tensors, or of a tensor and a number; `combine(dtype)` is its function of
    two elements."""

    def decorate(declared: Binary) -> Binary:
        name, result = declared.__name__, "bool" if takes == "bools" else "their type"
        declared.__doc__ = BINARY_DOC.format(
            doc=declared.__doc__, name=name, takes=KINDS.get(takes, takes), result=result
        )

        @functools.wraps(declared)
        def operator(lhs: te.Tensor, rhs: te.Tensor) -> te.Tensor:
            dtype = operand_type(name, takes, lhs, rhs)
            return broadcast_elements(name, dtype, (lhs, rhs), combine(dtype))

        return operator  # pyright: ignore[reportReturnType]

    return decorate


def _divide(dtype: str) -> Combine:
    return (lambda a, b: a / b) if is_float(dtype) else te.truncdiv


def _floor_divide(dtype: str) -> Combine:
    return _compute_in_wide_type(dtype, _float_floor_divide) if is_float(dtype) else te.floordiv


def _floor_mod(dtype: str) -> Combine:
    return _compute_in_wide_type(dtype, _float_floor_mod) if is_float(dtype) else te.floormod


def _mod(dtype: str) -> Combine:
    return _compute_in_wide_type(dtype, te.truncmod) if is_float(dtype) else te.truncmod


def _compute_in_wide_type(dtype: str, function: Combine) -> Combine:
    """A function of two elements of a float type, computed in the wide type and rounded once."""
    wide = wide_type(dtype)
    return lambda a, b: as_type(function(as_type(a, dtype, wide), as_type(b, dtype, wide)), wide, dtype)


def _float_floor_mod(a: te.Expr, b: te.Expr) -> te.Expr:
    """The exact remainder, and b more if its sign is not that of b."""
    remainder = te.truncmod(a, b)
    return te.Select(_has_other_sign(remainder, b), remainder + b, remainder)


def _float_floor_divide(a: te.Expr, b: te.Expr) -> te.Expr:
    """The quotient that goes with `_float_floor_mod`: a - remainder is a multiple of b but for rounding. a / 0 is that
    of IEEE."""
    remainder, zero, unit = te.truncmod(a, b), constant(0, b.dtype), constant(1, b.dtype)
    quotient = (a - remainder) / b
    quotient = te.Select(_has_other_sign(remainder, b), quotient - unit, quotient)
    down = te.floor(quotient)
    near = te.Select(quotient - down > constant(0.5, b.dtype), down + unit, down)
    near = te.Select(t_call("EQ", quotient, zero), te.copysign(zero, a / b), near)
    return te.Select(t_call("EQ", b, zero), a / b, near)


def _has_other_sign(remainder: te.Expr, b: te.Expr) -> te.Expr:
    zero = constant(0, b.dtype)
    return te.all(t_call("NE", remainder, zero), t_call("NE", remainder < zero, b < zero))


def _ignore_dtype(function: Combine) -> Callable[[str], Combine]:
    return lambda _: function


@_binary(_divide)
def divide(lhs: Operand, rhs: Operand) -> te.Tensor:
    """lhs / rhs; of integers the quotient without its fraction, as in C."""
    ...


@_binary(_floor_divide)
def floor_divide(lhs: Operand, rhs: Operand) -> te.Tensor:
    """The quotient rounded down, as `//` in Python; of floats by 0 that of `/`."""
    ...


@_binary(_floor_mod)
def floor_mod(lhs: Operand, rhs: Operand) -> te.Tensor:
    """The exact remainder with the sign of rhs, as `%` in Python."""
    ...


@_binary(_mod)
def mod(lhs: Operand, rhs: Operand) -> te.Tensor:
    """The exact remainder with the sign of lhs, as fmod in C."""
    ...


@_binary(_ignore_dtype(lambda a, b: t_call("NE", a, b)), "bools")
def logical_xor(lhs: Operand, rhs: Operand) -> te.Tensor:
    """Whether just one is true."""
    ...


def power(lhs: Operand, rhs: Operand) -> te.Tensor:
    """lhs to the power rhs, element by element.

        topi.power(x, 2)     # (n, m) -> (n, m)

    lhs, rhs: floats that broadcast, or a number -> floats; lhs of integers: rhs is a number from 0 to 64. Squares and
    cubes are products. Errors: GraphError for other exponents of integers.
    """
    dtype = _common_type("power", lhs, rhs)
    number = not isinstance(rhs, (te.Tensor, te.Expr))
    if not is_float(dtype) and not (number and isinstance(rhs, int) and 0 <= rhs <= 64):
        problem = f"lhs of {dtype}, rhs {rhs if number else 'a tensor'}"
        raise refuse("power", problem, 'use a number from 0 to 64 for rhs, or cast: astype(lhs, "float32")')
    if number and rhs in (2, 3) and isinstance(lhs, te.Tensor):
        return te.compute(lhs.shape, lambda *i: _product([lhs(*i)] * int(rhs)), name="T_power")
    if not is_float(dtype) and isinstance(lhs, te.Tensor):
        return te.compute(lhs.shape, lambda *i: te.power(lhs(*i), rhs), name="T_power")
    return broadcast_elements("power", dtype, (lhs, rhs), te.power)


def _product(factors: Sequence[te.Expr]) -> te.Expr:
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result


def _hypot(a: te.Expr, b: te.Expr) -> te.Expr:
    """The greater side times sqrt(1 + (lesser / greater) ** 2), which does not overflow."""
    big, small = te.max(te.abs(a), te.abs(b)), te.min(te.abs(a), te.abs(b))
    dtype = big.dtype
    share = te.Select(t_call("EQ", big, constant(0, dtype)), constant(0, dtype), small / big)
    length = big * te.sqrt(share * share + constant(1, dtype))
    return te.Select(te.any(te.isinf(a), te.isinf(b)), te.infinity(dtype), length)


@_binary(lambda dtype: _compute_in_wide_type(dtype, _hypot), "floats")
def hypot(lhs: Operand, rhs: Operand) -> te.Tensor:
    """sqrt(lhs ** 2 + rhs ** 2), of floats, without overflow."""
    ...


@_binary(_ignore_dtype(lambda a, b: te.Select(te.isnan(a), b, te.Select(te.isnan(b), a, te.max(a, b)))), "floats")
def fmax(lhs: Operand, rhs: Operand) -> te.Tensor:
    """The greater of lhs and rhs, of floats; if one is NaN, the other one."""
    ...


@_binary(_ignore_dtype(lambda a, b: te.Select(te.isnan(a), b, te.Select(te.isnan(b), a, te.min(a, b)))), "floats")
def fmin(lhs: Operand, rhs: Operand) -> te.Tensor:
    """The lesser of lhs and rhs, of floats; if one is NaN, the other one."""
    ...


def where(condition: te.Tensor, x: Operand, y: Operand) -> te.Tensor:
    """x where the condition (of bool) is true, y elsewhere; the three broadcast, x or y may be a number."""
    test = of_type("where", "condition", tensor("where", "condition", condition), ("bool",), "of bool")
    dtype = _common_type("where", x, y) if isinstance(x, te.Tensor) or isinstance(y, te.Tensor) else "float32"
    return broadcast_elements("where", dtype, (test, x, y), lambda c, a, b: te.Select(c, a, b))


def broadcast_to(data: te.Tensor, shape: te.Shape) -> te.Tensor:
    """The tensor repeated along axes of size 1, and along new leading axes: (3, 1) -> (2, 3, 4)."""
    x = tensor("broadcast_to", "data", data)
    new_shape = shape_of("broadcast_to", shape)
    if len(new_shape) < x.ndim or not all(is_one(a) or are_equal(a, b) for a, b in zip(x.shape[::-1], new_shape[::-1])):  # noqa: B905
        problem = f"{describe_tensor('data', x)} does not broadcast to {shape_text(new_shape)}"
        raise refuse("broadcast_to", problem, "sizes must be equal or 1, aligned at the last axis")
    return te.compute(new_shape, lambda *i: read(x, i, new_shape), name="T_broadcast_to")
