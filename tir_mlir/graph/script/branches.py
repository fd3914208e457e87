"""`if` in a graph: both branches are computed, and the condition chooses. What may fail unchosen is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.ir import entered, walk
from tir_mlir.graph.expressions import Call, Expr, Function, Op, TensorStructInfo, Tuple, TupleStructInfo
from tir_mlir.graph.expressions.read_graph import CALL_DPS_PACKED, CALL_TIR
from tir_mlir.graph.operators import OPERATORS
from tir_mlir.script.function_table import GlobalVar
from tir_mlir.script.module import PrimFunc

_INTEGER_DIVISIONS = ("div", "rem")


def check_condition(value: Any) -> None:
    """Errors: GraphError for a condition that is not one bool."""
    info = getattr(value, "struct_info", None)
    if not isinstance(info, TensorStructInfo) or info.dtype != "bool" or info.ndim != 0:
        raise GraphError(f'a condition is R.Tensor((), "bool"), not {info or value!r}')


def _divides(name: str) -> bool:
    return name in OPERATORS and OPERATORS[name].divides


def check_branch(values: Iterable[Expr], functions: Mapping[str, Any]) -> None:
    """Errors: GraphError for values of a branch that may fail, or have an effect, when the other one is chosen."""
    for value in values:
        if not isinstance(value, Call):
            continue
        if value.op == CALL_DPS_PACKED:
            raise GraphError(
                f"{value!r} may have an effect, and both branches of an `if` are computed; fix: T.prim_func"
            )
        if isinstance(value.op, Op) and _divides(value.op.short) and not _is_float(value):
            raise GraphError(
                f"{value!r} divides integers, perhaps by 0 where the other branch is chosen: both are computed; "
                "fix: divide before the `if`, by what is not 0"
            )
        if value.op == CALL_TIR and isinstance(value.args[0], GlobalVar):
            _check_program(str(value.args[0]), functions)
        if isinstance(value.op, GlobalVar) and isinstance(called := functions.get(str(value.op)), Function):
            check_branch((b.value for b in called.body.bindings), functions)


def _is_float(call: Call) -> bool:
    return "float" in str(getattr(call.struct_info, "dtype", ""))


def _check_program(name: str, functions: Mapping[str, Any]) -> None:
    program = functions.get(name)
    if not isinstance(program, PrimFunc):
        return
    with entered():
        for op in walk.ops(program.func.op):
            words = op.name.removeprefix("arith.")
            if op.name.startswith("arith.") and words.endswith("i") and any(w in words for w in _INTEGER_DIVISIONS):
                raise GraphError(
                    f"{name} divides integers, and both branches of an `if` are computed; fix: call it before the `if`"
                )


def chosen(condition: Expr, one: Expr, other: Expr) -> Expr:
    """What an `if` is worth: `where` of both values, of tuples field by field. Errors: GraphError for two types."""
    first, second = one.struct_info, other.struct_info
    if first != second:
        raise GraphError(f"the branches of an `if` make values of one type, not {first} and {second}")
    if isinstance(first, TupleStructInfo):
        return Tuple([chosen(condition, a, b) for a, b in zip(one, other, strict=True)])  # pyright: ignore[reportArgumentType]
    return Call(Op.get("relax.where"), [condition, one, other])
