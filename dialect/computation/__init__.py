"""Canonical tensor computations (one linalg.generic each) raised from blocks, and matching with tensor intrinsics."""

from tir_mlir.dialect.computation.form import Form, NotRaisable, Operand
from tir_mlir.dialect.computation.intrinsics import TensorIntrin
from tir_mlir.dialect.computation.matching import Alignment, Binding, Match, Mismatch, alignments, match
from tir_mlir.dialect.computation.raising import raise_form
from tir_mlir.dialect.computation.scalar_tree import Leaf, Node, Tree, leaves

__all__ = [
    "Alignment",
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
    "alignments",
    "leaves",
    "match",
    "raise_form",
]
