"""Functions of one tensor, element by element."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.aten.aten_table import Translation, aten, same
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.emitter import FLOATS

_OF_FLOATS = (
    "exp", "log", "log2", "log10", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "erf", "sigmoid", "exp2", "log1p",
)  # fmt: skip
_ROUNDING = ("floor", "ceil", "round", "trunc")


def _of_floats(operator: str) -> Translation:
    return lambda e, x: e.op(operator, e.cast(x, e.dtype))


for _name in _OF_FLOATS:
    aten(_name)(_of_floats(_name))


def _rounding(operator: str) -> Translation:
    return lambda e, x: e.op(operator, x) if e.dtype in FLOATS else x


for _name in _ROUNDING:
    aten(f"{_name}.default")(_rounding(_name))


@aten("neg")
def negate(e: TorchEmitter, x: Any) -> Any:
    return e.op("negative", x)


@aten("abs")
def absolute(e: TorchEmitter, x: Any) -> Any:
    return e.op("abs", x)


@aten("sign", "sgn")
def sign(e: TorchEmitter, x: Any) -> Any:
    return e.op("sign", x)


@aten("reciprocal")
def reciprocal(e: TorchEmitter, x: Any) -> Any:
    return e.binary("divide", 1, x, e.dtype)


@aten("square")
def square(e: TorchEmitter, x: Any) -> Any:
    return e.op("multiply", x, x)


@aten("expm1")
def _expm1(e: TorchEmitter, x: Any) -> Any:
    return exp_minus_one(e, e.cast(x, e.dtype))


def exp_minus_one(e: TorchEmitter, x: Any) -> Any:
    """exp(x) - 1 = tanh(x / 2) * (exp(x) + 1), which does not cancel near 0."""
    return e.op("multiply", e.op("tanh", e.multiply(x, 0.5)), e.add(e.op("exp", x), 1))


def _test(operator: str) -> Translation:
    return lambda e, x: e.op(operator, x)


for _name in ("isnan", "isinf", "isfinite"):
    aten(_name)(_test(_name))


@aten("dropout.default", "alpha_dropout.default", "feature_dropout.default", "native_dropout.default")
def dropout(e: TorchEmitter, x: Any, p: float, train: bool) -> Any:
    """Nothing, as the model was exported for inference."""
    if train and p:
        raise GraphError("it drops elements at random, as in training\n  fix: export the model after model.eval()")
    return same(e, x)
