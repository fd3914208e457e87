"""`relax.transform.FoldConstant`: what depends on constants only is computed when the module is rewritten."""

from __future__ import annotations

from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.compat.relax.passes import Pass, PassInfo
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, create, encoding, tensor_func
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph.expressions import Function
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.rewrite import group_of
from tir_mlir.graph.transforms.clean import erase_dead_nodes
from tir_mlir.script.module import IRModule, erase_uncalled


def FoldConstant() -> Pass:
    """Calls of operators and programs on constants become constants.

        lv = R.add(R.const([1.0, 2.0]), R.const([3.0, 4.0]))
        gv = R.multiply(x, lv)                                ->  gv = R.multiply(x, R.const([4.0, 6.0]))

    Tensors that operators make of nothing, such as R.zeros, remain where something else reads them. So do calls of
    registered functions, values of named sizes, and bfloat16, of which NumPy has no arrays.
    """
    return Pass(lambda mod, _: _folded_module(mod), PassInfo("FoldConstant"))


def _folded_module(mod: IRModule) -> IRModule:
    for name in mod.graphs:
        with enter_context():
            func = tensor_func(mod.mlir, name)
            nodes = _fixed_nodes(func)
            values = _read_outside(nodes)
        if values:
            arrays = _evaluate_constants(mod, func, nodes, values)
            with enter_context():
                for value, array in zip(values, arrays, strict=True):
                    node = Node(ir.OpResult(value).owner)
                    with ir.InsertionPoint(node.op):
                        constant = create.constant(array, func.name_of(value))
                    value.replace_all_uses_with(constant.results[0])
                erase_dead_nodes(func)
                erase_uncalled(mod.mlir)
    return mod


def _fixed_nodes(func: TensorFunc) -> list[Node]:
    """The constants, and the nodes that depend on them only, in order."""
    fixed: dict[ir.Value, None] = {}
    nodes = []
    for node in func.nodes:
        kinds = ("constant", encoding.OPERATOR, encoding.CALL_TIR)
        if node.kind in kinds and all(v in fixed for v in node.inputs) and all(map(_has_array, node.types)):
            fixed |= dict.fromkeys(node.results)
            nodes.append(node)
    return nodes


def _has_array(type_: TensorType) -> bool:
    """Whether a value of a type is an array of NumPy: its sizes are numbers."""
    return not type_.is_symbolic and type_.dtype != "bfloat16"


def _read_outside(fixed: list[Node]) -> list[ir.Value]:
    """The values of these nodes that others read; not of constants, nor of operators that make tensors of nothing."""
    ops = {node.op for node in fixed}
    computed = [node for node in fixed if node.inputs or node.kind == encoding.CALL_TIR]
    return [v for node in computed for v in node.results if any(use.owner.operation not in ops for use in v.uses)]


def _evaluate_constants(mod: IRModule, func: TensorFunc, nodes: list[Node], values: list[ir.Value]) -> list[np.ndarray]:
    """The arrays that these values of nodes are, of a graph of their own that is built and run."""
    with enter_context():
        alone = group_of(mod.mlir, func, "constants", nodes, {}, values)
        attrs.put(alone.op, encoding.KIND, encoding.GRAPH)
        name = alone.name
    arrays: Any = Graph(Function.of_module(mod, name).isolated_module, name=name).build_model(cache=False)()
    with enter_context():
        alone.op.erase()
    return list(arrays) if isinstance(arrays, tuple) else [arrays]
