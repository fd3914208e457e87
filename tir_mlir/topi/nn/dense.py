"""Fully connected layers."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import axis_of, described, numbers, one_type, ranked, refuse
from tir_mlir.topi.products import orders, product
from tir_mlir.topi.sizes import same

__all__ = ["bias_add", "dense", "matmul"]


def dense(data: Any, weight: Any, bias: Any = None, out_dtype: str | None = None) -> te.Tensor:
    """data @ weight.T + bias: (.., k) x (m, k) -> (.., m).

    float16 and bfloat16 are summed in float32. out_dtype: default that of the operands.
    """
    x, w = ranked("nn.dense", "data", data, 1, 99), ranked("nn.dense", "weight", weight, 2)
    if not same(x.shape[-1], w.shape[1]):
        raise refuse(
            "nn.dense",
            f"{described('data', x)} has rows of {x.shape[-1]}, {described('weight', w)} of {w.shape[1]}",
            "weight is (outputs, inputs): transpose it, or use matmul",
        )
    return matmul(x, w, bias, out_dtype, transpose_b=True)


def matmul(
    tensor_a: Any,
    tensor_b: Any,
    bias: Any = None,
    out_dtype: str | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> te.Tensor:
    """tensor_a @ tensor_b + bias; transpose_a, transpose_b: their last two axes are exchanged."""
    result = product(
        tensor_a, tensor_b, transpose_a, transpose_b, out_dtype, f"T_matmul_{orders(transpose_a, transpose_b)}"
    )
    return result if bias is None else bias_add(result, bias)


def bias_add(data: Any, bias: Any, axis: int = -1) -> te.Tensor:
    """data + bias along one axis: the bias is a vector as long as that axis."""
    x, b = ranked("nn.bias_add", "data", data, 1, 99), ranked("nn.bias_add", "bias", bias, 1)
    one_type("nn.bias_add", data=numbers("nn.bias_add", "data", x), bias=b)
    dim = axis_of("nn.bias_add", axis, x.ndim)
    if not same(x.shape[dim], b.shape[0]):
        problem = f"{described('bias', b)} at axis {dim} of {described('data', x)}"
        raise refuse("nn.bias_add", problem, f"pass a bias of {x.shape[dim]} elements, or another axis")
    return te.compute(x.shape, lambda *i: x(*i) + b(i[dim]), name="T_add")
