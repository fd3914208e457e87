"""Graphs that tests compile, and what they compute."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.graph import Graph


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def mlp(batch: Any = 1, sizes: tuple[int, ...] = (33, 17, 10)) -> Graph:
    """x -> dense, add, relu, ... -> dense, add"""
    b = GraphBuilder("main")
    h = b.input("x", (batch, sizes[0]))
    for n, (inner, outer) in enumerate(itertools.pairwise(sizes)):
        w = b.weight(f"w{n}", random(outer, inner, seed=n) / inner**0.5)
        h = b.op("add", b.op("nn.dense", h, w), b.weight(f"b{n}", random(outer, seed=n + 100)))
        if n < len(sizes) - 2:
            h = b.op("nn.relu", h)
    b.output(h)
    return b.finish()


def run_mlp(graph: Graph, x: np.ndarray) -> np.ndarray:
    """What NumPy computes for `mlp`."""
    w = graph.weights
    layers = len(w) // 2
    for n in range(layers):
        x = x @ w[f"w{n}"].T + w[f"b{n}"]
        x = np.maximum(x, 0) if n < layers - 1 else x
    return x
