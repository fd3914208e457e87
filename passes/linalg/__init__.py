"""Conversion of linalg ops to loops and blocks (import), and of block nests to linalg ops (export)."""

from __future__ import annotations

from tir_mlir.passes.linalg.from_linalg import from_linalg
from tir_mlir.passes.linalg.registry import CONVERSIONS
from tir_mlir.passes.linalg.to_linalg import UnraisedBlock, to_linalg

__all__ = ["CONVERSIONS", "UnraisedBlock", "from_linalg", "to_linalg"]
