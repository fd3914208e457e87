"""Exact equivalence of programs, by running them; checks of tensor intrinsics."""

from tir_mlir.check.equivalent import equivalent
from tir_mlir.check.report import Difference, Result

__all__ = ["Difference", "Result", "equivalent"]
