"""Operators of neural networks: layers, activations, normalizations."""

from tir_mlir.topi.nn.activations import relu
from tir_mlir.topi.nn.dense import bias_add, dense
from tir_mlir.topi.nn.normalization import layer_norm
from tir_mlir.topi.nn.softmax import softmax
from tir_mlir.topi.products import batch_matmul, matmul

__all__ = ["batch_matmul", "bias_add", "dense", "layer_norm", "matmul", "relu", "softmax"]
