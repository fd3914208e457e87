"""From anything that holds a program to a module that the interpreter takes: a copy, linalg ops as loops."""

from __future__ import annotations

from typing import Any

from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect import walk
from tir_mlir.dialect.errors import NotInterpreted
from tir_mlir.runtime.modules import clone
from tir_mlir.script.load import parse_mlir, read
from tir_mlir.script.parser import parse
from tir_mlir.script.source import Source


def module_of(program: Any) -> ir.Module:
    """A copy of the ir.Module of a module, function, Schedule, or text of TVMScript or MLIR (call inside `entered`)."""
    if isinstance(program, str):
        if "T.prim_func" in program or "I.ir_module" in program:
            return module_of(parse(program))
        text, name = read(program)
        return _loops(parse_mlir(text, Source(name, text.splitlines(keepends=True))))
    seen = program
    for _ in range(3):
        if isinstance(seen, ir.Module):
            return _loops(clone(seen))
        for attribute in ("mlir", "alone", "mod", "module"):  # alone: a PrimFunc without its neighbours
            if hasattr(seen, attribute):
                seen = getattr(seen, attribute)
                break
    kind = type(program).__name__
    raise NotInterpreted(f"interpret takes a module, a function, a Schedule, an ir.Module or text, not {kind}")


def _loops(module: ir.Module) -> ir.Module:
    names = {op.name for op in walk.ops(module.operation) if op.name.startswith("linalg.")}
    if names:
        _only_memrefs(module)
        PassManager.parse("builtin.module(convert-linalg-to-loops)").run(module.operation)
    return module


def _only_memrefs(module: ir.Module) -> None:
    for op in walk.ops(module.operation):
        for value in (*op.operands, *op.results):
            if isinstance(value.type, (ir.RankedTensorType, ir.UnrankedTensorType)):
                raise NotInterpreted(f"{op.name} works on tensors; tir_mlir.from_linalg makes memrefs of them first")
