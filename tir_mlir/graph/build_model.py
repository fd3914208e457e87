"""Build a graph: compile its functions, plan its memory, and make one native function of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tir_mlir.build import build_by_function
from tir_mlir.dialect.ir import enter_context
from tir_mlir.extensions import implement
from tir_mlir.graph.compile import Options, compile_graph
from tir_mlir.graph.compiled_cache import compiled_by_content
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory import buffer_assignment
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.graph.memory.calls_in_place import in_place_triples, scratch_sizes
from tir_mlir.graph.memory.lower_main import lower_main
from tir_mlir.graph.model import Model
from tir_mlir.graph.model_parts import check_packed, named_parts
from tir_mlir.graph.model_weights import bound_weights, weight_functions
from tir_mlir.graph.precision.quantize_weights import quantize_weights
from tir_mlir.graph.units.unit_queries import FULL
from tir_mlir.runtime.dump import Dump, open_dump
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.progress import follow_build
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.runtime.timing import Timing
from tir_mlir.target import Target, chosen


@implement(Graph.build_model)
def build_model(
    graph: Graph,
    target: Target | str = "llvm",
    *,
    weights: str | None = None,
    threads: int | None = None,
    optimize: str = FULL,
    cache: bool = True,
    libs: Sequence[str | Path] = (),
    dump: str | Path | None = None,
) -> Model:
    """Compile a graph to a Model, which is called with its inputs. See `tir_mlir.build`."""
    graph = graph if weights is None else quantize_weights(graph, weights)
    timing, options = Timing(), Options(target, threads, cache=cache, optimize=optimize)
    with follow_build(f"build of {graph.name}") as followed_build, open_dump(dump, graph.name) as states:
        timing.follow(followed_build)
        with timing.clock("graph"):
            if states is not None:
                with enter_context():
                    states.write("input", graph.module.mlir)
                compiled = compile_graph(graph, options=options, follow=states.write)
            else:
                compiled = compiled_by_content(graph, options) if cache else compile_graph(graph, options=options)
        return model_of(compiled, target, timing, cache=cache, libs=libs, states=states)


def model_of(
    compiled: Graph,
    target: Target | str = "llvm",
    timing: Timing | None = None,
    *,
    cache: bool = True,
    libs: Sequence[str | Path] = (),
    states: Dump | None = None,
) -> Model:
    """The model of a graph after all stages of its compilation. timing: gets the seconds of what is done here; states:
    what the build goes on to write to."""
    timing = Timing() if timing is None else timing
    main_plan, library, functions = library_of(compiled, target, timing, cache=cache, libs=libs, states=states)
    with timing.clock("weights"):
        weights = bound_weights(compiled, main_plan, functions)
    return Model(compiled, main_plan, library, weights, timing, target, libs)


def library_of(
    compiled: Graph,
    target: Target | str,
    timing: Timing,
    *,
    cache: bool = True,
    libs: Sequence[str | Path] = (),
    states: Dump | None = None,
) -> tuple[ExecutionPlan, Library, dict[str, tuple[Any, int]]]:
    """All of that model but for the values of weights: the plan, the native function, and `weight_functions`."""
    with timing.clock("memory"), enter_context():
        main_plan = plan_graph(compiled)
        if not is_cross_target(target):
            check_packed(main_plan, libs)
        main = lower_main(compiled.module.mlir, named_parts(compiled.name, main_plan))
        if states is not None:
            states.write("lower-main", main)
    with built_as_given():
        library = build_by_function(main, target, cache=cache, libs=libs, dump=states)
        functions = weight_functions(compiled, "llvm" if is_cross_target(target) else target, cache, states)
    _add(timing, library.timing)
    return main_plan, library, functions


def is_cross_target(target: Target | str) -> bool:
    """Whether code for a target cannot run in this process."""
    return target != "llvm" and not chosen(target).runs_here


def _add(timing: Timing, build_timing: Timing) -> None:
    """Add the stages of the build of the native function."""
    timing |= build_timing
    timing.cpu |= build_timing.cpu
    timing.passes, timing.cached = build_timing.passes, build_timing.cached


def plan_graph(graph: Graph) -> ExecutionPlan:
    """The plan of a compiled graph."""
    in_place, scratch = in_place_triples(graph.module.mlir), scratch_sizes(graph.module.mlir)
    return buffer_assignment.plan(
        graph.func, in_place, scratch=scratch, donated=buffer_assignment.donations(graph.func)
    )
