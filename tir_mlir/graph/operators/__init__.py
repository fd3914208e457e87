"""The operators of graphs: their names, attributes and meaning as tensor expressions."""

from tir_mlir.graph.operators.operator import Operator, OperatorKind
from tir_mlir.graph.operators.table import OPERATORS, foreign_operators, kind_of, takes_tuple

__all__ = ["OPERATORS", "Operator", "OperatorKind", "foreign_operators", "kind_of", "takes_tuple"]
