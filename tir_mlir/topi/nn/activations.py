"""Activations, element by element, and softmax along an axis. float16 and bfloat16 are computed in float32 and rounded
once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tir_mlir import te
from tir_mlir.topi.elementwise import clip, identity, map_elements
from tir_mlir.topi.operands import (
    as_type,
    axis_of,
    constant,
    describe_tensor,
    floats,
    one_type,
    ranked_tensor,
    refuse,
    tensor,
    wide_type,
)
from tir_mlir.topi.sizes import are_equal, is_one

__all__ = [
    "dropout", "elu", "gelu", "gelu_tanh", "hardsigmoid", "hardswish", "leaky_relu", "log_softmax", "mish",
    "prelu", "relu", "relu6", "selu", "silu", "softmax", "softplus", "softsign",
]  # fmt: skip
Number = Callable[[float], te.Expr]


def relu(x: te.Tensor) -> te.Tensor:
    """max(x, 0), element by element.

    x: numbers, of any shape -> the same shape and type.
    """
    operand = tensor("nn.relu", "x", x)
    return te.compute(operand.shape, lambda *i: te.max(operand(*i), constant(0, operand.dtype)), name="T_relu")


def relu6(x: te.Tensor) -> te.Tensor:
    """x limited to 0..6, element by element.

    x: numbers, of any shape -> the same shape and type.
    """
    return clip(x, 0, 6)


def _activation(name: str, x: te.Tensor, function: Callable[[te.Expr, Number], te.Expr]) -> te.Tensor:
    """`function(value, number)` of floats, in the wide type; `number` makes a constant of it."""
    operand = floats(f"nn.{name}", "x", x)
    wide = wide_type(operand.dtype)
    number = lambda v: constant(v, wide)  # noqa: E731

    def element(v: te.Expr) -> te.Expr:
        return as_type(function(as_type(v, operand.dtype, wide), number), wide, operand.dtype)

    return map_elements(name, operand, element)


def leaky_relu(x: te.Tensor, alpha: float = 0.01) -> te.Tensor:
    """x above 0, alpha * x below, element by element.

    x: floats, of any shape -> the same shape and type.
    """
    return _activation("leaky_relu", x, lambda v, c: te.Select(v > c(0), v, v * c(alpha)))


def gelu(x: te.Tensor) -> te.Tensor:
    """x / 2 * (1 + erf(x / sqrt(2))), element by element.

    x: floats, of any shape -> the same shape and type. PyTorch's `gelu`; `gelu_tanh` is its approximation.
    """
    return _activation("gelu", x, lambda v, c: v * c(0.5) * (c(1) + te.erf(v * c(math.sqrt(0.5)))))


def gelu_tanh(x: te.Tensor) -> te.Tensor:
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))."""

    def value(v: te.Expr, c: Number) -> te.Expr:
        inner = c(math.sqrt(2 / math.pi)) * (v + c(0.044715) * v * v * v)
        return v * c(0.5) * (c(1) + te.tanh(inner))

    return _activation("gelu_tanh", x, value)


def silu(x: te.Tensor) -> te.Tensor:
    """x * sigmoid(x), element by element.

    x: floats, of any shape -> the same shape and type. Also called swish.
    """
    return _activation("silu", x, lambda v, _: v * te.sigmoid(v))


def hardsigmoid(x: te.Tensor) -> te.Tensor:
    """x / 6 + 1 / 2, limited to 0..1, element by element.

    x: floats, of any shape -> the same shape and type.
    """
    return _activation("hardsigmoid", x, lambda v, c: te.min(te.max(v + c(3), c(0)), c(6)) * c(1 / 6))


def hardswish(x: te.Tensor) -> te.Tensor:
    """x * hardsigmoid(x), element by element.

    x: floats, of any shape -> the same shape and type.
    """
    return _activation("hardswish", x, lambda v, c: v * te.min(te.max(v + c(3), c(0)), c(6)) * c(1 / 6))


def elu(x: te.Tensor, alpha: float = 1.0) -> te.Tensor:
    """x above 0, alpha * (exp(x) - 1) below, element by element.

    x: floats, of any shape -> the same shape and type.
    """
    below = lambda v, c: c(alpha) * te.expm1(te.min(v, c(0)))  # noqa: E731
    return _activation("elu", x, lambda v, c: te.Select(v > c(0), v, below(v, c)))


def selu(x: te.Tensor) -> te.Tensor:
    """scale * elu(x) with the alpha and scale that keep mean 0 and variance 1."""
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    below = lambda v, c: c(scale * alpha) * te.expm1(te.min(v, c(0)))  # noqa: E731
    return _activation("selu", x, lambda v, c: te.Select(v > c(0), v * c(scale), below(v, c)))


