"""Barriers of a block: `bar`, `barrier`, by number and count of threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.ptx.clocks import Clocks
from tir_mlir.ptx.instructions.control import guarded
from tir_mlir.ptx.instructions.rows import Row, bad, words
from tir_mlir.ptx.registers import Lanes

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import Instruction

BARRIERS_OF_A_BLOCK = 16


class BlockBarriers:
    """The barriers of all blocks. `came[id]`: the lanes that have come to a barrier that is not complete, `stay[id]`
    those of them that wait, at the instruction `at[id]`; `wanted[id]`: how many each block waits for, 0: nobody
    came."""

    def __init__(self, machine: Machine):
        self.machine = machine
        n = BARRIERS_OF_A_BLOCK
        self.wanted = np.zeros((n, machine.blocks), np.int64)
        self.came: dict[int, np.ndarray] = {}
        self.stay: dict[int, np.ndarray] = {}
        self.at: dict[int, np.ndarray] = {}

    def arrive(self, number: int, lanes: np.ndarray, count: int, position: int, waits: bool, aligned: bool) -> None:
        """Lanes come to a barrier; the complete ones release theirs."""
        machine = self.machine
        if number not in self.came:
            self.came[number] = np.zeros(machine.lanes, np.bool_)
            self.stay[number] = np.zeros(machine.lanes, np.bool_)
            self.at[number] = np.zeros(machine.lanes, np.int64)
        came, at = self.came[number], self.at[number]
        wanted = self.wanted[number]
        blocks = machine.cta[lanes]
        conflict = (wanted[blocks] != 0) & (wanted[blocks] != count)
        if conflict.any():
            k = int(np.argmax(conflict))
            machine.fault(
                f"thread {machine.thread(lanes, k)} comes to barrier {number} for {count} threads, others wait there "
                f"for {wanted[blocks[k]]}", "barrier", lanes, k,
            )  # fmt: skip
        wanted[blocks] = count
        came[lanes], at[lanes] = True, position
        if waits:
            self.stay[number][lanes] = True
            machine.park(position, lanes)
        if aligned:
            self._check_warps(number, lanes)
        arrived = came.reshape(machine.blocks, -1).sum(1)
        self._check_count(number, arrived, lanes)
        complete = (arrived == wanted) & (wanted > 0)
        if complete.any():
            self._complete(number, complete)

    def _check_warps(self, number: int, lanes: np.ndarray) -> None:
        """The lanes of one warp have to be at one instruction."""
        came, at = self.came[number].reshape(-1, 32), self.at[number].reshape(-1, 32)
        for warp in np.unique(lanes // 32):
            positions = np.unique(at[warp][came[warp]])
            if len(positions) > 1:
                mine = np.nonzero(came[warp] & (at[warp] == positions[0]))[0][:1] + warp * 32
                others = np.nonzero(came[warp] & (at[warp] == positions[1]))[0][:1] + warp * 32
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

    def _complete(self, number: int, blocks: np.ndarray) -> None:
        machine = self.machine
        mine = np.repeat(blocks, machine.width)
        came = np.nonzero(self.came[number] & mine)[0]
        stay = np.nonzero(self.stay[number] & mine)[0]
        self.came[number][came] = self.stay[number][came] = False
        self.wanted[number][blocks] = 0
        machine.order.synchronize(came, stay)
        machine.report.barriers += int(blocks.sum())
        machine.unpark(stay)


def _barrier(machine: Machine, ins: Instruction) -> Any:
    """`bar.sync id{, count}`, `bar.arrive id, count`, `bar.red`, `bar.warp.sync mask`."""
    if "warp" in ins.parts:
        from tir_mlir.ptx.instructions.warps import collective

        order = machine.order
        assert isinstance(order, Clocks)
        return collective(machine, ins, order.warps, ins.operands[0])
    if "red" in ins.parts:
        bad(ins, "`.red`")
    number = machine.registers.read(ins.operands[0], "u32", ins)
    count = machine.registers.read(ins.operands[1], "u32", ins) if len(ins.operands) > 1 else None
    waits = "arrive" not in ins.parts
    aligned = ins.parts[0] == "bar" or "aligned" in ins.parts

    def run(on: Lanes, position: int) -> None:
        lanes = machine.own[on]
        numbers = number(on)
        counts = count(on) if count is not None else np.full(len(lanes), machine.threads)
        keys = numbers.astype(np.int64) * 4096 + counts
        for key in np.unique(keys):
            mine = lanes[keys == key]
            one, threads = int(key) // 4096, int(key) % 4096
            if one >= BARRIERS_OF_A_BLOCK:
                machine.fault(f"barrier {one}: a block has {BARRIERS_OF_A_BLOCK}", "barrier", mine, 0)
            if count is not None and (threads % 32 or not threads):
                machine.fault(f"a barrier for {threads} threads: it has to be a multiple of 32", "barrier", mine, 0)
            machine.barriers.arrive(one, mine, threads, position, waits, aligned)
        if not waits:
            machine.push(position + 1, on)

    return guarded(machine, ins, run)


BARRIERS = {
    "bar": Row(_barrier, words("sync arrive red cta aligned warp"), control=True),
    "barrier": Row(_barrier, words("sync arrive red cta aligned"), control=True),
}
