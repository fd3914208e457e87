"""The functions of the graph that computes weights, apart from those of the model: they run on another machine."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.graph import TensorFunc, create, encoding, replace_node
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.bodies import bodies
from tir_mlir.graph.transforms.lift_weights import weights_graph
from tir_mlir.script.module import copy_function


def weight_callees(graph: Graph) -> frozenset[str]:
    """The TensorIR functions that the graph of the weights calls. One that the model calls as well is copied, in place.

    main_weights: cast(w)    main: cast(x)    ->    main_weights: cast_of_weights(w)    main: cast(x)
    """
    func, module = weights_graph(graph), graph.module.mlir
    if func is None:
        return frozenset()
    both = _callees(func) & frozenset[str]().union(*map(_callees, bodies(graph.func)))
    names = {name: create.fresh_symbol(module, f"{name}_of_weights") for name in sorted(both)}
    for name, fresh in names.items():
        copy_function(module, graph.module[name], fresh)
    for node in func.nodes:
        callee = node.callee
        if callee is not None and callee.kind == encoding.CALL_TIR and callee.callee in names:
            with ir.InsertionPoint(node.op):
                call = create.call_tir(module, names[callee.callee], list(node.inputs), node.types, node.names)
            replace_node(node, call.results)
    return _callees(func)


def _callees(func: TensorFunc) -> frozenset[str]:
    called = [node.callee for node in func.nodes]
    return frozenset(c.callee for c in called if c is not None and c.kind == encoding.CALL_TIR)
