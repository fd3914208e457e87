"""Helpers for tests of schedules."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.schedule.schedule import Schedule
from tir_mlir.schedule.trace import Trace
from tir_mlir.script.structural_equal import difference

if TYPE_CHECKING:
    from mlir import ir

    from tir_mlir.script.module import IRModule, PrimFunc


def verify_trace_roundtrip(
    sch: Schedule,
    mod: IRModule | PrimFunc | ir.Module,
    *,
    debug_mask: str | int = "all",
    text_format: str | Sequence[str] = ("python", "json"),
) -> Schedule:
    """Replay a schedule's trace on its module, from Python text and from JSON, and compare the programs.

    Returns the last of the new schedules. Errors: AssertionError with the first line that differs.
    """
    new = None
    for form in [text_format] if isinstance(text_format, str) else text_format:
        new = Schedule(mod, debug_mask=debug_mask)
        if form == "json":
            Trace.apply_json_to_schedule(json.loads(json.dumps(sch.trace.as_json())), new)
        elif form == "python":
            scope: dict[str, Callable[[Schedule], None]] = {}
            exec(sch.trace.as_python(), scope)
            scope["apply_trace"](new)
        else:
            raise ValueError(f'text_format must be "python" or "json", not {short_repr(form)}')
        where = difference(sch.mod.mlir, new.mod.mlir)
        if where is not None:
            raise AssertionError(f"replaying the {form} form of the trace produces a different program: {where}")
    if new is None:
        raise ValueError('text_format is empty; use "python", "json" or both')
    return new
