"""Products of matrices."""

from __future__ import annotations

from typing import Any

from tir_mlir.graph.fronts.emitter import Emitter


def linear(e: Emitter, x: Any, weight: Any, bias: Any = None) -> Any:
    """x @ weight.T + bias."""
    y = e.op("nn.dense", x, weight)
    return y if bias is None else e.op("add", y, bias)


def scaled_sum(e: Emitter, x: Any, product: Any, alpha: float, beta: float) -> Any:
    """beta * x + alpha * product."""
    if alpha != 1:
        product = e.multiply(product, alpha)
    if beta == 0 or x is None:
        return product
    return e.op("add", product, x if beta == 1 else e.multiply(x, beta))
