"""Move nodes of a graph to a function of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.graph import Node, TensorFunc, copy_op, create, encoding
from tir_mlir.dialect.ir import at_end, direct_ops


def group_of(
    module: ir.Module,
    func: TensorFunc,
    name: str,
    nodes: Sequence[Node],
    inputs: Mapping[ir.Value, str],
    outputs: Sequence[ir.Value],
) -> TensorFunc:
    """A group of copies of nodes, with what they read that is no input, such as constants. inputs: with their names.

    lv = R.nn.dense(x, w)                  @R.function(private=True)
    gv = R.nn.relu(lv)             ->      def fused_dense_relu(x, w): ...
    """
    group = create.graph(module, name, encoding.GROUP)
    copies = {value: create.add_input(group, named, func.type_of(value)) for value, named in inputs.items()}
    with at_end(group.body):
        for node in nodes:
            copy_op(node.op, copies)
    create.set_outputs(group, [copies[value] for value in outputs])
    return group


def call_group(
    func: TensorFunc, group: TensorFunc, nodes: Sequence[Node], inputs: Sequence[ir.Value], outputs: Sequence[ir.Value]
) -> None:
    """Call a group in the place of the last of the nodes that it has, which are erased.

    What reads another result of them before that place moves behind it.
    """
    with ir.InsertionPoint(nodes[-1].op):
        call = create.call(group, inputs, list(map(func.type_of, outputs)), list(map(func.name_of, outputs)))
    ops, moved, late, last = direct_ops(func.op), {n.op for n in nodes}, set(outputs), call.op
    for op in ops[ops.index(nodes[0].op) : ops.index(call.op)] if len(outputs) > 1 else []:
        if op not in moved and any(value in late for value in op.operands):
            op.move_after(last)
            late.update(op.results)
            last = op
    for old, new in zip(outputs, call.results, strict=True):
        old.replace_all_uses_with(new)
    for node in reversed(nodes):
        node.op.erase()
