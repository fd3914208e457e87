"""Runs the threads of blocks together: the group of lanes with the smallest position goes on, until others meet it.

A lane is a thread of a block; blocks are padded to whole warps. Each instruction is compiled once to a function of
the active lanes. Instructions that wait (barriers, collective ones) hand their lanes to `park`; when nothing else
can go on, `unblock` asks who may be released and names who waits where if nobody may.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from tir_mlir.errors import PtxError
from tir_mlir.ptx import instructions
from tir_mlir.ptx.clocks import Clocks, Epochs, needs_clocks
from tir_mlir.ptx.copies import Copies
from tir_mlir.ptx.instructions.barriers import BlockBarriers
from tir_mlir.ptx.instructions.mbarriers import Mbarriers
from tir_mlir.ptx.instructions.warpgroups import GROUP, Warpgroups
from tir_mlir.ptx.memory import WINDOWS, Space, regions_of
from tir_mlir.ptx.parser import Kernel, PtxInstruction, registers_of
from tir_mlir.ptx.registers import Lanes, RegisterFile, vector
from tir_mlir.ptx.report import Report
from tir_mlir.ptx.speculation import CheckedLoads, UseTracker
from tir_mlir.ptx.types import DTYPES, size_of

if TYPE_CHECKING:
    from tir_mlir.ptx.launching import LaunchArguments


WARP = 32
MOST_INSTRUCTIONS = 1 << 16
"""A stamp of an access has 16 bits for the position of its instruction."""
FAIRNESS_PERIOD = 64
"""Every so many turns the group with the largest position goes on: it may be what others spin for."""


@dataclass
class Step:
    """A compiled instruction.

    control: it moves its lanes itself, and gets (lanes, position).
    registers: those of products of warpgroups that it accesses.
    """

    run: Callable[..., None]
    control: bool
    guard: np.ndarray | None
    negated: bool
    registers: frozenset[str]


def padded_width(kernel: Kernel, threads: int) -> int:
    """The lanes of a block: its threads in whole warps; in whole warpgroups where they work together."""
    unit = GROUP if any(i.parts[0] == "wgmma" for i in kernel.instructions) else WARP
    return -(-threads // unit) * unit


class Machine:
    """A launch of some blocks of a grid."""

    def __init__(
        self,
        kernel: Kernel,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        blocks: range,
        arguments: LaunchArguments,
        dynamic: int,
        limit: int,
        previous: Space | None = None,
        loads: CheckedLoads | UseTracker | None = None,
    ):
        self.checked = loads if isinstance(loads, CheckedLoads) else CheckedLoads()
        self.uses = loads if isinstance(loads, UseTracker) else None
        self.conflicts: set[int] = set()
        self.kernel, self.grid, self.block, self.limit = kernel, grid, block, limit
        self.first_block = blocks.start
        self.tensor_maps = arguments.maps
        self.threads = block[0] * block[1] * block[2]
        self.width = padded_width(kernel, self.threads)
        self.blocks = len(blocks)
        self.lanes = self.blocks * self.width
        self.own = np.arange(self.lanes)
        self.cta = self.own // self.width
        self.tid = self.own % self.width
        self.alive = self.tid < self.threads
        self.report = Report(kernel.name, grid, block, kernel.shared_bytes + dynamic)
        self.order = Clocks(blocks, self.width, kernel) if needs_clocks(kernel) else Epochs(blocks, self.width)
        self.parameters = arguments.parameters
        self.active: Lanes = slice(None)
        self.at = 0
        self._memories(arguments, dynamic, previous)
        self.registers = RegisterFile(kernel, self.lanes, self._special(dynamic), self.symbols)
        self.ready: dict[int, Lanes] = {}
        self.parked: dict[int, np.ndarray] = {}
        self.waiters: list[Callable[[], bool]] = []
        self.barriers = BlockBarriers(self)
        self.mbarriers = Mbarriers(self)
        self.copies = Copies(self)
        self.warpgroups = Warpgroups(self)
        self.waiters.append(self.copies.land_bulk)
        self.counts = [0] * (len(kernel.instructions) + 1)
        self.positions = {id(ins): i for i, ins in enumerate(kernel.instructions)}
        self.end = len(kernel.instructions)
        if self.end >= MOST_INSTRUCTIONS:
            raise PtxError(
                f"kernel {kernel.name} has {self.end} instructions, the machine takes {MOST_INSTRUCTIONS}", "launch"
            )
        self.steps = [self._compile(ins) for ins in kernel.instructions]
        if self.uses is not None:
            self.uses.start(self)

    # --- layout ---

    def _memories(self, arguments: LaunchArguments, dynamic: int, previous: Space | None) -> None:
        """Global, shared and local memory with their shadows, and the addresses of symbols. `before`: global memory as
        other blocks of the launch have left it."""
        self.symbols: dict[str, int] = {}
        regions = arguments.regions
        memory = Space(self, "global", regions, 1, None) if previous is None else previous
        memory.machine = self
        self.spaces = {"global": memory}
        for space, copies, base in (("shared", self.blocks, self.cta), ("local", self.lanes, self.own)):
            variables = [v for v in self.kernel.variables.values() if v.space == space]
            variables.sort(key=lambda v: v.bytes == 0)
            sizes = [(v.name, v.bytes or dynamic, v.alignment if v.bytes else 1024) for v in variables]
            parts = regions_of(sizes, 256 if space == "shared" else 16)
            self.spaces[space] = Space(self, space, parts, copies, base)
            self.symbols |= {v.name: r.start for v, r in zip(variables, parts, strict=False)}
        for region in regions:
            if region.name in self.kernel.variables:
                self.symbols[region.name] = region.start + WINDOWS["global"]
        offset = 0
        self.parameter_at = {}
        for p in self.kernel.parameters:
            offset = -(-offset // p.alignment) * p.alignment
            self.parameter_at[p.name] = offset
            self.symbols[p.name] = WINDOWS["param"] + offset
            offset += p.bytes
        smallest = self._granules()
        for name, space in self.spaces.items():
            if space.shadow is None:
                space.attach(smallest[name], name == "global")
            else:
                space.shadow.continue_with(self.order)
        if previous is None:
            size = min(len(arguments.data), len(memory.data))
            memory.data[:size] = arguments.data[:size]
            for start, end in arguments.written:
                memory.records.mark_written(start, end)

    def _granules(self) -> dict[str, int]:
        """The size of the smallest access to each memory, at most 4 bytes."""
        smallest = {"global": 4, "shared": 4, "local": 4}
        for ins in self.kernel.instructions:
            if ins.parts[0] in ("ld", "st", "ldu", "atom", "red", "cp", "ldmatrix", "stmatrix", "mbarrier", "wmma"):
                sizes = [size_of(p) for p in ins.parts if p in DTYPES and p != "pred"] or [4]
                named = [s for s in smallest if any(p.split("::")[0] == s for p in ins.parts)] or list(smallest)
                for space in named:
                    smallest[space] = min(smallest[space], *sizes)
        return smallest

    def _special(self, dynamic: int) -> dict[str, np.ndarray]:
        """The special registers of all lanes."""
        bx, by, bz = self.block
        gx, gy, gz = self.grid
        t, c = self.tid, self.cta + self.first_block
        full = np.full(self.lanes, 0, np.uint32)
        lane = (t % WARP).astype(np.uint32)
        unit = np.uint32(1)
        values: dict[str, np.ndarray] = {
            "%tid.x": t % bx, "%tid.y": t // bx % by, "%tid.z": t // (bx * by),
            "%ctaid.x": c % gx, "%ctaid.y": c // gx % gy, "%ctaid.z": c // (gx * gy),
            "%ntid.x": full + bx, "%ntid.y": full + by, "%ntid.z": full + bz,
            "%nctaid.x": full + gx, "%nctaid.y": full + gy, "%nctaid.z": full + gz,
            "%laneid": lane, "%warpid": t // WARP, "%nwarpid": full + self.width // WARP,
            "%lanemask_eq": unit << lane, "%lanemask_lt": (unit << lane) - unit,
            "%lanemask_le": (unit << lane) | ((unit << lane) - unit),
            "%lanemask_gt": ~((unit << lane) | ((unit << lane) - unit)), "%lanemask_ge": ~((unit << lane) - unit),
            "%smid": c, "%nsmid": full + gx * gy * gz, "%gridid": full, "%clusterid.x": c % gx,
            "%cluster_ctarank": full, "%cluster_nctarank": full + 1, "%dynamic_smem_size": full + dynamic,
            "%total_smem_size": full + dynamic + self.kernel.shared_bytes, "%clock": full, "%clock_hi": full,
        }  # fmt: skip
        for d in "xyz":
            values["%cluster_ctaid." + d] = full
            values["%cluster_nctaid." + d] = full + 1
        special = {name: np.asarray(v).astype(np.uint32) for name, v in values.items()}
        wide: dict[str, np.ndarray] = {name: np.zeros(self.lanes, np.uint64) for name in ("%clock64", "%globaltimer")}
        return special | wide

    # --- compiling ---

    def _compile(self, ins: PtxInstruction) -> Step:
        row = instructions.ROWS.get(ins.parts[0])
        if row is None:
            raise PtxError(
                f"the machine does not know the instruction `{ins.text}`",
                "instruction",
                ins.line,
                ins.source,
                self.kernel.name,
            )
        row.check(ins)
        guard = None if ins.guard is None else self.registers.rows(ins.guard, "pred", ins)
        named = frozenset() if ins.parts[0] == "wgmma" else registers_of(ins, self.kernel)
        registers = named & self.warpgroups.registers
        return Step(row.compile(self, ins), row.control, guard, ins.negated, registers)

    @cached_property
    def mentions(self) -> Counter[str]:
        """How many instructions name each register."""
        return Counter(r for ins in self.kernel.instructions for r in registers_of(ins, self.kernel))

    def position_of(self, ins: PtxInstruction) -> int:
        """The position of an instruction."""
        return self.positions[id(ins)]

    def may_drop(self, position: int) -> bool:
        """Whether the instruction is a load of a value that threads may drop. One that no instruction reads has not
        been moved: the text wants it."""
        ins = self.kernel.instructions[position]
        return ins.parts[0] == "ld" and any(self.mentions[out] > 1 for out in vector(ins.operands[0]))

    def is_pure(self, ins: PtxInstruction) -> bool:
        """Whether an instruction only computes a register from others."""
        return instructions.is_pure(ins)

    def dtype(self, name: str) -> np.dtype:
        return np.dtype(DTYPES[name])

    # --- lanes ---

    def index(self, lanes: Lanes) -> np.ndarray:
        """The lanes as indices."""
        return self.own[lanes]

    def select_lanes(self, lanes: Lanes, mask: np.ndarray) -> Lanes | None:
        """The lanes for which the mask holds; None: none."""
        if mask.all():
            return lanes
        if not mask.any():
            return None
        return self.own[lanes][mask]

    def compact_lanes(self, lanes: np.ndarray) -> Lanes:
        """A slice instead of indices where they are contiguous."""
        first, last = int(lanes[0]), int(lanes[-1]) + 1
        if last - first == len(lanes):
            return slice(None) if len(lanes) == self.lanes else slice(first, last)
        return lanes

    def push(self, position: int, lanes: Lanes) -> None:
        """These lanes go on at a position."""
        present = self.ready.get(position)
        if present is None:
            self.ready[position] = lanes
        else:
            both = np.union1d(self.own[present], self.own[lanes])
            self.ready[position] = self.compact_lanes(both)

    def park(self, position: int, lanes: Lanes) -> None:
        """These lanes wait at the instruction at a position."""
        lanes = self.own[lanes]
        present = self.parked.get(position)
        self.parked[position] = lanes if present is None else np.union1d(present, lanes)

    def unpark(self, lanes: np.ndarray) -> None:
        """Lanes that waited go on after their instruction."""
        for position in list(self.parked):
            waiting = self.parked[position]
            released = np.isin(waiting, lanes, assume_unique=True)
            if released.any():
                self.push(position + 1, self.compact_lanes(waiting[released]))
                if released.all():
                    del self.parked[position]
                else:
                    self.parked[position] = waiting[~released]

    def leave(self, lanes: Lanes) -> None:
        """These lanes have ended."""
        self.alive[lanes] = False

    def warps_of(self, lanes: Lanes) -> int:
        """How many warps have active lanes."""
        return len(np.unique(self.own[lanes] // WARP)) if not isinstance(lanes, slice) else self._span(lanes)

    def _span(self, lanes: slice) -> int:
        start, stop, _ = lanes.indices(self.lanes)
        return -(-stop // WARP) - start // WARP

    # --- running ---

    def run(self) -> Report:
        """Run all threads to their end."""
        self.push(0, self.compact_lanes(np.nonzero(self.alive)[0]))
        with np.errstate(all="ignore"):
            while True:
                if self.ready:
                    self.limit -= 1
                    position = (min if self.limit % FAIRNESS_PERIOD else max)(self.ready)
                    lanes = self.ready.pop(position)
                    if self.limit < 0:
                        self.fault("the launch does not come to an end", "deadlock", lanes, 0, position=position)
                    self._advance(position, lanes, min(self.ready, default=self.end))
                elif not self._unblock():
                    break
            self.warpgroups.finish()
            self.copies.finish()
        for ins, n in zip(self.kernel.instructions, self.counts, strict=False):
            if n:
                self.report.instructions[ins.name] = self.report.instructions.get(ins.name, 0) + n
        return self.report

    def _advance(self, position: int, lanes: Lanes, stop: int) -> None:
        """Execute instructions for these lanes up to `stop`, or to one that moves them."""
        steps, counts, warps = self.steps, self.counts, self.warps_of(lanes)
        while position < self.end:
            step = steps[position]
            counts[position] += warps
            self.active, self.at = lanes, position
            if self.uses is not None:
                self.uses.observe(position, lanes)
            if step.control:
                if step.registers:
                    self.warpgroups.touch(step.registers, lanes)
                step.run(lanes, position)
                return
            active = lanes
            if step.guard is not None:
                guard = step.guard[lanes]
                active = self.select_lanes(lanes, ~guard if step.negated else guard)
            if active is not None:
                self.active = active
                if step.registers:
                    self.warpgroups.touch(step.registers, active)
                step.run(active)
            position += 1
            if position == stop:
                self.push(position, lanes)
                return
        self.leave(lanes)

    def _unblock(self) -> bool:
        """Nobody can go on: release who may. False: all have ended. Raises if some wait for ever."""
        if any([release() for release in self.waiters]):
            return True
        if not self.alive.any():
            return False
        _raise_deadlock(self)

    # --- errors ---

    def thread(self, lanes: Lanes, k: int) -> tuple[int, int, int]:
        """The (x, y, z) of the k-th active lane."""
        return self.coordinates(int(self.tid[lanes][k]), self.block)

    def block_of(self, lanes: Lanes, k: int) -> tuple[int, int, int]:
        """The (x, y, z) of the block of the k-th active lane."""
        return self.coordinates(int(self.cta[lanes][k]) + self.first_block, self.grid)

    def coordinates(self, number: int, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
        """A number as (x, y, z)."""
        x, y, _ = sizes
        return number % x, number // x % y, number // (x * y)

    def fault(
        self,
        text: str,
        kind: str,
        lanes: Lanes,
        k: int,
        threads: tuple = (),
        position: int | None = None,
        other_position: int | None = None,
    ) -> NoReturn:
        """Raise the error of the k-th active lane at the present instruction, or the one at `position`; `other`:
        where the other access is."""
        ins = self.kernel.instructions[self.at if position is None else position]
        partner = None if other_position is None else self.kernel.instructions[other_position]
        raise PtxError(
            text,
            kind,
            ins.line,
            ins.source,
            self.kernel.name,
            self.block_of(lanes, k),
            (self.thread(lanes, k), *threads),
            ins.text,
            (partner.line, partner.source, partner.text) if partner else None,
        )


def _raise_deadlock(machine: Machine) -> NoReturn:
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
