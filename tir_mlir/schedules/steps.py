"""Steps that schedules share: all of them applied or none, inlining, threads, sums in parts, epilogues of products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from tir_mlir.dialect.diagnostics import InternalError, ScheduleError, check_type
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import block_info, extent_of, loops_by_iter

P = ParamSpec("P")
R = TypeVar("R")


def all_or_nothing(schedule: Callable[Concatenate[Schedule, P], R]) -> Callable[Concatenate[Schedule, P], R]:
    """A function that schedules a block, as one step: where it raises, the schedule remains as it was."""

    @wraps(schedule)
    def run(sch: Schedule, *args: P.args, **kwargs: P.kwargs) -> R:
        check_schedule(sch, schedule.__name__)
        return sch.executor.all_or_nothing(lambda: schedule(sch, *args, **kwargs))

    return run


def check_schedule(sch: object, function: str) -> None:
    """Refuse what is not a schedule, such as the program itself. Errors: TypeError."""
    wanted = "a Schedule, which it changes (sch = Schedule(program))"
    check_type(sch, Schedule, f"schedules.{function}", "sch", wanted)


def attempt(sch: Schedule, steps: Callable[[], R]) -> R | None:
    """Run steps, all or none of them; None if one is refused. Errors: InternalError."""
    try:
        return sch.executor.all_or_nothing(steps)
    except InternalError:
        raise
    except ScheduleError:
        return None


def give_reasons(sch: Schedule, name: str, reasons: Sequence[str]) -> None:
    """Say why the sizes of the schedule of a block are what they are; `explain_speed` shows it."""
    sch.executor.reasons += [f"{name}: {reason}" for reason in reasons]


def put_in_order(sch: Schedule, loops: dict[str, LoopHandle], axes: Sequence[str]) -> None:
    """Reorder all loops of a nest, given from outer to inner by axis, unless they have the order of the axes."""
    if list(loops) != list(axes):
        sch.reorder(*(loops[a] for a in axes))


CHUNKS_PER_THREAD = 4
"""The number of iterations per thread at which load imbalance is negligible."""


def inline(sch: Schedule, block: BlockHandle) -> bool:
    """Inline a block into its consumers if possible. Returns whether it was inlined."""
    try:
        sch.compute_inline(block)
    except ScheduleError:
        return False
    return True


def parallelize(sch: Schedule, loops: Sequence[LoopHandle], threads: int) -> None:
    """Parallelize the outermost of nested loops, fused with inner ones if it has too few iterations."""
    if threads < 2 or not loops:
        return
    fused, times = [loops[0]], extent_of(sch, loops[0])
    for loop in loops[1:]:
        extent = extent_of(sch, loop)
        if times is None or extent is None or times >= CHUNKS_PER_THREAD * threads:
            break
        fused.append(loop)
        times *= extent
    sch.parallel(sch.fuse(*fused) if len(fused) > 1 else fused[0])


def split_sums(
    sch: Schedule, block: BlockHandle, terms: str, parts: int | None, steps: int | None = None
) -> BlockHandle:
    """Compute parts of sums side by side, and add them. Returns the block of the parts. terms: a reduce iter. parts:
    their number, or None and the `steps` of each.

        for i, j, k: C[i, j] += A[i, k] * B[k, j]   ->   for p, i, j, k: C_rf[p, i, j] += A[i, p * K + k] * B[..]
                                                         for p, i, j: C[i, j] += C_rf[p, i, j]

    Sums of floats are added in another order, which their reduce iter allows.
    """
    outer, _ = sch.split(loops_by_iter(sch, block)[terms], [parts, steps])
    part = sch.rfactor(outer, 0)
    loops = loops_by_iter(sch, part)
    sch.reorder(*(loops[it.name] for it in block_info(sch, part).iter_vars))
    return part


def merge_epilogue(sch: Schedule, write_back: BlockHandle | None, epilogue: BlockHandle | None) -> bool:
    """Compute an elementwise block in the block that writes back accumulators. Returns whether that is legal.

    for i, j: C[i, j] = local[i, j]
    for i, j: D[i, j] = max(C[i, j] + bias[j], 0)   ->   for i, j: D[i, j] = max(local[i, j] + bias[j], 0)
    """
    if epilogue is None or write_back is None:
        return False

    def inline_epilogue() -> bool:
        sch.reverse_compute_inline(epilogue)
        return block_info(sch, write_back) is not None

    return bool(attempt(sch, inline_epilogue))


def place_epilogue(sch: Schedule, epilogue: BlockHandle | None, loop: LoopHandle) -> bool:
    """Compute an elementwise block, vectorized, at the end of each iteration of a loop. Returns whether that is legal.

    for j_0:                                       for j_0:
        for i, j_1: C[i, j] += ...           ->        for i, j_1: C[i, j] += ...
    for i, j: D[i, j] = max(C[i, j], 0)                for i, j_1: D[i, j] = max(C[i, j], 0)
    """
    if epilogue is None:
        return False

    def move_epilogue() -> bool:
        sch.reverse_compute_at(epilogue, loop, preserve_unit_loops=True)
        sch.vectorize(sch.get_loops(epilogue)[-1])
        return True

    return bool(attempt(sch, move_epilogue))
