"""Print the call of a primitive, with names in place of handles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mlir import ir

from tir_mlir.dialect.incremental import tables
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import Block, Loop, is_block
from tir_mlir.dialect.symbolic import Formula
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.handles import ExprHandle, Handle, LoopHandle


class CallPrinter:
    """Prints calls of primitives: loops and blocks by name, sampled integers by value."""

    def __init__(self, module: ir.Module, values: Mapping[int, int]):
        self.module, self.values = module, values

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        return f"{name}({', '.join(f'{key}={self.value(value)}' for key, value in arguments.items())})"

    def short(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The call without arguments that equal their defaults."""
        known = PRIMITIVES[name].signature.parameters
        return self.call(name, {k: v for k, v in arguments.items() if not _is(v, known[k].default)})

    def value(self, value: Any) -> str:
        if isinstance(value, ExprHandle):
            return str(self.values.get(value.id, "<integer>"))
        if isinstance(value, (Formula, IndexMap)):
            return value.text(self.value)
        if isinstance(value, Handle):
            op = tables.find(self.module, value.id)
            if op is None:
                return f"<{value.word}>"
            return Loop(op).name if isinstance(value, LoopHandle) else repr(Block(op).name if is_block(op) else "root")
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self.value(v) for v in value) + "]"
        text = repr(value)
        return text if len(text) <= 80 else text[:60] + "..." + text[-10:]


def _is(value: Any, default: Any) -> bool:
    """Whether an argument is a default. Arrays and the like have no truth value."""
    return value is default or (type(value) is type(default) and value == default)
