"""The nodes of a called graph, copied to where it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, create, encoding
from tir_mlir.dialect.ir import attrs
from tir_mlir.graph.callee_types import bound_sizes, substituted
from tir_mlir.graph.emit import emit, find_operator
from tir_mlir.graph.operator_attributes import SIZE
from tir_mlir.graph.sizes import Sizes

TypedValue = tuple[ir.Value, TensorType]


def copy_body(
    module: ir.Module,
    callee: TensorFunc,
    inputs: Sequence[TypedValue],
    sizes: Sizes,
    fresh: Callable[[str], str],
    names: Sequence[str],
    callers: Sequence[str] = (),
) -> list[TypedValue]:
    """Copy the nodes of a graph to the insertion point, with other inputs, in the sizes of their types.

        @R.function
        def f(x: R.Tensor(("n",))):
            y = R.add(x, x)                                            m = ...
            return y                                  ->               y = R.add(a, a)      # (2 * m,)
        z = cls.f(a)            # a: (2 * m,)

    fresh: a free name for a node; names: of the results; callers: the graphs around this one. Returns the results.
    Errors: GraphError for inputs that do not fit, and for graphs that call each other in a circle.
    """
    if callee.name in callers:
        raise GraphError(f"graphs call each other in a circle: {' -> '.join([*callers, callee.name])}")
    parameters = [callee.input_type(n) for n in range(len(callee.inputs))]
    copy = _Copy(module, sizes, fresh, bound_sizes(callee.name, parameters, [t for _, t in inputs], sizes))
    copy.callers = [*callers, callee.name]
    copy.values = dict(zip(callee.inputs, inputs, strict=True))
    for node in callee.nodes:
        copy.values |= zip(node.results, copy.node(node), strict=True)
    for value, name in zip(callee.outputs, names, strict=True):
        if not isinstance(value, ir.BlockArgument):
            rename_results([copy.values[value][0]], [name])
    return [copy.values[value] for value in callee.outputs]


class _Copy:
    """The state of copying one body: `values` are the copies, with their types, by the values of the callee."""

    def __init__(self, module: ir.Module, sizes: Sizes, fresh: Callable[[str], str], bound: Mapping[str, int | str]):
        self.module, self.sizes, self.fresh, self.bound = module, sizes, fresh, bound
        self.callers: list[str] = []
        self.values: dict[ir.Value, TypedValue] = {}

    def node(self, node: Node) -> list[TypedValue]:
        """A copy of a node; a call of a graph is copied as what that graph does, one of a group if its types change."""
        inputs = [self.values[value] for value in node.inputs]
        names, callee = [self.fresh(name) for name in node.names], node.callee
        fits = callee is not None and [t.mlir for _, t in inputs] == [value.type for value in node.inputs]
        if callee is not None and (node.kind == encoding.GRAPH or (node.kind == encoding.GROUP and not fits)):
            return copy_body(self.module, callee, inputs, self.sizes, self.fresh, names, self.callers)
        made = self._made(node, inputs, names)
        return list(zip(made.results, made.types, strict=True))

    def _made(self, node: Node, inputs: Sequence[TypedValue], names: list[str]) -> Node:
        if node.kind == "constant":
            copy = Node(node.op.clone())
            attrs.put(copy.op, encoding.NAMES, names)
            return copy
        operator, callee = node.operator, node.callee
        if operator is not None:
            given = {name: self._attribute(value) for name, value in node.attributes.items()}
            return emit(self.module, find_operator(operator), inputs, given, self.sizes, names)
        assert callee is not None
        values, types = [v for v, _ in inputs], [self._type(t) for t in node.types]
        if node.kind == encoding.GROUP:
            return create.call(callee, values, types, names)
        if node.kind == encoding.CALL_TIR:
            return create.call_tir(self.module, callee.callee, values, types, names)
        packed = create.packed(self.module, callee.callee, [v.type for v in values], [t.mlir for t in types])
        return create.call(packed, values, types, names)

    def _type(self, type_: TensorType) -> TensorType:
        return TensorType(tuple(self._size(size) for size in type_.shape), type_.dtype)

    def _size(self, size: int | str) -> int | str:
        return substituted(size, self.bound, self.sizes)

    def _attribute(self, value: Any) -> Any:
        """An attribute with the sizes of the caller: text in a list is a size, and so is {"size": text}."""
        if isinstance(value, list):
            return [self._size(v) if isinstance(v, str) else self._attribute(v) for v in value]
        if isinstance(value, dict):
            size = self._size(value[SIZE])
            return size if isinstance(size, int) else {SIZE: size}
        return value


def rename_results(values: Sequence[ir.Value], names: Sequence[str]) -> None:
    """Give results of nodes other names: what a call of a graph returned keeps its name."""
    for value, name in zip(values, names, strict=True):
        if not isinstance(value, ir.BlockArgument) and encoding.NAMES in (op := ir.OpResult(value).owner).attributes:
            old = list(attrs.get(op, encoding.NAMES))
            old[ir.OpResult(value).result_number] = name
            attrs.put(op, encoding.NAMES, old)
