"""The table of all operators."""

from __future__ import annotations

from typing import Any

from tir_mlir import topi
from tir_mlir.graph.operators.operator import REQUIRED, Operator

_REDUCE = {"axis": None, "keepdims": False}


def _permute_dims(x: Any, axes: Any = None) -> Any:
    return topi.transpose(x, axes)


def _reshape(x: Any, shape: Any) -> Any:
    return topi.reshape(x, shape)


def _matmul(x1: Any, x2: Any, out_dtype: str | None = None) -> Any:
    return topi.matmul(x1, x2, out_dtype=out_dtype)


_ALL = [
    Operator("add", topi.add, {}, "linalg.add"),
    Operator("subtract", topi.subtract, {}, "linalg.sub"),
    Operator("multiply", topi.multiply, {}, "linalg.mul"),
    Operator("divide", topi.divide, {}, "linalg.div"),
    Operator("maximum", topi.maximum, {}, "linalg.max"),
    Operator("minimum", topi.minimum, {}, "linalg.min"),
    Operator("exp", topi.exp, {}, "linalg.exp"),
    Operator("tanh", topi.tanh, {}, "linalg.tanh"),
    Operator("sigmoid", topi.sigmoid, {}),
    Operator("sqrt", topi.sqrt, {}, "linalg.sqrt"),
    Operator("erf", topi.erf, {}, "linalg.erf"),
    Operator("reshape", _reshape, {"shape": REQUIRED}),
    Operator("permute_dims", _permute_dims, {"axes": None}, "linalg.transpose"),
    Operator("matmul", _matmul, {"out_dtype": None}, "linalg.matmul"),
    Operator("sum", topi.sum, _REDUCE),
    Operator("max", topi.max, _REDUCE),
    Operator("min", topi.min, _REDUCE),
    Operator("prod", topi.prod, _REDUCE),
    Operator("mean", topi.mean, _REDUCE),
    Operator("nn.relu", topi.nn.relu, {}),
    Operator("nn.dense", topi.nn.dense, {"out_dtype": None}),
    Operator("nn.bias_add", topi.nn.bias_add, {"axis": -1}),
    Operator("nn.softmax", topi.nn.softmax, {"axis": -1}),
    Operator("nn.layer_norm", topi.nn.layer_norm, {"axis": -1, "epsilon": 1e-5}),
]
OPERATORS: dict[str, Operator] = {operator.name: operator for operator in _ALL}
