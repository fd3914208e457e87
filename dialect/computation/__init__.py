"""A block as a canonical tensor computation (as one linalg.generic), and matching it with a tensor intrinsic."""

from tir_mlir.dialect.computation.form import Form, NotRaisable, Operand
from tir_mlir.dialect.computation.intrinsics import TensorIntrin, check_with, provide, try_with
from tir_mlir.dialect.computation.matching import Binding, Match, Mismatch, Way, match, ways
from tir_mlir.dialect.computation.raising import raise_form
from tir_mlir.dialect.computation.scalar_tree import Leaf, Node, Tree, leaves

__all__ = [
    "Binding",
    "Form",
    "Leaf",
    "Match",
    "Mismatch",
    "Node",
    "NotRaisable",
    "Operand",
    "TensorIntrin",
    "Tree",
    "Way",
    "check_with",
    "leaves",
    "match",
    "provide",
    "raise_form",
    "try_with",
    "ways",
]
