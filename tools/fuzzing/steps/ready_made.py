"""Random applications of ready-made schedules: on any block, for any CPU, with their sizes chosen or sampled."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from fuzzing.steps.choice import Arguments, Choice, Maker
from tir_mlir import Schedule, schedules
from tir_mlir.target import Target, named

PREFIX = "schedules."
TARGETS = (None, None, None, "avx2", "avx512", "avx512_vnni", "sapphire_rapids", "zen4", "sse2", "neon_i8mm", "sve")
"""CPUs to schedule for; None: this machine."""


def _options(c: Choice) -> dict[str, Any]:
    options: dict[str, Any] = {"target": c.one(TARGETS), "threads": c.one((1, 2, 4))}
    return options | {"free": True} if c.often(0.25) else options


def on_program(c: Choice) -> Arguments:
    return [], _options(c)


def on_reduction(c: Choice) -> Arguments:
    return [c.reduction() if c.often(0.95) else c.block()], _options(c)


def on_result(c: Choice) -> Arguments:
    """Choose a result, which ends a chain of producers; occasionally any block."""
    results = c.sch.get_output_blocks("root")
    return [c.one(results) if results and c.often(0.7) else c.block()], _options(c)


# schedule: (argument generator, weight)
READY_MADE: dict[str, tuple[Maker, int]] = {
    f"{PREFIX}auto": (on_program, 8),
    f"{PREFIX}gemm": (on_reduction, 6),
    f"{PREFIX}gemv": (on_reduction, 2),
    f"{PREFIX}conv2d": (on_reduction, 2),
    f"{PREFIX}reduction": (on_reduction, 2),
    f"{PREFIX}rowwise": (on_result, 2),
    f"{PREFIX}elementwise": (on_result, 2),
    f"{PREFIX}transpose": (on_result, 2),
    f"{PREFIX}attention": (on_result, 1),
    f"{PREFIX}independent": (on_result, 1),
}


def applied_to(sch: Schedule, name: str) -> Callable[..., Any]:
    """Return a step by name, to be called with its arguments: a method of the schedule, or a ready-made schedule."""
    if name not in READY_MADE:
        return getattr(sch, name)
    function = getattr(schedules, name.removeprefix(PREFIX))

    def run(*args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of blocks that remain as they are
            function(sch, *args, **kwargs)

    return run


def is_foreign(name: str, arguments: Arguments) -> bool:
    """Return whether a step uses instructions that this machine may not have."""
    target = arguments[1].get("target") if name in READY_MADE else None
    if target is None:
        return False
    machine = named(target)
    return not isinstance(machine, Target) or not machine.runs_here
