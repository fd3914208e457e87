"""Which function a call is of."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Func, funcs, module_of, ops, remembered

CALL = "func.call"


def callee_of(op: ir.Operation) -> Func | None:
    """The function of the module that a `func.call` calls; None if it has no body there (an external function)."""
    if op.name != CALL:
        return None
    return _functions(module_of(op)).get(callee_name(op))


def callee_name(op: ir.Operation) -> str:
    """The name of the function that a `func.call` calls."""
    return ir.FlatSymbolRefAttr(op.attributes["callee"]).value


def is_program_call(op: ir.Operation) -> bool:
    """Whether an op calls a program of the module."""
    return callee_of(op) is not None


def calls_in(func: Func) -> list[ir.Operation]:
    """The calls of programs of the module in a function."""
    return [op for op in ops(func.op) if is_program_call(op)]


def caller_of(func: Func) -> str | None:
    """The name of a function of the module that calls a program; None if there is none."""
    for caller in funcs(module_of(func.op)):
        if any(callee_name(op) == func.name for op in ops(caller.op) if op.name == CALL):
            return caller.name
    return None


@remembered
def _functions(module: ir.Operation) -> dict[str, Func]:
    return {func.name: func for func in funcs(module)}
