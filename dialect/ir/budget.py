"""How much work a proof may be: what the user gives instead of the defaults of steps and builds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tir_mlir.dialect.diagnostics import TirError, short_repr

_given: ContextVar[int | None] = ContextVar("budget", default=None)


def given_operations() -> int | None:
    """The operations of the innermost `budget` of this thread; None outside."""
    return _given.get()


@contextmanager
def budget(operations: int) -> Iterator[None]:
    """In the `with` statement, isl may use `operations` operations for each question of a step or a build.

        with tir_mlir.budget(10_000_000):
            sch.reorder(*loops)

    By default a question of a step may use 100,000, and one that decides whether a kernel is built 10,000,000. Each
    answer is right under any budget; a larger one leaves fewer questions undecided. It holds in the thread that entered
    it, and in the processes that build a model side by side for it. Errors: TirError if it is not a positive integer.
    """
    if isinstance(operations, bool) or not isinstance(operations, int) or operations < 1:
        raise TirError(
            f"budget takes a positive number of operations, not {short_repr(operations)}; fix: budget(1_000_000)"
        )
    token = _given.set(operations)
    try:
        yield
    finally:
        _given.reset(token)
