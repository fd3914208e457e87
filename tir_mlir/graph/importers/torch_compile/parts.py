"""The parts of an exported program that become models; torch runs the nodes between them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from tir_mlir.dialect.diagnostics import GraphError, TirError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.importers.aten import translations
from tir_mlir.graph.importers.torch_export.export_model import known_operator_name
from tir_mlir.graph.importers.torch_export.from_torch import PartOfProgram, TorchImporter

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from tir_mlir.graph.graph import Graph

Model: TypeAlias = "Callable[..., Any]"
"""A compiled graph: a function of tensors, which returns a tensor, or a tuple or a list of them."""
Build: TypeAlias = "Callable[[Graph], Model]"


@dataclass
class DividedProgram:
    """A program whose parts are models. module: takes the values of all placeholders. left: why torch runs a node, by
    its operator."""

    module: torch.fx.GraphModule
    left: dict[str, str]


def divide(program: ExportedProgram, build: Build) -> DividedProgram:
    """Divide a functional program, which is not changed. build: makes the model of a graph; what it refuses with a
    TirError remains with torch."""
    refused: dict[str, str] = {}
    translated = translations()
    for node in program.graph.nodes:
        if node.op == "call_function" and _is_size(node):
            refused[node.name] = ""  # torch computes it, and the part reads it from its tensors
        elif node.op == "call_function" and any(map(_is_complex, (node, *node.all_input_nodes))):
            refused[node.name] = "it computes with complex numbers"
        elif node.op == "call_function" and not (_is_item(node) or known_operator_name(node.target, translated)):
            refused[node.name] = "it is not known"
    while True:
        module = _partition_program(program, refused)
        models, found = _models(module, program, build)
        if not found:
            break
        refused |= found
    for name, model in models.items():
        setattr(module, name, model)
    _remove_sizes(module)
    operators = {node.name: str(node.target) for node in program.graph.nodes}
    return DividedProgram(module, {operators[name]: reason for name, reason in refused.items() if reason})


def _is_size(node: torch.fx.Node) -> bool:
    """Whether a node is a number that depends on sizes, or a condition of them."""
    return isinstance(node.meta.get("val"), (torch.SymInt, torch.SymBool, torch.SymFloat))


def _remove_sizes(module: torch.fx.GraphModule) -> None:
    """Pass models no sizes, and compute none that nothing else needs."""
    for call in [node for node in module.graph.nodes if node.op == "call_module"]:
        call.args = tuple(None if isinstance(a, torch.fx.Node) and _is_size(a) else a for a in call.args)
    module.graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output") or not _is_size(node))
    module.recompile()


def _partition_program(program: ExportedProgram, refused: Mapping[str, str]) -> torch.fx.GraphModule:
    """A copy of the program with a submodule `fused_N` for each part."""
    graph = torch.fx.Graph()
    graph.output(graph.graph_copy(program.graph, {}))
    copied = torch.fx.GraphModule(program.graph_module, graph)
    return CapabilityBasedPartitioner(copied, _KnownOperators(refused)).partition_and_fuse()


class _KnownOperators(OperatorSupportBase):
    """Nodes that were not refused; a part of several results goes with what has them."""

    def __init__(self, refused: Mapping[str, str]):
        self._refused = refused

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: torch.fx.Node) -> bool:
        if node.op != "call_function" or node.name in self._refused:
            return False
        return not _is_item(node) or self.is_node_supported(submodules, node.all_input_nodes[0])


def _models(
    module: torch.fx.GraphModule, program: ExportedProgram, build: Build
) -> tuple[dict[str, PartModel], dict[str, str]]:
    """The models of the parts by name, and the nodes that are refused, each with the reason."""
    signature = program.graph_signature
    weights = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    weights |= signature.inputs_to_lifted_tensor_constants
    changed = {*signature.buffers_to_mutate.values()}
    models, refused = {}, {}
    for call in [node for node in module.graph.nodes if node.op == "call_module"]:
        part = getattr(module, call.target)
        targets = [weights.get(operand.name) if operand.op == "placeholder" else None for operand in call.args]
        targets = [None if target in changed else target for target in targets]
        sizes = {n for n, operand in enumerate(call.args) if _is_size(operand)}
        importer = _importer(part, targets, program)
        try:
            if all(target is not None for target in targets):
                raise GraphError("it has no input")
            graph = importer.graph()
            models[call.target] = PartModel(
                build(graph), [n for n, t in enumerate(targets) if t is None and n not in sizes]
            )
        except TirError as error:
            nodes = {r.node: r.reason.partition("\n")[0] for r in importer.refusals.found}
            names = {node.name for node in program.graph.nodes if node.op == "call_function"}
            nodes = nodes or {node.name: str(error).partition("\n")[0] for node in part.graph.nodes}
            refused |= {name: reason for name, reason in nodes.items() if name in names}
    return models, refused


def _importer(part: torch.fx.GraphModule, targets: Sequence[str | None], program: ExportedProgram) -> TorchImporter:
    """The import of a part, as that of an exported program. targets: for each placeholder the weight that it is."""
    placeholders = [node for node in part.graph.nodes if node.op == "placeholder"]
    (output,) = [node for node in part.graph.nodes if node.op == "output"]
    if isinstance(output.args[0], torch.fx.Node):
        output.args = ((output.args[0],),)
    inputs = [
        InputSpec(InputKind.USER_INPUT if target is None else InputKind.PARAMETER, TensorArgument(node.name), target)
        for node, target in zip(placeholders, targets, strict=True)
        if target is not None or not _is_size(node)
    ]
    outputs = [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(str(node)), None) for node in output.args[0]]
    signature = ExportGraphSignature(inputs, outputs)
    own = PartOfProgram(part, signature, program.state_dict, program.constants, program.range_constraints)
    return TorchImporter(GraphBuilder("main"), own, {}, {}, "refuse")


class PartModel(torch.nn.Module):
    """A part as a module: runs its model on the inputs that are no weights. Tensors are passed in place if they are
    contiguous."""

    def __init__(self, model: Model, inputs: Sequence[int]):
        super().__init__()
        self.model, self.inputs = model, tuple(inputs)

    def forward(self, *args: torch.Tensor) -> object:
        return self.model(*[as_input(args[n]) for n in self.inputs])


def as_input(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor as a model takes it: contiguous, without gradients or a sign that is pending."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if tensor.is_neg():
        tensor = tensor.resolve_neg()
    return tensor if tensor.is_contiguous() else tensor.contiguous()


def _is_complex(node: torch.fx.Node) -> bool:
    values = node.meta.get("val")
    values = values if isinstance(values, (tuple, list)) else [values]
    return any(isinstance(value, torch.Tensor) and value.is_complex() for value in values)


def _is_item(node: torch.fx.Node) -> bool:
    """Whether a node is one of several results of another."""
    return node.target is operator.getitem
