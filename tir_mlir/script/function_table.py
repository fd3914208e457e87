"""Changes of the functions of a module: replace, add, remove."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.graph import encoding, tensor_funcs
from tir_mlir.dialect.ir import attrs, direct_ops, visit


class GlobalVar(str):
    """The name of a function of a module, as TVM has it."""

    kinds = ("global_var",)

    @property
    def name_hint(self) -> str:
        return str(self)


def erase_functions(module: ir.Module, names: Collection[str]) -> None:
    """Remove functions, whoever calls them."""
    for op in direct_ops(module.operation):
        if attrs.get(op, "sym_name") in names:
            op.erase()


def erase_uncalled(module: ir.Module) -> None:
    """Remove what stands for operators and callees of graphs that no node calls any more."""
    called = called_names(module)
    for func in tensor_funcs(module):
        if func.kind in (encoding.OPERATOR, encoding.CALL_TIR, encoding.PACKED) and func.name not in called:
            func.op.erase()


def called_names(module: ir.Module) -> set[str]:
    """The functions that some function calls."""
    callees: set[str] = set()

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name == "func.call":
            callees.add(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
        return ir.WalkResult.ADVANCE

    visit(module.operation, look)
    return callees


def check_names(functions: Mapping[Any, Any]) -> None:
    """Errors: TirError for a key that is not a name."""
    for name in functions:
        if not isinstance(name, str) or not name:
            raise TirError(f"a module has functions by name; {name!r} is not one")
