"""Activations, element by element."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import constant, tensor


def relu(x: Any) -> te.Tensor:
    """max(x, 0)."""
    given = tensor("nn.relu", "x", x)
    return te.compute(given.shape, lambda *i: te.max(given(*i), constant(0, given.dtype)), name="T_relu")
