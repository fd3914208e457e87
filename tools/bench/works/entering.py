"""Gathering the contestants of a work: whoever cannot take part is noted with the reason, nothing fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

import peers
from contest import OURS, Contest, Contestant
from ours import Scheduled, in_words
from tir_mlir import Schedule, build

Make = Callable[[], Contestant]


def contest(
    expected: np.ndarray,
    inputs: Sequence[np.ndarray],
    schedule: Callable[[], Scheduled],
    makes: Mapping[str, Make],
) -> Contest:
    """Ours from its schedule, TVM from the same program, and the peers; the result is the last argument."""
    found = Contest(expected, missing={name: why for name, why in peers.missing().items()})
    text: list[str] = []

    def ours() -> Contestant:
        made = schedule()
        found.origin = made.origin
        if made.why is not None:
            found.missing["library"] = made.why
        text.append(made.schedule.mod.script(spelling="sblock"))
        return compiled(made.schedule, inputs, np.empty_like(expected))

    enter(found, OURS, ours)
    if text and "call_extern" not in text[0]:
        makes = {**makes, "tvm": lambda: peers.tvm_same.program(text[0], inputs, np.empty_like(expected))}
    for name, make in makes.items():
        if name not in found.missing:
            enter(found, name, make)
    return found


def compiled(sch: Schedule, inputs: Sequence[np.ndarray], output: np.ndarray) -> Contestant:
    main = build(sch, cache=False)["main"]  # what the compiler makes now
    output.fill(85)  # what a result must not be left as
    return Contestant(lambda: main(*inputs, output), lambda: output)


def enter(found: Contest, name: str, make: Make) -> None:
    try:
        found.contestants[name] = make()
    except Exception as error:  # noqa: BLE001  # a contestant that breaks is a line of the report, whoever it is
        found.missing[name] = in_words(error)
