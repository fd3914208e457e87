"""Make one TensorIR function of each group of calls."""

from __future__ import annotations

from collections import defaultdict

from mlir import ir

from tir_mlir.dialect.calls.callee import CALL, callee_name
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import Node, TensorFunc, create, encoding, replace_node, tensor_funcs
from tir_mlir.dialect.ir import enter_context, erase_symbol, symbols_kept
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.merge_functions import MergedCall, Slot, is_exact, merge_functions


def fuse_tir(graph: Graph) -> Graph:
    """Make a TensorIR function of each group, whose intermediate results are buffers of its own.

        @R.function(private=True)
        def fused_dense_relu(x, w):                       @T.prim_func(private=True)
            lv = R.call_tir(cls.dense, (x, w))            def fused_dense_relu(x, w, y):
            gv = R.call_tir(cls.relu, (lv,))      ->          t = T.alloc_buffer(...)
        gv = cls.fused_dense_relu(x, w)                       (loops of dense and of relu)
                                                          gv = R.call_tir(cls.fused_dense_relu, (x, w))

    Constants of a group become parameters. How the loops are fused is up to the schedule of the function. Functions
    that nothing calls any more are erased.
    """
    merged = graph.clone()
    module = merged.module.mlir
    with enter_context(), symbols_kept(module):
        users_of = _users_by_callee(module)
        for group in [f for f in tensor_funcs(module) if f.kind == encoding.GROUP]:
            users = users_of[group.name]
            constants = [_constants_at(group, node) for node in users]
            _constants_to_inputs(group)
            name, parts = group.name, _calls(group)
            erase_symbol(group.op)
            merge_functions(module, name, *parts)
            for node, operands in zip(users, constants, strict=True):
                _call_merged(module, node, name, operands)
    return clean(merged)


def _users_by_callee(module: ir.Module) -> dict[str, list[Node]]:
    """The nodes of graphs that call a function on tensors, by its name."""
    users: dict[str, list[Node]] = defaultdict(list)
    for node in [n for f in tensor_funcs(module) if f.is_graph for n in f.nodes]:
        if node.op.name == CALL:
            users[callee_name(node.op)].append(node)
    return users


def _calls(group: TensorFunc) -> tuple[list[MergedCall], list[Slot]]:
    slots: dict[ir.Value, Slot] = {v: ("input", n, 0) for n, v in enumerate(group.inputs)}
    calls: list[MergedCall] = []
    for number, node in enumerate(group.nodes):
        callee = node.callee
        if callee is None or callee.kind != encoding.CALL_TIR or not is_exact(node):
            raise GraphError(
                f"{group.name} has {node!r}, which is not a call of a program of its types; fix: one for these sizes, "
                "or the call outside of the group"
            )
        call = MergedCall(callee.callee, tuple(slots[v] for v in node.inputs), len(node.results))
        slots |= zip(node.results, call.slots(number)[len(node.inputs) :], strict=True)
        calls.append(call)
    return calls, [slots[v] for v in group.outputs]


def _constants(group: TensorFunc) -> list[Node]:
    return [node for node in group.nodes if node.kind == "constant"]


def _constants_at(group: TensorFunc, user: Node) -> list[ir.Value]:
    """Copies of the constants of a group before a call of it."""
    with ir.InsertionPoint(user.op):
        return [node.op.clone().results[0] for node in _constants(group)]


def _constants_to_inputs(group: TensorFunc) -> None:
    for node in _constants(group):
        node.results[0].replace_all_uses_with(create.add_input(group, node.names[0], node.types[0]))
        node.op.erase()


def _call_merged(module: ir.Module, node: Node, name: str, constants: list[ir.Value]) -> None:
    with ir.InsertionPoint(node.op):
        call = create.call_tir(module, name, [*node.inputs, *constants], node.types, node.names)
    replace_node(node, call.results)
