"""The transforms of graphs as passes of `tir-opt`, `tir-graph-...`, on the text of a graph: its weights are names."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import direct_ops
from tir_mlir.graph.build_model import planned
from tir_mlir.graph.compile import Options, compile_graph
from tir_mlir.graph.fronts.linalg_model.graph_from_linalg import graph_from_linalg, graph_of_module
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory import calls_in_place
from tir_mlir.graph.memory.lower_main import lower_main
from tir_mlir.graph.model_parts import named_parts
from tir_mlir.graph.transforms.channels_last import channels_last
from tir_mlir.graph.transforms.clean import erase_dead_nodes, erase_unused_functions, merge_equal_nodes
from tir_mlir.graph.transforms.constants import constants_to_weights
from tir_mlir.graph.transforms.fold_batch_norm import fold_batch_norm
from tir_mlir.graph.transforms.fuse_ops import fuse_ops
from tir_mlir.graph.transforms.fuse_tir import fuse_tir
from tir_mlir.graph.transforms.inline_graphs import inlined_calls, inlined_groups, inlined_weights
from tir_mlir.graph.transforms.legalize import legalize
from tir_mlir.graph.transforms.lift_weights import lift_weights
from tir_mlir.graph.transforms.linalg_bodies import to_linalg
from tir_mlir.graph.transforms.mark_in_place import mark_in_place
from tir_mlir.graph.transforms.pack_weights import pack_weights
from tir_mlir.graph.transforms.schedule_functions import schedule_functions
from tir_mlir.graph.transforms.simplify import simplify
from tir_mlir.passes.module_pass import ModulePass
from tir_mlir.script.module import IRModule
from tir_mlir.target import Target
from tir_mlir.target.predefined import named

GRAPH_PASSES: dict[str, ModulePass] = {}
"""What makes a graph, then the stages in the order of a build, then those that a build does not run by themselves."""
Transform = Callable[..., "Graph | IRModule"]


def graph_pass(name: str, help_: str, documented: Callable[..., object] | None = None) -> Callable[..., Transform]:
    """Register `transform(graph, **options)` as a pass on the graph `main` of a module, or that of the option `graph`.

    documented: the function whose docstring tells the rewrite, else the transform itself.
    """

    def register(transform: Transform) -> Transform:
        def run(module: ir.Module, graph: str = "", **options: str) -> None:
            made = transform(_graph(module, graph), **options)
            _replace(module, made.module.mlir if isinstance(made, Graph) else made.mlir)

        options = list(inspect.signature(transform).parameters.values())[1:]
        known = list(inspect.signature(run).parameters.values())[:-1]
        setattr(run, "__signature__", inspect.Signature([*known, *options]))  # noqa: B010  what options are checked by
        run.__doc__ = (documented or transform).__doc__
        GRAPH_PASSES[name] = ModulePass(name, help_, run)
        return transform

    return register


def _graph(module: ir.Module, name: str) -> Graph:
    """The graph of a module. Its weights are known by name only: a transform reads no array."""
    found = Graph(IRModule(module), name=name or None)
    func = found.func
    weights = [func.weight(number) for number in range(len(func.inputs))]
    found.weights = {weight: np.empty(0) for weight in weights if weight is not None}
    return found


def _replace(module: ir.Module, made: ir.Module) -> None:
    """Make a module what another one is, which is empty then."""
    if made == module:
        return
    for op in reversed(direct_ops(module.operation)):
        op.erase()
    for op in direct_ops(made.operation):
        module.body.append(op)
    for name in made.operation.attributes:
        module.operation.attributes[name] = made.operation.attributes[name]


def _plain(name: str, help_: str, transform: Transform) -> None:
    graph_pass(name, help_, transform)(transform)


def _target(text: str) -> Target | str:
    """A target by its name. Errors: TirError."""
    return text if text == "llvm" else named(text)


def _threads(text: str) -> int | None:
    if text and not text.isdigit():
        raise TirError(f"option threads={text}: expected a number")
    return int(text) if text else None


def _from_linalg(module: ir.Module, func: str = "") -> None:
    made = graph_of_module(module, func or None)
    for name in made.weights:
        warnings.warn(f"a constant is the weight {name} now; the text has no values", stacklevel=2)
    _replace(module, made.module.mlir)


_from_linalg.__doc__ = graph_from_linalg.__doc__
GRAPH_PASSES["tir-graph-from-linalg"] = ModulePass(
    "tir-graph-from-linalg", "Make a graph of a function of linalg ops on tensors", _from_linalg
)

# --- the stages of a build --------------------------------------------------------------------------------------------

_plain("tir-graph-inline-calls", "Put what other graphs do in place of their calls", inlined_calls)
_plain("tir-graph-simplify", "Remove what does nothing or is undone; one product for all rows", simplify)
_plain("tir-graph-fold-batch-norm", "Fold batch normalization into the weights before it", fold_batch_norm)
_plain("tir-graph-channels-last", "Compute convolutions of images in NHWC", channels_last)
_plain("tir-graph-constants", "Make weights of constants; their values are not in the text", constants_to_weights)
_plain("tir-graph-lift-weights", "Move what depends on weights only to a graph of its own", lift_weights)
_plain("tir-graph-legalize", "Make a TensorIR function of each operator; reshapes become views", legalize)
_plain("tir-graph-fuse-ops", "Group products and row-wise operators with the pointwise ones around them", fuse_ops)
_plain("tir-graph-fuse-tir", "Make one TensorIR function of each group", fuse_tir)


@graph_pass("tir-graph-pack-weights", "Store weights in the panels that products read", pack_weights)
def _pack(graph: Graph, target: str = "llvm", threads: str = "") -> Graph:
    return pack_weights(graph, _target(target), _threads(threads))


@graph_pass("tir-graph-schedule", "Schedule each TensorIR function that the graph calls", schedule_functions)
def _schedule(graph: Graph, target: str = "llvm", threads: str = "") -> Graph:
    return schedule_functions(graph, _target(target), _threads(threads))


graph_pass("tir-graph-in-place", "Let functions write results where inputs were", calls_in_place.mark)(mark_in_place)


@graph_pass("tir-graph-lower-main", "Plan memory, and lower the graph to one function on buffers", lower_main)
def _lower_main(graph: Graph) -> IRModule:
    plans = planned(graph)
    others = {name: plan for name, plan in plans.items() if name != graph.name}
    return IRModule(lower_main(graph.module.mlir, {**named_parts(graph.name, plans[graph.name]), **others}))


# --- all of them, and further ones ------------------------------------------------------------------------------------


@graph_pass("tir-graph-compile", "Run the stages of a build, up to tir-graph-in-place", None)
def _compile(graph: Graph, target: str = "llvm", threads: str = "") -> Graph:
    """The stages in order, from `tir-graph-simplify` to `tir-graph-in-place`.

    linalg.matmul, call @nn.relu   -->   call @matmul_nn_relu.call, a scheduled TensorIR function
    """
    return compile_graph(graph, options=Options(_target(target), _threads(threads)))


@graph_pass("tir-graph-dead-code", "Erase nodes and functions that nothing uses", erase_dead_nodes)
def _dead_code(graph: Graph) -> Graph:
    made = graph.clone()
    erase_dead_nodes(made.func)
    erase_unused_functions(made.module.mlir)
    return made


@graph_pass("tir-graph-common-subexpressions", "Compute equal nodes once", merge_equal_nodes)
def _common(graph: Graph) -> Graph:
    made = graph.clone()
    merge_equal_nodes(made.func)
    return made


_plain("tir-graph-to-linalg", "Give each operator a body of linalg ops on tensors", to_linalg)
_plain("tir-graph-inline-groups", "Put the nodes of each group in place of its call", inlined_groups)
_plain("tir-graph-inline-weights", "Compute weights in the graph that reads them", inlined_weights)
