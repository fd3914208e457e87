"""Checks on the form of a loop: bounds, annotations, thread bindings."""

from __future__ import annotations

from collections.abc import Iterable

from tir_mlir.dialect.ir import Loop
from tir_mlir.passes.schedule.legality.fixes import USE_ONE_BOUND, start_at_zero
from tir_mlir.passes.schedule.registry import check, refuse, warn

_STEP = {"parallel": "parallel", "vectorized": "vectorize", "unrolled": "unroll"}


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


def warn_serial(loops: Iterable[Loop], what: str) -> None:
    """Warn that `what` replaces loops that are not serial by serial ones."""
    for loop in loops:
        if loop.kind in _STEP and loop.const_extent not in (0, 1):
            warn(
                f"loop {loop.name} was {loop.kind}; {what} makes serial loops; apply {_STEP[loop.kind]} to one of them"
            )


def warn_replaced(loop: Loop, kind: str) -> None:
    """Warn that a loop takes another kind in place of the one that it has."""
    if loop.kind not in ("serial", kind):
        warn(f"loop {loop.name} was {loop.kind}, and is only {kind} now: a loop has one kind; split it to have both")


def check_from_zero(loop: Loop, what: str) -> None:
    """Refuse a loop that does not run from 0 to a single bound."""
    start = loop.lower.as_constant()
    start_text = "a variable" if start is None else start
    if start != 0:
        refuse(
            loop,
            f"loop {loop.name} starts at {start_text}; {what} needs a loop that starts at 0",
            fix=start_at_zero(loop),
        )
    check(
        len(loop.uppers) == 1,
        loop,
        f"loop {loop.name} ends at the minimum of several bounds; {what} needs a single one",
        USE_ONE_BOUND,
    )
