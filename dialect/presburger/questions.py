"""Questions to isl, each with a budget of its own.

isl counts operations for the process. A question starts at zero, and so does what is computed inside it for later
questions too (a set that is asked for first, another question): afterwards the outer one goes on with what it had left.
What a question may use is therefore the same whatever was asked, and is remembered, before.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir.memo import given_operations

STEP_OPERATIONS = 100_000
"""For a question of a step: at most some tenths of a second."""

BUILD_OPERATIONS = 10_000_000
"""For a question that decides whether a kernel is built: it is asked once, and no other step can be tried."""

_lock = threading.RLock()  # the counter is that of the process


@contextmanager
def question(what: str, operations: int = 0) -> Iterator[None]:
    """Limit isl to a budget for one question: that of `tir_mlir.budget`, else `operations`, else that of a step.

    Errors: NotProvable if it is exceeded, or if isl cannot express the question.
    """
    most = given_operations() or operations or STEP_OPERATIONS
    try:
        with counter(most):
            yield
    except isl.Error as error:
        reason = "not expressible as integer sets"
        if "operations" in str(error):
            more = f"`with tir_mlir.budget({10 * most:_}):` gives it more"
            reason = f"isl exceeded its budget of {most:,} operations ({more})"
        raise NotProvable(f"{what}: undecided, {reason}") from error


@contextmanager
def counter(most: int) -> Iterator[None]:
    """Count isl's operations from zero, up to `most` (0: without a limit); afterwards go on as before."""
    ctx = isl.DEFAULT_CONTEXT
    with _lock:
        outer = ctx.get_max_operations()
        left = max(outer - used_operations(), 1) if outer else 0
        ctx.reset_operations()
        ctx.set_max_operations(most)
        try:
            yield
        finally:
            ctx.reset_operations()
            ctx.set_max_operations(left)


def used_operations() -> int:
    """The operations that isl has counted. It tells them only by refusing to go on: a search for the limit at which it
    does."""
    ctx = isl.DEFAULT_CONTEXT
    limit, probes = ctx.get_max_operations(), 0

    def is_below(bound: int) -> bool:
        nonlocal probes
        ctx.set_max_operations(bound + probes)
        try:
            isl.Space.set_alloc(ctx, 0, 0)  # one operation
        except isl.Error:
            return False
        probes += 1
        return True

    low, high = 0, 64
    while not is_below(high):
        low, high = high, 8 * high
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_below(middle) else (middle, high)
    ctx.set_max_operations(limit)
    return high - 1
