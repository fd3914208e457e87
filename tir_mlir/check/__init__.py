"""Exact equivalence of programs, by running them; checks of tensor intrinsics."""

from .equivalent import equivalent
from .report import Difference, Result

__all__ = ["Difference", "Result", "equivalent"]
