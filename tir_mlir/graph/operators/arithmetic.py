"""Operators on numbers: elementwise, broadcast, reductions, products, constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tir_mlir import topi
from tir_mlir.dialect.ops import SCALAR_FUNCTIONS, ScalarFunction
from tir_mlir.graph.operators import array_rules as rules
from tir_mlir.graph.operators.operator import Operator, OperatorKind, elementwise, reduction, row_wise

if TYPE_CHECKING:
    from tir_mlir.te.expr import Expr
    from tir_mlir.te.tensor import Tensor


def _ewise_fma(x1: Tensor, x2: Tensor, x3: Tensor) -> Tensor:
    """x1 * x2 + x3."""
    return topi.add(topi.multiply(x1, x2), x3)


def _clip(x: Tensor, min: float | None = None, max: float | None = None) -> Tensor:
    """x limited to min..max; None: no limit on that side."""
    return topi.clip(x, min, max)


def _index(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """An operator whose results are indices, which are int64 in graphs."""

    def te(data: Tensor, axis: int | None = None, keepdims: bool = False, dtype: str = "int64") -> Tensor:
        return function(data, axis, keepdims, dtype)

    te.__doc__ = function.__doc__
    return te


def _matmul(x1: Tensor, x2: Tensor, out_dtype: str | None = None) -> Tensor:
    """Matrix product of the last two axes, (.., n, k) x (.., k, m) -> (.., n, m); the axes before broadcast."""
    return topi.matmul(x1, x2, out_dtype=out_dtype)


def _einsum(*operands: Tensor, subscripts: str) -> Tensor:
    """Sum of products by Einstein's notation: "bik,bkj->bij"."""
    return topi.einsum(subscripts, *operands)


def _full(
    value: Tensor | None = None, *, shape: Sequence[Expr | int], fill_value: float | None = None, dtype: str = "float32"
) -> Tensor:
    """A tensor of one number: the attribute, or the operand of one element."""
    if value is None:
        return topi.full(shape, dtype, 0 if fill_value is None else fill_value)
    return topi.broadcast_to(topi.astype(value, dtype), shape)


def _zeros(shape: Sequence[Expr | int], dtype: str = "float32") -> Tensor:
    """A tensor of zeros."""
    return topi.zeros(shape, dtype)


def _ones(shape: Sequence[Expr | int], dtype: str = "float32") -> Tensor:
    """A tensor of ones."""
    return topi.ones(shape, dtype)


def _full_like(x: Tensor, *value: Tensor, fill_value: float = 0) -> Tensor:
    """A tensor of one number, the attribute or an operand, with the shape and type of x."""
    return topi.broadcast_to(topi.astype(value[0], x.dtype), x.shape) if value else topi.full_like(x, fill_value)


def _arange(
    start: Expr | float = 0, end: Expr | float | None = None, step: Expr | float = 1, dtype: str = "float32"
) -> Tensor:
    """start, start + step, ... below end; without end from 0 below start."""
    return topi.arange(start, end, step, dtype)


_ARRAYS = {
    "sqrt": rules.SQUARE_ROOT,
    "rsqrt": rules.RSQRT,
    "abs": rules.ABSOLUTE,
    "add": rules.ADD,
    "subtract": rules.SUBTRACT,
    "multiply": rules.MULTIPLY,
    "less": rules.LESS,
    "less_equal": rules.LESS_EQUAL,
    "greater": rules.GREATER,
    "greater_equal": rules.GREATER_EQUAL,
    "equal": rules.EQUAL,
    "not_equal": rules.NOT_EQUAL,
    "logical_and": rules.AND,
    "logical_or": rules.OR,
    "logical_not": rules.NOT,
}
"""How NumPy computes scalar functions of weights."""
_HOMOGENEOUS = ("sum", "difference", "max", "min")


def _operator_of(one: ScalarFunction) -> Operator:
    """The operator of a scalar function of each element."""
    op = one.on_floats
    return elementwise(
        one.topi,
        getattr(topi, one.topi),
        linalg=one.linalg,
        torch=one.torch,
        onnx=one.onnx,
        homogeneous=op is not None and op.algebra in _HOMOGENEOUS,
        arrays=_ARRAYS.get(one.topi),
    )


