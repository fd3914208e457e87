"""Operators on numbers: elementwise, broadcast, reductions, products, constants."""

from __future__ import annotations

from typing import Any

from tir_mlir import topi
from tir_mlir.graph.operators.operator import REQUIRED, Operator

_LINALG = {
    "abs": "abs", "ceil": "ceil", "erf": "erf", "exp": "exp", "floor": "floor", "log": "log", "negative": "negf",
    "reciprocal": "reciprocal", "round": "round", "rsqrt": "rsqrt", "sqrt": "sqrt", "square": "square",
    "tanh": "tanh", "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max",
    "minimum": "min", "power": "powf",
}  # fmt: skip
_ONE = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_not", "ceil", "cos", "cosh", "erf", "exp",
    "exp2", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not", "negative",
    "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
_TWO = (
    "add", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "divide", "equal", "floor_divide", "floor_mod",
    "greater", "greater_equal", "left_shift", "less", "less_equal", "logical_and", "logical_or", "logical_xor",
    "maximum", "minimum", "mod", "multiply", "not_equal", "power", "right_shift", "subtract",
)  # fmt: skip
_REDUCE = {"axis": None, "keepdims": False}
_INDEX = {"axis": None, "keepdims": False, "dtype": "int64"}


def _ewise_fma(x1: Any, x2: Any, x3: Any) -> Any:
    """x1 * x2 + x3."""
    return topi.add(topi.multiply(x1, x2), x3)


def _clip(x: Any, min: Any = None, max: Any = None) -> Any:
    """x limited to min..max; None: no limit on that side."""
    return topi.clip(x, min, max)


def _matmul(x1: Any, x2: Any, out_dtype: str | None = None) -> Any:
    """Matrix product of the last two axes, (.., n, k) x (.., k, m) -> (.., n, m); the axes before broadcast."""
    return topi.matmul(x1, x2, out_dtype=out_dtype)


def _einsum(*operands: Any, subscripts: str) -> Any:
    """Sum of products by Einstein's notation: "bik,bkj->bij"."""
    return topi.einsum(subscripts, *operands)


def _full(*value: Any, shape: Any, fill_value: Any = None, dtype: str = "float32") -> Any:
    """A tensor of one number: the attribute, or the operand of one element."""
    if not value:
        return topi.full(shape, dtype, 0 if fill_value is None else fill_value)
    return topi.broadcast_to(topi.astype(value[0], dtype), shape)


def _zeros(shape: Any, dtype: str = "float32") -> Any:
    """A tensor of zeros."""
    return topi.zeros(shape, dtype)


def _ones(shape: Any, dtype: str = "float32") -> Any:
    """A tensor of ones."""
    return topi.ones(shape, dtype)


def _full_like(x: Any, *value: Any, fill_value: Any = 0) -> Any:
    """A tensor of one number, the attribute or an operand, with the shape and type of x."""
    return topi.broadcast_to(topi.astype(value[0], x.dtype), x.shape) if value else topi.full_like(x, fill_value)


def _arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: str = "float32") -> Any:
    """start, start + step, ... below end; without end from 0 below start."""
    return topi.arange(start, end, step, dtype)


OPERATORS = [
    *(Operator(n, getattr(topi, n), {}, f"linalg.{_LINALG[n]}" if n in _LINALG else None) for n in (*_ONE, *_TWO)),
    Operator("ewise_fma", _ewise_fma, {}),
    Operator("where", topi.where, {}),
    Operator("clip", _clip, {"min": None, "max": None}),
    Operator("astype", topi.astype, {"dtype": REQUIRED}),
    *(Operator(n, getattr(topi, n), _REDUCE) for n in ("sum", "prod", "max", "min", "mean", "variance", "std")),
    *(Operator(n, getattr(topi, n), _REDUCE) for n in ("all", "any")),
    *(Operator(n, getattr(topi, n), _INDEX) for n in ("argmax", "argmin")),
    Operator("cumsum", topi.cumsum, {"axis": None, "dtype": None, "exclusive": False}),
    Operator("matmul", _matmul, {"out_dtype": None}, "linalg.matmul"),
    Operator("einsum", _einsum, {"subscripts": REQUIRED}),
    Operator("full", _full, {"shape": REQUIRED, "fill_value": None, "dtype": "float32"}),
    Operator("full_like", _full_like, {"fill_value": 0}),
    Operator("zeros", _zeros, {"shape": REQUIRED, "dtype": "float32"}),
    Operator("ones", _ones, {"shape": REQUIRED, "dtype": "float32"}),
    Operator("zeros_like", topi.zeros_like, {}),
    Operator("ones_like", topi.ones_like, {}),
    Operator("arange", _arange, {"start": 0, "end": None, "step": 1, "dtype": "float32"}),
    Operator("eye", topi.eye, {"n": REQUIRED, "m": None, "k": 0, "dtype": "float32"}),
    Operator("tril", topi.tril, {"k": 0}),
    Operator("triu", topi.triu, {"k": 0}),
    Operator("quantize", topi.quantize, {"axis": -1, "out_dtype": "int8"}),
    Operator("dequantize", topi.dequantize, {"axis": -1, "out_dtype": "float32"}),
    Operator("unpack_int4", topi.unpack_int4, {"group_size": 32, "order": "halves", "zero_point": 8}),
    Operator(
        "dequantize_group",
        topi.dequantize_group,
        {"zero_point": 8, "group_size": 32, "order": "halves", "out_dtype": None, "bits": 4},
    ),
]
