"""The model that a user names: a graph, or what a graph is imported from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.graph.expressions import Function
from tir_mlir.graph.graph import Graph
from tir_mlir.script.module import IRModule

if TYPE_CHECKING:
    from tir_mlir.graph.memory.frames import Array


def given_model(value: Any) -> tuple[Graph, Sequence[Array] | None] | None:
    """The graph in a value, and the inputs with it; None for a value that is not a model.

        Graph, R function, module with a graph  ->  (graph, None)
        (any of these, [x])                     ->  (graph, [x])
        (torch module, (x,))                    ->  (from_torch(module, (x,)), (x,))

    Raises TuneError for a module of PyTorch without inputs, and what an import raises.
    """
    model, inputs = value, None
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], Sequence):
        model, inputs = value
    if isinstance(model, Graph):
        return model, inputs
    if isinstance(model, Function):
        return Graph(model.isolated_module, name=model.name), inputs
    if isinstance(model, IRModule):
        return (Graph(model), inputs) if model.graphs else None
    if not hasattr(model, "state_dict"):
        return None
    if inputs is None:
        raise TuneError(f"the module {type(model).__name__} has no inputs; fix: a tuple (module, (x, ...))")
    from tir_mlir.graph.importers.torch_export.from_torch import from_torch

    return from_torch(model, tuple(inputs)), inputs
