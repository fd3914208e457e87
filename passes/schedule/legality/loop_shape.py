"""Checks on the form of a loop: bounds, annotations, thread bindings."""

from __future__ import annotations

from tir_mlir.dialect.ir import Loop
from tir_mlir.passes.schedule.legality.fixes import USE_ONE_BOUND, start_at_zero
from tir_mlir.passes.schedule.registry import check


def check_plain(loop: Loop, what: str) -> None:
    """Refuse a loop whose annotations or thread binding a rewrite would drop."""
    check(
        not loop.annotations,
        loop,
        f"loop {loop.name} has annotations {sorted(loop.annotations)}, which {what} would drop; unannotate it first",
    )
    check_no_thread(loop, what)


def check_no_thread(loop: Loop, what: str) -> None:
    """Refuse a loop whose thread binding a rewrite would drop."""
    check(not loop.is_thread, loop, f"loop {loop.name} is bound to {loop.kind}; {what} it before binding")


def check_from_zero(loop: Loop, what: str) -> None:
    """Refuse a loop that does not run from 0 to a single bound."""
    start = loop.lower.as_constant()
    shown = "a variable" if start is None else start
    check(
        start == 0,
        loop,
        f"loop {loop.name} starts at {shown}; {what} needs a loop that starts at 0",
        start_at_zero(loop),
    )
    check(
        len(loop.uppers) == 1,
        loop,
        f"loop {loop.name} ends at the minimum of several bounds; {what} needs a single one",
        USE_ONE_BOUND,
    )
