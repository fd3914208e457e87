"""The exported program of a model, in operators that are known."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from torch._ops import OperatorBase, OpOverload
from torch.export import ExportedProgram
from torch.utils._pytree import tree_leaves, tree_map

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.torch_export.constant_numbers import constant_numbers
from tir_mlir.graph.importers.torch_export.control_flow import is_control, subgraphs
from tir_mlir.graph.importers.torch_export.dynamic_sizes import Dimensions, DynamicShapes, SizeSpec
from tir_mlir.graph.importers.torch_export.export_refusals import NumberNeeded, export_refusal
from tir_mlir.graph.importers.torch_export.module_state import preserve_state
from tir_mlir.graph.operators import OPERATORS, OperatorKind

Decompositions: TypeAlias = dict[OperatorBase, Callable[..., object]]
"""What operators of torch are made of."""
_KINDS = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN_TANH", "rnn_relu": "RNN_RELU"}


def export_program(
    model: torch.nn.Module | ExportedProgram,
    args: tuple[object, ...],
    kwargs: dict[str, object],
    dynamic: DynamicShapes,
) -> tuple[ExportedProgram, dict[str, str], set[str]]:
    """The program of a module, or the one given, the names of its size symbols, {"s77": "n"}, and the sizes that are
    said to be at least 2. dynamic: see `dynamic_sizes.Dimensions`."""
    if isinstance(model, ExportedProgram):
        if dynamic is not None:
            raise GraphError(
                "from_torch: dynamic_shapes= with an ExportedProgram, whose sizes are fixed already\n"
                "  fix: pass dynamic_shapes to torch.export.export"
            )
        _check_dense({**model.state_dict, **model.constants})
        return model, {}, set()
    _check_leaves(args, kwargs)
    _check_dense({**dict(model.named_parameters()), **dict(model.named_buffers())})

    def attempt() -> tuple[ExportedProgram, dict[str, str], set[str]]:
        sizes = Dimensions(model, args, kwargs, dynamic)
        program = sizes.refine_and_export(lambda *found: _export(model, args, kwargs, *found))
        return program, sizes.names(program), sizes.from_two

    with evaluation_mode(model), preserve_state(model), keep_recurrent_calls():
        try:
            program, names, from_two = attempt()
            if not reads_numbers(program):
                return program, names, from_two
        except NumberNeeded:
            pass
        with constant_numbers(model):  # a second time, as few models read any
            return attempt()


def distinct_inputs(
    args: tuple[object, ...], kwargs: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """Example inputs of which no two are the same tensor: torch.export makes one input of two that are.

    (x, x) -> (x, x.clone())
    """
    seen: set[int] = set()

    def clone_repeated(leaf: object) -> object:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        if id(leaf) in seen:
            return leaf.detach().clone()
        seen.add(id(leaf))
        return leaf

    return tree_map(clone_repeated, (args, kwargs))


class evaluation_mode:
    """The model in evaluation mode for a while."""

    def __init__(self, model: torch.nn.Module):
        self._training = [m for m in model.modules() if m.training]

    def __enter__(self) -> None:
        for module in self._training:
            module.training = False

    def __exit__(self, *_: object) -> None:
        for module in self._training:
            module.training = True


def _export(
    model: torch.nn.Module,
    args: tuple[object, ...],
    kwargs: dict[str, object],
    dynamic_shapes: dict[str, SizeSpec] | None,
    deferred: bool,
) -> ExportedProgram:
    """deferred: what torch cannot decide of sizes is left to be checked when the program runs."""
    with torch.no_grad():
        return torch.export.export(
            model, args, kwargs, dynamic_shapes=dynamic_shapes, prefer_deferred_runtime_asserts_over_guards=deferred
        )


def _check_dense(tensors: Mapping[str, object]) -> None:
    """Refuse sparse parameters, buffers and constants by name: torch's decompositions abort the process on them."""
    for name, tensor in tensors.items():
        if isinstance(tensor, torch.Tensor) and tensor.layout is not torch.strided:
            kind = str(tensor.layout).removeprefix("torch.")
            raise GraphError(
                f"from_torch: {name} is a tensor of layout {kind}, and graphs have dense tensors only\n"
                f"  fix: store {name}.to_dense() in the model"
            )


