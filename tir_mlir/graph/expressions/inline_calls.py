"""Graphs that a graph calls become part of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tir_mlir.dialect.graph import TensorType
from tir_mlir.graph.callee_types import bound_sizes, substituted
from tir_mlir.graph.expressions.emitter import tensor_type
from tir_mlir.graph.expressions.graph_function import Function, called
from tir_mlir.graph.expressions.nodes import Call, Expr, ShapeExpr, Tuple, TupleGetItem, Var
from tir_mlir.graph.expressions.struct_info import SIZES, TensorStructInfo, TupleStructInfo
from tir_mlir.graph.expressions.visitors import PyExprMutator
from tir_mlir.script.function_table import GlobalVar
from tir_mlir.te import Expr as TeExpr


def inlined_calls(func: Function) -> Function:
    """The graph with the bodies of the graphs that it calls, in its own sizes; groups of operators stay calls.

    def square(x: R.Tensor(("n",))): gv = R.multiply(x, x)
    lv = cls.square(y)                                          ->      lv = R.multiply(y, y)
    """
    programs = getattr(func.home, "prim_funcs", {})
    if func.home is None or all(name in programs for name in called(func)):  # other graphs are not read for nothing
        return func
    return _inlined(func, func.home.functions, lambda callee, _: not callee.attrs.get("Primitive"))


def inlined_misfits(func: Function, functions: Mapping[str, Any]) -> Function:
    """The graph with the bodies of graphs of named sizes in place of calls with numbers, which MLIR does not have."""
    return _inlined(func, functions, _is_misfit)


Choice = Callable[[Function, list[TensorType]], bool]
"""Whether to inline a graph that is called with tensors of these types."""


def _inlined(func: Function, functions: Mapping[str, Any], choice: Choice) -> Function:
    if not any(isinstance(functions.get(name), Function) for name in called(func)):
        return func
    rewriter = _Inline(functions, choice)
    inlined = rewriter.visit_expr(func)
    inlined.home, inlined.name = func.home, func.name
    return inlined if rewriter.has_inlined else func


def _is_misfit(callee: Function, arguments: list[TensorType]) -> bool:
    params = [tensor_type(p.struct_info, callee.name) for p in callee.params]
    pairs = [pair for w, h in zip(params, arguments, strict=False) for pair in zip(w.shape, h.shape, strict=False)]
    return any(isinstance(want, str) and isinstance(have, int) for want, have in pairs)


class _Inline(PyExprMutator):
    def __init__(self, functions: Mapping[str, Any], choice: Choice):
        super().__init__()
        self.builder_.functions.update(functions)
        self.functions, self.choice, self.has_inlined = functions, choice, False

    def visit_call_(self, call: Call) -> Any:
        return self._value(self.visit_expr_post_order(call))

    def _value(self, value: Any) -> Any:
        """A value; of a call of a graph what the graph computes."""
        callee = self.functions.get(str(value.op)) if isinstance(value, Call) else None
        if not isinstance(value, Call) or not isinstance(value.op, GlobalVar) or not isinstance(callee, Function):
            return value
        arguments = [self.builder_.emitter.operand(a) for a in value.args]
        types = [tensor_type(a.struct_info, callee.name) for a in arguments]
        if not self.choice(callee, types):
            return value
        self.has_inlined = True
        sizes = bound_sizes(callee.name, [tensor_type(p.struct_info, callee.name) for p in callee.params], types, SIZES)
        operands: dict[Var, Any] = dict(zip(callee.params, arguments, strict=True))
        for binding in callee.body.bindings:
            inner = self._value(_rewritten(binding.value, operands, sizes))
            operands[binding.var] = (
                self.builder_.emit(inner, binding.var.name_hint) if isinstance(inner, Call) else inner
            )
        return _rewritten(callee.body.body, operands, sizes)


def _rewritten(value: Any, operands: Mapping[Var, Any], sizes: Mapping[str, int | str]) -> Any:
    """A value of a called graph with operands and sizes of its caller."""
    if isinstance(value, Var):
        return operands[value]
    if isinstance(value, Tuple):
        return Tuple([_rewritten(f, operands, sizes) for f in value.fields])
    if isinstance(value, TupleGetItem):
        whole = _rewritten(value.tuple_value, operands, sizes)
        return whole.fields[value.index] if isinstance(whole, Tuple) else TupleGetItem(whole, value.index)
    if isinstance(value, ShapeExpr):
        return ShapeExpr(_resized(tuple(value), sizes))
    if not isinstance(value, Call):
        return value
    arguments = [_rewritten(a, operands, sizes) if isinstance(a, (Expr, ShapeExpr)) else a for a in value.args]
    types = [_type(info, sizes) for info in value.sinfo_args]
    return Call(value.op, arguments, {k: _resized(v, sizes) for k, v in value.attrs.items()}, types or None)


def _type(info: Any, sizes: Mapping[str, int | str]) -> Any:
    if isinstance(info, TupleStructInfo):
        return TupleStructInfo([_type(f, sizes) for f in info.fields])
    if not isinstance(info, TensorStructInfo) or info.shape is None:
        return info
    return TensorStructInfo(_resized(tuple(info.shape), sizes), info.dtype)


def _resized(value: Any, sizes: Mapping[str, int | str]) -> Any:
    """An attribute, or sizes, in which names of sizes are those of the caller."""
    if isinstance(value, (tuple, list)):
        return tuple(_resized(v, sizes) for v in value)
    return SIZES.expression(substituted(SIZES.text(value), sizes, SIZES)) if isinstance(value, TeExpr) else value
