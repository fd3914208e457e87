"""Checks of operands and attributes, and the errors that name them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.te.expr import t_call
from tir_mlir.topi.sizes import shape_text

Number: TypeAlias = te.Expr | float | np.generic
Operand: TypeAlias = te.Tensor | Number
"""An operand of an operator: a tensor, or a number, which takes the type of the other one."""
Ints: TypeAlias = int | Sequence[int]
"""An attribute of integers: one for each axis, or one for all."""
Axes: TypeAlias = int | Sequence[int] | None
"""The axes that an operator is along: one, several, or None for all."""
Elements: TypeAlias = Callable[..., te.Expr]
"""A function of elements, or of an index."""
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
    "float32", "float64",
)  # fmt: skip
FLOATS = ("float16", "bfloat16", "float32", "float64")


def refuse(op: str, problem: str, fix: str) -> GraphError:
    """The error of an operator: what is wrong, and the way out."""
    return GraphError(f"{op}: {problem}\n  fix: {fix}")


def missing_name_error(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """The error of a lookup: `topi.adds` -> "topi has no adds; did you mean topi.add?", with the way out."""
    near = difflib.get_close_matches(name, names, n=1)
    guess = f"; did you mean {module}.{near[0]}?" if near else ""
    return AttributeError(f"{module} has no {name}{guess}\n  fix: write it with te.compute")


def describe_tensor(name: str, tensor: te.Tensor) -> str:
    """`data float32 (n, 64)`."""
    return f"{name} {tensor.dtype} {shape_text(tensor.shape)}"


def tensor(op: str, name: str, value: object) -> te.Tensor:
    """The operand, if it is a tensor."""
    if not isinstance(value, te.Tensor):
        raise refuse(op, f"{name} is {short_repr(value)}", f"pass a tensor as {name}: te.placeholder(shape, dtype)")
    return value


def ranked_tensor(op: str, name: str, value: object, least: int, most: int | None = None) -> te.Tensor:
    """The operand, if it is a tensor of a rank in least..most (default: least)."""
    operand = tensor(op, name, value)
    high = least if most is None else most
    if not least <= operand.ndim <= high:
        rank_text = f"{least}" if least == high else f"{least} to {high}" if high < 99 else f"at least {least}"
        axes = "axis" if rank_text == "1" else "axes"
        raise refuse(
            op,
            f"{describe_tensor(name, operand)} has {operand.ndim} axes",
            f"pass {name} with {rank_text} {axes}: reshape it",
        )
    return operand


def of_type(op: str, name: str, operand: te.Tensor, types: Sequence[str], what: str) -> te.Tensor:
    """The operand, if its type is one of `types`, described by `what`."""
    if operand.dtype not in types:
        raise refuse(
            op, f"{describe_tensor(name, operand)} is not {what}", f'cast it first: astype({name}, "{types[0]}")'
        )
    return operand


def is_float(dtype: str) -> bool:
    """Whether a type is one of floats."""
    return dtype in FLOATS


def floats(op: str, name: str, value: object) -> te.Tensor:
    """The operand, if it is a tensor of floats."""
    return of_type(op, name, tensor(op, name, value), ("float32", *FLOATS), "of floats")


def numbers(op: str, name: str, operand: te.Tensor) -> te.Tensor:
    """The operand, if it is not of bools."""
    if operand.dtype == "bool":
        raise refuse(op, f"{describe_tensor(name, operand)} is of bool", f'cast it first: astype({name}, "int32")')
    return operand


def one_type(op: str, **operands: te.Tensor) -> str:
    """The type that all operands have."""
    types = {x.dtype for x in operands.values()}
    if len(types) > 1:
        operands_text = ", ".join(describe_tensor(name, x) for name, x in operands.items())
        raise refuse(op, f"the operands have different types: {operands_text}", "cast one of them with astype")
    return types.pop()


SHORT = ("int8", "uint8")
"""The integers that are multiplied with each other, signed or not, where the sum is in int32."""


def factor_type(op: str, out_dtype: str | None, **operands: te.Tensor) -> str:
    """The type that all operands of a product have: also int8 and uint8 with sums in int32."""
    if out_dtype == "int32" and all(x.dtype in SHORT for x in operands.values()):
        return "int8"
    return one_type(op, **operands)


def constant(value: Number, dtype: str) -> te.Expr:
    """A number of a type."""
    if isinstance(value, te.Expr):
        return value if value.dtype == dtype else value.astype(dtype)
    number = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
    if is_float(dtype):
        number = float(number)
        if number in (float("inf"), float("-inf")):
            return te.infinity(dtype) if number > 0 else -te.infinity(dtype)
    return t_call(dtype, bool(number) if dtype == "bool" else number)


def axis_of(op: str, axis: object, ndim: int, name: str = "axis") -> int:
    """An axis as a number in 0..ndim - 1."""
    if isinstance(axis, np.integer):
        axis = int(axis)
    if not isinstance(axis, int) or isinstance(axis, bool) or not -ndim <= axis < ndim:
        raise refuse(op, f"{name}={short_repr(axis)} of a tensor with {ndim} axes", f"use {-ndim}..{ndim - 1}")
    return axis % ndim


def axes_of(op: str, axes: object, ndim: int, name: str = "axis") -> tuple[int, ...]:
    """Axes as different numbers in 0..ndim - 1, in order; None: all."""
    if axes is None:
        return tuple(range(ndim))
    entries = axes if isinstance(axes, (tuple, list)) else (axes,)
    normalized = tuple(axis_of(op, a, ndim, name) for a in entries)
    if len(set(normalized)) != len(normalized):
        raise refuse(op, f"{name}={short_repr(axes)} names an axis twice", "name each axis once")
    return normalized


def extent(op: str, size: object) -> te.Size:
    """A size of a shape attribute: a number or an expression of sizes."""
    if isinstance(size, np.integer):
        return int(size)
    if isinstance(size, te.Expr) or (isinstance(size, int) and not isinstance(size, bool)):
        return size
    raise refuse(op, f"{short_repr(size)} in a shape", "a size is an integer, a te.var or an expression of them")


def shape_of(op: str, shape: object) -> tuple[te.Size, ...]:
    """A shape attribute: one size or several."""
    return tuple(extent(op, s) for s in (shape if isinstance(shape, (tuple, list)) else (shape,)))


def wide_type(dtype: str) -> str:
    """The type that a type is computed in: float32 for the short floats."""
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def as_type(value: te.Expr, from_dtype: str, dtype: str) -> te.Expr:
    """A value of type `from_dtype` in another type."""
    return value if from_dtype == dtype else value.astype(dtype)


def integer(op: str, name: str, value: object, least: int | None = None) -> int:
    """An attribute that is an integer, at least `least`."""
    if isinstance(value, np.integer):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
        requirement = "an integer" if least is None else f"an integer of at least {least}"
        raise refuse(op, f"{name}={short_repr(value)}", f"pass {requirement}")
    return value


def integers(op: str, name: str, value: object, count: int, least: int | None = None) -> tuple[int, ...]:
    """An attribute of `count` integers; one stands for all."""
    entries = value if isinstance(value, (tuple, list)) else (value,)
    if len(entries) not in (1, count):
        raise refuse(op, f"{name}={short_repr(value)} has {len(entries)} numbers", f"pass one, or {count}")
    numbers = tuple(integer(op, name, v, least) for v in entries)
    return numbers * count if len(numbers) == 1 else numbers


def one_of(op: str, name: str, value: str, choices: Sequence[str]) -> str:
    """Check an attribute against the words that are allowed."""
    if value not in choices:
        raise refuse(op, f"{name}={short_repr(value)}", f"use one of {', '.join(map(str, choices))}")
    return value