OPERATORS = [
    *(_operator_of(one) for one in SCALAR_FUNCTIONS.values() if one.topi),
    elementwise("bitwise_not", topi.bitwise_not, onnx="BitwiseNot"),
    elementwise("digamma", topi.digamma, torch="digamma"),
    elementwise("erfc", topi.erfc, torch="erfc special_erfc"),
    elementwise("erfinv", topi.erfinv, torch="erfinv special_erfinv"),
    elementwise("lgamma", topi.lgamma, torch="lgamma"),
    elementwise("negative", topi.negative, linalg="linalg.negf", torch="neg", onnx="Neg", arrays=rules.NEGATIVE),
    elementwise("reciprocal", topi.reciprocal, linalg="linalg.reciprocal", onnx="Reciprocal", arrays=rules.RECIPROCAL),
    elementwise("sign", topi.sign, torch="sign sgn", onnx="Sign"),
    elementwise("square", topi.square, linalg="linalg.square", arrays=rules.SQUARE),
    elementwise("fmax", topi.fmax),
    elementwise("fmin", topi.fmin),
    elementwise("hypot", topi.hypot, torch="hypot"),
    elementwise("divide", topi.divide, linalg="linalg.div", divides=True, arrays=rules.DIVIDE),
    elementwise("floor_divide", topi.floor_divide, torch="floor_divide", divides=True),
    elementwise(
        "floor_mod",
        topi.floor_mod,
        torch="remainder.Scalar remainder.Tensor remainder.Scalar_Tensor",
        divides=True,
    ),
    elementwise("logical_xor", topi.logical_xor, onnx="Xor", arrays=rules.XOR),
    elementwise("mod", topi.mod, torch="fmod", divides=True),
    elementwise("power", topi.power, linalg="linalg.powf"),
    elementwise("ewise_fma", _ewise_fma),
    elementwise("where", topi.where, arrays=rules.WHERE),
    elementwise("clip", _clip),
    elementwise("astype", topi.astype, num_inputs=1, arrays=rules.CAST),
    Operator("full_like", _full_like, arrays=rules.FULL),
    Operator("zeros_like", topi.zeros_like, arrays=rules.ZEROS),
    Operator("ones_like", topi.ones_like, arrays=rules.ONES),
    reduction("sum", topi.sum, arrays=rules.SUM),
    reduction("prod", topi.prod),
    reduction("max", topi.max),
    reduction("min", topi.min),
    reduction("mean", topi.mean),
    reduction("variance", topi.variance),
    reduction("std", topi.std),
    reduction("all", topi.all),
    reduction("any", topi.any),
    reduction("argmax", _index(topi.argmax)),
    reduction("argmin", _index(topi.argmin)),
    row_wise("cumsum", topi.cumsum),
    row_wise("cumprod", topi.cumprod),
    row_wise("logcumsumexp", topi.logcumsumexp),
    Operator("cummax", topi.cummax),
    Operator("cummin", topi.cummin),
    Operator("matmul", _matmul, linalg="linalg.matmul", kind=OperatorKind.PRODUCT),
    Operator("einsum", _einsum),
    Operator("grouped_matmul", topi.grouped_matmul),
    Operator("philox", topi.philox, num_inputs=1),
    Operator("row_tiles", topi.row_tiles, num_inputs=1),
    Operator("tile_products", topi.tile_products),
    Operator("full", _full, num_inputs=1, arrays=rules.FULL),
    Operator("zeros", _zeros, num_inputs=0, arrays=rules.ZEROS),
    Operator("ones", _ones, num_inputs=0, arrays=rules.ONES),
    Operator("arange", _arange, arrays=rules.ARANGE),
    Operator("eye", topi.eye, num_inputs=0),
    Operator("tril", topi.tril, arrays=rules.LOWER_TRIANGLE),
    Operator("triu", topi.triu, arrays=rules.UPPER_TRIANGLE),
    Operator("quantize", topi.quantize, num_inputs=3),
    Operator("dequantize", topi.dequantize, num_inputs=3, arrays=rules.DEQUANTIZE),
    elementwise("round_to", topi.round_to, num_inputs=1, named=("zero_point",)),
    elementwise("requantize", topi.requantize),
    Operator("unpack_int4", topi.unpack_int4),
    Operator("dequantize_group", topi.dequantize_group),
    Operator("dense_groups", topi.dense_groups, kind=OperatorKind.PRODUCT, num_inputs=4),
]
