"""Write a graph given as expressions into a module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, TirError, short_repr
from tir_mlir.dialect.graph import LoopFacts, encoding
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.extensions import implement
from tir_mlir.graph.builder import GraphBuilder, ResultType, Value, Values, value_list
from tir_mlir.graph.expressions.graph_function import Function, callees_of
from tir_mlir.graph.expressions.nodes import (
    Call,
    Constant,
    Expr,
    ExternFunc,
    Op,
    Tuple,
    TupleGetItem,
    Var,
)
from tir_mlir.graph.expressions.read_graph import BRANCH, CALL_DPS_PACKED, CALL_TIR, LOOP
from tir_mlir.graph.expressions.struct_info import StructInfo, TensorStructInfo, TupleStructInfo
from tir_mlir.graph.operators import OPERATORS
from tir_mlir.script.module import GlobalVar, IRModule, write_graphs
from tir_mlir.script.printer.graphs import REGION, WEIGHTS


def write_graph(module: IRModule, name: str, function: Function) -> None:
    """Append a graph to a module that has the functions that it calls. Errors: GraphError."""
    _GraphWriter(module, name, function).write()


class _GraphWriter:
    """Writes one graph."""

    def __init__(self, module: IRModule, name: str, function: Function):
        self.function = function
        self.builder = GraphBuilder(name, module)
        self.values: dict[Var, Values] = {}
        self.constants: dict[Constant, Value] = {}
        self.item_names = _item_names(function)

    def write(self) -> None:
        function, builder = self.function, self.builder
        func_attrs = dict(function.attrs)
        weights: Mapping[str, str] = func_attrs.pop(WEIGHTS, {})
        is_group = any([func_attrs.pop(word, 0) for word in ("Primitive", "primitive")])
        is_region = bool(func_attrs.pop(REGION, 0))
        derivation = {name: func_attrs.pop(name) for name in (encoding.OF, encoding.DERIVES) if name in func_attrs}
        for param in function.params:
            name = weights.get(param.name_hint)  # of an input of a graph that computes weights, its own name
            self.values[param] = self._parameter(param, None if derivation else name, name if derivation else None)
        for binding in function.body.bindings:
            self.values[binding.var] = self._write_binding(binding.var, binding.value)
        outputs = self._operand(function.body.body)
        builder.output(*value_list(outputs))
        with enter_context():
            if isinstance(outputs, tuple) and len(outputs) == 1:
                attrs.put(builder.func.op, encoding.UNIT_TUPLE, True)
            if is_group or is_region:
                attrs.put(builder.func.op, encoding.KIND, encoding.REGION if is_region else encoding.GROUP)
                builder.func.op.attributes["sym_visibility"] = ir.StringAttr.get("private")
            for key, value in derivation.items():
                attrs.put(builder.func.op, key, value)
            if func_attrs:
                attrs.put(builder.func.op, attrs.ATTRS, func_attrs)

    def _parameter(self, param: Var, weight: str | None, name: str | None) -> Value:
        info = param.struct_info
        if not isinstance(info, TensorStructInfo) or info.shape is None:
            raise GraphError(
                f"parameter {param.name_hint} of {self.builder.func.name} is {info}, of which the shape is not known; "
                'fix: R.Tensor((1, "n"), "float32")'
            )
        return self.builder.input(name or param.name_hint, tuple(info.shape), info.dtype, weight=weight)

    def _write_binding(self, var: Var, value: Expr) -> Values:
        """What a binding computes: a Value, or a tuple of them."""
        if not isinstance(value, Call):
            return self._operand(value)
        results = self._call(value, self._names(var))
        return (
            (results,) if isinstance(var.struct_info, TupleStructInfo) and not isinstance(results, tuple) else results
        )

    def _names(self, var: Var) -> str | list[str]:
        """The names of what a call makes: of a tuple, those that its items are bound to."""
        fields = getattr(var.struct_info, "fields", None)
        if fields is None:
            return var.name_hint
        return [self.item_names.get((var, n), f"{var.name_hint}_{n}") for n in range(len(fields))]

    def _operand(self, value: Expr) -> Any:
        if isinstance(value, Var):
            if value not in self.values:
                raise GraphError(f"{value.name_hint} is used in {self.builder.func.name}, which does not define it")
            return self.values[value]
        if isinstance(value, Constant):
            if value not in self.constants:
                self.constants[value] = self.builder.constant(value.array)
            return self.constants[value]
        if isinstance(value, Tuple):
            return tuple(self._operand(f) for f in value.fields)
        if isinstance(value, TupleGetItem):
            return self._operand(value.tuple_value)[value.index]
        if isinstance(value, Call):
            return self._call(value, "lv")
        raise GraphError(f"{value!r} is not a tensor of a graph")

    def _call(self, call: Call, name: str | list[str]) -> Values:
        op = call.op
        if op in (BRANCH, LOOP):
            return self._control(call, name)
        if op in (CALL_TIR, CALL_DPS_PACKED):
            callee, arg_tuple = call.args[0], call.args[1]
            inputs = value_list(self._operand(arg_tuple))
            results = [_result(self.builder, i) for i in call.sinfo_args]
            if isinstance(callee, ExternFunc):
                return self.builder.call_packed(callee.global_symbol, inputs, results, name_hint=name)
            return self.builder.call_tir(str(callee), inputs, results, name_hint=name)
        operands = [self._operand(a) for a in call.operands]
        if isinstance(op, GlobalVar):
            return self.builder.call(str(op), operands, name_hint=name)
        if isinstance(op, Op) and op.short in OPERATORS:
            flat = [v for o in operands for v in value_list(o)]
            return self.builder.op(op.short, *flat, **call.all_attrs, name_hint=name)
        raise GraphError(f"{op!r} is not an operator of the table, nor a function of the module")

    def _control(self, call: Call, name: str | list[str]) -> Values:
        """A branch or a loop, whose regions are in the module."""
        regions = [str(arg) for arg in call.args if isinstance(arg, GlobalVar)]
        operands = [self._operand(arg) for arg in call.args if not isinstance(arg, GlobalVar)]
        flat = [v for o in operands for v in value_list(o)]
        facts = LoopFacts(**call.attrs) if call.op == LOOP else None
        results = [_result(self.builder, i) for i in call.sinfo_args]
        return self.builder.control(regions, flat, results, facts, name_hint=name)


def _item_names(function: Function) -> dict[tuple[Var, int], str]:
    """The variables that are bound to the items of tuples."""
    names: dict[tuple[Var, int], str] = {}
    for binding in function.body.bindings:
        value = binding.value
        if isinstance(value, TupleGetItem) and isinstance(value.tuple_value, Var):
            names.setdefault((value.tuple_value, value.index), binding.var.name_hint)
    return names


def _result(builder: GraphBuilder, info: StructInfo) -> ResultType:
    if not isinstance(info, TensorStructInfo) or info.shape is None:
        raise GraphError(f"a call in {builder.func.name} makes {info}; fix: out_sinfo=R.Tensor(shape, dtype)")
    return tuple(info.shape), info.dtype


@implement(write_graphs)
def write_functions(module: IRModule, graphs: Mapping[str, Function]) -> None:
    """Append graphs to a module, those that others call first. Errors: GraphError for a circle of calls.

    A call with numbers of a graph of named sizes becomes what that graph does, see `GraphBuilder.call`.
    """
    for name, graph in graphs.items():
        if not isinstance(graph, Function):
            raise TirError(f"IRModule maps names to PrimFuncs and graphs; {name} is {short_repr(graph)}")
    done: set[str] = set()

    def write(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            raise GraphError(f"graphs call each other in a circle: {' -> '.join([*above, name])}")
        for callee in callees_of(graphs[name]):
            if callee in graphs and callee not in done:
                write(callee, (*above, name))
        write_graph(module, name, graphs[name])
        done.add(name)

    for name in graphs:
        if name not in done:
            write(name, ())
