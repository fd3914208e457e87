"""`Schedule.verify`: the scheduled program against the first one, at its own sizes or at smaller ones."""

from __future__ import annotations

from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import NotChecked, short_repr
from tir_mlir.dialect.ir import entered, funcs
from tir_mlir.equivalence import inputs
from tir_mlir.equivalence.compare import compare
from tir_mlir.equivalence.replay import Replayed, replay
from tir_mlir.equivalence.result import Result
from tir_mlir.equivalence.scaling import Scale, scales, skeleton
from tir_mlir.equivalence.work import work_of
from tir_mlir.runtime.call.signature import signatures

FULL_WORK = 1 << 24
"""Up to this many iterations "auto" runs the program at its own sizes."""
TRIED_WORK = 1 << 29
"""Up to this many (some seconds), too, where it cannot be scaled."""


def verify_schedule(sch: Any, sizes: str, seed: int) -> Result:
    """See `Schedule.verify`."""
    if not isinstance(sizes, str) or sizes not in ("auto", "full", "scaled"):
        raise ValueError(f'sizes is "auto", "full" or "scaled", not {short_repr(sizes)}')
    with entered():
        original, scheduled = sch._original, sch.mod.mlir
        done = replay(sch, original) if _may_move(sch) else Replayed(scheduled, {})
        work = max(_work(m) for m in (original, scheduled))
        if sizes == "full" or (sizes == "auto" and work <= FULL_WORK):
            return compare(original, scheduled, seed, done.moves)
        return _scaled(sch, seed, work, sizes == "auto")


def _may_move(sch: Any) -> bool:
    return any(step.name == "transform_layout" for step in sch.trace)


def _work(module: ir.Module) -> int:
    """Of the function with most of it, at the largest sizes that will be tried."""
    found = 0
    own = signatures(module)
    for func in funcs(module):
        if func.name in own:
            found = max(found, *(work_of(func.op, known) for known in inputs.size_choices(own[func.name])))
    return found


def _scaled(sch: Any, seed: int, work: int, or_full: bool) -> Result:
    original, scheduled = sch._original, sch.mod.mlir
    reason = "no extent can be made smaller, so that its guards stay of their kinds"
    for scale in scales(original, scheduled):
        outcome = _replayed(sch, scale, scheduled)
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
        return compare(original, scheduled, seed)
    raise NotChecked(
        f"the program cannot be checked at smaller sizes than its own: {reason}."
        f' verify("full") runs it as it is, about {work:.0e} iterations'
    )


def _replayed(sch: Any, scale: Scale, scheduled: ir.Module) -> Replayed | str:
    """The schedule on the smaller program; or why it is not the same schedule there."""
    try:
        done = replay(sch, scale.module, scale.change)
    except (ValueError, RuntimeError) as error:  # TraceError, ScheduleError
        return f"a step is refused there ({str(error).splitlines()[0]})"
    if skeleton(done.module) != skeleton(scheduled):
        return "the schedule makes a program of another structure there"
    return done
