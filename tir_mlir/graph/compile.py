"""The stages that compile a graph, each a Graph -> Graph that can be stopped at and printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.channels_last import channels_last
from tir_mlir.graph.transforms.constants import constants_to_weights
from tir_mlir.graph.transforms.find_scratch import find_scratch
from tir_mlir.graph.transforms.fold_batch_norm import fold_batch_norm
from tir_mlir.graph.transforms.fuse_ops import fuse_ops
from tir_mlir.graph.transforms.fuse_tir import fuse_tir
from tir_mlir.graph.transforms.inline_graphs import inlined_calls
from tir_mlir.graph.transforms.legalize import legalize
from tir_mlir.graph.transforms.lift_weights import lift_weights
from tir_mlir.graph.transforms.mark_in_place import mark_in_place
from tir_mlir.graph.transforms.pack_weights import pack_weights
from tir_mlir.graph.transforms.schedule_functions import schedule_functions
from tir_mlir.graph.transforms.simplify import simplify
from tir_mlir.target import Target


@dataclass(frozen=True)
class Options:
    """What a graph is compiled for. threads: None is one for each core of the target. extra: of further stages."""

    target: Target | str = "llvm"
    threads: int | None = None
    extra: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class Stage:
    """A stage: `run(graph, options)` is a new graph that computes the same."""

    name: str
    help: str
    run: Callable[[Graph, Options], Graph]


STAGES: list[Stage] = [
    Stage("inline", "calls of other graphs become what these do", lambda g, o: inlined_calls(g)),
    Stage("simplify", "what does nothing or is undone; rows of products together", lambda g, o: simplify(g)),
    Stage("batch_norm", "batch normalization in the weights before it", lambda g, o: fold_batch_norm(g)),
    Stage("channels_last", "convolutions of images in NHWC", lambda g, o: channels_last(g)),
    Stage("constants", "constants become weights", lambda g, o: constants_to_weights(g)),
    Stage("lift", "what depends on weights only becomes a graph of its own", lambda g, o: lift_weights(g)),
    Stage("legalize", "a TensorIR function for each operator; reshapes become views", lambda g, o: legalize(g)),
    Stage("fuse_ops", "products and row-wise operators in groups with pointwise ones", lambda g, o: fuse_ops(g)),
    Stage("fuse_tir", "a TensorIR function for each group", lambda g, o: fuse_tir(g)),
    Stage("pack", "weights in panels, as products read them", lambda g, o: pack_weights(g, o.target, o.threads)),
    Stage("schedule", "a schedule for each function", lambda g, o: schedule_functions(g, o.target, o.threads)),
    Stage("scratch", "the memory that functions need for themselves", lambda g, o: find_scratch(g)),
    Stage("in_place", "results in the memory of inputs that nobody reads later", lambda g, o: mark_in_place(g)),
]
"""In order. A stage does not read or change the arrays of weights: what the stages make is kept in the cache by the
text of the graph. After the last one, memory is planned and the graph is lowered to one function."""


_OWN = tuple(STAGES)


def are_own_stages() -> bool:
    """Whether the stages are those of this package: what others make depends on more than the text of the graph."""
    return tuple(STAGES) == _OWN


def compile_graph(
    graph: Graph,
    until: str | None = None,
    options: Options | None = None,
    after: str | None = None,
    verify: bool = False,
) -> Graph:
    """Run the stages in order, up to and including `until` (None: the last), from the one behind `after` (None: the
    first). verify: compare the graph after each stage with the one before it, exactly.

    Raises GraphError for an unknown stage and for one that changes what is computed, and what a stage raises.
    """
    names = [stage.name for stage in STAGES]
    for name in (until, after):
        if name is not None and name not in names:
            raise GraphError(f"there is no stage {short_repr(name)}; fix: one of {', '.join(names)}")
    first = 0 if after is None else names.index(after) + 1
    last = len(names) if until is None else names.index(until) + 1
    for stage in STAGES[first:last]:
        made = stage.run(graph, options or Options())
        if verify and not (found := made.verify(graph)):
            raise GraphError(f"the stage {stage.name} changes what the graph computes: {found.difference}")
        graph = made
    return graph
