"""`Schedule.verify`: the scheduled program against the first one, at its own sizes or at smaller ones."""

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
from tir_mlir.equivalence.scaling import Scale, scales, skeleton
from tir_mlir.equivalence.work import work_of
from tir_mlir.runtime.call.signature import signatures

FULL_WORK = 1 << 24
"""Up to this many iterations "auto" runs the program at its own sizes."""
TRIED_WORK = 1 << 29
"""Up to this many (some seconds), too, where it cannot be scaled."""


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
        raise ValueError(f'sizes is "auto", "full" or "scaled", not {short_repr(sizes)}')
    with entered():
        work = max(_work(m) for m in (original, scheduled.module))
        if sizes == "full" or (sizes == "auto" and work <= FULL_WORK):
            return compare(original, scheduled.module, seed, scheduled.moves)
        return _scaled(original, scheduled, replay, seed, work, sizes == "auto")


def _work(module: ir.Module) -> int:
    """Of the function with most of it, at the largest sizes that will be tried."""
    found = 0
    own = signatures(module)
    for func in funcs(module):
        if func.name in own:
            found = max(found, *(work_of(func.op, known) for known in inputs.size_choices(own[func.name])))
    return found


def _scaled(original: ir.Module, scheduled: Scheduled, replay: Replay, seed: int, work: int, or_full: bool) -> Result:
    reason = "no extent can be made smaller, so that its guards stay of their kinds"
    for scale in scales(original, scheduled.module):
        outcome = _replayed(replay, scale, scheduled.module)
        if isinstance(outcome, str):
            reason = outcome
            continue
        if max(_work(m) for m in (scale.module, outcome.module)) > TRIED_WORK:
            reason = "the program or its schedule is large at smaller sizes, too"
            continue
        result = compare(scale.module, outcome.module, seed, outcome.moves)
        result.notes.append(f"sizes scaled: {scale}; evidence for the program's own sizes, not a proof")
        return result
    if or_full and work <= TRIED_WORK:
        return compare(original, scheduled.module, seed, scheduled.moves)
    raise NotChecked(
        f"the program cannot be checked at smaller sizes than its own: {reason}."
        f' verify("full") runs it as it is, about {work:.0e} iterations'
    )


def _replayed(replay: Replay, scale: Scale, scheduled: ir.Module) -> Scheduled | str:
    """The schedule on the smaller program; or why it is not the same schedule there."""
    try:
        done = replay(scale.module, scale.change)
    except (ValueError, RuntimeError) as error:  # TraceError, ScheduleError
        return f"a step is refused there ({str(error).splitlines()[0]})"
    if skeleton(done.module) != skeleton(scheduled):
        return "the schedule makes a program of another structure there"
    return done
