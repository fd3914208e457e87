"""Make functions of the parts of a graph that match a pattern."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.expressions.graph_function import Function
from tir_mlir.graph.expressions.nodes import (
    Call,
    Constant,
    DataflowBlock,
    Expr,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from tir_mlir.graph.expressions.pattern_rewriting import var_values, written
from tir_mlir.graph.expressions.read_graph import CALL_TIR
from tir_mlir.graph.expressions.visitors import remove_all_unused
from tir_mlir.graph.rewrite import DFPattern
from tir_mlir.script.function_table import GlobalVar

Functions = Callable[[str, Function], str]
"""The name under which a function is kept, given the name that it would have and the function."""


@dataclass
class Part:
    """The bindings of a graph that match a pattern together."""

    root: Var
    matches: dict[DFPattern, Any]
    """What each part of the pattern stands for."""
    members: list[Var] = field(default_factory=list)
    """The variables that are bound to what the pattern describes, in the order of the graph."""


def parts_of(func: Function, pattern: DFPattern, is_taken: Callable[[Part], bool]) -> list[Part]:
    """The parts of a graph that match a pattern, first the one whose result comes first; each value is in one.

    is_taken: whether to take a part. Errors: GraphError for a part that reads what is computed from it outside of it.
    """
    values, taken = var_values(func), set[Var]()
    order = {var: number for number, var in enumerate(values)}
    parts = []
    for var, value in values.items():
        matches = pattern.matched(value, values.get) if isinstance(value, Call | TupleGetItem) else None
        if var in taken or matches is None:
            continue
        described = {e for p, e in matches.items() if p.parts and isinstance(e, Var) and e in values}
        members = sorted({var, *described}, key=order.__getitem__)
        part = Part(var, matches, members)
        if taken.isdisjoint(members) and is_taken(part):
            _check_closed(func, part, values)
            parts.append(part)
            taken |= set(members)
    return parts


def _check_closed(func: Function, part: Part, values: Mapping[Var, Expr]) -> None:
    """Errors: GraphError for a part that reads a value that is computed from it outside of it."""
    after: set[Var] = set()  # outside, computed from the part
    for var, value in values.items():
        read = set(variables(value))
        if var in part.members:
            if culprit := next((v for v in read if v in after), None):
                raise GraphError(
                    f"the part of {func.name} that ends with {part.root!r} reads {culprit!r}, which is computed from "
                    "it outside of the pattern; fix: a pattern that has it as well, or a check that is False here"
                )
        elif not read.isdisjoint(part.members) or not read.isdisjoint(after):
            after.add(var)


def variables(value: Any) -> list[Var]:
    """The variables that a value reads, in order."""
    if isinstance(value, Var):
        return [value]
    return [v for part in _operands(value) for v in variables(part)]


def _operands(value: Any) -> list[Any]:
    if isinstance(value, Call):
        return value.args
    if isinstance(value, Tuple):
        return value.fields
    return [value.tuple_value] if isinstance(value, TupleGetItem) else []


def outlined(
    func: Function, parts: list[Part], attrs: Callable[[Part], Mapping[str, Any]], add: Functions, bind_constants: bool
) -> Function:
    """The graph with a call of a function for each part; what others read of a part, its function returns.

        lv = R.nn.conv2d(x, w); gv = R.nn.relu(lv)      ->      gv = cls.fused_relax_nn_conv2d_relax_nn_relu(x, w)

    attrs: the attributes of the function of a part; add: keeps it. bind_constants: constants become part of the
    function, else they are its last parameters.
    """
    values, functions = dict(var_values(func)), {}
    for part in parts:
        new, arguments, results = _function_of(func, part, var_values(func), bind_constants)
        new = new.with_body(new.body, attrs(part))
        name = add(_name(part, var_values(func)), new)
        functions[name] = new
        call = Call(GlobalVar(name), arguments)
        call.struct_info = new.ret_struct_info
        for number, var in enumerate(results):
            values[var] = call if len(results) == 1 else TupleGetItem(call, number)
    home = {} if func.home is None else func.home.functions
    return remove_all_unused(written(func, values, {**home, **functions})) if parts else func


def _function_of(
    func: Function, part: Part, values: Mapping[Var, Expr], bind_constants: bool
) -> tuple[Function, list[Expr], list[Var]]:
    """The function of a part, what it is called with, and the variables that it computes for others."""
    inside = set(part.members)
    outside = [v for var, value in values.items() if var not in inside for v in variables(value)]
    read = {*outside, *variables(func.body.body)}
    results = [v for v in part.members if v in read or v is part.root]
    inputs = dict.fromkeys(v for var in part.members for v in variables(values[var]) if v not in inside)
    new: dict[Any, Any] = {var: Var(var.name_hint, var.struct_info) for var in inputs}
    constants = [] if bind_constants else list(dict.fromkeys(c for v in part.members for c in _constants(values[v])))
    new |= {c: Var(f"param_{number}", c.struct_info) for number, c in enumerate(constants)}
    params = list(new.values())
    bindings = []
    for var in part.members:
        value = _with(values[var], new)
        new[var] = Var(var.name_hint, var.struct_info)
        bindings.append(VarBinding(new[var], value))
    body = new[results[0]] if len(results) == 1 else Tuple([new[v] for v in results])
    outlined_part = Function(params, SeqExpr([DataflowBlock(bindings)], body), home=func.home)
    return outlined_part, [*inputs, *constants], results


def _constants(value: Any) -> list[Constant]:
    if isinstance(value, Constant):
        return [value]
    return [c for part in _operands(value) for c in _constants(part)]


def _with(value: Any, new: Mapping[Any, Any]) -> Any:
    """A value with other operands."""
    if isinstance(value, (Var, Constant)):
        return new.get(value, value)
    if isinstance(value, Tuple):
        return Tuple([_with(f, new) for f in value.fields])
    if isinstance(value, TupleGetItem):
        return TupleGetItem(_with(value.tuple_value, new), value.index)
    if not isinstance(value, Call):
        return value
    call = Call(value.op, [_with(a, new) for a in value.args], value.attrs, value.sinfo_args or None)
    call.struct_info = value.struct_info
    return call


def _name(part: Part, values: Mapping[Var, Expr]) -> str:
    """`fused_relax_nn_conv2d_relax_nn_relu`: the names of what is called."""
    calls = [value for var in part.members if isinstance(value := values[var], Call)]
    words = [str(c.args[0]) if c.op == CALL_TIR else str(getattr(c.op, "name", c.op)) for c in calls]
    return "_".join(["fused", *(word.replace(".", "_") for word in words)])


def uses(func: Function) -> dict[Var, list[Var]]:
    """The variables that are bound to values that read each variable."""
    readers: dict[Var, list[Var]] = {var: [] for var in (*func.params, *var_values(func))}
    for var, value in var_values(func).items():
        for one in dict.fromkeys(variables(value)):
            readers.setdefault(one, []).append(var)
    return readers
