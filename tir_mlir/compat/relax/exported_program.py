"""`from_exported_program` and `detach_params`: a graph from `torch.export`, parameters as constants or inputs."""

from __future__ import annotations

from typing import Any

from tir_mlir.compat.ndarray import NDArray, array
from tir_mlir.compat.relax.transforms import BindParams
from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.graph import encoding, tensor_func
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph.importers.torch_export.from_torch import from_torch
from tir_mlir.script.module import IRModule
from tir_mlir.script.printer.graphs import WEIGHTS

_KEPT = "_kept_params"


def from_exported_program(
    exported_program: Any,
    *,
    keep_params_as_input: bool = False,
    unwrap_unit_return_tuple: bool = False,
    no_bind_return_tuple: bool = False,
) -> IRModule:
    """A module whose `main` is the graph of an ExportedProgram.

    keep_params_as_input: parameters are inputs after the others, see `detach_params`, and not constants.
    unwrap_unit_return_tuple: one result is returned as it is; else in a tuple, as exported programs do.
    no_bind_return_tuple has no effect: a returned tuple has no name in a graph. Errors: GraphError of the front.
    """
    graph = from_torch(exported_program)
    module = IRModule(graph.module.mlir).clone()
    if not unwrap_unit_return_tuple:
        with enter_context():
            func = tensor_func(module.mlir, graph.name)
            if not func.returns_tuple:
                attrs.put(func.op, encoding.UNIT_TUPLE, True)
    if not keep_params_as_input:
        names = _parameters(module)
        return BindParams("main", {p: graph.weights[w] for p, w in names.items()})(module)
    setattr(module, _KEPT, graph.weights)
    return module


def _parameters(module: IRModule) -> dict[str, str]:
    """The parameters of `main` that are weights, and which ones, in order."""
    with enter_context():
        func = module["main"]
    return dict(func.attrs.get(WEIGHTS, {}))


def detach_params(mod: IRModule) -> tuple[IRModule, dict[str, list[NDArray]]]:
    """The module, and the parameters that `from_exported_program(..., keep_params_as_input=True)` kept, in the order of
    the inputs. Raises GraphError for a module without them."""
    if not isinstance(mod, IRModule) or not hasattr(mod, _KEPT):
        raise GraphError(
            "detach_params takes what from_exported_program(..., keep_params_as_input=True) returned, not "
            f"{short_repr(mod)}"
        )
    weights = getattr(mod, _KEPT)
    return mod.clone(), {"main": [array(weights[w]) for w in _parameters(mod).values()]}
