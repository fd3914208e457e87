"""Attention."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.aten.aten_table import aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.layers.attention_layers import attention


@aten("scaled_dot_product_attention")
def scaled_dot_product_attention(
    e: TorchEmitter,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    if dropout_p:
        raise GraphError(f"dropout_p={dropout_p} drops elements at random\n  fix: pass 0.0 when not self.training")
    return attention(e, query, key, value, attn_mask, is_causal, scale)
