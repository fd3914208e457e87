"""Our contestant: a program under its schedule from `tir_mlir.schedules`, or else a hand-written one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from tir_mlir import Schedule
from tir_mlir.script import PrimFunc
from tir_mlir.target import Target

Apply = Callable[[Schedule, str, int], None]
TARGET: ContextVar[Target | None] = ContextVar("TARGET", default=None)
"""The CPU that works are scheduled for; None is this machine's."""


@dataclass(frozen=True)
class Scheduled:
    """A schedule, its origin, and the reason if it does not come from the library."""

    schedule: Schedule
    origin: str
    why: str | None = None


def scheduled(program: PrimFunc, block: str, name: str, threads: int, by_hand: Apply) -> Scheduled:
    """Apply `tir_mlir.schedules.<name>(sch, block, threads=threads)`, for TARGET; fall back to `by_hand` on failure."""
    function = getattr(_library(), name, None)
    why = f"tir_mlir.schedules.{name} does not exist"
    if function is not None:
        sch = Schedule(program)
        try:
            function(sch, block, threads=threads, target=TARGET.get())
            return Scheduled(sch, "library")
        except Exception as error:  # a line of the report; the work is measured all the same
            why = (
                f"tir_mlir.schedules.{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            )
    sch = Schedule(program)
    by_hand(sch, block, threads)
    return Scheduled(sch, "by hand", why)


def in_words(error: Exception) -> str:
    """Return the class of an error and its first line."""
    return ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])


def _library() -> object:
    try:
        return importlib.import_module("tir_mlir.schedules")
    except ModuleNotFoundError:
        return None
