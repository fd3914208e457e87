"""Blocks inside a loop over data (`scf.for`, `scf.while`): what an iteration leaves for the next is not modeled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir import ir

from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.incremental import contents_of
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Loop,
    View,
    data_loop_name,
    func_of,
    is_block,
    is_bound_value,
    is_data_loop,
    ops,
    parent_op,
    parents,
)
from tir_mlir.passes.schedule.registry import PRIMITIVES, refuse

_SPLIT = "in the program, put the condition into the block: T.if_then_else, or an if in its body"
_BIND = "apply this step first, while the iter is bound to a loop"
_FIX = "in the program, put the whole loop into the body of one block"


def check_data_loops(step: str, views: Iterable[View]) -> None:
    """Refuse, as not provable, a step that could move an access in or out of a loop over data that holds blocks, or
    put one beside the writes of its other iterations.

    The domain of a block in such a loop has no dimension for the loop's iterations. To a step on blocks outside, the
    loop is one op that may access what its blocks do, in any order; a step inside that moves nothing between
    iterations sees those of all of them as one. A loop over data in the body of a block without nested blocks is no
    obstacle: the block moves as a whole.
    """
    targets = [v for v in views if isinstance(v, Loop | Block | Func)]
    moves = PRIMITIVES[step].moves
    if moves == "nothing" or not targets:
        return
    ends = [v.op for v in targets if isinstance(v, Loop)] if moves == "under its loop" else []
    for view in targets if moves != "in place" else ():
        if condition := _condition_of(view, ends):
            why, fix = _decides(condition, view)
            refuse(view, f"{why}, and this step could run it elsewhere", provable=False, fix=fix)
    if moves == "in place":
        return
    for loop in _loops_with_blocks(func_of(targets[0].op).op):
        for view in targets:
            if isinstance(view, Func):
                continue
            if loop in parents(view.op):
                _refuse(view, f"is in {data_loop_name(loop)}")
            if moves == "into others" and (shared := _written_in(loop, view.op)) is not None:
                _refuse(view, f"uses {Buffer(shared).name}, which blocks in {data_loop_name(loop)} write")


def _decides(condition: ir.Operation, view: View) -> tuple[str, str]:
    """What decides whether a block runs, as part of a sentence, and the way out."""
    search = parent_op(condition)
    if is_bound_value(search):
        return f"{data_loop_name(search)}, decides where {view!r} runs", _BIND
    return f"{view!r} runs only where a condition on data holds", _SPLIT


def _refuse(view: View, what: str) -> None:
    text = f"{view!r} {what}, and what its iterations leave for each other is not modeled"
    refuse(view, text, provable=False, fix=_FIX)


def _loops_with_blocks(func: ir.Operation) -> list[ir.Operation]:
    """The loops over data around blocks; not those that only find the value of an iter, which run once."""
    contents = contents_of(func)
    inner = ops(func) if contents is None or contents.data_loops else []
    return [op for op in inner if is_data_loop(op) and not is_bound_value(op) and any(is_block(o) for o in ops(op))]


def _condition_of(view: View, ends: Sequence[ir.Operation]) -> ir.Operation | None:
    """The condition on data between a block and its scope, or the first of `ends` around the block."""
    for parent in parents(view.op):
        if is_block(parent) or parent in ends or not isinstance(view, Block):
            return None
        if parent.name == "scf.if":
            return parent
    return None


def _written_in(loop: ir.Operation, op: ir.Operation) -> ir.Value | None:
    """A buffer that an op touches and a loop writes."""
    touched = {t.buffer for t in touches(op)}
    return next((t.buffer for t in touches(loop) if t.is_write and t.buffer in touched), None)
