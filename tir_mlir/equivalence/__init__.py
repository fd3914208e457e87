"""Exact equivalence of programs, by running them; checks of tensor intrinsics."""

from tir_mlir.equivalence.compare import equivalent
from tir_mlir.equivalence.result import Difference, Result

__all__ = ["Difference", "Result", "equivalent"]
