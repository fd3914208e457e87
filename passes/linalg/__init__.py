"""Conversion of linalg ops to loops and blocks (import), and of block nests to linalg ops (export); their passes."""

from __future__ import annotations

import warnings

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import funcs
from tir_mlir.passes.linalg.from_linalg import from_linalg
from tir_mlir.passes.linalg.to_linalg import UnraisedBlock, to_linalg
from tir_mlir.passes.module_pass import ModulePass, register_in

__all__ = ["CONVERSIONS", "UnraisedBlock", "from_linalg", "to_linalg"]

CONVERSIONS: dict[str, ModulePass] = {}
conversion = register_in(CONVERSIONS)


@conversion("tir-from-linalg", "Lower linalg ops on tensors or memrefs to loops and blocks")
def _from(module: ir.Module) -> None:
    constants = from_linalg(module)
    for func in funcs(module):
        for name in constants.get(func.name, {}):
            what = f"a constant of {func.name} is the parameter {name} now; the text has no values"
            warnings.warn(f"{what} ({func.op.location})", stacklevel=2)


@conversion("tir-to-linalg", "Raise block nests that are pure tensor computations to linalg ops on memrefs")
def _to(module: ir.Module, named: str = "false", strict: str = "false") -> None:
    for stayed in to_linalg(module, _flag("named", named), _flag("strict", strict)):
        warnings.warn(f"{stayed.location}: {stayed}" if stayed.location else str(stayed), stacklevel=2)


def _flag(option: str, text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise TirError(f"option {option}={text}: expected true or false")
    return text in ("true", "1")
