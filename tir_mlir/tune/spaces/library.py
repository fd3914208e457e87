"""The default space: the schedules of the library with their parameters free, generic rules for the rest."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

from tir_mlir import schedules
from tir_mlir.dialect.diagnostics import ScheduleError, ScheduleWarning
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.free_choice import Free
from tir_mlir.target import Target
from tir_mlir.tune.spaces.generic import generic


def library(sch: Schedule, target: Target | str | None = None, threads: int | None = None) -> None:
    """Schedule every block of a program, with all parameters as decisions: `schedules.auto(sch, free=True)`, and
    `generic` for the blocks that no function of `tir_mlir.schedules` takes.

    Of a block that is elementwise or a reduction, but no product or convolution, the decision `"NAME.generic"` tells
    whether it is scheduled by the library, 0, or by `generic`, 1; the default is the library.

    The defaults of the decisions give the library's own schedule of the blocks that it takes.
    """
    functions = [sch.func_working_on] if sch.func_working_on else list(sch.mod.prim_funcs)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"schedules\.auto leaves block", ScheduleWarning)
        picked = schedules.auto(sch, target, threads, free=True, leave=partial(_uses_generic_rules, sch))
    for name in reversed([n for n, function in picked.items() if function is None]):
        for function in functions:
            try:
                block = sch.get_block(name, function)
            except ScheduleError:  # of another function, or gone
                continue
            generic(sch, block, target, threads)


def _uses_generic_rules(sch: Schedule, block: Any) -> bool:
    """The decision whether generic rules take a block that the library has a schedule for."""
    return Free(sch, block, True).flag("generic", False)
