"""Operators as tensor expressions, under TVM's names: te tensors -> te tensor.

    x, w = te.placeholder((1, 784), name="x"), te.placeholder((128, 784), name="w")
    y = topi.nn.relu(topi.nn.dense(x, w))
    func = te.create_prim_func([x, w, y])

Sizes may be symbolic. An operand that does not fit raises a GraphError that names it.
"""

from tir_mlir.topi import nn
from tir_mlir.topi.broadcast import add, divide, maximum, minimum, multiply, subtract
from tir_mlir.topi.elementwise import erf, exp, sigmoid, sqrt, tanh
from tir_mlir.topi.products import matmul
from tir_mlir.topi.reductions import max, mean, min, prod, sum
from tir_mlir.topi.shapes import reshape, transpose

__all__ = [
    "add", "divide", "erf", "exp", "matmul", "max", "maximum", "mean", "min", "minimum", "multiply", "nn", "prod",
    "reshape", "sigmoid", "sqrt", "subtract", "sum", "tanh", "transpose",
]  # fmt: skip
