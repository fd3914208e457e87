"""A graph as one TensorIR program, to be interpreted or compared: no schedules, weights among the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.dialect.graph import TensorFunc, TensorType, create
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.dialect.symbolic import sources
from tir_mlir.extensions import implement
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory import buffer_assignment
from tir_mlir.graph.memory.calls_in_place import in_place_triples
from tir_mlir.graph.memory.frames import numpy_type
from tir_mlir.graph.memory.lower_main import output_shapes
from tir_mlir.graph.model_weights import given_weight
from tir_mlir.graph.transforms.clean import drop_unused_inputs
from tir_mlir.graph.transforms.inline_graphs import inlined_calls, inlined_groups, inlined_weights
from tir_mlir.graph.transforms.legalize import legalize
from tir_mlir.graph.transforms.lift_weights import constants_to_weights
from tir_mlir.graph.verification.compared_parts import lower_to_program
from tir_mlir.interpreter import Report, interpret

if TYPE_CHECKING:
    from tir_mlir.ptx.program import ProgramReport
    from tir_mlir.target import AnyTarget


def whole_program(graph: Graph) -> tuple[ir.Module, Graph]:
    """The program of a graph, and the graph that it was made of, with all its weights as inputs in order of their
    names. Errors: GraphError for a graph that calls packed functions."""
    legalized = calls_only(graph)
    with enter_context():
        return lower_to_program(legalized, legalized.name, {}), legalized


def calls_only(graph: Graph, also: Mapping[str, TensorType] | None = None) -> Graph:
    """A graph as calls of TensorIR functions and views, with its weights as inputs in order of their names. also:
    weights that are inputs in any case."""
    legalized = legalize(inlined_groups(inlined_weights(constants_to_weights(inlined_calls(graph))))).clone()
    with enter_context():
        func = legalized.func
        drop_unused_inputs(func)
        weight_names = {weight for n in range(len(func.inputs)) if (weight := func.weight(n)) is not None}
        for name, type_ in (also or {}).items():
            if name not in weight_names:
                create.add_input(func, name, type_, name)
        _weights_as_inputs(func)
    return legalized


def weight_types(graph: Graph) -> dict[str, TensorType]:
    """The weights that the program of a graph reads, with their types; also constants."""
    inlined = inlined_weights(constants_to_weights(inlined_calls(graph)))
    with enter_context():
        func = inlined.func
        named = [(func.weight(n), func.input_type(n)) for n in range(len(func.inputs))]
        return {name: type_ for name, type_ in named if name is not None}


def _weights_as_inputs(func: TensorFunc) -> None:
    """Reorder the parameters: inputs, then weights by name, all as inputs."""
    facts = attrs.argument_attrs(func.op)
    order = sorted(range(len(func.inputs)), key=lambda n: (func.weight(n) is not None, func.weight(n) or "", n))
    names = [func.weight(n) or func.input_name(n) for n in order]
    old = func.inputs
    new = [func.body.add_argument(old[n].type, ir.Location.unknown()) for n in order]
    for number, value in zip(order, new, strict=True):
        old[number].replace_all_uses_with(value)
    for number in reversed(range(len(old))):
        func.body.erase_argument(number)
    listed = []
    for number, name in zip(order, names, strict=True):
        arg_facts = {key: value for key, value in facts[number].items() if key != "graph.weight"}
        listed.append(ir.DictAttr.get({**arg_facts, attrs.NAME: ir.StringAttr.get(name)}))
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get(listed)
    create.update_type(func)


@implement(Graph.interpret)
def interpret_graph(
    graph: Graph, *inputs: np.ndarray, target: str | AnyTarget | None = None, **options: Any
) -> tuple[list[np.ndarray], Report | ProgramReport]:
    """Run a graph in Python with every access checked. Returns its outputs, and the counts. Options of `interpret`."""
    module, legalized = whole_program(graph)
    with enter_context():
        plan = buffer_assignment.plan(legalized.func, in_place_triples(legalized.module.mlir), shared=False)
    input_count = len(inputs)
    names = [name for name, _ in plan.inputs]
    weights = [
        given_weight(legalized, name, type_) for name, type_ in plan.inputs[input_count:] if name in legalized.weights
    ]
    if input_count + len(weights) != len(names):
        raise ArgumentError(f"{graph.name} takes {len(names) - len(legalized.weights)} inputs, {input_count} are given")
    places_of = sources([type_.shape for _, type_ in plan.inputs])
    sizes = {size: source.value(np.shape(inputs[source.tensor])[source.axis]) for size, source in places_of.items()}
    shapes = output_shapes(plan, sizes)
    outputs = [np.zeros(shape, numpy_type(t.dtype)) for shape, t in zip(shapes, plan.outputs, strict=True)]
    report = interpret(module, *map(np.asarray, inputs), *weights, *outputs, target=target, **options)
    return outputs, report
