"""The operators of graphs: their names, attributes and meaning as tensor expressions."""

from tir_mlir.graph.operators.operator import Operator
from tir_mlir.graph.operators.table import OPERATORS, foreign_operators

__all__ = ["OPERATORS", "Operator", "foreign_operators"]
