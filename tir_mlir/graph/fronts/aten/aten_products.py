"""Products of matrices."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.fronts.aten.aten_table import aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.layers.linear_layers import linear, scaled_sum


@aten("linear")
def linear_layer(e: TorchEmitter, x: Any, weight: Any, bias: Any = None) -> Any:
    return linear(e, x, weight, bias)


@aten("matmul")
def matmul(e: TorchEmitter, x: Any, other: Any) -> Any:
    return e.op("matmul", x, other)


@aten("mm", "bmm")
def product(e: TorchEmitter, x: Any, mat2: Any) -> Any:
    return e.op("matmul", x, mat2)


@aten("mv")
def times_vector(e: TorchEmitter, x: Any, vec: Any) -> Any:
    return e.op("matmul", x, vec)


@aten("dot")
def inner_product(e: TorchEmitter, x: Any, tensor: Any) -> Any:
    return e.op("sum", e.op("multiply", x, tensor))


@aten("outer", "ger")
def outer_product(e: TorchEmitter, x: Any, vec2: Any) -> Any:
    return e.binary("multiply", e.reshape(x, (*x.shape, 1)), vec2, e.dtype)


@aten("addmm")
def add_product(e: TorchEmitter, x: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return scaled_sum(e, x, e.op("matmul", mat1, mat2), alpha, beta)


@aten("baddbmm")
def add_batched_product(e: TorchEmitter, x: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return scaled_sum(e, x, e.op("matmul", batch1, batch2), alpha, beta)


@aten("einsum")
def einsum(e: TorchEmitter, equation: str, tensors: Any) -> Any:
    return e.op("einsum", *tensors, subscripts=equation)
