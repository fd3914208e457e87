"""The weights of a graph: constants become weights, and what depends on weights only moves to a graph of its own."""

from __future__ import annotations

import numpy as np
from mlir import ir

from tir_mlir.dialect.constants.dense import dense_array
from tir_mlir.dialect.graph import (
    Node,
    TensorFunc,
    TensorType,
    copy_op,
    create,
    encoding,
    free_name,
    graphs,
    replace_node,
)
from tir_mlir.dialect.ir import attrs, enter_context, symbols_kept
from tir_mlir.dialect.ir.op_views import CallOp, isa
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import is_view
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.transforms.bodies import bodies, weights_of
from tir_mlir.graph.transforms.clean import drop_unused_inputs, erase_dead_nodes, merge_equal_nodes
from tir_mlir.script.module import copy_function

DERIVES, OF = encoding.DERIVES, encoding.OF


def lift_weights(graph: Graph) -> Graph:
    """Move the nodes whose inputs are all weights to a graph of their own, which runs when weights are bound.

        func.func @main(%x, %w {graph.weight = "w"}) { %0 = permute_dims(%w) ; %1 = matmul(%x, %0) ; return %1 }
    ->  func.func @main_weights(%w) attributes {graph.derives = ["w.0"], graph.of = "main"} { return permute_dims(%w) }
        func.func @main(%x, %0 {graph.weight = "w.0"}) { %1 = matmul(%x, %0) ; return %1 }

    Weights that the graph no longer reads itself are no parameters of it. Where there is such a graph already, it is
    extended. Packed functions remain: they may have effects; and what widens rounded weights, which would take memory.
    Returns the graph itself if there is nothing to move.
    """
    with enter_context(), symbols_kept(graph.module.mlir):
        if not any(_liftable_nodes(body)[0] for body in bodies(graph.func)):
            return graph
    lifted = graph.clone()
    with enter_context(), symbols_kept(lifted.module.mlir):
        for body in bodies(lifted.func):
            if _liftable_nodes(body)[0]:
                _Lift(lifted, body).run()
        _join_equal(lifted)
    return lifted


def _join_equal(graph: Graph) -> None:
    """Let weights that two bodies compute in the same way be one."""
    func, all_bodies = weights_graph(graph), bodies(graph.func)
    if func is None or len(all_bodies) == 1:
        return
    merge_equal_nodes(func)
    firsts: dict[ir.Value, str] = {}
    names = attrs.get(func.op, DERIVES)
    same = {name: firsts.setdefault(value, name) for name, value in zip(names, func.outputs, strict=True)}
    for body in all_bodies:
        facts = attrs.argument_attrs(body.op)
        for number in range(len(body.inputs)):
            if (name := body.weight(number)) in same:
                facts[number][encoding.WEIGHT] = ir.StringAttr.get(same[str(name)])
        body.op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(f) for f in facts])
    create.set_outputs(func, list(firsts))
    attrs.put(func.op, DERIVES, list(firsts.values()))
    erase_dead_nodes(func)


def weights_graph(graph: Graph) -> TensorFunc | None:
    """The graph that computes weights of a graph, if there is one."""
    return next((f for f in graphs(graph.module.mlir) if attrs.get(f.op, OF) == graph.name), None)


def _liftable_nodes(func: TensorFunc) -> tuple[list[Node], set[ir.Value]]:
    """The nodes that depend on weights only, in order; none if all of them are views, which cost nothing. And the
    values that stand for rounded weights."""
    constant_values = {value for n, value in enumerate(func.inputs) if func.weight(n) is not None}
    stored = {value for n, value in enumerate(func.inputs) if func.weight(n) in stored_weights(func.op)}
    liftable = []
    for node in func.nodes:
        fixed = node.kind != encoding.PACKED and not any(t.is_symbolic for t in node.types)
        if fixed and all(value in constant_values for value in node.inputs) and not _widens(func, node, stored):
            liftable.append(node)
            constant_values.update(node.results)
    return (liftable if any(not costs_nothing(node) for node in liftable) else []), stored