def _check_leaves(args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    leaves = tree_leaves((args, kwargs))
    if any(isinstance(leaf, np.ndarray) for leaf in leaves):
        raise GraphError("from_torch: an example input is an array of NumPy\n  fix: torch.from_numpy(x)")
    _check_dense({f"example input {number}": leaf for number, leaf in enumerate(leaves)})


def decompose_unknown_operators(program: ExportedProgram, supported: Collection[str]) -> ExportedProgram:
    """The program without writes through views and without operators that are not known but can be decomposed.

    add_(x[1:], y) -> slice_scatter; cdist -> sqrt(sum(..)). Operators that are known remain whole.
    """
    wrapped = any(hasattr(tensor, "__tensor_flatten__") for tensor in program.state_dict.values())  # as torchao's
    if wrapped or not all(writes_are_simple(graph) for graph in subgraphs(program.graph_module)):
        program = functionalize(program)
    table: Decompositions = {}
    while unknown := {op for op in operators(program) if known_operator_name(op, supported) is None} - {*table}:
        if not table:
            every = dict(torch.export.default_decompositions().items())
        decompositions = {op: every[op] for op in unknown if op in every}
        if not decompositions:
            break
        table |= decompositions
        program = _run_decompositions(program, table)
    return program


def functionalize(program: ExportedProgram) -> ExportedProgram:
    """The program without writes to views: add_(x[1:], y) -> slice_scatter.

    An einsum of one operand, a view that torch's pass takes for memory of its own, becomes the views it is made of.
    """
    einsum = torch.ops.aten.einsum.default
    if einsum not in operators(program):
        return _run_decompositions(program, {})
    parts = dict(torch.export.default_decompositions().items())[einsum]

    def of_one(equation: str, operands: Sequence[torch.Tensor], **path: list[int] | None) -> object:
        return parts(equation, operands, **path) if len(operands) == 1 else NotImplemented  # which keeps it whole

    return _run_decompositions(program, {einsum: of_one})


def _run_decompositions(program: ExportedProgram, table: Decompositions) -> ExportedProgram:
    """The program after torch's pass, which has no writes to views; it refuses those to windows that overlap."""
    try:
        return program.run_decompositions(dict(table))
    except Exception as error:  # torch's errors have many classes
        raise export_refusal(error) from error


def operators(program: ExportedProgram) -> set[OpOverload]:
    """The operators of torch.ops that a program calls."""
    nodes = [node for graph in subgraphs(program.graph_module) for node in graph.nodes]
    return {n.target for n in nodes if isinstance(n.target, OpOverload)}


READS = ("aten.item.default", "aten._local_scalar_dense.default")
"""Operators that make a number of a tensor of one element."""


def reads_numbers(program: ExportedProgram) -> bool:
    """Whether a program reads numbers from tensors."""
    return any(str(operator) in READS for operator in operators(program))


def known_operator_name(op: object, supported: Collection[str]) -> str | None:
    """The name an operator is known by: its own, that of all overloads, or that of its form that does not write."""
    name = str(op)
    packet, _, overload = name.rpartition(".")
    forms = [name, packet]
    if packet.endswith("_") and not packet.endswith("__"):
        forms += [f"{packet[:-1]}.{overload}", packet[:-1]]
    return next((form for form in forms if form in supported), None)


# Their results share memory with no operand. Torch's schema does not say so of every operator (dropout, pad).
_FRESH = frozenset(
    "linear conv1d conv2d conv3d batch_norm layer_norm group_norm add sub mul div gelu hardtanh leaky_relu elu matmul "
    "mm bmm addmm cat stack max_pool2d avg_pool2d adaptive_avg_pool2d softmax conv_transpose2d embedding sum "
    "mean".split()
)


def _fresh_names() -> frozenset[str]:
    """The operators of torch whose result is memory of its own: those, and all that are elementwise."""
    rows = (row for row in OPERATORS.values() if row.kind is OperatorKind.ELEMENTWISE)
    return _FRESH.union(name.split(".")[0] for row in rows for name in row.torch.split())


def writes_are_simple(graph: torch.fx.Graph) -> bool:
    """Whether every write is of an operator `x_` to a value that only operators with fresh results used before: then
    later uses of x are uses of the result, and nothing else sees the write."""
    order, fresh = {node: position for position, node in enumerate(graph.nodes)}, _fresh_names()
    return all(
        _is_simple_write(node, order, fresh) for node in graph.nodes if node.op == "call_function" and _writes(node)
    )


def _writes(node: torch.fx.Node) -> bool:
    """Whether a node writes to an operand, or runs a graph of its own (a region without gradients, say)."""
    if is_control(node.target):
        return False
    schema = getattr(node.target, "_schema", None)
    return schema.is_mutable if schema is not None else node.target.__class__.__module__.startswith("torch")


def _is_simple_write(node: torch.fx.Node, order: Mapping[torch.fx.Node, int], fresh: Collection[str]) -> bool:
    operand = node.args[0]
    if not isinstance(operand, torch.fx.Node) or list(node.args).count(operand) != 1 or not _short_name(node.target)[1]:
        return False
    earlier_users = [user for user in operand.users if order[user] < order[node]]
    return all(n.op == "call_function" and _short_name(n.target)[0] in fresh for n in (operand, *earlier_users))


def _short_name(target: object) -> tuple[str, bool]:
    """("relu", True) of aten.relu_.default: the name, and whether it is the form that writes."""
    parts = str(target).split(".")
    name = parts[1] if len(parts) == 3 and parts[0] == "aten" else ""
    return (name[:-1], True) if name.endswith("_") and not name.endswith("__") else (name, False)


@contextlib.contextmanager
def keep_recurrent_calls() -> Iterator[None]:
    """nn.LSTM, GRU and RNN call `tir_mlir::recurrent`, which has no code: it is to be exported, not run.

    Sequences that are packed, and states that are projected, are left to torch.
    """
    functions = torch._VF
    former = {name: getattr(functions, name) for name in _KINDS}
    try:
        for name, function in former.items():
            setattr(functions, name, _intercept_call(_KINDS[name], function))
        yield
    finally:
        for name in former:
            delattr(functions, name)


def _intercept_call(kind: str, function: Callable[..., object]) -> Callable[..., object]:
    def call(*args: Any) -> object:
        if len(args) != 9 or not isinstance(args[3], bool):  # of a packed sequence: its sizes are the second
            return function(*args)
        x, state, weights, biases, layers, _, training, bidirectional, batch_first = args
        states = list(state) if isinstance(state, (tuple, list)) else [state]
        directions = 1 + bidirectional
        if training or len(weights) != layers * directions * (4 if biases else 2):
            return function(*args)
        results = _recurrent(kind, x, states, list(weights), biases, layers, bidirectional, batch_first)
        return tuple(results)

    return call


@torch.library.custom_op("tir_mlir::recurrent", mutates_args=())
def _recurrent(
    kind: str,
    input: torch.Tensor,  # as torch's operators name it
    states: Sequence[torch.Tensor],
    weights: Sequence[torch.Tensor],
    biases: bool,
    layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> list[torch.Tensor]:
    raise NotImplementedError("tir_mlir::recurrent is exported, not run")


@_recurrent.register_fake
def _(
    kind: str,
    input: torch.Tensor,
    states: Sequence[torch.Tensor],
    weights: Sequence[torch.Tensor],
    biases: bool,
    layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> list[torch.Tensor]:
    hidden = states[0].shape[-1] * (1 + bidirectional)
    return [input.new_empty(*input.shape[:-1], hidden), *(torch.empty_like(state) for state in states)]
