"""The canonical text of a TensorIR function: equal functions of any models have equal text."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import attrs, entered
from tir_mlir.script.module import IRModule, PrimFunc

NAME = "f"
"""What a function is called there."""


def canonical_text(function: PrimFunc) -> str:
    """A function alone in a module, with what it calls, under one name, its ids counted from the first one, without
    locations. The name of a function of the text is `NAME`; `parsed` reads it."""
    with entered():
        alone = IRModule({NAME: function})
        op = alone[NAME].func.op
        facts = attrs.get(op, attrs.ATTRS, {})
        if facts.get("global_symbol", NAME) != NAME:
            attrs.put(op, attrs.ATTRS, {**facts, "global_symbol": NAME})
        return str(alone.mlir)


def parsed(text: str) -> PrimFunc:
    """The function of a canonical text."""
    with entered():
        return IRModule(ir.Module.parse(text))[NAME]
