"""The rules of typed views of an arena: a view is of bytes, inside its arena, at a multiple of its element."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.calls import ArenaView, is_arena_view
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Constraint, Index
from tir_mlir.dialect.presburger import constraint_set, domain, holds, only_where, question
from tir_mlir.dialect.verify.example_points import example
from tir_mlir.dialect.verify.violation import fail

RULE = "arena"


def arena_view(op: ir.Operation) -> None:
    """Check a `memref.view`."""
    view = ArenaView(op)
    if is_arena_view(view.arena.op):
        fail(op, RULE, f"{view.buffer.name} is a view of the view {view.arena.name}; make it a view of the arena")
    size, name = view.size, view.buffer.name
    if size is None:
        text = f"it is not provable that the view {name} is inside {view.arena.name}: two of its extents are symbolic"
        fail(op, RULE, text, provable=False)
    end = view.arena.dims[0] - view.offset - size
    _check(op, view, view.offset, f"the view {name} starts inside {view.arena.name}")
    _check(op, view, end, f"the view {name} ends inside {view.arena.name}")
    if not _is_multiple(op, view.offset, view.width):
        wanted = f"a multiple of {view.width}, the bytes of a {view.buffer.dtype}"
        known = view.offset.as_constant()
        has = f"byte {known} is not" if known is not None else "it is not provable that its offset is"
        fail(op, RULE, f"the view {name} starts at {wanted}: {has}", provable=known is not None)


def _is_multiple(op: ir.Operation, index: Index, factor: int) -> bool:
    number = index.as_constant()
    if number is not None:
        return number % factor == 0
    try:
        with question("where a view starts"):
            return holds(domain(op, extra=[index]), index % factor, is_eq=True)
    except (KeyError, NotProvable):
        return False


def _check(op: ir.Operation, view: ArenaView, index: Index, claim: str) -> None:
    """Check that an expression is never negative."""
    number = index.as_constant()
    if number is not None and number >= 0:
        return
    try:
        with question(claim):
            dom = domain(op, extra=[index])
            outside = dom.set.subtract(constraint_set(dom, Constraint(index)))
            if outside.is_empty():
                return
    except (KeyError, NotProvable):
        fail(op, RULE, f"it is not provable that {claim}", provable=False)
    if not dom.exact:
        fail(op, RULE, f"it is not provable that {claim}", provable=False)
    size, offset = view.size, view.offset
    begin, end = (example(dom, outside, i, op)[1] for i in (offset, offset + size))  # type: ignore[operator]
    has = example(dom, outside, view.arena.dims[0], op)[1]
    fail(
        op,
        RULE,
        f"the view {view.buffer.name} has the bytes {begin} to {end} of {view.arena.name}, which has"
        f" {has}{only_where(outside, op)}",
    )
