"""Build a graph: compile its functions, plan its memory, and make one native function of it."""

from __future__ import annotations

from tir_mlir.build import build
from tir_mlir.dialect.ir import entered
from tir_mlir.graph.compile import Options, compile_graph
from tir_mlir.graph.compiled_cache import compiled_by_content
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.model import Model
from tir_mlir.graph.transforms.lift_weights import prepares
from tir_mlir.passes.graph import places
from tir_mlir.passes.graph.lower_main import lower_main
from tir_mlir.passes.graph.places import Plan
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.runtime.timing import Timing
from tir_mlir.target import Target


def build_model(
    graph: Graph, target: Target | str = "llvm", *, threads: int | None = None, cache: bool = True
) -> Model:
    """Compile a graph to a Model, which is called with its inputs. See `tir_mlir.build`."""
    timing, options = Timing(), Options(target, threads)
    with timing.clock("graph"):
        graph = compile_graph(graph, until="lift", options=options)
    with timing.clock("functions"):
        compiled = compiled_by_content(graph, options) if cache else compile_graph(graph, options=options, after="lift")
    with timing.clock("memory"), entered():
        plans = planned(compiled)
        main = lower_main(compiled.module.mlir, plans)
    with built_as_given():
        library = build(main, target, cache=cache)
    timing |= library.timing
    timing.cpu |= library.timing.cpu
    timing.passes, timing.cached = library.timing.passes, library.timing.cached
    with timing.clock("weights"):
        return Model(compiled, plans, library, timing)


def planned(graph: Graph) -> dict[str, Plan]:
    """The plans of a compiled graph and, if there is one, of the graph that computes its weights, by name."""
    own = prepares(graph)
    return {f.name: places.plan(f) for f in (graph.func, own) if f is not None}
