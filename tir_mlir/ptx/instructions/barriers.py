"""Barriers of a block: `bar`, `barrier`, by number and count of threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.clocks import Clocks
from tir_mlir.ptx.instructions.control import apply_guard
from tir_mlir.ptx.instructions.rows import InstructionRow, words
from tir_mlir.ptx.registers import Lanes, Read, Write

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Run

BARRIERS_PER_BLOCK = 16


@dataclass(frozen=True)
class Vote:
    """`bar.red`: the threads of the barrier get how many predicates hold, or whether all or any do."""

    mode: str
    read: Read
    write: Write

    @staticmethod
    def from_instruction(machine: Machine, ins: PtxInstruction) -> Vote:
        mode = next(p for p in ins.parts if p in ("popc", "and", "or"))
        write = machine.registers.write(ins.operands[0], "u32" if mode == "popc" else "pred", ins)
        return Vote(mode, machine.registers.read(ins.operands[-1], "pred", ins), write)

    def count(self, lanes: np.ndarray) -> None:
        """The result for the threads of one block."""
        flags = self.read(lanes)
        self.write(lanes, {"popc": flags.sum(), "and": flags.all(), "or": flags.any()}[self.mode])


class BlockBarriers:
    """The barriers of all blocks. `came[id]`: the lanes that have come to a barrier that is not complete, `waiting[id]`
    those of them that wait, at the instruction `at[id]`; `wanted[id]`: how many each block waits for, 0: nobody
    came."""

    def __init__(self, machine: Machine):
        self.machine = machine
        n = BARRIERS_PER_BLOCK
        self.wanted = np.zeros((n, machine.blocks), np.int64)
        self.came: dict[int, np.ndarray] = {}
        self.waiting: dict[int, np.ndarray] = {}
        self.at: dict[int, np.ndarray] = {}

    def arrive(self, number: int, lanes: np.ndarray, count: int, position: int, waits: bool, aligned: bool,
               vote: Vote | None = None) -> None:  # fmt: skip
        """Lanes come to a barrier; the complete ones release theirs."""
        machine = self.machine
        if number not in self.came:
            self.came[number] = np.zeros(machine.lanes, np.bool_)
            self.waiting[number] = np.zeros(machine.lanes, np.bool_)
            self.at[number] = np.zeros(machine.lanes, np.int64)
        came, position_of = self.came[number], self.at[number]
        expected = self.wanted[number]
        blocks = machine.cta[lanes]
        conflict = (expected[blocks] != 0) & (expected[blocks] != count)
        if conflict.any():
            k = int(np.argmax(conflict))
            machine.fault(
                f"thread {machine.thread(lanes, k)} comes to barrier {number} for {count} threads, others wait there "
                f"for {expected[blocks[k]]}", "barrier", lanes, k,
            )  # fmt: skip
        expected[blocks] = count
        came[lanes], position_of[lanes] = True, position
        if waits:
            self.waiting[number][lanes] = True
            machine.park(position, lanes)
        if aligned:
            self._check_warps(number, lanes)
        arrived = came.reshape(machine.blocks, -1).sum(1)
        self._check_count(number, arrived, lanes)
        complete = (arrived == expected) & (expected > 0)
        if complete.any():
            self._complete(number, complete, vote)

    def _check_warps(self, number: int, lanes: np.ndarray) -> None:
        """The lanes of one warp have to be at one instruction."""
        came, position_of = self.came[number].reshape(-1, 32), self.at[number].reshape(-1, 32)
        for warp in np.unique(lanes // 32):
            positions = np.unique(position_of[warp][came[warp]])
            if len(positions) > 1:
                mine = np.nonzero(came[warp] & (position_of[warp] == positions[0]))[0][:1] + warp * 32
                others = np.nonzero(came[warp] & (position_of[warp] == positions[1]))[0][:1] + warp * 32
                thread = self.machine.thread(others, 0)
                self.machine.fault(
                    f"divergent barrier: threads of one warp wait at different instructions, "
                    f"{self.machine.thread(mine, 0)} here and {thread} there",
                    "barrier", mine, 0, (thread,), int(positions[0]), int(positions[1]),
                )  # fmt: skip

    def _check_count(self, number: int, arrived: np.ndarray, lanes: np.ndarray) -> None:
        many = arrived > self.wanted[number]
        if many.any():
            block = int(np.argmax(many))
            k = int(np.argmax(self.machine.cta[lanes] == block))
            self.machine.fault(
                f"{arrived[block]} threads come to barrier {number}, which waits for {self.wanted[number][block]}",
                "barrier", lanes, k,
            )  # fmt: skip

    def _complete(self, number: int, blocks: np.ndarray, vote: Vote | None) -> None:
        machine = self.machine
        mine = np.repeat(blocks, machine.width)
        came = np.nonzero(self.came[number] & mine)[0]
        waiting = np.nonzero(self.waiting[number] & mine)[0]
        self.came[number][came] = self.waiting[number][came] = False
        self.wanted[number][blocks] = 0
        machine.order.synchronize(came, waiting)
        if vote is not None:
            if len(np.unique(self.at[number][came])) > 1:
                machine.fault("a reduction whose threads wait at different instructions", "instruction", came, 0)
            for block in np.nonzero(blocks)[0]:
                vote.count(came[machine.cta[came] == block])
        machine.report.barriers += int(blocks.sum())
        machine.unpark(waiting)


def _barrier(machine: Machine, ins: PtxInstruction) -> Run:
    """`bar.sync id{, count}`, `bar.arrive id, count`, `bar.red`, `bar.warp.sync mask`."""
    if "warp" in ins.parts:
        from tir_mlir.ptx.instructions.warps import collective

        order = machine.order
        assert isinstance(order, Clocks)
        return collective(machine, ins, order.warps, ins.operands[0])
    vote = Vote.from_instruction(machine, ins) if "red" in ins.parts else None
    arguments = ins.operands if vote is None else ins.operands[1:-1]
    number = machine.registers.read(arguments[0], "u32", ins)
    count = machine.registers.read(arguments[1], "u32", ins) if len(arguments) > 1 else None
    waits = "arrive" not in ins.parts
    aligned = ins.parts[0] == "bar" or "aligned" in ins.parts

    def run(on: Lanes, position: int) -> None:
        lanes = machine.own[on]
        numbers = number(on)
        counts = count(on) if count is not None else np.full(len(lanes), machine.threads)
        keys = numbers.astype(np.int64) * 4096 + counts
        for key in np.unique(keys):
            mine = lanes[keys == key]
            barrier, threads = int(key) // 4096, int(key) % 4096
            if barrier >= BARRIERS_PER_BLOCK:
                machine.fault(f"barrier {barrier}: a block has {BARRIERS_PER_BLOCK}", "barrier", mine, 0)
            if count is not None and (threads % 32 or not threads):
                machine.fault(f"a barrier for {threads} threads: it has to be a multiple of 32", "barrier", mine, 0)
            machine.barriers.arrive(barrier, mine, threads, position, waits, aligned, vote)
        if not waits:
            machine.push(position + 1, on)

    return apply_guard(machine, ins, run)


BARRIERS = {
    "bar": InstructionRow(_barrier, words("sync arrive red cta aligned warp popc and or"), control=True),
    "barrier": InstructionRow(_barrier, words("sync arrive red cta aligned popc and or"), control=True),
}
