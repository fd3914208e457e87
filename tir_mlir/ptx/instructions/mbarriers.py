"""mbarriers: barriers in shared memory with phases, counts of arrivals and of bytes that asynchronous copies bring."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.clocks import MBARRIERS, Clocks
from tir_mlir.ptx.instructions.control import apply_guard
from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, words
from tir_mlir.ptx.registers import Lanes, Write

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Read, Run

MOST_BYTES = (1 << 20) - 1


@dataclass
class Waiting:
    """Lanes that wait for a phase: by its number, or by its parity."""

    lanes: np.ndarray
    phase: int
    parity: bool
    put: Write


@dataclass
class Mbarrier:
    """An mbarrier: `completed` phases, `pending` of `count` arrivals of this phase, `bytes` expected and not come yet;
    `issued` copies, of which `landed` have, in order.

    message: what those that have arrived know.
    phase_message: of the phases that are complete.
    """

    block: int
    address: int
    column: int
    count: int
    pending: int
    completed: int = 0
    bytes: int = 0
    issued: int = 0
    landed: int = 0
    message: np.ndarray | None = None
    phase_message: np.ndarray | None = None
    waiting: list[Waiting] = field(default_factory=list)

    def is_over(self, phase: int, parity: bool) -> bool:
        """Whether the phase of this number, or the last one of this parity, is complete."""
        return (self.completed & 1) != (phase & 1) if parity else self.completed > phase


class Mbarriers:
    """The mbarriers of all blocks by (block, address)."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.all: dict[tuple[int, int], Mbarrier] = {}

    @property
    def order(self) -> Clocks:
        order = self.machine.order
        assert isinstance(order, Clocks)
        return order

    def get(self, lanes: np.ndarray, address: int) -> Mbarrier:
        """The mbarrier at an address of the block of these lanes; its initialization has to be ordered before them."""
        machine = self.machine
        block = int(machine.cta[lanes[0]])
        shared = machine.spaces["shared"]
        indices = shared.flat(lanes[:1], np.array([address]), 8, "uses an mbarrier in")
        barrier = self.all.get((block, address))
        if barrier is None:
            machine.fault(
                f"thread {machine.thread(lanes, 0)} uses {shared.where(address)} as an mbarrier, which it is not",
                "unwritten", lanes, 0,
            )  # fmt: skip
        stamps = np.repeat(shared.records.writes[indices >> shared.records.shift], len(lanes))
        late = self.order.unordered_mask(stamps, lanes)
        if late.any():
            k = int(np.argmax(late))
            who, position, threads, _ = self.order.describe(int(stamps[k]), machine)
            machine.fault(
                f"race: thread {machine.thread(lanes, k)} uses the mbarrier at {shared.where(address)}, which {who} "
                "initializes; no barrier orders the two", "race", lanes, k, threads, other_position=position,
            )  # fmt: skip
        return barrier

    def initialize(self, lanes: np.ndarray, addresses: np.ndarray, counts: np.ndarray, pc: int) -> None:
        machine = self.machine
        shared = machine.spaces["shared"]
        indices = shared.flat(lanes, addresses, 8, "initializes an mbarrier in")
        shared.records.write(lanes, indices, 8, pc)
        for k, (lane, address, count) in enumerate(
            zip(lanes.tolist(), addresses.tolist(), counts.tolist(), strict=False)
        ):
            block = int(machine.cta[lane])
            if not 1 <= count <= MOST_BYTES:
                machine.fault(f"an mbarrier for {count} arrivals", "barrier", lanes, k)
            column = self.order.mbarrier_column(block, address)
            if column is None:
                machine.fault(f"more than {MBARRIERS} mbarriers in a block", "instruction", lanes, k)
            old = self.all.get((block, address))
            done = old.completed if old else 0
            self.all[block, address] = Mbarrier(block, address, column, count, count, done + done % 2)

    def arrive(self, lanes: np.ndarray, barrier: Mbarrier, count: int, bytes_: int, drop: bool) -> None:
        """`count` arrivals of each lane, which first expect `bytes_` more bytes."""
        machine = self.machine
        message = self.order.tell(lanes)
        barrier.message = message if barrier.message is None else np.maximum(barrier.message, message)
        barrier.bytes += bytes_ * len(lanes)
        barrier.pending -= count * len(lanes)
        if drop:
            barrier.count -= count * len(lanes)
        if barrier.pending < 0:
            machine.fault(
                f"thread {machine.thread(lanes, len(lanes) - 1)} arrives at the mbarrier at {self.where(barrier)}, "
                f"which counts {barrier.count} arrivals a phase: one too many", "barrier", lanes, len(lanes) - 1,
            )  # fmt: skip
        self.flip(barrier)

    def expect(self, lanes: np.ndarray, barrier: Mbarrier, bytes_: int) -> None:
        if not 0 <= bytes_ <= MOST_BYTES:
            self.machine.fault(f"an mbarrier cannot expect {bytes_} bytes, {MOST_BYTES} at most", "barrier", lanes, 0)

    def flip(self, barrier: Mbarrier) -> None:
        """Complete the phase if all have arrived and all bytes have come; those that wait for it go on."""
        if barrier.pending or barrier.bytes:
            return
        barrier.completed += 1
        barrier.pending = barrier.count
        if barrier.message is not None:
            barrier.message[:, barrier.column] = barrier.landed
            barrier.phase_message = barrier.message.copy()
        still = []
        for waiting in barrier.waiting:
            if barrier.is_over(waiting.phase, waiting.parity):
                waiting.put(waiting.lanes, True)
                self.order.learn(waiting.lanes, barrier.phase_message)
                self.machine.unpark(waiting.lanes)
            else:
                still.append(waiting)
        barrier.waiting = still

    def where(self, barrier: Mbarrier) -> str:
        return self.machine.spaces["shared"].where(barrier.address)

    def state(self, barrier: Mbarrier) -> str:
        """What an mbarrier waits for, in words."""
        arrived = barrier.count - barrier.pending
        text = f"the mbarrier at {self.where(barrier)} is in phase {barrier.completed}"
        text += f": {arrived} of {barrier.count} arrived"
        if barrier.bytes:
            text += f", {abs(barrier.bytes)} bytes " + ("are missing" if barrier.bytes > 0 else "too many")
        return text


