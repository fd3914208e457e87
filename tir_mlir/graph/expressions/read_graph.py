"""Read a graph of a module into expressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, encoding
from tir_mlir.dialect.ir import attrs
from tir_mlir.graph.expressions.nodes import (
    Call,
    Constant,
    DataflowBlock,
    DataflowVar,
    Expr,
    ExternFunc,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from tir_mlir.graph.expressions.struct_info import SIZES, TensorStructInfo, TupleStructInfo
from tir_mlir.graph.operators import takes_tuple
from tir_mlir.graph.operators.attributes import for_te
from tir_mlir.script.module import GlobalVar
from tir_mlir.script.printer.graphs import REGION, WEIGHTS, constant_array

if TYPE_CHECKING:
    from tir_mlir.graph.expressions.graph_function import Function

CALL_TIR = Op.get("relax.call_tir")
CALL_DPS_PACKED = Op.get("relax.call_dps_packed")
BRANCH, LOOP = Op.get("relax.branch"), Op.get("relax.loop")


@dataclass
class ReadGraph:
    """The parts of a graph as expressions."""

    params: list[Var]
    body: SeqExpr
    attributes: dict[str, object]


def read_graph(func: TensorFunc) -> ReadGraph:
    """A graph as expressions: a variable for each parameter and each value, one dataflow block."""
    values: dict[ir.Value, Expr] = {}
    params = []
    for number, value in enumerate(func.inputs):
        values[value] = Var(func.input_name(number), info(func.input_type(number)))
        params.append(values[value])
    outputs = set(func.outputs)
    bindings: list[VarBinding] = []
    for node in func.nodes:
        _read_node(node, values, outputs, bindings)
    results = [values[v] for v in func.outputs]
    body = Tuple(results) if func.returns_tuple else results[0]
    attributes: dict[str, object] = dict(func.attributes)
    if (owner := attrs.get(func.op, encoding.OF)) is not None:
        attributes |= {encoding.OF: owner, encoding.DERIVES: attrs.get(func.op, encoding.DERIVES)}
    weights = {func.input_name(n): w for n in range(len(func.inputs)) if (w := func.weight(n)) is not None}
    if weights:
        attributes[WEIGHTS] = weights
    if func.kind == encoding.GROUP:
        attributes.setdefault("Primitive", 1)
    if func.kind == encoding.REGION:
        attributes[REGION] = 1
    return ReadGraph(params, SeqExpr([DataflowBlock(bindings)] if bindings else [], body), attributes)


def info(type_: TensorType) -> TensorStructInfo:
    """The type of a value of a graph."""
    return TensorStructInfo(type_.shape, type_.dtype)


def _read_node(node: Node, values: dict[ir.Value, Expr], outputs: set[ir.Value], bindings: list[VarBinding]) -> None:
    infos = [info(t) for t in node.types]
    if node.kind == "constant":
        values[node.results[0]] = Constant(constant_array(node))
        return
    value = _value(node, [values[v] for v in node.inputs], infos)
    if len(infos) == 1:
        var = (Var if node.results[0] in outputs else DataflowVar)(node.names[0], infos[0])
        values[node.results[0]] = var
        bindings.append(VarBinding(var, value))
        return
    tuple_var = DataflowVar(f"{node.names[0]}_tuple", TupleStructInfo(infos))
    bindings.append(VarBinding(tuple_var, value))
    for number, (result, name) in enumerate(zip(node.results, node.names, strict=True)):
        var = (Var if result in outputs else DataflowVar)(name, infos[number])
        values[result] = var
        bindings.append(VarBinding(var, TupleGetItem(tuple_var, number)))


def _value(node: Node, inputs: list[Expr], infos: list[TensorStructInfo]) -> Expr:
    if node.kind == encoding.OPERATOR:
        operands = [Tuple(inputs)] if takes_tuple(node.operator) else inputs
        return Call(Op.get(f"relax.{node.operator}"), operands, for_te(node.attributes, SIZES))
    callee = node.callee
    assert callee is not None
    if node.kind == encoding.CALL_TIR:
        return Call(CALL_TIR, [GlobalVar(callee.callee), Tuple(inputs)], sinfo_args=infos)
    if node.kind == encoding.BRANCH:
        regions = [GlobalVar(region.name) for region in callee.regions]
        return Call(BRANCH, [inputs[0], *regions, Tuple(inputs[1:])], sinfo_args=infos)
    if node.kind == encoding.LOOP:
        facts = attrs.get(callee.op, encoding.ATTRS)
        return Call(LOOP, [GlobalVar(callee.regions[0].name), Tuple(inputs)], facts, sinfo_args=infos)
    if node.kind == encoding.PACKED:
        return Call(CALL_DPS_PACKED, [ExternFunc(callee.callee), Tuple(inputs)], sinfo_args=infos)
    called = Call(GlobalVar(callee.name), inputs)
    called.struct_info = infos[0] if len(infos) == 1 else TupleStructInfo(infos)
    return called


def nodes_of(func: Function, graph: TensorFunc) -> dict[Var, Node]:
    """The nodes of a graph by the variables that are bound to their calls, of the graph as a function."""
    bound = [binding.var for binding in func.body.bindings if isinstance(binding.value, Call)]
    return dict(zip(bound, [node for node in graph.nodes if node.kind != "constant"], strict=True))
