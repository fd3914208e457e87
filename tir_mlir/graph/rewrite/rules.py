"""Rewrite the nodes of a graph by rules: a pattern, and what to write instead of a node that matches; move
nodes to a function of their own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, copy_op, create, encoding, node_of
from tir_mlir.dialect.ir import at_end, direct_ops, enter_context, symbols_kept
from tir_mlir.dialect.ir.op_views import CallOp, isa
from tir_mlir.graph.emit import emit
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import find_operator
from tir_mlir.graph.rewrite.pattern import DFPattern, Op
from tir_mlir.graph.size_code import GraphSizes

Matches = Mapping[DFPattern, Any]
"""What each part of a pattern stands for: a value; of the whole pattern the call."""


@dataclass(frozen=True)
class Rule:
    """before -> after: what `write(call, matches)` returns stands for the result of a call that the pattern matches.

    None: nothing changes. A rule looks at a call and at what computes its operands, not farther.
    """

    pattern: DFPattern
    write: Callable[[NodeCall, Matches], ir.Value | None]


def apply_rules(graph: Graph, rules: Sequence[Rule]) -> Graph:
    """A copy of a graph in which no rule changes anything; of two rules the first one comes first.

    Calls wait in the order of the graph; a new one, and those that read it, wait behind them. What is replaced is dead,
    and remains until `clean`.
    """
    copy = graph.clone()
    with enter_context(), symbols_kept(copy.module.mlir):
        rewriter, of_operator = Rewriter(copy), dict[Op, list[Rule]]()
        waiting = OrderedDict.fromkeys(copy.func.nodes)
        while waiting:
            node, _ = waiting.popitem(last=False)
            op = rewriter.call(node).op
            if op not in of_operator:
                of_operator[op] = [rule for rule in rules if rule.pattern.may_call(op)]
            if of_operator[op] and (new := rewriter.apply_first_rule(node, of_operator[op])):
                waiting.update(dict.fromkeys(new))
    return copy


class Rewriter:
    """The graph that is rewritten, in place, and what is asked of it again and again."""

    def __init__(self, graph: Graph):
        self.func, self.module = graph.func, graph.module.mlir
        self.sizes = GraphSizes()
        self.written: list[Node] = []
        self._callees: dict[str, tuple[str, Op, dict[str, Any]]] = {}
        self._calls: dict[ir.Operation, NodeCall] = {}
        self._definitions: dict[ir.Value, NodeCall | None] = {}
        self._types: dict[ir.Value, TensorType] = {}
        self.weights = {v for n, v in enumerate(self.func.inputs) if self.func.weight(n) is not None}
        for node in self.func.nodes:
            self._note(node)

    def _note(self, node: Node) -> None:
        """Note whether a node computes a weight: from weights and constants only."""
        if all(v in self.weights for v in node.inputs) and self.call(node).kind != encoding.PACKED:
            self.weights.update(node.results)

    def calls(self, pattern: DFPattern) -> Iterator[tuple[NodeCall, Matches]]:
        """The calls that match a pattern, in order."""
        for call in map(self.call, self.func.nodes):
            if (matches := pattern.find_matches(call, self.definition)) is not None:
                yield call, matches

    def definition(self, value: ir.Value) -> NodeCall | None:
        """What computes a value; None for an input, and one of several results."""
        if value not in self._definitions:
            node = node_of(value)
            self._definitions[value] = None if node is None or len(node.results) != 1 else self.call(node)
        return self._definitions[value]

    def call(self, node: Node) -> NodeCall:
        """A node as a call. Nodes are added and replaced, never changed or erased: each is read once."""
        if node.op not in self._calls:
            self._calls[node.op] = NodeCall(self, node)
        return self._calls[node.op]

    def operands_change(self, op: ir.Operation) -> None:
        """Another value replaces an operand of an op."""
        if (reader := self._calls.get(op)) is not None:
            reader.forget_operands()

    def type_of(self, value: ir.Value) -> TensorType:
        """The type of a value."""
        if value not in self._types:
            self._types[value] = self.func.type_of(value)
        return self._types[value]

    def apply_first_rule(self, node: Node, rules: Sequence[Rule]) -> list[Node]:
        """Apply the first rule that changes a node. Returns the nodes that are new, or read a new one."""
        if len(node.results) != 1 or next(node.results[0].uses, None) is None:
            return []
        call, self.written = self.call(node), []
        for rule in rules:
            matches = rule.pattern.find_matches(call, self.definition)
            if matches is not None and (value := rule.write(call, matches)) is not None:
                readers = [Node(use.owner) for use in node.results[0].uses if encoding.NAMES in use.owner.attributes]
                call.replace(value)
                return [*self.written, *readers]
        return []

    def add(self, node: Node) -> ir.Value:
        """Note a new node with one result."""
        self._note(node)
        self.written.append(node)
        return node.results[0]

    def facts(self, node: Node) -> tuple[str, Op, dict[str, Any]]:
        """The kind of a node, its operator, and the attributes of that."""
        if not isa(node.op, CallOp):
            return node.kind, Op.get(f"relax.{node.operator}"), node.attributes
        name = ir.FlatSymbolRefAttr(node.op.attributes["callee"]).value
        if name not in self._callees:
            self._callees[name] = node.kind, Op.get(f"relax.{node.operator}"), node.attributes
        return self._callees[name]


class NodeCall:
    """A node in the words of Relax: the operator that it calls, and what it is given; or a constant.

    What is written for it is before it, with its name.
    """

    def __init__(self, rewriter: Rewriter, node: Node):
        self.rewriter, self.node = rewriter, node
        self.kind, self.op, self.attrs = rewriter.facts(node)
        self.kinds = ("constant",) if self.kind == "constant" else ("call",)
        self._args: list[ir.Value] | None = None

    @property
    def args(self) -> list[ir.Value]:
        """Its operands, which are tensors; all else is an attribute."""
        if self._args is None:
            self._args = self.node.inputs
        return self._args

    def forget_operands(self) -> None:
        """They change."""
        self._args = None

    @property
    def all_attrs(self) -> dict[str, Any]:
        return self.attrs

    @cached_property
    def struct_info(self) -> TensorType:
        """The type of its result."""
        return self.node.types[0]

    @property
    def shape(self) -> tuple[int | str, ...]:
        return self.struct_info.shape

    def emit(
        self,
        name: str,
        args: Sequence[ir.Value],
        attrs: Mapping[str, Any] | None = None,
        makes: TensorType | None = None,
    ) -> ir.Value:
        """The result of a new call of an operator. makes: its type, where that is known: else it is inferred."""
        operator, operands = find_operator(name), [(v, self.type_of(v)) for v in args]
        module, sizes, types = self.rewriter.module, self.rewriter.sizes, None if makes is None else [makes]
        with ir.InsertionPoint(self.node.op):
            return self.rewriter.add(emit(module, operator, operands, attrs or {}, sizes, self.node.names[:1], types))

    def emit_same(
        self, args: Sequence[ir.Value], attrs: Mapping[str, Any] | None = None, makes: TensorType | None = None
    ) -> ir.Value:
        """The result of a call of the same operator; see `emit`."""
        return self.emit(self.op.short, args, self.attrs if attrs is None else attrs, makes)

    def reshape(self, value: ir.Value, shape: Sequence[int | str]) -> ir.Value:
        """The result of a reshape to a shape without sizes that are inferred."""
        shaped = TensorType(tuple(shape), self.type_of(value).dtype)
        return self.emit("reshape", [value], {"shape": list(shape)}, shaped)

    def permute(self, value: ir.Value, axes: Sequence[int]) -> ir.Value:
        """The result of a permutation of axes."""
        return self.emit("permute_dims", [value], {"axes": list(axes)}, permute_type(self.type_of(value), axes))

    def number(self, value: float, like: ir.Value | None = None, dtype: str = "float32") -> ir.Value:
        """A constant of no dimensions, of the element type of another value, or of a type."""
        dtype = dtype if like is None else self.type_of(like).dtype
        numpy_dtype = "float32" if dtype == "bfloat16" else dtype  # NumPy has no such type
        with ir.InsertionPoint(self.node.op):
            constant = self.rewriter.add(create.constant(np.asarray(value, numpy_dtype), self.node.names[0]))
        return constant if numpy_dtype == dtype else self.emit("astype", [constant], {"dtype": dtype})

    def replace(self, value: ir.Value) -> None:
        """Replace its result by a value: it is dead then."""
        result = self.node.results[0]
        for use in result.uses:
            self.rewriter.operands_change(use.owner.operation)
        result.replace_all_uses_with(value)

    def type_of(self, value: ir.Value) -> TensorType:
        return self.rewriter.type_of(value)

    def shape_of(self, value: ir.Value) -> tuple[int | str, ...]:
        return self.type_of(value).shape

    def is_weight(self, value: ir.Value) -> bool:
        """Whether a value is computed from weights and constants only."""
        return value in self.rewriter.weights

    def call_of(self, value: ir.Value) -> NodeCall:
        """The call that computes a value which a pattern of a call stands for."""
        return self.rewriter.call(Node(ir.OpResult(value).owner))

    def defining_call(self, value: ir.Value, op: DFPattern) -> NodeCall | None:
        """The call that computes a value, if it is of such an operator."""
        call = self.rewriter.definition(value)
        return call if call is not None and op.match(call.op) else None


def permute_type(type_: TensorType, axes: Sequence[int]) -> TensorType:
    """A type with its axes in another order."""
    return TensorType(tuple(type_.shape[axis] for axis in axes), type_.dtype)


def uses(value: ir.Value) -> int:
    """The number of uses of a value."""
    return sum(1 for _ in value.uses)


def group_of(
    module: ir.Module,
    func: TensorFunc,
    name: str,
    nodes: Sequence[Node],
    inputs: Mapping[ir.Value, str],
    outputs: Sequence[ir.Value],
) -> TensorFunc:
    """A group of copies of nodes, with what they read that is not an input, such as constants. inputs: with their
    names.

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
    """Replace the last of the nodes that a group has by a call of it, and erase them.

    What reads another result of them before that place moves behind it.
    """
    with ir.InsertionPoint(nodes[-1].op):
        call = create.call(group, inputs, list(map(func.type_of, outputs)), list(map(func.name_of, outputs)))
    ops = direct_ops(func.op) if len(outputs) > 1 else []
    moved, late, last = {n.op for n in nodes}, set(outputs), call.op
    for op in ops[ops.index(nodes[0].op) : ops.index(call.op)] if ops else []:
        if op not in moved and any(value in late for value in op.operands):
            op.move_after(last)
            late.update(op.results)
            last = op
    for old, new in zip(outputs, call.results, strict=True):
        old.replace_all_uses_with(new)
    for node in reversed(nodes):
        node.op.erase()
