"""Canonical tensor computations (one linalg.generic each) raised from blocks, and matching with tensor intrinsics."""

from tir_mlir.dialect.computation.emit_tree import TreeEmitter as TreeEmitter
from tir_mlir.dialect.computation.form import Form as Form
from tir_mlir.dialect.computation.form import NotRaisable as NotRaisable
from tir_mlir.dialect.computation.form import Operand as Operand
from tir_mlir.dialect.computation.intrinsics import TensorIntrin as TensorIntrin
from tir_mlir.dialect.computation.matching import Alignment as Alignment
from tir_mlir.dialect.computation.matching import IntrinMatch as IntrinMatch
from tir_mlir.dialect.computation.matching import Mismatch as Mismatch
from tir_mlir.dialect.computation.matching import ParamBinding as ParamBinding
from tir_mlir.dialect.computation.matching import SizeValue as SizeValue
from tir_mlir.dialect.computation.matching import alignments as alignments
from tir_mlir.dialect.computation.matching import match as match
from tir_mlir.dialect.computation.raising import raise_form as raise_form
from tir_mlir.dialect.computation.scalar_tree import Leaf as Leaf
from tir_mlir.dialect.computation.scalar_tree import OpNode as OpNode
from tir_mlir.dialect.computation.scalar_tree import Tree as Tree
from tir_mlir.dialect.computation.scalar_tree import leaves as leaves
