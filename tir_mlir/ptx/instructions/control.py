"""Branches, ends, and instructions without an effect on results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, words
from tir_mlir.ptx.registers import Lanes

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Run


def _branch(machine: Machine, ins: PtxInstruction) -> Run:
    target = machine.kernel.labels[ins.operands[0]]
    if ins.guard is None:

        def jump(on: Lanes, position: int) -> None:
            machine.report.branches += machine.warps_of(on)
            machine.push(target, on)

        return jump
    guard, negated = machine.registers.rows(ins.guard, "pred", ins), ins.negated

    def branch(on: Lanes, position: int) -> None:
        takes = ~guard[on] if negated else guard[on]
        machine.report.branches += machine.warps_of(on)
        if takes.all():
            machine.push(target, on)
        elif not takes.any():
            machine.push(position + 1, on)
        else:
            lanes = machine.own[on]
            go, remain = lanes[takes], lanes[~takes]
            machine.report.divergent += len(np.intersect1d(go // 32, remain // 32))
            machine.push(target, machine.compact_lanes(go))
            machine.push(position + 1, machine.compact_lanes(remain))

    return branch


def _jump_table(machine: Machine, ins: PtxInstruction) -> Run:
    """`brx.idx index, table`: each lane goes on at the target of its index."""
    index = machine.registers.read(ins.operands[0], "u32", ins)
    targets = machine.kernel.tables.get(ins.operands[1])
    if targets is None:
        refuse(ins, f"the table {ins.operands[1]}")
    positions = np.array([machine.kernel.labels[t] for t in targets])

    def run(on: Lanes, position: int) -> None:
        lanes, chosen = machine.own[on], index(on)
        if (chosen >= len(positions)).any():
            k = int(np.argmax(chosen >= len(positions)))
            machine.fault(
                f"thread {machine.thread(on, k)} jumps by {chosen[k]} in a table of {len(positions)}", "bounds", on, k
            )
        machine.report.branches += machine.warps_of(on)
        goals = positions[chosen]
        for goal in np.unique(goals).tolist():
            machine.push(goal, machine.compact_lanes(lanes[goals == goal]))

    return apply_guard(machine, ins, run)


def apply_guard(machine: Machine, ins: PtxInstruction, run: Run) -> Run:
    """A control instruction under `@p`: the lanes without it go on."""
    if ins.guard is None:
        return run
    guard, negated = machine.registers.rows(ins.guard, "pred", ins), ins.negated

    def control(on: Lanes, position: int) -> None:
        mask = ~guard[on] if negated else guard[on]
        others = machine.select_lanes(on, ~mask)
        active = machine.select_lanes(on, mask)
        if others is not None:
            machine.push(position + 1, others if isinstance(others, slice) else machine.compact_lanes(others))
        if active is not None:
            active = active if isinstance(active, slice) else machine.compact_lanes(active)
            machine.active = active
            run(active, position)

    return control


def _end(machine: Machine, ins: PtxInstruction) -> Run:
    return apply_guard(machine, ins, lambda on, position: machine.leave(on))


def _trap(machine: Machine, ins: PtxInstruction) -> Run:
    def run(on: Lanes) -> None:
        machine.fault(f"thread {machine.thread(on, 0)} stops at a trap", "trap", on, 0)

    return run


def _nop(machine: Machine, ins: PtxInstruction) -> Run:
    return lambda on: None


CONTROL = {
    "bra": InstructionRow(_branch, words("uni"), control=True),
    "brx": InstructionRow(_jump_table, words("idx uni"), control=True),
    "ret": InstructionRow(_end, words("uni"), control=True),
    "exit": InstructionRow(_end, control=True),
    "trap": InstructionRow(_trap),
    "membar": InstructionRow(_nop, words("cta gl sys")),
    "prefetch": InstructionRow(_nop, words("global L1 L2 local tensormap param const L2::evict_last L2::evict_normal")),
    "prefetchu": InstructionRow(_nop, words("L1")),
    "discard": InstructionRow(_nop, words("global L2")),
    "applypriority": InstructionRow(_nop, words("global L2::evict_normal")),
    "pmevent": InstructionRow(_nop, words("mask")),
    "createpolicy": InstructionRow(
        _nop,
        words("fractional range L2::evict_last L2::evict_first L2::evict_normal L2::evict_unchanged global cvt L2"),
    ),
    "nanosleep": InstructionRow(_nop),
    "griddepcontrol": InstructionRow(_nop, words("wait launch_dependents")),
    "setmaxnreg": InstructionRow(_nop, words("inc dec sync aligned")),
}
