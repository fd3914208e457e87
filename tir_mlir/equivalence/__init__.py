"""Equivalence checking: run two programs exactly, over a prime field, and compare every element; race detection."""

from tir_mlir.equivalence.compare import equivalent
from tir_mlir.equivalence.result import Difference, Result

__all__ = ["Difference", "Result", "equivalent"]