def _widens(func: TensorFunc, node: Node, stored: set[ir.Value]) -> bool:
    """Whether a node computes another type from rounded weights: it would undo what they were rounded for."""
    read = [value for value in node.inputs if value in stored]
    types = {t.dtype for t in (*map(func.type_of, read), *node.types)}
    if read and len(types) == 1:
        stored.update(node.results)
    return bool(read) and len(types) > 1


def stored_weights(op: ir.Operation) -> set[str]:
    """The names of the weights of a graph that stand for rounded ones, see `quantize_weights`."""
    return {name for names in attrs.get(op, encoding.STORED, {}).values() for name in names}


def costs_nothing(node: Node) -> bool:
    return node.kind == "constant" or is_view(node)


class _Lift:
    """The state of lifting the weights of one graph."""

    def __init__(self, graph: Graph, func: TensorFunc):
        self.graph, self.func = graph, func
        self.bodies = bodies(graph.func)
        self.nodes, self.stored = _liftable_nodes(self.func)
        self.copies: dict[ir.Value, ir.Value] = {}
        self.taken = set(graph.weights) | {f.input_name(n) for f in self.bodies for n in range(len(f.inputs))}
        self.taken |= {name for body in self.bodies for name in weights_of(body)}

    def run(self) -> None:
        old_outputs = self._begin()
        self._copy_inputs()
        with ir.InsertionPoint(self.target.terminator):
            for node in self.nodes:  # with the destinations of a linalg op
                copy_op(node.op, self.copies)
        lifted = self._lifted_results()
        names = [self._fresh_weight_name(value) for value in lifted]
        added = create.add_inputs(self.func, [(n, self.func.type_of(v), n) for v, n in zip(lifted, names, strict=True)])
        for value, name, new in zip(lifted, names, added, strict=True):
            if value in self.stored:
                self._add_stored(value, name)
            value.replace_all_uses_with(new)
        erase_dead_nodes(self.func)
        drop_unused_inputs(self.func)
        read = {name for body in self.bodies for name in weights_of(body)}
        outputs = {name: v for name, v in old_outputs.items() if name in read} | dict(
            zip(names, (self.copies[v] for v in lifted), strict=True)
        )
        create.set_outputs(self.target, list(outputs.values()))
        attrs.put(self.target.op, DERIVES, list(outputs))
        erase_dead_nodes(self.target)
        drop_unused_inputs(self.target, weights_only=False)

    def _begin(self) -> dict[str, ir.Value]:
        """Start the graph that computes weights, or go on with the one there is. Returns its results so far by name."""
        module, weights_func = self.graph.module.mlir, weights_graph(self.graph)
        if weights_func is None:
            self.target = create.graph(module, create.fresh_symbol(module, f"{self.graph.name}_weights"))
            attrs.put(self.target.op, OF, self.graph.name)
            return {}
        self.target = weights_func
        old_outputs = dict(zip(attrs.get(weights_func.op, DERIVES), weights_func.outputs, strict=True))
        weight_values = {weights_func.input_name(n): value for n, value in enumerate(weights_func.inputs)} | old_outputs
        for number, value in enumerate(self.func.inputs):
            if (weight := self.func.weight(number)) in weight_values:
                self.copies[value] = weight_values[weight]
        return old_outputs

    def _copy_inputs(self) -> None:
        """Inputs of the new graph for the weights that its nodes read."""
        operands = dict.fromkeys(v for node in self.nodes for v in node.op.operands if isinstance(v, ir.BlockArgument))
        weights = [value for value in operands if value not in self.copies]
        numbers = [ir.BlockArgument(value).arg_number for value in weights]
        inputs = [(str(self.func.weight(number)), self.func.input_type(number), None) for number in numbers]
        self.copies |= zip(weights, create.add_inputs(self.target, inputs), strict=True)

    def _lifted_results(self) -> list[ir.Value]:
        """The values that the rest of the graph reads; views and constants remain there too, and read what they
        read."""
        moved = {node.op for node in self.nodes}
        heavy = [node for node in self.nodes if not costs_nothing(node)]
        return [value for node in heavy for value in node.results if self._escapes(value, moved)]

    def _escapes(self, value: ir.Value, moved: set[ir.Operation]) -> bool:
        """Whether a node that remains reads a value, or a view of it."""
        for use in value.uses:
            op = use.owner.operation
            if op not in moved or (is_view(Node(op)) and self._escapes(op.results[0], moved)):
                return True
        return False

    def _add_stored(self, value: ir.Value, name: str) -> None:
        """Note that a computed weight stands for the rounded weight that it is computed from."""
        while not isinstance(value, ir.BlockArgument):
            value = next(v for v in Node(ir.OpResult(value).owner).inputs if v in self.stored)
        source = self.func.weight(ir.BlockArgument(value).arg_number)
        stored = attrs.get(self.func.op, encoding.STORED)
        attrs.put(
            self.func.op,
            encoding.STORED,
            {original: [*all_, *[name] * (source in all_)] for original, all_ in stored.items()},
        )

    def _fresh_weight_name(self, value: ir.Value) -> str:
        """A name for a computed weight."""
        name = free_name(self.func.name_of(value), self.taken, ".")
        self.taken.add(name)
        return name


