"""Collect the contestants of a work; the reason is recorded for each that cannot take part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar

import numpy as np

import peers
from contest import OURS, Contest, Contestant
from ours import Scheduled, in_words
from tir_mlir import Schedule, build
from tir_mlir.dialect.ir import all_blocks, loops_above
from tir_mlir.runtime.aligned_arrays import empty

Make = Callable[[], Contestant]
_CAPTURED: ContextVar[list[Callable[[], object]] | None] = ContextVar("_CAPTURED", default=None)


def captured(make: Callable[[], object]) -> Callable[[], object] | None:
    """What makes our schedule, or graph, of a work, for the CPU in `ours.TARGET`; nothing is compiled, no peer is
    asked. make: of the work. None if it has another kind of contestant."""
    found: list[Callable[[], object]] = []
    token = _CAPTURED.set(found)
    try:
        make()
    finally:
        _CAPTURED.reset(token)
    return found[0] if found else None


def is_captured(ours: Callable[[], object]) -> bool:
    """Whether a work is made for `captured`, which then gets what makes our program."""
    if (found := _CAPTURED.get()) is None:
        return False
    found.append(ours)
    return True


def on_a_line(array: np.ndarray) -> np.ndarray:
    """A copy that starts on a boundary of a cache line, as PyTorch's own tensors do: for contestants that read it in
    place. NumPy's start at a multiple of 16."""
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def contest(
    expected: np.ndarray,
    inputs: Sequence[np.ndarray],
    schedule: Callable[[], Scheduled],
    makes: Mapping[str, Make],
) -> Contest:
    """Return our schedule, TVM on the same program where it has the same meaning, and the peers; the output is the last
    argument."""
    if is_captured(lambda: schedule().schedule):
        return Contest(expected)
    found = Contest(expected, missing={name: why for name, why in peers.missing().items()}, inputs=inputs)
    same: list[str] = []

    def ours() -> Contestant:
        made = schedule()
        found.origin = made.origin
        if made.why is not None:
            found.missing["library"] = made.why
        text = made.schedule.mod.script(spelling="sblock")
        if "call_extern" not in text and not _sums_in_lanes(made.schedule):
            same.append(text)
        return compiled(made.schedule, inputs, on_a_line(expected))

    enter(found, OURS, ours)
    if same:
        makes = {**makes, "tvm": lambda: peers.tvm_same.program(same[0], inputs, on_a_line(expected))}
    for name, make in makes.items():
        if name not in found.missing:
            enter(found, name, make)
    return found


def _sums_in_lanes(sch: Schedule) -> bool:
    """Whether a vectorized loop is a reduction: TVM assumes independent iterations and computes another result."""
    for block in all_blocks(sch.mod.mlir.operation):
        summed = {v for it in block.iters if it.kind == "R" for v in it.binding.values}
        if any(loop.kind == "vectorized" and loop.var in summed for loop in loops_above(block.op)):
            return True
    return False


def compiled(sch: Schedule, inputs: Sequence[np.ndarray], output: np.ndarray) -> Contestant:
    main = build(sch, cache=False)["main"]  # measure code of the current compiler, not cached code
    output.fill(85)  # a stale value that the check detects
    return Contestant(lambda: main(*inputs, output), lambda: output)


def enter(found: Contest, name: str, make: Make) -> None:
    try:
        found.contestants[name] = make()
    except Exception as error:  # a contestant that breaks is a line of the report, whoever it is
        found.missing[name] = in_words(error)
