"""`Schedule.verify`: compare the scheduled program with the original, at full or scaled sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import NotChecked, short_repr
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.ir import entered, funcs
from tir_mlir.equivalence import inputs
from tir_mlir.equivalence.compare import compare
from tir_mlir.equivalence.result import Result
from tir_mlir.equivalence.scaling import ScaledProgram, scales, structure_of
from tir_mlir.equivalence.work import work_of
from tir_mlir.runtime.call.signature import signatures

FULL_WORK = 1 << 24
"""Up to this many iterations "auto" runs at full size."""
TRIED_WORK = 1 << 29
"""The limit (some seconds) if the program cannot be scaled."""


Change = Callable[[str, dict[str, Any]], dict[str, Any]]
"""A primitive and its arguments (the decision of one that samples among them) -> those of the step to take instead."""


@dataclass(frozen=True)
class Scheduled:
    """A scheduled module, and the parameters with another layout than in the original: {(function, parameter): map}."""

    module: ir.Module
    moves: Mapping[tuple[str, str], IndexMap]


Replay = Callable[[ir.Module, Change], Scheduled]
"""Run the changed steps of a schedule on another module."""


def verify_schedule(original: ir.Module, scheduled: Scheduled, replay: Replay, sizes: str, seed: int) -> Result:
    """Compare a scheduled program with its original, at its own sizes or scaled down. See `Schedule.verify`."""
    if not isinstance(sizes, str) or sizes not in ("auto", "full", "scaled"):
        raise ValueError(f'sizes must be "auto", "full" or "scaled", not {short_repr(sizes)}')
    with entered():
        work = max(_work(m) for m in (original, scheduled.module))
        if sizes == "full" or (sizes == "auto" and work <= FULL_WORK):
            return compare(original, scheduled.module, seed, scheduled.moves)
        return _scaled(original, scheduled, replay, seed, work, sizes == "auto")


def _work(module: ir.Module) -> int:
    """The iterations of the largest function, in all sizes to be tried."""
    largest = 0
    by_name = signatures(module)
    for func in funcs(module):
        if func.name in by_name:
            largest = max(largest, sum(work_of(func.op, sizes) for sizes in inputs.size_choices(by_name[func.name])))
    return largest


def _scaled(original: ir.Module, scheduled: Scheduled, replay: Replay, seed: int, work: int, or_full: bool) -> Result:
    reason = "no extent can be made smaller without changing the kinds of guards"
    for scale in scales(original, scheduled.module):
        outcome = _replayed(replay, scale, scheduled.module)
        if isinstance(outcome, str):
            reason = outcome
            continue
        if max(_work(m) for m in (scale.module, outcome.module)) > TRIED_WORK:
            reason = "it is too large at smaller sizes as well"
            continue
        result = compare(scale.module, outcome.module, seed, outcome.moves)
        result.notes.append(f"sizes scaled: {scale}; evidence for the program's own sizes, not a proof")
        return result
    if or_full and work <= TRIED_WORK:
        return compare(original, scheduled.module, seed, scheduled.moves)
    raise NotChecked(
        f"the program cannot be checked at smaller sizes: {reason}."
        f' verify("full") runs it at its own sizes, about {work:.0e} iterations'
    )


def _replayed(replay: Replay, scale: ScaledProgram, scheduled: ir.Module) -> Scheduled | str:
    """Replay the schedule on the smaller program, or the reason why it differs there."""
    try:
        done = replay(scale.module, scale.change)
    except (ValueError, RuntimeError) as error:  # TraceError, ScheduleError
        return f"a step fails at smaller sizes ({str(error).splitlines()[0]})"
    if structure_of(done.module) != structure_of(scheduled):
        return "the schedule yields a different structure at smaller sizes"
    return done
