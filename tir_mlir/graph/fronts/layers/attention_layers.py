"""Scaled dot product attention."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.emitter import Emitter


def attention(
    e: Emitter, query: Any, key: Any, value: Any, mask: Any = None, causal: bool = False, scale: float | None = None
) -> Any:
    """softmax(query @ key.T * scale + mask) @ value over (batch, heads, tokens, depth), or without batch or heads.

    mask: added, or of bool: true where a key is seen. causal: query i sees keys 0..i. Fewer heads of keys and values
    than of queries: each is shared by a group of queries.
    """
    rank = len(query.shape)
    if rank > 4:
        raise GraphError(f"attention over {rank} axes\n  fix: reshape to (batch, heads, tokens, depth)")
    query, key, value = (e.reshape(x, (*[1] * (4 - rank), *x.shape)) for x in (query, key, value))
    if mask is not None and mask.dtype != "bool":
        mask = e.cast(mask, query.dtype)
    operands = [query, key, value] if mask is None else [query, key, value, mask]
    y = e.op("nn.attention", *operands, scale=scale, causal_mask="TopLeft" if causal else None, layout="BHSD")
    return e.reshape(y, y.shape[4 - rank :])
