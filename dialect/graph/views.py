"""Typed views over functions on tensors: graphs, their nodes, and the functions that nodes call.

A view wraps an op: create it where it is used, never keep it across a rewrite.
"""

from __future__ import annotations

from typing import Any

from mlir import ir

from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.graph.encoding import TensorType, read_type
from tir_mlir.dialect.ir import EachView, View, attrs, direct_ops, module_of, symbol
from tir_mlir.dialect.ir.op_views import CallOp, ConstantOp, FuncOp, isa


class Node(View, metaclass=EachView):
    """An op of a graph that computes tensors: a named linalg op, a call, or a constant."""

    @property
    def callee(self) -> TensorFunc | None:
        """The function that it calls, None of a linalg op and a constant."""
        if not isa(self.op, CallOp):
            return None
        name = ir.FlatSymbolRefAttr(self.op.attributes["callee"]).value
        return tensor_func(module_of(self.op), name)

    @property
    def kind(self) -> str:
        """The kind of the function that it calls, see `encoding`; "operator" of a linalg op, or "constant"."""
        if isa(self.op, ConstantOp):
            return "constant"
        callee = self.callee
        return encoding.OPERATOR if callee is None else callee.kind

    @property
    def operator(self) -> str | None:
        """The name of the operator, without `relax.`; None if it calls something else."""
        callee = self.callee
        return attrs.get(self.op if callee is None else callee.op, encoding.OP)

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the operator."""
        callee = self.callee
        return attrs.get(self.op if callee is None else callee.op, encoding.ATTRS, {})

    @property
    def inputs(self) -> list[ir.Value]:
        """What it reads, without the destinations of a linalg op."""
        operands = list(self.op.operands)
        return operands if isa(self.op, CallOp) else operands[: len(operands) - len(self.op.results)]

    @property
    def results(self) -> list[ir.Value]:
        return list(self.op.results)

    @property
    def names(self) -> list[str]:
        return list(attrs.get(self.op, encoding.NAMES))

    @property
    def types(self) -> list[TensorType]:
        shapes, names = attrs.get(self.op, encoding.SHAPES), attrs.get(self.op, encoding.DTYPES)
        return [
            read_type(r.type, shapes and shapes[n], names and names[n]) for n, r in enumerate(self.op.results)
        ]  # fmt: skip

    @property
    def constant(self) -> ir.Attribute:
        """The value of a constant."""
        return self.op.attributes["value"]

    def __repr__(self) -> str:
        return f"node {', '.join(self.names)}: {self.operator or self.kind}"


class TensorFunc(View, metaclass=EachView):
    """A function on tensors: a graph, a group, or what a node calls."""

    @property
    def name(self) -> str:
        return ir.StringAttr(self.op.attributes["sym_name"]).value

    @property
    def kind(self) -> str:
        return attrs.get(self.op, encoding.KIND)

    @property
    def is_graph(self) -> bool:
        """Whether its body is a graph."""
        return self.kind in (encoding.GRAPH, encoding.GROUP, encoding.REGION)

    @property
    def module(self) -> ir.Operation:
        """The module that it is in."""
        return module_of(self.op)

    @property
    def is_control(self) -> bool:
        """Whether it stands for a branch or a loop, which runs regions."""
        return self.kind in (encoding.BRANCH, encoding.LOOP)

    @property
    def regions(self) -> list[TensorFunc]:
        """The graphs that a branch or a loop runs."""
        module = module_of(self.op)
        return [tensor_func(module, name) for name in attrs.get(self.op, encoding.REGIONS, [])]

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that `R.func_attr` set."""
        return attrs.get(self.op, attrs.ATTRS, {})

    @property
    def callee(self) -> str:
        """The TensorIR or packed function that an adapter calls."""
        return attrs.get(self.op, encoding.CALLEE)

    @property
    def inputs(self) -> list[ir.Value]:
        return list(self.body.arguments)

    def input_name(self, number: int) -> str:
        return attrs.argument_attributes(self.op, number).get(attrs.NAME, f"arg{number}")

    def input_type(self, number: int) -> TensorType:
        facts = attrs.argument_attributes(self.op, number)
        return read_type(self.body.arguments[number].type, facts.get(encoding.SHAPE), facts.get(encoding.DTYPE))

    def weight(self, number: int) -> str | None:
        """The name of the weight that an argument is, None for an input."""
        return attrs.argument_attributes(self.op, number).get(encoding.WEIGHT)

    @property
    def nodes(self) -> list[Node]:
        """The nodes in order; destinations and sizes are not among them."""
        return [Node(op) for op in direct_ops(self.op) if encoding.NAMES in op.attributes]

    @property
    def terminator(self) -> ir.Operation:
        """The op at the end of the body, which is not searched for."""
        terminator = ir.InsertionPoint.at_block_terminator(self.body).ref_operation
        assert terminator is not None
        return terminator.operation

    @property
    def outputs(self) -> list[ir.Value]:
        return list(self.terminator.operands)

    @property
    def returns_tuple(self) -> bool:
        """Whether it returns a tuple in TVMScript: of several results, or of one that is marked so."""
        return len(self.outputs) != 1 or attrs.get(self.op, encoding.UNIT_TUPLE, False)

    def name_of(self, value: ir.Value) -> str:
        """The name of an argument or of a result of a node."""
        if isinstance(value, ir.BlockArgument):
            return self.input_name(ir.BlockArgument(value).arg_number)
        result = ir.OpResult(value)
        return Node(result.owner).names[result.result_number]

    def type_of(self, value: ir.Value) -> TensorType:
        """The type of an argument or of a result of a node."""
        if isinstance(value, ir.BlockArgument):
            return self.input_type(ir.BlockArgument(value).arg_number)
        result = ir.OpResult(value)
        return Node(result.owner).types[result.result_number]

    def __repr__(self) -> str:
        return f"{self.kind} {self.name}"


def is_tensor_func(op: Any) -> bool:
    """Whether an op of a module is a function of a graph, not of TensorIR."""
    return isa(op.operation, FuncOp) and encoding.KIND in op.operation.attributes


def tensor_funcs(module: ir.Module | ir.Operation) -> list[TensorFunc]:
    """The functions on tensors of a module."""
    return [TensorFunc(op) for op in direct_ops(module.operation) if is_tensor_func(op)]


def graphs(module: ir.Module) -> list[TensorFunc]:
    """The graphs of a module, without groups."""
    return [f for f in tensor_funcs(module) if f.kind == encoding.GRAPH]


def graph_bodies(module: ir.Module) -> list[TensorFunc]:
    """The graphs of a module that a user wrote, and the regions of branches and loops."""
    return [f for f in tensor_funcs(module) if f.kind in (encoding.GRAPH, encoding.REGION)]


def tensor_func(module: ir.Module | ir.Operation, name: str) -> TensorFunc:
    """A function on tensors by its symbol name. Raises KeyError."""
    op = symbol(module, name)
    if op is None:
        raise KeyError(f"the module has no function on tensors {name}")
    return TensorFunc(op)


def node_of(value: ir.Value) -> Node | None:
    """The node that a value is a result of, None for an argument."""
    return None if isinstance(value, ir.BlockArgument) else Node(ir.OpResult(value).owner)
