"""Nobody can go on: the error that says who waits where."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine


def raise_deadlock(machine: Machine) -> NoReturn:
    """Raise the error of the first block that waits for ever."""
    waiting = np.concatenate(list(machine.parked.values()))
    block = int(machine.cta[waiting].min())
    parts, first = [], None
    ended = machine.own[(machine.cta == block) & (machine.tid < machine.threads) & ~machine.alive]
    kinds = set()
    for position, lanes in sorted(machine.parked.items()):
        lanes = lanes[machine.cta[lanes] == block]
        if len(lanes):
            ins = machine.kernel.instructions[position]
            kinds.add(ins.parts[0])
            parts.append(f"{_threads(machine, lanes)} at `{ins.text}` (PTX line {ins.line})")
            first = first or (lanes, position)
    assert first is not None
    text = "; ".join(parts)
    if len(ended):
        text += f"; {_threads(machine, ended)} ended"
    others = tuple(machine.thread(ended, 0) for _ in range(min(len(ended), 1)))
    for mbarrier in machine.mbarriers.all.values():
        if mbarrier.block == block and mbarrier.waiting:
            text += f"; {machine.mbarriers.state(mbarrier)}"
    barrier = kinds <= {"bar", "barrier"}
    verb = "waits" if len(first[0]) == 1 else "wait"
    what = "a barrier that not all threads reach" if barrier else "deadlock"
    machine.fault(f"{what}: {text}; nobody else can go on, so {verb} for ever", "barrier" if barrier else "deadlock",
                  first[0], 0, others, first[1])  # fmt: skip


def _threads(machine: Machine, lanes: np.ndarray) -> str:
    """Lanes in words: 48 threads, (0, 0, 0) to (15, 2, 0)."""
    if len(lanes) == 1:
        return f"thread {machine.thread(lanes, 0)} waits"
    return f"{len(lanes)} threads, {machine.thread(lanes, 0)} to {machine.thread(lanes, len(lanes) - 1)},"