def groups(machine: Machine, on: Lanes, addresses: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The lanes by block and address, with their positions among the active ones."""
    lanes = machine.own[on]
    keys = machine.cta[lanes] * (1 << 40) + addresses
    return [(lanes[keys == key], np.nonzero(keys == key)[0]) for key in np.unique(keys)]


def shared_address(machine: Machine, ins: PtxInstruction, operand: str) -> Read:
    """An address of shared memory; a generic one is turned into one."""
    from tir_mlir.ptx.memory import WINDOWS

    read = machine.registers.address(operand, ins)

    def address(on: Lanes) -> np.ndarray:
        addresses = read(on)
        return np.where(addresses >= WINDOWS["shared"], addresses - WINDOWS["shared"], addresses)

    return address


def _init(machine: Machine, ins: PtxInstruction) -> Run:
    address = shared_address(machine, ins, ins.operands[0])
    count = machine.registers.read(ins.operands[1], "u32", ins)
    pc = machine.position_of(ins)
    return lambda on: machine.mbarriers.initialize(machine.own[on], address(on), count(on), pc)


def _inval(machine: Machine, ins: PtxInstruction) -> Run:
    address = shared_address(machine, ins, ins.operands[0])

    def run(on: Lanes) -> None:
        for lanes, indices in groups(machine, on, address(on)):
            barrier = machine.mbarriers.get(lanes, int(address(on)[indices[0]]))
            del machine.mbarriers.all[barrier.block, barrier.address]

    return run


def _arrive(machine: Machine, ins: PtxInstruction) -> Run:
    """`mbarrier.arrive{.expect_tx} state, [address]{, count or bytes}`."""
    bare = ins.operands[0].startswith("[")
    state = None if bare or ins.operands[0] == "_" else machine.registers.write(ins.operands[0], "b64", ins)
    arguments = ins.operands[0 if bare else 1 :]
    address = shared_address(machine, ins, arguments[0])
    number = machine.registers.read(arguments[1], "u32", ins) if len(arguments) > 1 else None
    expects, drop = "expect_tx" in ins.parts, "arrive_drop" in ins.parts

    def run(on: Lanes) -> None:
        where, numbers = address(on), number(on) if number else None
        for lanes, indices in groups(machine, on, where):
            barrier = machine.mbarriers.get(lanes, int(where[indices[0]]))
            phase = barrier.completed
            values = np.unique(numbers[indices]) if numbers is not None else np.array([0 if expects else 1])
            for value in values.tolist():
                mine = lanes if numbers is None else lanes[numbers[indices] == value]
                if expects:
                    machine.mbarriers.expect(mine, barrier, value)
                machine.mbarriers.arrive(mine, barrier, 1 if expects else value, value if expects else 0, drop)
            if state is not None:
                state(lanes, phase)

    return run


def _expect(machine: Machine, ins: PtxInstruction) -> Run:
    address = shared_address(machine, ins, ins.operands[0])
    number = machine.registers.read(ins.operands[1], "u32", ins)
    sign = 1 if "expect_tx" in ins.parts else -1

    def run(on: Lanes) -> None:
        where, numbers = address(on), number(on)
        for lanes, indices in groups(machine, on, where):
            barrier = machine.mbarriers.get(lanes, int(where[indices[0]]))
            total = int(numbers[indices].sum())
            machine.mbarriers.expect(lanes, barrier, total)
            barrier.bytes += sign * total
            machine.mbarriers.flip(barrier)

    return run


def _wait(machine: Machine, ins: PtxInstruction) -> Run:
    """`mbarrier.try_wait`, `test_wait`: lanes wait until the phase is complete."""
    put = machine.registers.write(ins.operands[0], "pred", ins)
    address = shared_address(machine, ins, ins.operands[1])
    parity = "parity" in ins.parts
    phase = machine.registers.read(ins.operands[2], "u32" if parity else "b64", ins)

    def run(on: Lanes, position: int) -> None:
        where, phases = address(on), phase(on)
        for lanes, indices in groups(machine, on, where):
            barrier = machine.mbarriers.get(lanes, int(where[indices[0]]))
            for value in np.unique(phases[indices]).tolist():
                mine = lanes[phases[indices] == value]
                if barrier.is_over(int(value), parity):
                    put(mine, True)
                    machine.mbarriers.order.learn(mine, barrier.phase_message)
                    machine.push(position + 1, machine.compact_lanes(mine))
                else:
                    barrier.waiting.append(Waiting(mine, int(value), parity, put))
                    machine.park(position, mine)

    return apply_guard(machine, ins, run)


def _plain(machine: Machine, ins: PtxInstruction, run: Run) -> Run:
    """An instruction that does not wait, in a row of ones that may."""

    def control(on: Lanes, position: int) -> None:
        run(on)
        machine.push(position + 1, on)

    return apply_guard(machine, ins, control)


_FORMS = {
    "init": _init, "inval": _inval, "arrive": _arrive, "arrive_drop": _arrive,
    "expect_tx": _expect, "complete_tx": _expect,
}  # fmt: skip


def _mbarrier(machine: Machine, ins: PtxInstruction) -> Run:
    form = ins.parts[1]
    if form in ("try_wait", "test_wait"):
        return _wait(machine, ins)
    if form not in _FORMS or "noComplete" in ins.parts:
        refuse(ins, "this form")
    return _plain(machine, ins, _FORMS[form](machine, ins))


def _fence(machine: Machine, ins: PtxInstruction) -> Run:
    """`fence.proxy.async` makes plain writes visible to asynchronous reads; other fences order what barriers order
    here."""
    if "proxy" in ins.parts and any(p.startswith("async") for p in ins.parts):
        order = machine.order
        assert isinstance(order, Clocks)
        return lambda on: order.fence(on)
    return lambda on: None


MBARRIER_ROWS = {
    "mbarrier": InstructionRow(
        _mbarrier,
        words(
            "init inval arrive arrive_drop expect_tx complete_tx try_wait test_wait parity shared shared::cta "
            "shared::cluster release acquire relaxed cta cluster noComplete"
        ),
        control=True,
    ),
    "fence": InstructionRow(
        _fence,
        words(
            "proxy async async::generic async.shared::cta shared::cta shared::cluster global alias tensormap::generic "
            "mbarrier_init sc acq_rel acquire release cta cluster gpu sys sync_restrict::shared::cta generic"
        ),
    ),
}
