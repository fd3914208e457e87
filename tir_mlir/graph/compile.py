"""The stages that compile a graph, each a Graph -> Graph that can be stopped at and printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.constants import constants_to_weights
from tir_mlir.graph.transforms.legalize import legalize
from tir_mlir.graph.transforms.schedule_functions import schedule_functions
from tir_mlir.target import Target


@dataclass(frozen=True)
class Options:
    """What a graph is compiled for. threads: None is one for each core of the target."""

    target: Target | str = "llvm"
    threads: int | None = None


@dataclass(frozen=True)
class Stage:
    """A stage: `run(graph, options)` is a new graph that computes the same."""

    name: str
    help: str
    run: Callable[[Graph, Options], Graph]


STAGES: list[Stage] = [
    Stage("legalize", "a TensorIR function for each operator; reshapes become views", lambda g, o: legalize(g)),
    Stage("constants", "constants become weights", lambda g, o: constants_to_weights(g)),
    Stage("schedule", "a schedule for each function", lambda g, o: schedule_functions(g, o.target, o.threads)),
]
"""In order. After the last one, the memory of the graph is planned and it is lowered to one function."""


def compile_graph(graph: Graph, until: str | None = None, options: Options | None = None) -> Graph:
    """Run the stages in order, up to and including the one that is named; None: all of them.

    Raises GraphError for an unknown stage, and what a stage raises.
    """
    names = [stage.name for stage in STAGES]
    if until is not None and until not in names:
        raise GraphError(f"there is no stage {short_repr(until)}; fix: one of {', '.join(names)}")
    for stage in STAGES:
        graph = stage.run(graph, options or Options())
        if stage.name == until:
            break
    return graph
