"""Tensor expressions: each tensor is defined element by element by a Python function of its indices; reducers, axes.

    from tir_mlir import te

    A = te.placeholder((128, 128), name="A")
    B = te.placeholder((128, 128), name="B")
    k = te.reduce_axis((0, 128), name="k")
    C = te.compute((128, 128), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    func = te.create_prim_func([A, B, C])

The result is the PrimFunc of the equivalent TVMScript. Functions of `T` (`T.exp`, `T.max`) are accepted as well.
"""

from tir_mlir.te import scalar_functions
from tir_mlir.te.expr import Expr, ExprLike, Shape, Size, Var, size_var, var
from tir_mlir.te.prim_func import create_prim_func
from tir_mlir.te.scalar_functions import *  # noqa: F403
from tir_mlir.te.statements import statements
from tir_mlir.te.tensor import (
    ComputeOp,
    IterVar,
    PlaceholderOp,
    Reducer,
    ReductionValue,
    Tensor,
    comm_reducer,
    compute,
    max,
    min,
    placeholder,
    prod,
    reduce_axis,
    sum,
    update,
)

__all__ = [
    "ComputeOp", "Expr", "ExprLike", "IterVar", "PlaceholderOp", "ReductionValue", "Reducer", "Shape", "Size", "Tensor",
    "Var", "comm_reducer", "compute", "create_prim_func", "max", "min", "placeholder", "prod", "reduce_axis",
    "size_var", "statements", "sum", "update", "var",
    *scalar_functions.__all__,
]  # fmt: skip
