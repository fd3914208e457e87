"""Scaled dot product attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tir_mlir.graph.fronts.emitter import Emitter, is_number, static


def attention(
    e: Emitter, query: Any, key: Any, value: Any, mask: Any = None, causal: bool = False, scale: float | None = None
) -> Any:
    """softmax(query @ key.T * scale + mask) @ value over (.., tokens, depth).

    mask: added, or of bool: true where a key is seen. causal: query i sees keys 0..i. Fewer heads of keys and values
    than of queries: each is shared by a group of queries.
    """
    if scale is None:
        scale = 1 / math.sqrt(static(query.shape[-1], "the depth of attention's query"))
    key, value = (_shared(e, x, query) for x in (key, value))
    rank = len(key.shape)
    scores = e.op("matmul", query, e.permute(key, [*range(rank - 2), rank - 1, rank - 2]))
    if scale != 1:
        scores = e.multiply(scores, scale)
    if causal:
        scores = e.op("where", seen_causally(e, scores), scores, e.constant(float("-inf"), scores.dtype))
    if mask is not None and mask.dtype == "bool":
        scores = e.op("where", mask, scores, e.constant(float("-inf"), scores.dtype))
    elif mask is not None:
        scores = e.op("add", scores, e.cast(mask, scores.dtype))
    return e.op("matmul", e.op("nn.softmax", scores, axis=-1), value)


def seen_causally(e: Emitter, scores: Any) -> Any:
    """bool (queries, keys): key <= query."""
    rows, columns = scores.shape[-2:]
    if isinstance(rows, int) and isinstance(columns, int):
        return e.constant(np.tri(rows, columns, dtype="bool"), "bool")
    ones = e.op("full", shape=(rows, columns), fill_value=1, dtype="int32")
    return e.cast(e.op("tril", ones, k=0), "bool")


def _shared(e: Emitter, x: Any, query: Any) -> Any:
    """Heads of keys or values repeated to those of the queries."""
    if len(x.shape) < 4 or is_number(query.shape[-3], 1) or x.shape[-3] == query.shape[-3]:
        return x
    times = static(query.shape[-3], "the number of heads") // static(x.shape[-3], "the number of heads")
    return x if times == 1 else e.op("repeat", x, repeats=times, axis=len(x.shape) - 3)
