"""`from_torch`: a PyTorch model as a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.fronts.aten import translations
from tir_mlir.graph.fronts.torch_export.decompose import in_known_operators
from tir_mlir.graph.fronts.torch_export.export_model import exported
from tir_mlir.graph.fronts.torch_export.torch_importer import TorchImporter
from tir_mlir.graph.operators import foreign_operators


def from_torch(
    model: Any,
    example_inputs: Any = None,
    example_kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic: Any = None,
    ops: Mapping[Any, Callable[..., Any]] | None = None,
    mutated: str = "refuse",
    name: str = "main",
    cache: bool = True,
) -> Any:
    """Translate a PyTorch model to a Graph: torch.nn.Module, example inputs -> Graph with the model's weights.

        graph = tir_mlir.from_torch(model, (torch.randn(1, 784),))
        graph = tir_mlir.from_torch(model, (x,), dynamic={"x": {0: "n"}})

    model: a module, exported by `torch.export.export` as for inference (`model.eval()`; a warning tells of layers that
    compute something else in training), a function of tensors, a method of a module, or an ExportedProgram.
    example_inputs, example_kwargs: the arguments of `forward`; shapes and types count, values do not.
    dynamic: dimensions known only when the model runs, {argument: {axis: "name" or torch.export.Dim}}; a name that
    occurs twice is one size.
    ops: the meaning of operators, {torch.ops.aten.x.default: f}: f takes te tensors for the operands that are tensors,
    the rest as in torch, and returns a te tensor or several; it comes before what is known.
    mutated: what becomes of inputs and buffers that forward writes to: "refuse", or "return": they are inputs, named
    as in the state dict, after those of forward, and their new values are outputs after those of forward.
    cache: take the graph of an earlier import whose forward made the same calls of torch, which are found by running it
    on tensors without data; not with `dynamic`, `ops`, operators of your own in the table, or where the calls do not
    tell all that is computed.

    Inputs are those of forward that are tensors, outputs those it returns, both flattened in the order of
    torch.utils._pytree (tuples and lists by position, dictionaries by insertion). Parameters and buffers become weights
    named as in the state dict; their memory is shared with torch, and a tensor with two names is one weight.
    Raises GraphError that names all operators it does not know, each with the node and the line of the model.
    """
    from tir_mlir.graph.fronts.torch_export import cached_import, given_model  # they need torch

    if mutated not in ("refuse", "return"):
        raise GraphError(f'from_torch: mutated={mutated!r}\n  fix: use "refuse" or "return"')
    given = {operator_name(op): function for op, function in (ops or {}).items()}
    module = given_model.as_module(model)
    given_model.warn_of_training(module)

    def imported() -> Any:
        program, names = exported(module, example_inputs, example_kwargs, dynamic)
        known = in_known_operators(program, {*translations(), *given})
        return TorchImporter(GraphBuilder(name), known, names, given, mutated == "return").graph()

    if not cache or given or dynamic is not None or foreign_operators():
        return imported()
    return cached_import.cached(module, example_inputs, example_kwargs, (mutated, name), imported)


def operator_name(op: Any) -> str:
    """`torch.ops.aten.add.Tensor`, or all its overloads `torch.ops.aten.add`, or its text, as `aten.add.Tensor`."""
    text = str(op)
    if isinstance(op, str) or callable(op):
        return text.removeprefix("torch.ops.")
    raise GraphError(
        f"from_torch: {text} as a key of ops\n  fix: use an operator of torch.ops: torch.ops.aten.x.default"
    )
