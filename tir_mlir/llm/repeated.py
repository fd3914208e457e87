"""A part of a model that repeats: its graph is compiled once, and run with the weights of each of its places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.ir import attrs, entered
from tir_mlir.graph.build_model import library_of
from tir_mlir.graph.compile import Options
from tir_mlir.graph.compiled_cache import compiled_by_content
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.model_weights import bound_weights
from tir_mlir.graph.precision.formats import INT4, Format, rounded
from tir_mlir.graph.precision.quantize_weights import quantize_weights
from tir_mlir.graph.precision.stored_formats import Grouped
from tir_mlir.graph.transforms.lift_weights import prepares
from tir_mlir.llm.native.parts import Program
from tir_mlir.runtime.timing import Timing

IN_CACHE = 1 << 16
"""The weights that are rounded at a time: each row by itself, so that what is computed on the way stays in cache."""
Weight = np.ndarray | Grouped
"""Of a file: numbers, or numbers of few bits."""


@dataclass(frozen=True)
class Precision:
    """How weights are stored: the arguments of `quantize_weights`; dtype None: as float32."""

    dtype: str | None
    group: int | None = None
    activations: str | None = None

    @property
    def format(self) -> Format | None:
        return None if self.dtype is None else Format(self.dtype, self.group, self.activations)

    def applied(self, graph: Graph) -> Graph:
        if self.dtype is None:
            return graph
        return quantize_weights(graph, self.dtype, self.group, activations=self.activations)


class Repeated:
    """Graphs that read the same weights, such as those for one token and for several, compiled once.

    graphs: with the weights of one place, whose shapes count. programs: of each; `bound(arrays)`: the buffer of weights
    of each program, with these weights; one where their layouts are the same.
    """

    def __init__(self, graphs: Sequence[Graph], precision: Precision, threads: int | None):
        self.graphs, self.precision = list(graphs), precision
        quantized = [precision.applied(graph) for graph in graphs]
        with entered():
            self.stored: Mapping[str, Sequence[str]] = attrs.get(quantized[0].func.op, encoding.STORED, {})
        kept = (name for name in quantized[0].weights if name in graphs[0].weights)
        self.plain = all(quantized[0].weights[name] is graphs[0].weights[name] for name in kept)
        self.rounding = quantized[0].rounding
        self.timing, options = Timing(), Options("llvm", threads, cache=True)
        with self.timing.clock("graph"):
            self.compiled = [compiled_by_content(graph, options) for graph in quantized]
        self.parts = [library_of(compiled, "llvm", self.timing) for compiled in self.compiled]
        self.programs = [
            Program(Graph(compiled.module, {}, compiled.name), plan, library)
            for compiled, (plan, library, _) in zip(self.compiled, self.parts, strict=True)
        ]

    def bound(self, arrays: Mapping[str, Weight]) -> list[np.ndarray]:
        """The buffers of weights, by the names of the graph. The arrays are not kept."""
        weights, made = self._rounded(arrays), []
        memory: list[tuple[object, np.ndarray]] = []
        for compiled, (plan, _, functions) in zip(self.compiled, self.parts, strict=True):
            layout = plan.weights, _computation(compiled)
            buffer = next((array for known, array in memory if known == layout), None)
            if buffer is None:
                graph = Graph(compiled.module, {**compiled.weights, **weights}, compiled.name)
                buffer = bound_weights(graph, plan, functions)
                memory.append((layout, buffer))
            made.append(buffer)
        return made

    def _rounded(self, arrays: Mapping[str, Weight]) -> dict[str, np.ndarray]:
        """The weights of the rounded graphs."""
        how = self.precision.format
        if how is None:
            return {name: _values(array) for name, array in arrays.items()}
        if not self.plain:  # weights that are computed of others
            graph = self.graphs[0].clone()
            graph.weights |= {name: _values(array) for name, array in arrays.items()}
            return self.precision.applied(graph).weights
        found = {name: _values(array) for name, array in arrays.items() if name not in self.stored}
        for name, names in self.stored.items():
            found |= zip(names, _parts(arrays[name], how), strict=True)
        return found

    def forget(self) -> None:
        """Drop the arrays that the graphs were compiled with."""
        for graph in (*self.graphs, *self.compiled):
            graph.weights = {name: array for name, array in graph.weights.items() if name in graph.from_text}


def _values(array: Weight) -> np.ndarray:
    return array.values() if isinstance(array, Grouped) else array


def _parts(array: Weight, how: Format) -> list[np.ndarray]:
    """The arrays of a rounded weight: those of a file where they are of the same format, so that nothing is rounded."""
    if isinstance(array, Grouped):
        same = array.offset is None and (array.group, array.bits) == (how.group, 4 if how.name == INT4 else 8)
        if same and how.activations is not None:
            return [array.weight, array.scale]
    values = _values(array)
    rows = max(1, IN_CACHE // max(1, values.shape[-1]))
    pieces = [rounded(values[start : start + rows], how, 0) for start in range(0, len(values), rows)]
    stored = np.concatenate([piece.stored for piece in pieces])
    scales = [piece.scale for piece in pieces if piece.scale is not None]
    return [stored, np.concatenate(scales)] if scales else [stored]


def _computation(graph: Graph) -> list[object]:
    """What the graph of the weights computes, node by node: the same for those that come out the same."""
    with entered():
        func = prepares(graph)
        nodes = [] if func is None else func.nodes
        return [(node.operator, str(node.attributes), node.names, [str(t) for t in node.types]) for node in nodes]