def softplus(x: te.Tensor, beta: float = 1.0, threshold: float = 20.0) -> te.Tensor:
    """log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold."""

    def value(v: te.Expr, c: Number) -> te.Expr:
        inner = v * c(beta)
        soft = te.log1p(te.exp(te.min(inner, c(threshold)))) / c(beta)
        return te.Select(inner > c(threshold), v, soft)

    return _activation("softplus", x, value)


def softsign(x: te.Tensor) -> te.Tensor:
    """x / (1 + |x|), element by element.

    x: floats, of any shape -> the same shape and type.
    """
    return _activation("softsign", x, lambda v, c: v / (c(1) + te.abs(v)))


def mish(x: te.Tensor) -> te.Tensor:
    """x * tanh(softplus(x)), element by element.

    x: floats, of any shape -> the same shape and type.
    """

    def value(v: te.Expr, c: Number) -> te.Expr:
        return v * te.tanh(te.Select(v > c(20), v, te.log1p(te.exp(te.min(v, c(20))))))

    return _activation("mish", x, value)


def prelu(x: te.Tensor, slope: te.Tensor, axis: int = 1) -> te.Tensor:
    """x above 0, slope * x below, with a slope for each position of one axis, or one for all."""
    operand, slopes = floats("nn.prelu", "x", x), ranked_tensor("nn.prelu", "slope", slope, 1)
    one_type("nn.prelu", x=operand, slope=slopes)
    if is_one(slopes.shape[0]):
        dim = None
    else:
        dim = axis_of("nn.prelu", axis, operand.ndim)
        if not are_equal(operand.shape[dim], slopes.shape[0]):
            problem = f"{describe_tensor('slope', slopes)} at axis {dim} of {describe_tensor('x', operand)}"
            raise refuse("nn.prelu", problem, f"pass a slope of {operand.shape[dim]} elements, or of one")

    def element(*i: te.Expr) -> te.Expr:
        v, zero = operand(*i), constant(0, operand.dtype)
        return te.Select(v > zero, v, v * slopes(0 if dim is None else i[dim]))

    return te.compute(operand.shape, element, name="T_prelu")


def dropout(x: te.Tensor, rate: float = 0.5) -> te.Tensor:
    """The input: nothing is dropped in inference.

    x: any shape and type -> x; rate is ignored.
    """
    del rate
    return identity(x)


def softmax(x: te.Tensor, axis: int = -1) -> te.Tensor:
    """exp(x - max) / sum of it, along one axis: numbers from 0 to 1 whose sum is 1.

    x: floats, of any shape -> the same shape and type; axis: along which it is computed, default the last. Three
    blocks: the maximum, the exponentials and their sum, and the quotient.
    """
    operand = floats("nn.softmax", "x", x)
    axis, wide = axis_of("nn.softmax", axis, operand.ndim), wide_type(operand.dtype)
    top, power, total = _stages(operand, axis, wide)
    del top

    def element(*i: te.Expr) -> te.Expr:
        return as_type(power(*i) / total(*_row(i, axis)), wide, operand.dtype)

    return te.compute(operand.shape, element, name="T_softmax_norm")


def log_softmax(x: te.Tensor, axis: int = -1) -> te.Tensor:
    """x - max - log(sum(exp(x - max))), along one axis: the logarithm of `softmax`, without overflow.

    x: floats, of any shape -> the same shape and type; axis: along which it is computed, default the last.
    """
    operand = floats("nn.log_softmax", "x", x)
    axis, wide = axis_of("nn.log_softmax", axis, operand.ndim), wide_type(operand.dtype)
    top, _, total = _stages(operand, axis, wide)
    logs = te.compute(total.shape, lambda *i: te.log(total(*i)), name="T_log_sum")

    def element(*i: te.Expr) -> te.Expr:
        value = as_type(operand(*i), operand.dtype, wide) - top(*_row(i, axis)) - logs(*_row(i, axis))
        return as_type(value, wide, operand.dtype)

    return te.compute(operand.shape, element, name="T_log_softmax")


def _row(index: Sequence[te.Size], axis: int) -> tuple[te.Size, ...]:
    return (*index[:axis], *index[axis + 1 :])


def _stages(x: te.Tensor, axis: int, wide: str) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """The maximum of each row, the exponentials, and their sums."""
    rows = _row(x.shape, axis)
    k, m = (te.reduce_axis((0, x.shape[axis]), name="k") for _ in range(2))

    def full_index(index: Sequence[te.Expr], r: te.Expr) -> tuple[te.Expr, ...]:
        return (*index[:axis], r, *index[axis:])

    def value(*i: te.Expr) -> te.Expr:
        return as_type(x(*i), x.dtype, wide)

    top = te.compute(rows, lambda *i: te.max(value(*full_index(i, k)), axis=k), name="T_softmax_maxelem")
    power = te.compute(x.shape, lambda *i: te.exp(value(*i) - top(*_row(i, axis))), name="T_softmax_exp")
    total = te.compute(rows, lambda *i: te.sum(power(*full_index(i, m)), axis=m), name="T_softmax_expsum")
    return top, power, total
