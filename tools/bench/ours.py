"""Our side: a program under the schedule of the library `tir_mlir.schedules`, or under a short one by hand."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from tir_mlir import Schedule
from tir_mlir.script import PrimFunc

Apply = Callable[[Schedule, str, int], None]


@dataclass(frozen=True)
class Scheduled:
    """The schedule, where it comes from, and why it does not come from the library, in words."""

    schedule: Schedule
    origin: str
    why: str | None = None


def scheduled(program: PrimFunc, block: str, name: str, threads: int, by_hand: Apply) -> Scheduled:
    """`tir_mlir.schedules.<name>(sch, block, threads=threads)`; where that does not go, `by_hand`."""
    function = getattr(_library(), name, None)
    why = f"tir_mlir.schedules.{name} is not there yet"
    if function is not None:
        sch = Schedule(program)
        try:
            function(sch, block, threads=threads)
            return Scheduled(sch, "library")
        except Exception as error:  # noqa: BLE001  # a line of the report; the work is measured all the same
            why = (
                f"tir_mlir.schedules.{name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            )
    sch = Schedule(program)
    by_hand(sch, block, threads)
    return Scheduled(sch, "by hand", why)


def in_words(error: Exception) -> str:
    """The kind of an error and its first line."""
    return ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])


def _library() -> object:
    try:
        return importlib.import_module("tir_mlir.schedules")
    except ModuleNotFoundError:
        return None
