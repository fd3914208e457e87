"""Activations."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.fronts.aten.aten_functions import exp_minus_one
from tir_mlir.graph.fronts.aten.aten_table import aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.emitter import axis_in, is_number


@aten("gelu")
def gelu(e: TorchEmitter, x: Any, approximate: str = "none") -> Any:
    return e.op("nn.gelu" if approximate == "none" else "nn.gelu_tanh", x)


@aten("hardtanh")
def hardtanh(e: TorchEmitter, x: Any, min_val: float = -1, max_val: float = 1) -> Any:
    if (min_val, max_val) == (0, 6):
        return e.op("nn.relu6", x)
    return e.clip(x, min_val, max_val)


@aten("leaky_relu")
def leaky_relu(e: TorchEmitter, x: Any, negative_slope: float = 0.01) -> Any:
    return e.op("nn.leakyrelu", x, alpha=float(negative_slope))


@aten("prelu", "_prelu_kernel")
def prelu(e: TorchEmitter, x: Any, weight: Any) -> Any:
    """x where positive, else x * weight of its channel (axis 1)."""
    if len(weight.shape) == 1 and len(x.shape) > 1 and not is_number(weight.shape[0], 1):
        weight = e.reshape(weight, (weight.shape[0], *[1] * (len(x.shape) - 2)))
    return e.op("where", _positive(e, x), x, e.multiply(x, weight))


@aten("elu")
def elu(e: TorchEmitter, x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    """scale * (x where positive, else alpha * (exp(x * input_scale) - 1))."""
    inner = x if input_scale == 1 else e.multiply(x, input_scale)
    low = exp_minus_one(e, e.binary("minimum", inner, 0, x.dtype))
    result = e.op("where", _positive(e, x), x, low if alpha == 1 else e.multiply(low, alpha))
    return result if scale == 1 else e.multiply(result, scale)


@aten("celu")
def celu(e: TorchEmitter, x: Any, alpha: float = 1) -> Any:
    return elu(e, x, alpha, 1, 1 / alpha)


@aten("softplus")
def softplus(e: TorchEmitter, x: Any, beta: float = 1, threshold: float = 20) -> Any:
    return e.op("nn.softplus", x, beta=float(beta), threshold=float(threshold))


@aten("log_sigmoid", "log_sigmoid_forward")
def log_sigmoid(e: TorchEmitter, x: Any) -> Any:
    """-log(1 + exp(-x))."""
    return e.op("negative", _log_one_plus_exp(e, e.op("negative", x)))


@aten("threshold")
def threshold(e: TorchEmitter, x: Any, threshold: float, value: float) -> Any:
    return e.op("where", e.binary("greater", x, threshold, x.dtype), x, e.constant(value, x.dtype))


@aten("glu")
def gated(e: TorchEmitter, x: Any, dim: int = -1) -> Any:
    """The first half of an axis times the sigmoid of the second."""
    axis = axis_in(dim, len(x.shape))
    first, second = e.op("split", x, indices_or_sections=2, axis=axis)
    return e.op("multiply", first, e.op("sigmoid", second))


@aten("softmax.int", "_softmax", "special_softmax")
def softmax(e: TorchEmitter, x: Any, dim: int, dtype: Any = None, half_to_float: bool = False) -> Any:
    return e.op("nn.softmax", e.cast(x, e.dtype), axis=dim)


@aten("log_softmax.int", "_log_softmax")
def log_softmax(e: TorchEmitter, x: Any, dim: int, dtype: Any = None, half_to_float: bool = False) -> Any:
    return e.op("nn.log_softmax", e.cast(x, e.dtype), axis=dim)


def _positive(e: TorchEmitter, x: Any) -> Any:
    return e.binary("greater", x, 0, x.dtype)


def _log_one_plus_exp(e: TorchEmitter, x: Any) -> Any:
    """log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|))."""
    small = e.op("exp", e.op("negative", e.op("abs", x)))
    return e.op("add", e.binary("maximum", x, 0, x.dtype), e.op("log1p", small))
