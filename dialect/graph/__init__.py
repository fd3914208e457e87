"""Graphs of operators in MLIR: the encoding of functions on tensors, typed views of them, and their creation."""

from tir_mlir.dialect.graph import create, encoding
from tir_mlir.dialect.graph.edit import copy_op, replace_node
from tir_mlir.dialect.graph.names import free_name
from tir_mlir.dialect.graph.tensor_types import TensorType
from tir_mlir.dialect.graph.views import Node, TensorFunc, graphs, is_tensor_func, node_of, tensor_func, tensor_funcs

__all__ = [
    "Node",
    "TensorFunc",
    "TensorType",
    "copy_op",
    "create",
    "encoding",
    "free_name",
    "graphs",
    "is_tensor_func",
    "node_of",
    "replace_node",
    "tensor_func",
    "tensor_funcs",
]
