"""Equivalence checking: run two programs exactly, over a prime field, and compare every element; race detection.

Large programs run at smaller sizes: axes that accesses relate are unified and scaled down together.
"""

from tir_mlir.equivalence.compare import equivalent
from tir_mlir.equivalence.result import Difference, Result

__all__ = ["Difference", "Result", "equivalent"]
