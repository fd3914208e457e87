"""The transforms of graphs as passes of `tir-opt`, `tir-graph-...`, on the text of a graph: its weights are names."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import direct_ops
from tir_mlir.graph.build_model import plan_graph
from tir_mlir.graph.compile import STAGES, Stage, compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.importers.linalg_model.graph_from_linalg import graph_from_linalg, graph_of_module
from tir_mlir.graph.memory.lower_main import lower_main
from tir_mlir.graph.model_parts import named_parts
from tir_mlir.graph.model_weights import compiled_nodes
from tir_mlir.graph.transforms.clean import erase_dead_nodes, erase_unused_functions, merge_equal_nodes
from tir_mlir.graph.transforms.inline_graphs import inlined_groups, inlined_weights
from tir_mlir.graph.transforms.lift_weights import weights_graph
from tir_mlir.graph.transforms.linalg_bodies import to_linalg
from tir_mlir.passes.module_pass import ModulePass
from tir_mlir.script.module import IRModule
from tir_mlir.target import AnyTarget, resolved
from tir_mlir.targets.stages import FULL, BuildOptions, optimize_option

GRAPH_PASSES: dict[str, ModulePass] = {}
"""What makes a graph, then the stages in the order of a build, then those that a build does not run by themselves."""
Transform = Callable[..., "Graph | IRModule"]


def graph_pass(
    name: str, help_: str, documented: Callable[..., object] | None = None, options: Sequence[str] | None = None
) -> Callable[..., Transform]:
    """Register `transform(graph, **options)` as a pass on the graph `main` of a module, or that of the option `graph`.

    documented: the function whose docstring tells the rewrite, else the transform itself; options: their names, else
    the parameters of the transform.
    """

    def register(transform: Transform) -> Transform:
        def run(module: ir.Module, graph: str = "", **options: str) -> None:
            transformed = transform(_graph(module, graph), **options)
            _replace(module, transformed.module.mlir if isinstance(transformed, Graph) else transformed.mlir)

        names = list(inspect.signature(transform).parameters)[1:] if options is None else options
        leading = list(inspect.signature(run).parameters.values())[:-1]
        added = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default="") for n in names]
        setattr(run, "__signature__", inspect.Signature([*leading, *added]))  # noqa: B010  what options are checked by
        run.__doc__ = (documented or transform).__doc__
        GRAPH_PASSES[name] = ModulePass(name, help_, run)
        return transform

    return register


def _graph(module: ir.Module, name: str) -> Graph:
    """The graph of a module. Its weights are known by name only: a transform reads no array."""
    graph = Graph(IRModule(module), name=name or None)
    func = graph.func
    weights = [func.weight(number) for number in range(len(func.inputs))]
    graph.weights = {weight: np.empty(0) for weight in weights if weight is not None}
    return graph


def _replace(module: ir.Module, replacement: ir.Module) -> None:
    """Make a module what another one is, which is empty then."""
    if replacement == module:
        return
    for op in reversed(direct_ops(module.operation)):
        op.erase()
    for op in direct_ops(replacement.operation):
        module.body.append(op)
    for name in replacement.operation.attributes:
        module.operation.attributes[name] = replacement.operation.attributes[name]


def _register_transform(name: str, help_: str, transform: Transform) -> None:
    graph_pass(name, help_, transform)(transform)


def _target(text: str) -> AnyTarget | str:
    """A target by its name. Errors: TirError."""
    return "llvm" if text in ("", "llvm") else resolved(text)


def _threads(text: str) -> int | None:
    if text and not text.isdigit():
        raise TirError(f"option threads={text}: expected a number")
    return int(text) if text else None


def _optimize(text: str) -> str:
    return optimize_option(text or FULL)


def _from_linalg(module: ir.Module, func: str = "") -> None:
    graph = graph_of_module(module, func or None)
    for name in graph.weights:
        warnings.warn(f"a constant is the weight {name} now; the text has no values", stacklevel=2)
    _replace(module, graph.module.mlir)


_from_linalg.__doc__ = graph_from_linalg.__doc__
GRAPH_PASSES["tir-graph-from-linalg"] = ModulePass(
    "tir-graph-from-linalg", "Make a graph of a function of linalg ops on tensors", _from_linalg
)

# --- the stages of a build --------------------------------------------------------------------------------------------


def _register_stage(stage: Stage) -> None:
    """The pass of a stage; the options that it takes are text. It computes all anew: no cache."""
    names = [name for name in stage.options if name != "cache"]

    def transform(graph: Graph, **options: str) -> Graph:
        return stage.run(graph, **{name: _OPTION_PARSERS[name](options.get(name, "")) for name in names})

    graph_pass(f"tir-graph-{stage.name.replace('_', '-')}", stage.help, stage.run, names)(transform)


_OPTION_PARSERS = {"target": _target, "threads": _threads, "optimize": _optimize}

for _stage in STAGES:
    _register_stage(_stage)


@graph_pass("tir-graph-lower-main", "Plan memory, and lower the graph to one function on buffers", lower_main)
def _lower_main(graph: Graph) -> IRModule:
    weights_func = weights_graph(graph)
    others = {} if weights_func is None else compiled_nodes(weights_func, graph.module.mlir)
    return IRModule(lower_main(graph.module.mlir, {**named_parts(graph.name, plan_graph(graph)), **others}))


# --- all of them, and further ones ------------------------------------------------------------------------------------


@graph_pass("tir-graph-compile", "Run the stages of a build, up to tir-graph-in-place", None)
def _compile(graph: Graph, target: str = "", threads: str = "", optimize: str = "") -> Graph:
    """The stages in order, from `tir-graph-inline-calls` to `tir-graph-in-place`.

    linalg.matmul, call @nn.relu   -->   call @matmul_nn_relu.call, a scheduled TensorIR function
    """
    options = {"target": _target(target), "threads": _threads(threads), "optimize": _optimize(optimize)}
    return compile_graph(graph, options=BuildOptions(**options, cache=False))


@graph_pass("tir-graph-dead-code", "Erase nodes and functions that nothing uses", erase_dead_nodes)
def _dead_code(graph: Graph) -> Graph:
    copy = graph.clone()
    erase_dead_nodes(copy.func)
    erase_unused_functions(copy.module.mlir)
    return copy


@graph_pass("tir-graph-common-subexpressions", "Compute equal nodes once", merge_equal_nodes)
def _common(graph: Graph) -> Graph:
    copy = graph.clone()
    merge_equal_nodes(copy.func)
    return copy


_register_transform("tir-graph-to-linalg", "Give each operator a body of linalg ops on tensors", to_linalg)
_register_transform("tir-graph-inline-groups", "Replace the call of each group by its nodes", inlined_groups)
_register_transform("tir-graph-inline-weights", "Compute weights in the graph that reads them", inlined_weights)
