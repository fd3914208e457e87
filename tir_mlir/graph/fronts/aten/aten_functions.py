"""Functions of one tensor, element by element, that are not one operator of the table."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.aten.aten_table import aten, same
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.emitter import FLOATS


@aten("floor.default", "ceil.default", "round.default", "trunc.default")
def rounded(e: TorchEmitter, x: Any) -> Any:
    """An integer is itself."""
    return e.op(str(e.node.target).split(".")[1].rstrip("_"), x) if e.dtype in FLOATS else x


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


@aten("dropout.default", "alpha_dropout.default", "feature_dropout.default", "native_dropout.default")
def dropout(e: TorchEmitter, x: Any, p: float, train: bool) -> Any:
    """Nothing, as the model was exported for inference."""
    if train and p:
        raise GraphError("it drops elements at random, as in training\n  fix: export the model after model.eval()")
    return same(e, x)
