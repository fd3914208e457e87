"""Blocks inside a loop over data (`scf.for`, `scf.while`): what an iteration leaves for the next is not modeled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir import ir

from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Loop,
    View,
    contents_of,
    data_loop_name,
    func_of,
    is_block,
    is_data_loop,
    ops,
    parents,
)
from tir_mlir.passes.schedule.registry import refuse

# these move no access, or only within the iterations of one loop nest
_LOCAL = (
    "add_unit_loop", "annotate", "unannotate", "annotate_buffer_access", "bind", "fuse", "parallel", "reorder",
    "set_scope", "split", "storage_align", "unroll", "vectorize",
)  # fmt: skip
# these leave a block under the conditions around it
_IN_PLACE = (
    "blockize", "cache_inplace", "cache_read", "cache_write", "loop_partition", "merge", "reindex",
    "reindex_cache_read", "reindex_cache_write", "reorder_block_iter_var", "rfactor", "tensorize",
    "transform_block_layout", "transform_layout", "unannotate_buffer_access", "unsafe_hide_buffer_access",
    "unsafe_set_dtype", "version_loop",
)  # fmt: skip
# these change what is under their loop alone: a condition around that loop stays around all of it
_UNDER_LOOP = ("read_at", "write_at")
_SPLIT = "in the program, put the condition into the block: T.if_then_else, or an if in its body"
_FIX = "in the program, put the whole loop into the body of one block"


def check_data_loops(step: str, views: Iterable[View]) -> None:
    """Refuse, as not provable, a step that could move an access in or out of a loop over data that holds blocks.

    The domain of a block in such a loop has no dimension for the loop's iterations. A loop over data in the body of a
    block without nested blocks is no obstacle: the block moves as a whole.
    """
    found = [v for v in views if isinstance(v, Loop | Block | Func)]
    if step in _LOCAL or not found:
        return
    ends = [v.op for v in found if isinstance(v, Loop)] if step in _UNDER_LOOP else []
    for view in found if step not in _IN_PLACE else ():
        if condition := _condition_of(view, ends):
            text = f"{view!r} runs only where a condition on data holds, and this step could run it elsewhere"
            refuse(condition if isinstance(view, Func) else view, text, provable=False, fix=_SPLIT)
    func = func_of(found[0].op).op
    known = contents_of(func)
    inner = ops(func) if known is None or known.data_loops else []
    for loop in [op for op in inner if is_data_loop(op) and any(is_block(o) for o in ops(op))]:
        for view in found:
            if isinstance(view, Func):
                continue
            shared = [b for b in _touched(view.op) if b in _touched(loop)]
            if loop in parents(view.op) or shared:
                what = f"is in {data_loop_name(loop)}" if loop in parents(view.op) else _shares(shared[0], loop)
                refuse(
                    view,
                    f"{view!r} {what}, and what its iterations leave for each other is not modeled",
                    provable=False,
                    fix=_FIX,
                )


def _condition_of(view: View, ends: Sequence[ir.Operation]) -> ir.Operation | None:
    """The condition on data between a block and its scope, or the first of `ends` around the block."""
    for parent in parents(view.op):
        if is_block(parent) or parent in ends or not isinstance(view, Block):
            return None
        if parent.name == "scf.if":
            return parent
    return None


def _touched(op: ir.Operation) -> list[ir.Value]:
    return list(dict.fromkeys(a.buffer for a in touches(op)))


def _shares(buffer: ir.Value, loop: ir.Operation) -> str:
    return f"uses {Buffer(buffer).name}, as blocks in {data_loop_name(loop)} do"
