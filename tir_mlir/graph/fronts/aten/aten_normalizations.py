"""Normalizations."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.aten.aten_table import aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.layers import normalizing_layers as layers

_EPSILON = {"float32": 1.1920928955078125e-07, "float64": 2.220446049250313e-16}


@aten("batch_norm")
def batch_norm(
    e: TorchEmitter,
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    eps: float,
) -> Any:
    if training or running_mean is None:
        raise GraphError("it normalizes by the statistics of the batch\n  fix: export the model after model.eval()")
    return layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps)


@aten("_native_batch_norm_legit_no_training")
def batch_norm_of_inference(
    e: TorchEmitter, x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, eps: float
) -> Any:
    return [layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps), None, None]


@aten("layer_norm")
def layer_norm(e: TorchEmitter, x: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    return layers.layer_norm(e, x, len(normalized_shape), weight, bias, eps)


@aten("native_layer_norm")
def native_layer_norm(e: TorchEmitter, x: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    return [layers.layer_norm(e, x, len(normalized_shape), weight, bias, eps), None, None]


@aten("rms_norm")
def rms_norm(e: TorchEmitter, x: Any, normalized_shape: Any, weight: Any, eps: float | None) -> Any:
    """torch's default for eps is that of the type it computes in: float32 for the short floats."""
    eps = _EPSILON.get(x.dtype, _EPSILON["float32"]) if eps is None else eps
    return layers.rms_norm(e, x, len(normalized_shape), weight, eps)


@aten("group_norm")
def group_norm(e: TorchEmitter, x: Any, num_groups: int, weight: Any, bias: Any, eps: float) -> Any:
    return layers.group_norm(e, x, num_groups, weight, bias, eps)


@aten("native_group_norm")
def native_group_norm(
    e: TorchEmitter, x: Any, weight: Any, bias: Any, N: Any, C: Any, HxW: Any, group: int, eps: float
) -> Any:
    return [layers.group_norm(e, x, group, weight, bias, eps), None, None]


@aten("instance_norm")
def instance_norm(
    e: TorchEmitter,
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    eps: float,
) -> Any:
    if not use_input_stats:
        return layers.batch_norm(e, x, weight, bias, running_mean, running_var, eps)
    return layers.group_norm(e, x, x.shape[1], weight, bias, eps)
