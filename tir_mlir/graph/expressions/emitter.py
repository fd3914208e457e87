"""Bind calls to variables one by one: what readers of programs and builders of graphs share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import TensorType, free_name
from tir_mlir.graph.callee_types import result_types
from tir_mlir.graph.expressions.graph_function import Function, ModuleFunction
from tir_mlir.graph.expressions.nodes import (
    BindingBlock,
    Call,
    Callee,
    DataflowBlock,
    DataflowVar,
    Expr,
    Op,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
    as_expr,
)
from tir_mlir.graph.expressions.read_graph import CALL_DPS_PACKED, CALL_TIR
from tir_mlir.graph.expressions.struct_info import SIZES, StructInfo, TensorStructInfo, TupleStructInfo
from tir_mlir.graph.operators import OPERATORS
from tir_mlir.script.module import GlobalVar, PrimFunc


class BindingEmitter:
    """The bindings of one function. Calls in arguments are bound first, so that every operand is a variable."""

    def __init__(
        self,
        functions: Mapping[str, ModuleFunction],
        add_function: Callable[[PrimFunc], GlobalVar],
        names: set[str] | None = None,
    ):
        """functions: of the module, by name; add_function: puts a TensorIR function there; names: those in use."""
        self.functions, self.add_function = functions, add_function
        self.blocks: list[BindingBlock] = []
        self.values: dict[Var, Expr] = {}
        self.names = set(names or ())
        self.in_dataflow = False

    def begin_block(self, dataflow: bool) -> None:
        """Later bindings are in a new block."""
        self.blocks.append(DataflowBlock([]) if dataflow else BindingBlock([]))
        self.in_dataflow = dataflow

    def emit(self, value: object, name: str = "", output: bool = False) -> Var:
        """Bind a value to a new variable; output: it is used outside its block."""
        normalized = self.normalize(value)
        kind = DataflowVar if self.in_dataflow and not output else Var
        if not name:
            return self._bind(
                kind(self.fresh("gv" if kind is Var else "lv", numbered=True), normalized.struct_info), normalized
            )
        return self._bind(kind(self.fresh(name), normalized.struct_info), normalized)

    def emit_binding(self, binding: VarBinding) -> Var:
        """Append a binding of a variable that exists."""
        self.names.add(binding.var.name_hint)
        return self._bind(binding.var, self.normalize(binding.value))

    def _bind(self, var: Var, value: Expr) -> Var:
        if not self.blocks or isinstance(self.blocks[-1], DataflowBlock) != self.in_dataflow:
            self.begin_block(self.in_dataflow)
        var.first_of_tuple = value.first_of_tuple
        self.blocks[-1].bindings.append(VarBinding(var, value))
        self.values[var] = value
        return var

    def fresh(self, name_hint: str, numbered: bool = False) -> str:
        """`name_hint`, or with a number: lv, lv1, lv2 if `numbered`, else name, name_1."""
        name = free_name(name_hint, self.names, "" if numbered else "_")
        self.names.add(name)
        return name

    # --- normal form --------------------------------------------------------------------------------------------------

    def normalize(self, value: object) -> Expr:
        """A value whose operands are variables, constants and items of tuples, and whose type is known."""
        expr = as_expr(value)
        if isinstance(expr, Call):
            return self._call(expr)
        if isinstance(expr, Tuple):
            return Tuple([self.operand(f) for f in expr.fields])
        if isinstance(expr, TupleGetItem) and not isinstance(expr.tuple_value, Var):
            return TupleGetItem(self.operand(expr.tuple_value), expr.index)
        return expr

    def operand(self, value: object) -> Expr:
        """A value as an operand: a call is bound to a variable."""
        normalized = self.normalize(value)
        return self.emit(normalized) if isinstance(normalized, Call) else normalized

    def _call(self, call: Call) -> Call:
        args: list[Any] = [self._callee(a) if isinstance(a, PrimFunc) else self.operand(a) for a in call.args]
        op = call.op
        if op == CALL_DPS_PACKED and isinstance(self.functions.get(_symbol(args[0])), PrimFunc):
            op, args[0] = CALL_TIR, GlobalVar(_symbol(args[0]))  # a program by its name
        self._check(op, args)
        new_call = Call(op, args, call.attrs, call.sinfo_args) if _is_changed(args, call.args) else call
        if isinstance(new_call.op, GlobalVar):
            new_call.struct_info = self._call_result_info(str(new_call.op), args)
        return new_call

    def _callee(self, function: PrimFunc) -> GlobalVar:
        return self.add_function(function)

    def _check(self, op: Callee, args: Sequence[object]) -> None:
        """Errors: GraphError for a call of what is not there."""
        if isinstance(op, Op) and op.short not in OPERATORS and op.name not in CALLS:
            raise GraphError(f"no operator {op.name}; fix: call_te with a te function of your own")
        for callee in (op, *args[:3]):
            if isinstance(callee, GlobalVar) and callee not in self.functions:
                function_names = ", ".join(self.functions) or "none"
                raise GraphError(f"the module has no function {callee}; it has {function_names}")

    def _call_result_info(self, name: str, args: Sequence[Expr]) -> StructInfo:
        """What a call of another graph makes."""
        function = self.functions[name]
        if not isinstance(function, Function):
            raise GraphError(f"{name} is not a graph; fix: R.call_tir(cls.{name}, (...), out_sinfo=R.Tensor(...))")
        param_types = [tensor_type(p.struct_info, name) for p in function.params]
        ret_info = function.ret_struct_info
        results = [
            tensor_type(i, name) for i in (ret_info.fields if isinstance(ret_info, TupleStructInfo) else [ret_info])
        ]
        types = result_types(name, param_types, results, [tensor_type(a.struct_info, name) for a in args])
        infos = [TensorStructInfo(t.shape, t.dtype) for t in types]
        return TupleStructInfo(infos) if isinstance(ret_info, TupleStructInfo) else infos[0]


CALLS = ("relax.call_tir", "relax.call_dps_packed", "relax.branch", "relax.loop")
"""Calls that are not of operators."""


def _symbol(callee: object) -> str:
    return getattr(callee, "global_symbol", "")


def _is_changed(new: Sequence[object], old: Sequence[object]) -> bool:
    return any(a is not b for a, b in zip(new, old, strict=True))


def tensor_type(info: StructInfo, name: str) -> TensorType:
    if not isinstance(info, TensorStructInfo) or info.shape is None:
        raise GraphError(f"{name} is called with, or makes, {info}; graphs call each other with tensors of known shape")
    return TensorType(SIZES.shape(tuple(info.shape)), info.dtype)
