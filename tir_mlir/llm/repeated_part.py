"""Parts of a model that repeat: graphs are compiled once, side by side, and run with the weights of each layer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.dialect.ir.memo import given_operations
from tir_mlir.graph.build_model import CODE_STAGES, build_compiled
from tir_mlir.graph.compile import compiled_by_content
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.graph.model_weights import bound_weights
from tir_mlir.graph.precision.formats import INT4, Format
from tir_mlir.graph.precision.quantize_weights import quantize_without_values
from tir_mlir.graph.precision.stored_formats import Grouped
from tir_mlir.graph.transforms.lift_weights import weights_graph
from tir_mlir.graph.units.unit_queries import start_workers
from tir_mlir.llm.description import KIND, graph_of
from tir_mlir.llm.native.parts import CompiledProgram
from tir_mlir.llm.rounding import RoundedRows, rounded_rows, widen_rows
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.workers import Task, run
from tir_mlir.targets.stages import BuildOptions

if TYPE_CHECKING:
    from tir_mlir.graph.model_weights import WeightFunction

Weight = np.ndarray | Grouped | RoundedRows
"""Of a file: float32, the bits of bfloat16, numbers of few bits, or what is rounded already."""


@dataclass(frozen=True)
class Precision:
    """How weights are stored: the arguments of `quantize_weights`; dtype None: as float32."""

    dtype: str | None
    group: int | None = None
    activations: str | None = None

    @property
    def format(self) -> Format | None:
        return None if self.dtype is None else Format(self.dtype, self.group, self.activations)

    def quantize_graph(self, graph: Graph) -> tuple[Graph, dict[str, bool]]:
        how = self.format
        return (graph, {}) if how is None else quantize_without_values(graph, how)


def build_cached(graph: Graph, threads: int | None) -> tuple[Graph, ExecutionPlan, Library, dict[str, WeightFunction]]:
    """The compiled graph, its plan, its code and that of what computes its weights: from the cache, or put there."""
    options = BuildOptions(threads=threads)
    compiled = compiled_by_content(graph, options)
    build = build_compiled(compiled, options, CODE_STAGES)
    return compiled, build.plan, build.library, build.functions


OPERATORS = 64
"""Of a graph, about."""


@dataclass(frozen=True)
class UncompiledGraph:
    """A graph as text, the shapes of its weights, and how these are stored. threads: None: one a core."""

    text: str
    name: str
    shapes: Mapping[str, tuple[int, ...]]
    precision: Precision
    threads: int | None

    @property
    def graph(self) -> Graph:
        """The graph, with weights whose values do not count."""
        return graph_of(self.text, self.name, {name: _without_values(shape) for name, shape in self.shapes.items()})


def compile_side_by_side(parts: Iterable[UncompiledGraph]) -> None:
    """Put the code of graphs into the cache: a process compiles one of them, and there are as many as pay."""
    if not store.limit():
        return
    versions, tasks = (fingerprint.installation(), fingerprint.package(), str(given_operations())), []
    for part in parts:
        payload = json.dumps(asdict(part))
        tasks.append(
            Task(f"{__name__}:compile_whole", payload.encode(), KIND, store.digest(*versions, payload), part.name)
        )
    missing = [task for task in tasks if store.load(task.kind, task.key) is None]
    start_workers(OPERATORS * len(missing))  # those of before may have ended
    run(missing)


def compile_whole(payload: bytes) -> bytes:
    """One graph of `compile_side_by_side`, which then is in the cache."""
    facts = json.loads(payload)
    facts["shapes"] = {name: tuple(shape) for name, shape in facts["shapes"].items()}
    part = UncompiledGraph(**{**facts, "precision": Precision(**facts["precision"])})
    build_cached(part.precision.quantize_graph(part.graph)[0], part.threads)
    return b"compiled"


def _without_values(shape: tuple[int, ...]) -> np.ndarray:
    """An array of which only the shape counts."""
    return np.broadcast_to(np.ones((), np.float32), shape)


class RepeatedPart:
    """Graphs that read the same weights, such as those for one token and for several, compiled once.

    graphs: with weights of the right shapes, whose values do not count. programs: of each; `bound(arrays)`: the buffer
    of weights of each program, with these weights; one where their layouts are the same.
    """

    def __init__(self, graphs: Sequence[Graph], precision: Precision, threads: int | None):
        self.precision = precision
        self.read = set[str]()
        rounded, self.transposed = [], dict[str, bool]()
        self.stored = dict[str, Sequence[str]]()
        for graph in graphs:
            quantized, transposed = precision.quantize_graph(graph)
            self.read |= set(graph.weights)
            self.transposed |= transposed
            rounded.append(quantized)
            with enter_context():
                self.stored |= attrs.get(quantized.func.op, encoding.STORED, {})
        parts = [build_cached(graph, threads) for graph in rounded]
        self.compiled = [compiled for compiled, *_ in parts]
        self.functions = [functions for *_, functions in parts]
        for compiled in self.compiled:
            compiled.weights = {name: array for name, array in compiled.weights.items() if name in compiled.from_text}
        self.programs = [
            CompiledProgram(Graph(compiled.module, {}, compiled.name), plan, library)
            for compiled, plan, library, _ in parts
        ]

    def bind_weights(self, arrays: Mapping[str, Weight]) -> list[np.ndarray]:
        """The buffers of weights, by the names of the graph. The arrays are not kept."""
        weights, made = self._round_weights(arrays), []
        memory: list[tuple[object, np.ndarray]] = []
        for compiled, program, functions in zip(self.compiled, self.programs, self.functions, strict=True):
            layout = program.plan.weights, _computation(compiled)
            buffer = next((array for known, array in memory if known == layout), None)
            if buffer is None:
                graph = Graph(compiled.module, {**compiled.weights, **weights}, compiled.name)
                buffer = bound_weights(graph, program.plan, functions)
                memory.append((layout, buffer))
            made.append(buffer)
        return made

    def _round_weights(self, arrays: Mapping[str, Weight]) -> dict[str, np.ndarray]:
        """The weights of the rounded graphs."""
        how, found = self.precision.format, dict[str, np.ndarray]()
        for name in self.read:
            array = arrays[name]
            if how is not None and name in self.stored:
                found |= zip(self.stored[name], self._parts(name, array, how), strict=True)
            else:
                array = array.read() if isinstance(array, RoundedRows) else array
                found[name] = array.values() if isinstance(array, Grouped) else widen_rows(array)
        return found

    def _parts(self, name: str, array: Weight, how: Format) -> list[np.ndarray]:
        """The arrays of a rounded weight: those of a file where they are of the same format, which are not rounded."""
        turned = self.transposed[name]
        if isinstance(array, RoundedRows):
            if array.how == how and not turned:
                return array.parts
            array = array.read()
        if isinstance(array, Grouped):
            same = array.offset is None and array.bits == (4 if how.name == INT4 else 8)
            if same and array.group % (how.group or 1) == 0 and how.activations is not None and not turned:
                array = array.in_groups(how.group or array.group)
                return [array.weight, array.scale]
            array = array.values()
        return rounded_rows(name, np.ascontiguousarray(array.T) if turned else array, how)


def _computation(graph: Graph) -> list[object]:
    """What the graph of the weights computes, node by node: the same for those that come out the same."""
    with enter_context():
        func = weights_graph(graph)
        nodes = [] if func is None else func.nodes
        return [(node.operator, str(node.attributes), node.names, [str(t) for t in node.types]) for node in nodes]
