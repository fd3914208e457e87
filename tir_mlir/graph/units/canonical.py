"""The canonical text of a TensorIR function: equal functions of any models have equal text."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.calls.function_texts import callees_in, function_text, module_of
from tir_mlir.dialect.ir import attrs, direct_ops, enter_context
from tir_mlir.script.module import IRModule, PrimFunc

NAME = "f"
"""What a function is called there."""


def canonical_text(function: PrimFunc) -> str:
    """A function alone in a module, with what it calls, under one name, its ids counted from the first one, without
    locations. The name of a function of the text is `NAME`; `parsed` reads it."""
    with enter_context():
        scratch = ir.Module.create()
        with ir.InsertionPoint(scratch.body):
            copy = function.func.op.clone().operation
        text = _named_text(copy)
        if not callees_in(text):
            return module_of([text])
        alone = IRModule({NAME: function})
        _named_text(alone[NAME].func.op)
        return module_of([function_text(op) for op in direct_ops(alone.mlir.operation)])


def _named_text(op: ir.Operation) -> str:
    """Give a function the name of canonical texts, and print it."""
    op.attributes["sym_name"] = ir.StringAttr.get(NAME)
    facts = attrs.get(op, attrs.ATTRS, {})
    if facts.get("global_symbol", NAME) != NAME:
        attrs.put(op, attrs.ATTRS, {**facts, "global_symbol": NAME})
    return function_text(op)


def parse_canonical(text: str) -> PrimFunc:
    """The function of a canonical text."""
    with enter_context():
        return IRModule(ir.Module.parse(text))[NAME]
