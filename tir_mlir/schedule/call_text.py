"""The text of handles, and of the calls of primitives, with names in place of handles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.incremental import versions
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import (
    Block,
    Func,
    Index,
    Loop,
    enclosing_loop_name,
    func_of,
    is_block,
    only_reads,
    symbol_name,
)
from tir_mlir.dialect.ir.size_products import is_product
from tir_mlir.dialect.symbolic import Formula
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.handles import ExprHandle, Handle, LoopHandle
from tir_mlir.script.printer.index_exprs import IndexPrinter
from tir_mlir.script.printer.precedence import ATOM, MUL, ExprText


@only_reads
def view_text(view: Loop | Block | Func) -> str:
    """`Loop 'i_0' (0..128, parallel) of main`, `Block 'C' (vi: S 0..128, vk: R 0..64) of main`."""
    if isinstance(view, Func):
        return f"Block 'root' of {view.name}"
    where = f"of {func_of(view.op).name}"
    if isinstance(view, Loop):
        span = f"{_bound(view.lowers, 'max')}..{_bound(view.uppers, 'min')}"
        return f"Loop {view.name!r} ({span}{'' if view.kind == 'serial' else f', {view.kind}'}) {where}"
    iters = [f"{it.name}: {it.kind} {_text(it.min)}..{_text((it.min + it.extent).simplified())}" for it in view.iters]
    return f"Block {view.name!r} ({', '.join(iters) or 'no iters'}) {where}"


def _bound(bounds: Sequence[Index], function: str) -> str:
    texts = [_text(bound) for bound in bounds]
    return texts[0] if len(texts) == 1 else f"{function}({', '.join(texts)})"


def _text(index: Index) -> str:
    return IndexPrinter(_name, lambda _: 0).text(index).text


def _name(value: ir.Value) -> ExprText:
    """The name of a loop variable, an iter or a shape variable."""
    loop = enclosing_loop_name(value)
    if loop is not None:
        return ExprText(loop)
    owner = value.owner
    if isinstance(owner, ir.Block) and is_block(owner.owner.operation):
        return ExprText(next(it.name for it in Block(owner.owner).iters if it.var == value))
    return ExprText(symbol_name(value), MUL if is_product(value) else ATOM)


class CallPrinter:
    """Prints calls of primitives: loops and blocks by name, sampled integers by value."""

    def __init__(self, module: ir.Module, values: Mapping[int, int]):
        self.module, self.values = module, values

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        return f"{name}({', '.join(f'{key}={self.value(value)}' for key, value in arguments.items())})"

    def short(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The call without arguments that equal their defaults."""
        parameters = PRIMITIVES[name].signature.parameters
        return self.call(name, {k: v for k, v in arguments.items() if not _is(v, parameters[k].default)})

    def value(self, value: Any) -> str:
        if isinstance(value, ExprHandle):
            return str(self.values.get(value.id, "<integer>"))
        if isinstance(value, (Formula, IndexMap)):
            return value.text(self.value)
        if isinstance(value, Handle):
            op = versions.find(self.module, value.id)
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
