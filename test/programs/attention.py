"""Attention in six or seven stages, plain or causal, for tests of `tir_mlir.schedules`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tir_mlir import te


def attention(heads: int, queries: Any, keys: Any, width: int, causal: bool = False, weights: bool = False):
    """`weights`: divide the weights before the second product; else its result."""
    q, k, v = (te.placeholder((heads, n, width), name=x) for n, x in ((queries, "Q"), (keys, "K"), (keys, "V")))
    d = te.reduce_axis((0, width), name="d")
    r_0, r_1, r_2 = (te.reduce_axis((0, keys), name="k") for _ in range(3))
    scale = float(1 / np.sqrt(width))

    def masked(h, i, j):
        return te.if_then_else(j <= i, scores[h, i, j] * scale, -1e30) if causal else scores[h, i, j] * scale

    wide, row, narrow = (heads, queries, keys), (heads, queries), (heads, queries, width)
    scores = te.compute(wide, lambda h, i, j: te.sum(q[h, i, d] * k[h, j, d], axis=d), name="S")
    x = te.compute(wide, masked, name="X")
    m = te.compute(row, lambda h, i: te.max(x[h, i, r_0], axis=r_0), name="M")
    e = te.compute(wide, lambda h, i, j: te.exp(x[h, i, j] - m[h, i]), name="E")
    z = te.compute(row, lambda h, i: te.sum(e[h, i, r_1], axis=r_1), name="Z")
    if weights:
        w = te.compute(wide, lambda h, i, j: e[h, i, j] / z[h, i], name="W")
        o = te.compute(narrow, lambda h, i, c: te.sum(w[h, i, r_2] * v[h, r_2, c], axis=r_2), name="O")
    else:
        p = te.compute(narrow, lambda h, i, c: te.sum(e[h, i, r_2] * v[h, r_2, c], axis=r_2), name="P")
        o = te.compute(narrow, lambda h, i, c: p[h, i, c] / z[h, i], name="O")
    return te.create_prim_func([q, k, v, o])


def reference(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool = False) -> np.ndarray:
    scores = np.einsum("hqd,hkd->hqk", q, k) / np.sqrt(np.float32(q.shape[-1]))
    if causal:
        scores = np.where(np.arange(k.shape[1]) <= np.arange(q.shape[1])[:, None], scores, -1e30)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def of_rows(heads: int, queries: int, width: int, weights: bool = True):
    """Attention of [queries, heads * width] arrays, as projections make them, with a result of the same shape."""
    given = [te.placeholder((queries, heads * width), name=x) for x in "QKV"]
    shape = (heads, queries, width)
    q, k, v = (te.compute(shape, lambda h, i, c, x=x: x[i, h * width + c], name=f"{x.name}_heads") for x in given)
    d = te.reduce_axis((0, width), name="d")
    r_0, r_1, r_2 = (te.reduce_axis((0, queries), name="k") for _ in range(3))
    wide, row = (heads, queries, queries), (heads, queries)
    s = te.compute(wide, lambda h, i, j: te.sum(q[h, i, d] * k[h, j, d], axis=d), name="S")
    x = te.compute(wide, lambda h, i, j: s[h, i, j] * float(1 / np.sqrt(width)), name="X")
    m = te.compute(row, lambda h, i: te.max(x[h, i, r_0], axis=r_0), name="M")
    e = te.compute(wide, lambda h, i, j: te.exp(x[h, i, j] - m[h, i]), name="E")
    z = te.compute(row, lambda h, i: te.sum(e[h, i, r_1], axis=r_1), name="Z")
    w = te.compute(wide, lambda h, i, j: e[h, i, j] / z[h, i], name="W") if weights else e
    p = te.compute(shape, lambda h, i, c: te.sum(w[h, i, r_2] * v[h, r_2, c], axis=r_2), name="P")
    o = p if weights else te.compute(shape, lambda h, i, c: p[h, i, c] / z[h, i], name="O")
    y = te.compute((queries, heads * width), lambda i, j: o[j // width, i, j % width], name="Y")
    return te.create_prim_func([*given, y])
