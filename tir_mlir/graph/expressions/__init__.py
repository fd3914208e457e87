"""Graphs as Python expressions: what visitors read and rewriters build. They are read from MLIR and written to it.

Expressions are values: they exist outside of modules, and outlive those that they are read from; views of MLIR do not.
"""

from tir_mlir.graph.expressions.block_builder import BlockBuilder
from tir_mlir.graph.expressions.graph_function import Function
from tir_mlir.graph.expressions.nodes import (
    Attrs,
    BindingBlock,
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    ExternFunc,
    Op,
    PrimValue,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
    const,
    prim_value,
)
from tir_mlir.graph.expressions.pattern_rewriting import PatternContext, rewrite_bindings, rewrite_call, var_values
from tir_mlir.graph.expressions.struct_info import (
    DynTensorType,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from tir_mlir.graph.expressions.visitors import PyExprMutator, PyExprVisitor, mutator, remove_all_unused, visitor
from tir_mlir.graph.expressions.write_graph import write_functions, write_graph
from tir_mlir.script.module import GlobalVar

__all__ = [
    "Attrs", "BindingBlock", "BlockBuilder", "Call", "Constant", "DataflowBlock", "DataflowVar", "DynTensorType",
    "Expr", "ExternFunc", "Function", "GlobalVar", "ObjectStructInfo", "Op", "PatternContext", "PrimStructInfo",
    "PrimValue", "PyExprMutator", "PyExprVisitor", "SeqExpr", "ShapeExpr", "ShapeStructInfo", "StructInfo",
    "TensorStructInfo", "Tuple", "TupleGetItem", "TupleStructInfo", "Var", "VarBinding", "const", "mutator",
    "prim_value", "remove_all_unused", "rewrite_bindings", "rewrite_call", "var_values", "visitor",
    "write_functions", "write_graph",
]  # fmt: skip