def derived_types(func: TensorFunc) -> dict[str, TensorType]:
    """The types of the weights that a graph computes, by name."""
    return dict(zip(attrs.get(func.op, DERIVES), map(func.type_of, func.outputs), strict=True))


def constants_to_weights(graph: Graph) -> Graph:
    """Each constant becomes a weight; equal ones share it. Numbers that all operators that read them take remain.

        func.func @main(%x: tensor<4xf32>) { %c = arith.constant dense<2.0> : tensor<f32> ... }
    ->  func.func @main(%x: tensor<4xf32>, %c: tensor<f32> {graph.weight = "c"}) { ... }
    """
    clone = graph.clone()
    with enter_context(), symbols_kept(clone.module.mlir):
        names: dict[tuple[str, bytes], str] = {}
        for func in bodies(clone.func):
            _constants_of(clone, func, names)
        clone.from_text |= set(names.values())
    return clone


def _constants_of(graph: Graph, func: TensorFunc, names: dict[tuple[str, bytes], str]) -> None:
    """Make weights of the constants of a body. names: of the weights so far, by type and value."""
    constants: dict[tuple[str, bytes], list[Node]] = {}
    for node in [n for n in func.nodes if n.kind == "constant" and not is_embedded(n)]:
        array = constant_array(node)
        constants.setdefault(key := (str(node.types[0]), array.tobytes()), []).append(node)
        if key not in names:
            names[key] = free_name(node.names[0], graph.weights)
            graph.weights[names[key]] = array
    inputs = [(nodes[0].names[0], nodes[0].types[0], names[key]) for key, nodes in constants.items()]
    parameters = create.add_inputs(func, inputs)
    for parameter, nodes in zip(parameters, constants.values(), strict=True):
        for node in nodes:
            replace_node(node, [parameter])


def is_embedded(node: Node) -> bool:
    """Whether a constant is a number that its readers compute with: it is not an operand of their functions."""
    type_ = node.types[0]
    number = type_.shape == () and type_.dtype in _NUMBERS and is_number(constant_array(node))
    return number and all(takes_number(Node(use.owner)) for use in node.results[0].uses)


_NUMBERS = ("float32", "float64", "int32", "int64")


def is_number(array: np.ndarray) -> bool:
    """Whether an array is one that the text of a function may have as a number."""
    return array.shape == () and str(array.dtype) in _NUMBERS and bool(np.isfinite(array))


def takes_number(node: Node) -> bool:
    """Whether one operand of a node may be a number: the other one is a tensor of its type and no number itself."""
    if not isa(node.op, CallOp) or kind_of(node.operator) is not OperatorKind.ELEMENTWISE or len(node.inputs) != 2:
        return False
    types = [ir.RankedTensorType(value.type) for value in node.inputs]
    return types[0].element_type == types[1].element_type and any(t.rank > 0 for t in types)


def constant_array(node: Node) -> np.ndarray:
    """The value of a constant as an array; bfloat16 as its bits."""
    dtype = node.types[0].dtype
    array = dense_array(node.constant)
    return array if dtype == "bfloat16" else array.view(dtype)


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
