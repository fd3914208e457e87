"""Make a TensorIR function of each operator of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, TirError
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, create, encoding, tensor_funcs
from tir_mlir.dialect.ir import direct_ops, entered
from tir_mlir.graph.emit import find_operator, listed
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operator_attributes import for_te
from tir_mlir.graph.sizes import Sizes
from tir_mlir.passes.graph.places import is_view
from tir_mlir.script.module import copy_function
from tir_mlir.te import create_prim_func


def legalize(graph: Graph) -> Graph:
    """Each operator becomes a call of a TensorIR function; equal operators on equal types share one.

        %0 = call @nn.relu(%x) : (tensor<1x128xf32>) -> tensor<1x128xf32>
    ->  func.func @nn_relu(%x: memref<1x128xf32>, %y: memref<1x128xf32>) { ... }
        %0 = call @nn_relu.call(%x) : (tensor<1x128xf32>) -> tensor<1x128xf32>

    Reshapes become views. Calls of TensorIR and packed functions, and constants, stay as they are.
    Errors: GraphError for an operator that the table does not have or that does not take its operands.
    """
    made = graph.clone()
    with entered():
        rewrite = _Legalize(made)
        for func in [f for f in tensor_funcs(made.module.mlir) if f.is_graph]:
            for node in func.nodes:
                rewrite.node(func, node)
            _erase_unused(func)
    return made


class _Legalize:
    """The state of legalizing one graph."""

    def __init__(self, graph: Graph):
        self.module = graph.module
        self.sizes = Sizes()
        self.known: dict[Any, str] = {}

    def node(self, func: TensorFunc, node: Node) -> None:
        if node.kind != encoding.OPERATOR:
            return
        name = node.operator
        if name is None:
            raise GraphError(f"{node!r} calls a function that stands for no operator")
        if is_view(node):
            return
        inputs = [func.type_of(v) for v in node.inputs]
        key = name, repr(sorted(node.attributes.items())), tuple(inputs), tuple(node.types)
        if key not in self.known:
            self.known[key] = self._function(name, node.attributes, inputs, node.types)
        with ir.InsertionPoint(node.op):
            adapter = create.call_tir_adapter(
                self.module.mlir, self.known[key], [v.type for v in node.inputs], node.types
            )
            call = create.call(adapter, node.inputs, node.types, node.names)
        for old, new in zip(node.results, call.results, strict=True):
            old.replace_all_uses_with(new)
        node.op.erase()

    def _function(
        self, name: str, given: Mapping[str, Any], inputs: Sequence[TensorType], results: Sequence[TensorType]
    ) -> str:
        tensors = [self.sizes.tensor(f"x{n}", t.shape, t.dtype) for n, t in enumerate(inputs)]
        try:
            found = find_operator(name).te(*tensors, **for_te(given, self.sizes))
            made = listed(found)
            function = create_prim_func([*tensors, *made])
        except GraphError:
            raise
        except (TirError, TypeError, ValueError, IndexError) as error:
            raise GraphError(f"{name} does not take {', '.join(map(str, inputs))}: {error}") from error
        types = [TensorType(self.sizes.shape(t.shape), t.dtype) for t in made]
        if types != list(results):
            raise GraphError(f"{name} makes {', '.join(map(str, types))}; the graph has {', '.join(map(str, results))}")
        symbol = create.fresh_symbol(self.module.mlir, name.replace(".", "_"))
        copy_function(self.module.mlir, function, symbol)
        return symbol


def _erase_unused(func: TensorFunc) -> None:
    """Erase the destinations and sizes of linalg ops that are gone."""
    for op in reversed(direct_ops(func.op)[:-1]):
        if encoding.NAMES not in op.attributes and not any(True for r in op.results for _ in r.uses):
            op.erase()
