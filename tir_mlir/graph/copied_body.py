"""The nodes of a called graph, copied to where it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, create, encoding
from tir_mlir.dialect.ir import attrs
from tir_mlir.graph.callee_types import bound_sizes, substitute_size
from tir_mlir.graph.emit import emit
from tir_mlir.graph.operators import find_operator
from tir_mlir.graph.operators.attributes import SIZE
from tir_mlir.graph.size_code import GraphSizes

if TYPE_CHECKING:
    from tir_mlir.graph.operators.attributes import PlainAttribute

TypedValue = tuple[ir.Value, TensorType]


def copy_body(
    module: ir.Module,
    callee: TensorFunc,
    inputs: Sequence[TypedValue],
    sizes: GraphSizes,
    fresh: Callable[[str], str],
    names: Sequence[str] | None = None,
    callers: Sequence[str] = (),
    inlines: Callable[[TensorFunc], bool] = lambda _: False,
) -> list[TypedValue]:
    """Copy the nodes of a graph to the insertion point, with other inputs, in the sizes of their types.

        @R.function
        def f(x: R.Tensor(("n",))):
            y = R.add(x, x)                                            m = ...
            return y                                  ->               y = R.add(a, a)      # (2 * m,)
        z = cls.f(a)            # a: (2 * m,)

    fresh: a free name for a node; names: of the results, None: those of their nodes; callers: the graphs around this
    one; inlines: whether what a graph does replaces a call of it in the copy, as it always does where the
    types of the call change. Returns the results.
    Errors: GraphError for inputs that do not fit, and for graphs that call each other in a circle.
    """
    if callee.name in callers:
        raise GraphError(f"graphs call each other in a circle: {' -> '.join([*callers, callee.name])}")
    parameters = [callee.input_type(n) for n in range(len(callee.inputs))]
    copy = _BodyCopy(module, sizes, fresh, bound_sizes(callee.name, parameters, [t for _, t in inputs]))
    copy.callers, copy.inlines = [*callers, callee.name], inlines
    copy.values = dict(zip(callee.inputs, inputs, strict=True))
    for node in callee.nodes:
        copy.values |= zip(node.results, copy.node(node), strict=True)
    for value, name in zip(callee.outputs, names or (), strict=names is not None):
        if not isinstance(value, ir.BlockArgument):
            _rename(copy.values[value][0], name)
    return [copy.values[value] for value in callee.outputs]


class _BodyCopy:
    """The state of copying one body: `values` are the copies, with their types, by the values of the callee."""

    def __init__(
        self, module: ir.Module, sizes: GraphSizes, fresh: Callable[[str], str], bound: Mapping[str, int | str]
    ):
        self.module, self.sizes, self.fresh, self.bound = module, sizes, fresh, bound
        self.resized = any(name != size for name, size in bound.items())
        self.callers: list[str] = []
        self.inlines: Callable[[TensorFunc], bool] = lambda _: False
        self.values: dict[ir.Value, TypedValue] = {}
        self.helpers: dict[ir.Value, ir.Value] = {}

    def node(self, node: Node) -> list[TypedValue]:
        """A copy of a node; of a call of a graph what that graph does, if it is inlined or its types change."""
        inputs = [self.values[value] for value in node.inputs]
        names, callee = [self.fresh(name) for name in node.names], node.callee
        if callee is not None and callee.is_graph:
            fits = [t.mlir for _, t in inputs] == [value.type for value in node.inputs]
            if not fits or self.inlines(callee):
                call_context = self.callers, self.inlines
                return copy_body(self.module, callee, inputs, self.sizes, self.fresh, names, *call_context)
        copied = self._rebuild_node(node, inputs, names) if self.resized else self._clone(node, names)
        return list(zip(copied.results, copied.types, strict=True))

    def _clone(self, node: Node, names: list[str]) -> Node:
        copy = Node(self._clone_op(node.op))
        attrs.put(copy.op, encoding.NAMES, names)
        return copy

    def _clone_op(self, op: ir.Operation) -> ir.Operation:
        """A copy of an op, after copies of what it reads that no node computes: destinations, and sizes of these."""
        operands = [self._operand(value) for value in op.operands]
        copy = op.clone()
        for number, operand in enumerate(operands):
            copy.operands[number] = operand
        return copy

    def _operand(self, value: ir.Value) -> ir.Value:
        if value in self.values:
            return self.values[value][0]
        if value not in self.helpers:
            owner = ir.OpResult(value).owner.operation
            self.helpers |= zip(owner.results, self._clone_op(owner).results, strict=True)
        return self.helpers[value]

    def _rebuild_node(self, node: Node, inputs: Sequence[TypedValue], names: list[str]) -> Node:
        """A copy of a node of which sizes change."""
        operator, callee = node.operator, node.callee
        if node.kind == "constant":
            return self._clone(node, names)
        if operator is not None:
            attributes = {name: self._attribute(value) for name, value in node.attributes.items()}
            return emit(self.module, find_operator(operator), inputs, attributes, self.sizes, names)
        assert callee is not None
        values, types = [v for v, _ in inputs], [self._type(t) for t in node.types]
        if callee.is_graph:
            return create.call(callee, values, types, names)
        if node.kind == encoding.CALL_TIR:
            return create.call_tir(self.module, callee.callee, values, types, names)
        packed = create.declare_packed(self.module, callee.callee, [v.type for v in values], [t.mlir for t in types])
        return create.call(packed, values, types, names)

    def _type(self, type_: TensorType) -> TensorType:
        return TensorType(tuple(self._size(size) for size in type_.shape), type_.dtype)

    def _size(self, size: int | str) -> int | str:
        return substitute_size(size, self.bound)

    def _attribute(self, value: PlainAttribute) -> PlainAttribute:
        """An attribute with the sizes of the caller: text in a list is a size, and so is {"size": text}."""
        if isinstance(value, list):
            return [self._size(v) if isinstance(v, str) else self._attribute(v) for v in value]
        if isinstance(value, dict):
            size = self._size(value[SIZE])
            return size if isinstance(size, int) else {SIZE: size}
        return value


def _rename(value: ir.Value, name: str) -> None:
    """Give a result of a node another name: what a call of a graph returned keeps its name."""
    if not isinstance(value, ir.BlockArgument) and encoding.NAMES in (op := ir.OpResult(value).owner).attributes:
        names = list(attrs.get(op, encoding.NAMES))
        names[ir.OpResult(value).result_number] = name
        attrs.put(op, encoding.NAMES, names)
