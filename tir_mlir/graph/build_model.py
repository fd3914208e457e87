"""Build a graph: compile its functions, plan its memory, and make one native function of it."""

from __future__ import annotations

from tir_mlir.build import build
from tir_mlir.dialect.ir import entered
from tir_mlir.graph.compile import Options, compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.model import Model
from tir_mlir.graph.transforms.schedule_functions import schedule_notes
from tir_mlir.passes.graph import places
from tir_mlir.passes.graph.lower_main import lower_main
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.target import Target


def build_model(
    graph: Graph, target: Target | str = "llvm", *, threads: int | None = None, cache: bool = True
) -> Model:
    """Compile a graph to a Model, which is called with its inputs. See `tir_mlir.build`."""
    compiled = compile_graph(graph, options=Options(target, threads))
    with entered():
        plan = places.plan(compiled.func)
        main = lower_main(compiled.module.mlir, plan, graph.name)
    with built_as_given():
        library = build(main, target, cache=cache)
    return Model(compiled, plan, library, schedule_notes(compiled))
