"""Undo what takes a graph apart: groups, and the graph that computes weights."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.graph import TensorFunc, create, encoding, replace_node, tensor_funcs
from tir_mlir.dialect.ir import attrs, direct_ops, entered
from tir_mlir.graph.graph import Graph
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
                    _named_as(results, node.names)
                    replace_node(node, results)
        for func in [f for f in functions if f.kind == encoding.GROUP]:
            func.op.erase()
    return made


def _named_as(values: list[ir.Value], names: list[str]) -> None:
    """Give results of nodes other names: what a call of a group returned keeps its name."""
    for value, name in zip(values, names, strict=True):
        if not isinstance(value, ir.BlockArgument) and encoding.NAMES in (op := ir.OpResult(value).owner).attributes:
            known = list(attrs.get(op, encoding.NAMES))
            known[ir.OpResult(value).result_number] = name
            attrs.put(op, encoding.NAMES, known)


def _copied(func: TensorFunc, copies: dict[ir.Value, ir.Value], at: ir.InsertionPoint) -> list[ir.Value]:
    """Copy the nodes of a graph to a place where its inputs are `copies`. Returns what it returns there."""
    with at:
        for op in direct_ops(func.op)[:-1]:
            copy = op.clone()
            for number, operand in enumerate(op.operands):
                copy.operands[number] = copies[operand]
            copies |= dict(zip(op.results, copy.results, strict=True))
    return [copies[value] for value in func.outputs]
