"""One-line descriptions of loops and blocks, for the repr of handles."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

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
