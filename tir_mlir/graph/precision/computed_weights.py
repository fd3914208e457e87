"""What a graph computes from its weights alone, as arrays."""

from __future__ import annotations

from math import prod

import numpy as np
from mlir import ir

from tir_mlir.dialect.graph import encoding, node_of, tensor_func
from tir_mlir.dialect.ir import attrs, entered
from tir_mlir.graph.build_model import build_model
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.model_memory import given_weight
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.constants import constants_to_weights
from tir_mlir.graph.transforms.lift_weights import DERIVES, OF, drop_unused_inputs, lift_weights, prepares


def with_computed_weights(graph: Graph) -> Graph:
    """Compute what depends on weights only, and make it weights.

        func.func @main(%x, %w {graph.weight = "w"}) { %0 = multiply(%w, %w) ; %1 = dense(%x, %0) ; return %1 }
    ->  func.func @main(%x, %0 {graph.weight = "w"}) { %1 = dense(%x, %0) ; return %1 }

    A computed weight has the name of the one that it is computed from, if that is no longer read itself. Weights that
    are no longer read have no arrays in the result.
    """
    lifted = lift_weights(constants_to_weights(graph))
    with entered():
        weights_func = prepares(lifted)
        if weights_func is None:
            return graph
        name, derived = weights_func.name, list(attrs.get(weights_func.op, DERIVES))
        types = [(weights_func.input_name(n), weights_func.input_type(n)) for n in range(len(weights_func.inputs))]
        sources = dict(zip(derived, map(_source, weights_func.outputs), strict=True))
        sources = {name: None if n is None else weights_func.input_name(n) for name, n in sources.items()}
    arrays = _run(lifted, name, [given_weight(lifted, weight, type_) for weight, type_ in types])
    clone = lifted.clone()
    with entered():
        tensor_func(clone.module.mlir, name).op.erase()
        clone.weights |= dict(zip(derived, arrays, strict=True))
        keep_read_weights(clone)
        for name, source in sources.items():
            if name in clone.weights and source is not None and source not in clone.weights:
                _rename(clone, name, source)
    return clean(clone)


def keep_read_weights(graph: Graph) -> None:
    """Drop the weights that no node reads, in place."""
    func = graph.func
    drop_unused_inputs(func)
    read = {func.weight(n) for n in range(len(func.inputs))}
    graph.weights = {name: array for name, array in graph.weights.items() if name in read}
    graph.from_text &= frozenset(graph.weights)


def _source(value: ir.Value) -> int | None:
    """The number of the input, of as many elements, that a value is computed from; None if there is none."""
    if isinstance(value, ir.BlockArgument):
        return ir.BlockArgument(value).arg_number
    node, count = node_of(value), _count(value)
    operands = [v for v in (node.inputs if node is not None else []) if _count(v) == count]
    return _source(operands[0]) if operands else None


def _count(value: ir.Value) -> int:
    return prod(ir.RankedTensorType(value.type).shape)


def _rename(graph: Graph, name: str, new_name: str) -> None:
    """Give a weight another name."""
    func = graph.func
    facts = attrs.argument_attrs(func.op)
    for number in range(len(facts)):
        if func.weight(number) == name:
            named = {encoding.WEIGHT: ir.StringAttr.get(new_name), attrs.NAME: ir.StringAttr.get(new_name)}
            facts[number] = {**facts[number], **named}
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(f) for f in facts])
    graph.weights[new_name] = graph.weights.pop(name)


def _run(lifted: Graph, name: str, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The outputs of the graph that computes weights, which is built as a model of its own."""
    alone = lifted.clone()
    with entered():
        alone.func.op.erase()
        func = tensor_func(alone.module.mlir, name)
        del func.op.attributes[OF]
        del func.op.attributes[DERIVES]
    outputs = build_model(clean(Graph(alone.module, {}, name)))(*(np.asarray(array, order="C") for array in inputs))
    return list(outputs) if isinstance(outputs, tuple) else [outputs]
