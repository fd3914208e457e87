"""Fully connected layers."""

from __future__ import annotations

from tir_mlir import te
from tir_mlir.topi.operands import axis_of, describe_tensor, numbers, one_type, ranked_tensor, refuse
from tir_mlir.topi.products import product, transpose_letters
from tir_mlir.topi.sizes import are_equal

__all__ = ["bias_add", "dense", "matmul"]


def dense(data: te.Tensor, weight: te.Tensor, bias: te.Tensor | None = None, out_dtype: str | None = None) -> te.Tensor:
    """data @ weight.T + bias: (.., k) x (m, k) -> (.., m).

    float16 and bfloat16 are summed in float32. out_dtype: default that of the operands.
    """
    x, w = ranked_tensor("nn.dense", "data", data, 1, 99), ranked_tensor("nn.dense", "weight", weight, 2)
    if not are_equal(x.shape[-1], w.shape[1]):
        raise refuse(
            "nn.dense",
            f"{describe_tensor('data', x)} has rows of {x.shape[-1]}, {describe_tensor('weight', w)} of {w.shape[1]}",
            "weight is (outputs, inputs): transpose it, or use matmul",
        )
    return matmul(x, w, bias, out_dtype, transpose_b=True)


def matmul(
    tensor_a: te.Tensor,
    tensor_b: te.Tensor,
    bias: te.Tensor | None = None,
    out_dtype: str | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> te.Tensor:
    """tensor_a @ tensor_b + bias; transpose_a, transpose_b: their last two axes are exchanged."""
    result = product(
        tensor_a,
        tensor_b,
        transpose_a,
        transpose_b,
        out_dtype,
        f"T_matmul_{transpose_letters(transpose_a, transpose_b)}",
    )
    return result if bias is None else bias_add(result, bias)


def bias_add(data: te.Tensor, bias: te.Tensor, axis: int = -1) -> te.Tensor:
    """data + bias along one axis: the bias is a vector as long as that axis."""
    x, b = ranked_tensor("nn.bias_add", "data", data, 1, 99), ranked_tensor("nn.bias_add", "bias", bias, 1)
    one_type("nn.bias_add", data=numbers("nn.bias_add", "data", x), bias=b)
    dim = axis_of("nn.bias_add", axis, x.ndim)
    if not are_equal(x.shape[dim], b.shape[0]):
        problem = f"{describe_tensor('bias', b)} at axis {dim} of {describe_tensor('data', x)}"
        raise refuse("nn.bias_add", problem, f"pass a bias of {x.shape[dim]} elements, or another axis")
    return te.compute(x.shape, lambda *i: x(*i) + b(i[dim]), name="T_add")
