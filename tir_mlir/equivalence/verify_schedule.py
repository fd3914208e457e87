"""`Schedule.verify`: compare the scheduled program with the original, at full or scaled sizes."""

from __future__ import annotations

from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import NotChecked, shown
from tir_mlir.dialect.ir import entered, funcs
from tir_mlir.equivalence import inputs
from tir_mlir.equivalence.compare import compare
from tir_mlir.equivalence.replay import Replayed, replay
from tir_mlir.equivalence.result import Result
from tir_mlir.equivalence.scaling import ScaledProgram, scales, structure_of
from tir_mlir.equivalence.work import work_of
from tir_mlir.runtime.call.signature import signatures

FULL_WORK = 1 << 24
"""Up to this many iterations "auto" runs at full size."""
TRIED_WORK = 1 << 29
"""The limit (some seconds) if the program cannot be scaled."""


def verify_schedule(sch: Any, sizes: str, seed: int) -> Result:
    """See `Schedule.verify`."""
    if not isinstance(sizes, str) or sizes not in ("auto", "full", "scaled"):
        raise ValueError(f'sizes must be "auto", "full" or "scaled", not {shown(sizes)}')
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
    """The iterations of the largest function, at the largest sizes to be tried."""
    found = 0
    own = signatures(module)
    for func in funcs(module):
        if func.name in own:
            found = max(found, *(work_of(func.op, known) for known in inputs.size_choices(own[func.name])))
    return found


def _scaled(sch: Any, seed: int, work: int, or_full: bool) -> Result:
    original, scheduled = sch._original, sch.mod.mlir
    reason = "no extent can be made smaller without changing the kinds of guards"
    for scale in scales(original, scheduled):
        outcome = _replayed(sch, scale, scheduled)
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
        return compare(original, scheduled, seed)
    raise NotChecked(
        f"the program cannot be checked at smaller sizes: {reason}."
        f' verify("full") runs it at its own sizes, about {work:.0e} iterations'
    )


def _replayed(sch: Any, scale: ScaledProgram, scheduled: ir.Module) -> Replayed | str:
    """Replay the schedule on the smaller program, or the reason why it differs there."""
    try:
        done = replay(sch, scale.module, scale.change)
    except (ValueError, RuntimeError) as error:  # TraceError, ScheduleError
        return f"a step fails at smaller sizes ({str(error).splitlines()[0]})"
    if structure_of(done.module) != structure_of(scheduled):
        return "the schedule yields a different structure at smaller sizes"
    return done
