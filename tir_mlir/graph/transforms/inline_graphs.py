"""Undo what takes a graph apart: groups, and the graph that computes weights."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.graph import Node, TensorFunc, create, encoding, free_name, replace_node, tensor_funcs
from tir_mlir.dialect.ir import attrs, direct_ops, entered
from tir_mlir.graph.copied_body import copy_body, rename_results
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.sizes import Sizes
from tir_mlir.graph.transforms.lift_weights import DERIVES, prepares
from tir_mlir.passes.graph.dead_code import drop_unused_inputs


def inlined_weights(graph: Graph) -> Graph:
    """The inverse of `lift_weights`: the graph that computes weights becomes part of the graph again."""
    with entered():
        if prepares(graph) is None:
            return graph
    made = graph.clone()
    with entered():
        func, own = made.func, prepares(made)
        assert own is not None
        known = {func.weight(n): value for n, value in enumerate(func.inputs)}
        copies: dict[ir.Value, ir.Value] = {}
        for number, value in enumerate(own.inputs):
            name = own.input_name(number)
            if name not in known:
                known[name] = create.add_input(func, name, own.input_type(number), name)
            copies[value] = known[name]
        results = _copied(own, copies, ir.InsertionPoint.at_block_begin(func.body))
        for name, value in zip(attrs.get(own.op, DERIVES), results, strict=True):
            if name in known:
                known[name].replace_all_uses_with(value)
        own.op.erase()
        drop_unused_inputs(func)
    return made


def inlined_calls(graph: Graph) -> Graph:
    """What other graphs do in place of their calls; private functions that can become one program stay groups.

        @R.function
        def f(x):
            y = R.exp(x)
            return y                  ->    lv = R.exp(x)
        lv = cls.f(x)                       gv = R.add(lv, x)
        gv = R.add(lv, x)

    The other graphs stay in the module. Errors: GraphError for graphs that call each other in a circle.
    """
    with entered():
        if not any(_called_in(func) for func in tensor_funcs(graph.module.mlir) if func.is_graph):
            return graph
    made = graph.clone()
    with entered():
        for func in [f for f in tensor_funcs(made.module.mlir) if f.is_graph]:
            names = {name for node in func.nodes for name in node.names}
            while calls := _called_in(func):
                _inline(made.module.mlir, func, calls[0], names)
    return made


def _inline(module: ir.Module, func: TensorFunc, node: Node, names: set[str]) -> None:
    """Put the nodes of the graph that a node of `func` calls in its place. names: of all nodes of `func`."""

    def fresh(name: str) -> str:
        names.add(free := free_name(name, names))
        return free

    callee = node.callee
    assert callee is not None
    inputs = [(value, func.type_of(value)) for value in node.inputs]
    with ir.InsertionPoint(node.op):
        results = copy_body(module, callee, inputs, Sizes(), fresh, node.names, [func.name])
    replace_node(node, [value for value, _ in results])


def _called_in(func: TensorFunc) -> list[Node]:
    """The calls of graphs in a graph; in a group also those of other groups."""
    calls = [(node, callee) for node in func.nodes if (callee := node.callee) is not None and callee.is_graph]
    inside = func.kind == encoding.GROUP
    return [node for node, callee in calls if inside or callee.kind == encoding.GRAPH or not _is_program(callee)]


def _is_program(group: TensorFunc) -> bool:
    """Whether a group can become one program: it returns different values, none of them an input."""
    outputs = group.outputs
    return len(set(outputs)) == len(outputs) and not any(isinstance(v, ir.BlockArgument) for v in outputs)


def inlined_groups(graph: Graph) -> Graph:
    """The inverse of `fuse_ops`: the nodes of each group in place of its call."""
    made = graph.clone()
    with entered():
        functions = tensor_funcs(made.module.mlir)
        for func in [f for f in functions if f.kind == encoding.GRAPH]:
            for node in func.nodes:
                if node.kind == encoding.GROUP and (group := node.callee) is not None:
                    copies = dict(zip(group.inputs, node.inputs, strict=True))
                    results = _copied(group, copies, ir.InsertionPoint(node.op))
                    rename_results(results, node.names)
                    replace_node(node, results)
        for func in [f for f in functions if f.kind == encoding.GROUP]:
            func.op.erase()
    return made


def _copied(func: TensorFunc, copies: dict[ir.Value, ir.Value], at: ir.InsertionPoint) -> list[ir.Value]:
    """Copy the nodes of a graph to a place where its inputs are `copies`. Returns what it returns there."""
    with at:
        for op in direct_ops(func.op)[:-1]:
            copy = op.clone()
            for number, operand in enumerate(op.operands):
                copy.operands[number] = copies[operand]
            copies |= dict(zip(op.results, copy.results, strict=True))
    return [copies[value] for value in func.outputs]
