"""Build a graph: compile its functions, plan its memory, and make one native function of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from tir_mlir.build import build_by_function
from tir_mlir.dialect.diagnostics import ScheduleWarning
from tir_mlir.dialect.ir import enter_context, warn_at_user
from tir_mlir.extensions import implement
from tir_mlir.graph.compile import compile_graph, compiled_by_content
from tir_mlir.graph.device.copy_kernels import copy_programs
from tir_mlir.graph.device.device_library import device_library
from tir_mlir.graph.device.device_model import DeviceModel
from tir_mlir.graph.device.graph_program import GraphProgram
from tir_mlir.graph.device.refuse_plan import refuse_plan
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory import buffer_assignment
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.graph.memory.calls_in_place import in_place_triples, scratch_sizes
from tir_mlir.graph.memory.lower_main import lower_main
from tir_mlir.graph.model import Model
from tir_mlir.graph.model_parts import check_packed, named_parts
from tir_mlir.graph.model_weights import bound_weights, weight_functions
from tir_mlir.graph.precision.quantize_weights import quantize_weights
from tir_mlir.graph.transforms.schedule_functions import schedule_notes
from tir_mlir.graph.units.kernels_unit import kernels_of_each
from tir_mlir.runtime.dump import Dump, open_dump
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.progress import follow_build
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.target import AnyTarget, Target
from tir_mlir.targets.stages import FULL, BuildOptions, Stage, StageValues, library_names

if TYPE_CHECKING:
    from tir_mlir.graph.model_weights import WeightFunction


PER_ELEMENT = re.compile(r": (per_element|one_thread)\b")
"""What `schedules.auto` says of blocks that it has no fast schedule for."""


@implement(Graph.build_model)
def build_model(
    graph: Graph,
    target: AnyTarget | str = "llvm",
    *,
    weights: str | None = None,
    threads: int | None = None,
    optimize: str = FULL,
    cache: bool = True,
    libs: Sequence[str | Path] = (),
    dump: str | Path | None = None,
) -> Model:
    """Compile a graph to a Model, which is called with its inputs. See `tir_mlir.build`."""
    options = BuildOptions(
        target=target, threads=threads, weights=weights, optimize=optimize, cache=cache, libs=library_names(libs)
    )
    with follow_build(f"build of {graph.name}") as followed_build, open_dump(dump, graph.name) as states:
        build = ModelBuild(graph=graph, options=options, states=states)
        build.timing.follow(followed_build)
        if (gpu := options.compiled_for.nvidia) is not None and gpu.emulated:
            build.run(STAGES[:2])
            build.options = replace(options, target="llvm")  # its kernels are loops now
            build.run(STAGES[2:])
        else:
            build.run(STAGES if options.compiled_for.is_cpu else DEVICE_STAGES)
        return build.model()


def program_of(graph: Graph, target: Target | str = "llvm", *, threads: int = 1) -> ir.Module:
    """The program that `build` compiles of a graph for a CPU: its functions, scheduled, and the one that calls them."""
    build = ModelBuild(graph=graph, options=BuildOptions(target=target, threads=threads))
    build.run(STAGES[:4])
    return build.values["program"]


def model_of(compiled: Graph, target: Target | str = "llvm") -> Model:
    """The model of a graph after all stages of its compilation."""
    return build_compiled(compiled, BuildOptions(target=target), STAGES[2:]).model()


def build_compiled(compiled: Graph, options: BuildOptions, stages: Sequence[Stage]) -> ModelBuild:
    """Run some of the stages that follow those of the graph. Each is found in the cache."""
    build = ModelBuild(graph=compiled, options=options, values={"compiled": compiled})
    build.run(stages)
    return build


@dataclass(kw_only=True)
class ModelBuild(StageValues):
    """A graph on its way to a model."""

    graph: Graph
    options: BuildOptions
    states: Dump | None = None
    """The dump of the build, which those of its functions go on to write to."""

    @property
    def compiled_graph(self) -> Graph:
        """The graph after its stages."""
        return self.values["compiled"]

    @property
    def plan(self) -> ExecutionPlan:
        """Where its values are."""
        return self.values["plan"]

    @property
    def library(self) -> Library:
        """The native function."""
        return self.values["library"]

    @property
    def functions(self) -> dict[str, WeightFunction]:
        """The compiled functions of what computes weights, see `weight_functions`."""
        return self.values["functions"]

    @property
    def runs_here(self) -> bool:
        """Whether code for its target can run in this process."""
        return self.options.compiled_for.runs_here

    def model(self) -> Model:
        """The model of what the stages yield."""
        if "kernels" in self.values:
            program, weights = self.values["kernels"], self.values["weights"]
            graphs = self.values["rounded"], self.compiled_graph
            return DeviceModel(*graphs, program, self.library, weights, self.timing, self.options)
        return Model(self.compiled_graph, self.plan, self.library, self.values["weights"], self.timing, self.options)


def _round_weights(build: ModelBuild) -> Graph:
    weights = build.options.weights
    return build.graph if weights is None else quantize_weights(build.graph, weights)


def _compile(build: ModelBuild) -> Graph:
    """By the stages of the graph, `compile.STAGES`."""
    graph, options, states = build.values["rounded"], build.options, build.states
    if states is None:
        return compiled_by_content(graph, options) if options.cache else compile_graph(graph, options=options)
    with enter_context():
        states.write("input", graph.module.mlir)
    return compile_graph(graph, options=options, follow=states.write)


def _plan_memory(build: ModelBuild) -> ExecutionPlan:
    with enter_context():
        plan = plan_graph(build.compiled_graph)
    if not build.options.compiled_for.is_cpu:
        refuse_plan(plan, build.options.compiled_for.chip)
    elif build.runs_here:
        check_packed(plan, build.options.libs)
    return plan


def plan_graph(graph: Graph) -> ExecutionPlan:
    """The plan of a compiled graph."""
    in_place, scratch = in_place_triples(graph.module.mlir), scratch_sizes(graph.module.mlir)
    return buffer_assignment.plan(
        graph.func, in_place, scratch=scratch, donated=buffer_assignment.donations(graph.func)
    )


def _lower(build: ModelBuild) -> ir.Module:
    """One function on buffers, or one for each part between calls of Python."""
    with enter_context():
        main = lower_main(build.compiled_graph.module.mlir, named_parts(build.compiled_graph.name, build.plan))
        if build.states is not None:
            build.states.write("lower-main", main)
    return main


def _compile_program(build: ModelBuild) -> Library:
    """By the stages of the target."""
    with built_as_given():
        library = build_by_function(build.values["program"], build.options, build.states)
    timing = build.timing
    timing |= library.timing
    timing.cpu |= library.timing.cpu
    timing.passes, timing.cached = library.timing.passes, library.timing.cached
    return library


def _compile_kernels(build: ModelBuild) -> GraphProgram:
    """The functions of a plan, each by itself, and the copies at its end."""
    _warn_of_slow_kernels(build.compiled_graph)
    callees = list(dict.fromkeys(call.callee for call in build.plan.calls))
    module = build.compiled_graph.module
    with enter_context():
        functions = [module[name] for name in callees]
    *kernels, copy_bytes, copy_words = kernels_of_each([*functions, *copy_programs()], build.options)
    return GraphProgram(build.plan, dict(zip(callees, kernels, strict=True)), (copy_bytes, copy_words))


def _warn_of_slow_kernels(graph: Graph) -> None:
    """Warn of functions that no schedule for a GPU fits, by name."""
    notes = schedule_notes(graph)
    slow = [name for name, (origin, _) in notes.items() if PER_ELEMENT.search(origin)]
    if slow:
        text = (
            f"{graph.name}: no schedule for a GPU fits blocks of {', '.join(slow)}: a thread computes each of their "
            "elements, which is right and slow; model.schedules tells why; fix: a record of a tune.Database, or other "
            "operators"
        )
        warn_at_user(text, ScheduleWarning)


def _device_library(build: ModelBuild) -> Library:
    functions = list(build.values["kernels"].functions.values())
    with enter_context():
        return device_library(str(build.compiled_graph.module.mlir), functions, build.timing)


def _compile_weight_functions(build: ModelBuild) -> dict[str, WeightFunction]:
    target = build.options.target if build.runs_here and build.options.compiled_for.is_cpu else "llvm"
    with built_as_given():
        return weight_functions(build.compiled_graph, replace(build.options, target=target, libs=()), build.states)


def _place_weights(build: ModelBuild) -> np.ndarray:
    return bound_weights(build.compiled_graph, build.plan, build.functions)


STAGES = (
    Stage("", _round_weights, "rounded"),
    Stage("graph", _compile, "compiled"),
    Stage("memory", _plan_memory, "plan"),
    Stage("memory", _lower, "program"),
    Stage("", _compile_program, "library"),
    Stage("", _compile_weight_functions, "functions"),
    Stage("weights", _place_weights, "weights"),
)
"""How a graph becomes a model: the graph's own stages, then those of a program for its target, then weights."""
CODE_STAGES = STAGES[2:-1]
"""Those that make code of a compiled graph, whatever its weights."""

DEVICE_STAGES = (
    *STAGES[:3],
    Stage("", _compile_kernels, "kernels"),
    Stage("", _device_library, "library"),
    *STAGES[-2:],
)
"""The same for a GPU: each function by itself, then a list of launches."""
