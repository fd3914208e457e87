"""Make a TensorIR function of each operator of a graph."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, create, encoding, node_of, replace_node, tensor_funcs
from tir_mlir.dialect.ir import attrs, enter_context, symbol_table, symbols_kept
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, array_rule, kind_of
from tir_mlir.graph.size_code import symbols
from tir_mlir.graph.transforms.bodies import outermost
from tir_mlir.graph.transforms.clean import erase_dead_nodes
from tir_mlir.graph.transforms.lift_weights import constant_array, is_embedded, takes_number
from tir_mlir.graph.units.operator_unit import OperatorUse, operator_functions
from tir_mlir.script.module import copy_function


def legalize(graph: Graph, cache: bool = False) -> Graph:
    """Each operator becomes a call of a TensorIR function; equal operators on equal types share one.

        %0 = call @nn.relu(%x) : (tensor<1x128xf32>) -> tensor<1x128xf32>
    ->  func.func @nn_relu(%x: memref<1x128xf32>, %y: memref<1x128xf32>) { ... }
        %0 = call @nn_relu.call(%x) : (tensor<1x128xf32>) -> tensor<1x128xf32>

    Reshapes become views; numbers become part of the functions that compute with them. Calls of TensorIR and packed
    functions, and other constants, remain as they are; so does, in the graph that computes weights, what NumPy
    computes. cache: keep the functions by operator and types. Errors: GraphError for an operator that the table does
    not have or that does not take its operands.
    """
    legalized = graph.clone()
    module = legalized.module.mlir
    with enter_context(), symbols_kept(module):
        graphs = [f for f in tensor_funcs(module) if f.is_graph]
        counted = _data_size_ranges(graphs)
        uses = []
        for func in graphs:
            owner = outermost(func, module)
            known = attrs.get(owner.op, encoding.RANGES, {}).items()
            ranges = {name: (max(1, least), greatest) for name, (least, greatest) in known} | counted
            uses += [(owner, node, use) for node in func.nodes if (use := _use(func, node, ranges)) is not None]
        callees = _callees(module, [use for _, _, use in uses], cache)
        for owner, node, use in uses:
            _exclude_zero(owner, use, callees[use.key], counted)
            _call(module, node, use, callees[use.key])
        for func in graphs:
            erase_dead_nodes(func)
    return legalized


def _use(func: TensorFunc, node: Node, ranges: Mapping[str, tuple[int, int]]) -> OperatorUse | None:
    """What the function of a node is made of; None for a node that remains as it is. Errors: GraphError."""
    if node.kind != encoding.OPERATOR:
        return None
    name = node.operator
    if encoding.OF in func.op.attributes and array_rule(func, node) is not None:
        return None
    if name is None:
        raise GraphError(f"{node!r} calls a function that stands for no operator")
    if kind_of(name) in (OperatorKind.VIEW, OperatorKind.COUNTED):
        return None
    numbers = [_number(value) if takes_number(node) else None for value in node.inputs]
    inputs = [t if n is None else n for n, t in zip(numbers, map(func.type_of, node.inputs), strict=True)]
    ranged_sizes = [s for s in _sizes([*inputs, *node.types]) if s in ranges]
    return OperatorUse(name, node.attributes, inputs, node.types, [(s, *ranges[s]) for s in ranged_sizes])


def _data_size_ranges(graphs: Sequence[TensorFunc]) -> dict[str, tuple[int, int]]:
    """The least and the greatest value (-1: no number) of each size that data decide on."""
    counts = {}
    for func, node in ((graph, node) for graph in graphs for node in graph.nodes):
        if kind_of(node.operator) is OperatorKind.COUNTED:
            greatest, rows = func.type_of(node.inputs[0]).shape[0], node.types[0].shape[0]
            counts[str(rows)] = node.attributes.get("least", 0), greatest if isinstance(greatest, int) else -1
    return counts


def _callees(module: ir.Module, uses: Sequence[OperatorUse], cache: bool) -> dict[Hashable, str | list[int]]:
    """By what a use is: the name of a new function, or, if the operator returns inputs, their numbers."""
    callees: dict[Hashable, str | list[int]] = {}
    for use, function in zip(uses, operator_functions(uses, cache), strict=True):
        if use.key in callees:
            continue
        if isinstance(function, list):
            callees[use.key] = function
        else:
            callees[use.key] = symbol = create.fresh_symbol(module, use.name.replace(".", "_"))
            copy_function(module, function, symbol)
    return callees


def _exclude_zero(func: TensorFunc, use: OperatorUse, callee: str | list[int], counted: Collection[str]) -> None:
    """Let a graph be made for no size of 0, of those that an operator has whose function needs it, but those that data
    decide on."""
    function = None if isinstance(callee, list) else symbol_table(func.module.operation)[callee].operation
    if function is None or attrs.ASSUME not in function.attributes:
        return
    ranges = attrs.get(func.op, encoding.RANGES, {})
    for name in set(_sizes([*use.inputs, *use.results])) - set(counted):
        least, greatest = ranges.get(name, (0, -1))
        ranges = {**ranges, name: [max(1, least), greatest]}
    attrs.put(func.op, encoding.RANGES, ranges)


def _sizes(types: Sequence[TensorType | float]) -> list[str]:
    """The names in types, sorted."""
    return sorted({s for t in types if isinstance(t, TensorType) for size in t.shape for s in symbols(size)})


def _call(module: ir.Module, node: Node, use: OperatorUse, callee: str | list[int]) -> None:
    """Replace a node by a call of a function, or the inputs that it returns."""
    operands = [v for v, type_ in zip(node.inputs, use.inputs, strict=True) if isinstance(type_, TensorType)]
    if isinstance(callee, list):
        replace_node(node, [operands[number] for number in callee])
    else:
        with ir.InsertionPoint(node.op):
            replace_node(node, create.call_tir(module, callee, operands, node.types, node.names).results)


def _number(value: ir.Value) -> float | int | None:
    """The number that a value is; None if it is a tensor, or no number that remains in the text of the graph."""
    node = node_of(value)
    if node is None or node.kind != "constant" or not is_embedded(node):
        return None
    return constant_array(node).item()
