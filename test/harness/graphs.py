"""Graphs in tests: their operators, and that a transform keeps what they compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tir_mlir import build
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.graph import Graph


def graph_of(write: Callable[..., Any], *shapes: tuple[Any, ...], dtype: str = "float32") -> Graph:
    """A graph of inputs x0, x1, ... of these shapes; `write(builder, *inputs)` is its result, or a tuple of them."""
    b = GraphBuilder()
    made = write(b, *(b.input(f"x{n}", shape, dtype) for n, shape in enumerate(shapes)))
    b.output(*(made if isinstance(made, tuple) else (made,)))
    return b.finish()


def operators(graph: Graph) -> list[str]:
    """The operators of the nodes, in order; of other nodes, their kind."""
    with enter_context():
        return [node.operator or node.kind for node in graph.func.nodes]


def inputs_of(graph: Graph, **sizes: int) -> list[np.ndarray]:
    """Small whole numbers, so that sums are exact."""
    rng = np.random.default_rng(3)
    with enter_context():
        func = graph.func
        types = [func.input_type(n) for n in range(len(func.inputs)) if func.weight(n) is None]
    shapes = [[sizes[s] if isinstance(s, str) else s for s in t.shape] for t in types]
    return [rng.integers(-4, 5, shape).astype(t.dtype) for shape, t in zip(shapes, types, strict=True)]


def check_same(before: Graph, after: Graph, rtol: float = 0, **sizes: int) -> None:
    """Run both on the same inputs and compare all results."""
    inputs = inputs_of(before, **sizes)
    wanted, found = (build(g, threads=1)(*inputs) for g in (before, after))
    several = isinstance(wanted, (tuple, list))
    for w, f in zip(wanted if several else [wanted], found if several else [found], strict=True):
        np.testing.assert_allclose(f, w, rtol=rtol, atol=rtol)
