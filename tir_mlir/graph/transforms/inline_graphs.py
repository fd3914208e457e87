"""Undo what takes a graph apart: other graphs, groups, and the graph that computes weights."""

from __future__ import annotations

from collections.abc import Callable, Set

from mlir import ir

from tir_mlir.dialect.graph import TensorFunc, create, encoding, free_name, replace_node, tensor_funcs
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph.copied_body import TypedValue, copy_body
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.size_code import GraphSizes
from tir_mlir.graph.transforms.bodies import passed_weights
from tir_mlir.graph.transforms.clean import drop_unused_inputs
from tir_mlir.graph.transforms.lift_weights import DERIVES, weights_graph


def inlined_weights(graph: Graph) -> Graph:
    """The inverse of `lift_weights`: the graph that computes weights becomes part of the graph again."""
    graph = passed_weights(graph)
    with enter_context():
        if weights_graph(graph) is None:
            return graph
    inlined = graph.clone()
    with enter_context():
        func, weights_func = inlined.func, weights_graph(inlined)
        assert weights_func is not None
        parameters = {func.weight(n): value for n, value in enumerate(func.inputs)}
        derived = attrs.get(weights_func.op, DERIVES)
        fresh = _fresh_names(func, {func.name_of(parameters[name]) for name in derived if name in parameters})
        inputs: list[TypedValue] = []
        for number in range(len(weights_func.inputs)):
            name, type_ = weights_func.input_name(number), weights_func.input_type(number)
            if name not in parameters:
                parameters[name] = create.add_input(func, name, type_, name)
            inputs.append((parameters[name], type_))
        with ir.InsertionPoint.at_block_begin(func.body):
            results = copy_body(inlined.module.mlir, weights_func, inputs, GraphSizes(), fresh)
        for name, (value, _) in zip(derived, results, strict=True):
            if name in parameters:
                parameters[name].replace_all_uses_with(value)
        weights_func.op.erase()
        drop_unused_inputs(func)
    return inlined


def inlined_calls(graph: Graph) -> Graph:
    """What other graphs do instead of their calls; private functions that can become one program remain groups.

        @R.function
        def f(x):
            y = R.exp(x)
            return y                  ->    lv = R.exp(x)
        lv = cls.f(x)                       gv = R.add(lv, x)
        gv = R.add(lv, x)

    The other graphs remain in the module. Errors: GraphError for graphs that call each other in a circle.
    """

    def inlines(func: TensorFunc, callee: TensorFunc) -> bool:
        return func.kind == encoding.GROUP or callee.kind == encoding.GRAPH or not _is_program(callee)

    with enter_context():
        if not any(
            callee.is_graph and inlines(func, callee)
            for func in tensor_funcs(graph.module.mlir)
            if func.is_graph
            for node in func.nodes
            if (callee := node.callee) is not None
        ):
            return graph
    inlined = graph.clone()
    with enter_context():
        for func in [f for f in tensor_funcs(inlined.module.mlir) if f.is_graph]:
            _inline(inlined.module.mlir, func, lambda callee, func=func: inlines(func, callee))
    return inlined


def _is_program(group: TensorFunc) -> bool:
    """Whether a group can become one program: it returns different values, none of them an input."""
    outputs = group.outputs
    return len(set(outputs)) == len(outputs) and not any(isinstance(v, ir.BlockArgument) for v in outputs)


def inlined_groups(graph: Graph) -> Graph:
    """The inverse of `fuse_ops`: the nodes of each group instead of its call."""
    inlined = graph.clone()
    with enter_context():
        functions = tensor_funcs(inlined.module.mlir)
        for func in [f for f in functions if f.kind in (encoding.GRAPH, encoding.REGION)]:
            _inline(inlined.module.mlir, func, lambda callee: callee.kind == encoding.GROUP)
        for func in [f for f in functions if f.kind == encoding.GROUP]:
            func.op.erase()
    return inlined


def _inline(module: ir.Module, func: TensorFunc, inlines: Callable[[TensorFunc], bool]) -> None:
    """Replace the calls of the graphs that `inlines` picks by what these do, also of calls in these."""
    fresh = _fresh_names(func)
    for node in func.nodes:
        callee = node.callee
        if callee is not None and callee.is_graph and inlines(callee):
            inputs = [(value, func.type_of(value)) for value in node.inputs]
            with ir.InsertionPoint(node.op):
                results = copy_body(module, callee, inputs, GraphSizes(), fresh, node.names, [func.name], inlines)
            replace_node(node, [value for value, _ in results])


def _fresh_names(func: TensorFunc, dropped: Set[str] = frozenset()) -> Callable[[str], str]:
    """A function from a name to one that nothing in a graph has, which is taken then. dropped: names that get free."""
    inputs = {func.input_name(n) for n in range(len(func.inputs))}
    reserved = inputs - dropped | {name for node in func.nodes for name in node.names}

    def fresh(hint: str) -> str:
        reserved.add(free := free_name(hint, reserved))
        return free

    return fresh
