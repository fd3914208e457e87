"""The graphs of a model before they are compiled, and their compilation side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

import numpy as np

from tir_mlir.dialect.ir.memo import given_operations
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.units.unit_queries import start_workers
from tir_mlir.llm.description import KIND, graph_of
from tir_mlir.llm.repeated_part import Precision, build_cached
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.workers import Task, run

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
