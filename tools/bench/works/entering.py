"""Gathering the contestants of a work: whoever cannot take part is noted with the reason, nothing fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

import peers
from contest import OURS, Contest, Contestant
from ours import Scheduled, in_words
from tir_mlir import Schedule, build
from tir_mlir.dialect.ir import all_blocks, loops_above

Make = Callable[[], Contestant]


def contest(
    expected: np.ndarray,
    inputs: Sequence[np.ndarray],
    schedule: Callable[[], Scheduled],
    makes: Mapping[str, Make],
) -> Contest:
    """Ours from its schedule, TVM from the same program where it means the same there, and the peers; the result is the
    last argument."""
    found = Contest(expected, missing={name: why for name, why in peers.missing().items()})
    same: list[str] = []

    def ours() -> Contestant:
        made = schedule()
        found.origin = made.origin
        if made.why is not None:
            found.missing["library"] = made.why
        text = made.schedule.mod.script(spelling="sblock")
        if "call_extern" not in text and not _sums_in_lanes(made.schedule):
            same.append(text)
        return compiled(made.schedule, inputs, np.empty_like(expected))

    enter(found, OURS, ours)
    if same:
        makes = {**makes, "tvm": lambda: peers.tvm_same.program(same[0], inputs, np.empty_like(expected))}
    for name, make in makes.items():
        if name not in found.missing:
            enter(found, name, make)
    return found


def _sums_in_lanes(sch: Schedule) -> bool:
    """Whether a vectorized loop sums: TVM takes its iterations for independent, and gives another result."""
    for block in all_blocks(sch.mod.mlir.operation):
        summed = {v for it in block.iters if it.kind == "R" for v in it.binding.values}
        if any(loop.kind == "vectorized" and loop.var in summed for loop in loops_above(block.op)):
            return True
    return False


def compiled(sch: Schedule, inputs: Sequence[np.ndarray], output: np.ndarray) -> Contestant:
    main = build(sch, cache=False)["main"]  # what the compiler makes now
    output.fill(85)  # what a result must not be left as
    return Contestant(lambda: main(*inputs, output), lambda: output)


def enter(found: Contest, name: str, make: Make) -> None:
    try:
        found.contestants[name] = make()
    except Exception as error:  # noqa: BLE001  # a contestant that breaks is a line of the report, whoever it is
        found.missing[name] = in_words(error)
