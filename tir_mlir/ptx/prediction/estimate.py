"""A predicted time: what blocks occupy, how many run at a time, and what limits them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from tir_mlir.ptx.parser import Kernel
from tir_mlir.ptx.prediction.cards import Card
from tir_mlir.ptx.prediction.costs import L1_LATENCY, Cost, cost_of
from tir_mlir.ptx.prediction.tracing import BlockTrace, TracedLaunch, is_write, trace_launch
from tir_mlir.ptx.prediction.walk import BlockWalk, Request
from tir_mlir.target import CUDA

PIPE_EFFICIENCY = 0.9
"""Of the rate of a pipe of a multiprocessor: what the best f32 products by hand reach on an A100 (91 %)."""
LAUNCH_SECONDS = 2e-6
"""From the end of a kernel to the start of the next one on its stream, and its own start and end."""
L2_BYTES = 64
"""The most bytes a cycle that a multiprocessor gets of the L2 cache."""


@dataclass(frozen=True)
class GpuPrediction:
    """The predicted time of a launch.

    busy: by pipe, its part of the time that it works; of "L2" and "DRAM" the card's.
    limit: the pipe that is busiest, "latency", "launch".
    resident: blocks that a multiprocessor holds; held_by: what it has no more of. registers: of a thread; estimated:
    they were not told by ptxas. waves: rounds of blocks over the card.
    alone: cycles of a block that runs alone; waiting: those in which no unit is busy. copies: it has asynchronous ones.
    conflicts: the part of the passes over banks that are conflicts; wasted: of the sectors, that are not needed.
    tensor: the instruction of its products of matrices: "mma", "wmma", "wgmma".
    notes: what the prediction does not know.
    """

    kernel: str
    card: Card
    seconds: float
    busy: Mapping[str, float]
    limit: str
    resident: int
    held_by: str
    registers: int
    estimated: bool
    waves: float
    alone: float
    waiting: float
    conflicts: float
    wasted: float
    copies: bool
    notes: tuple[str, ...] = ()
    tensor: str = ""

    @property
    def advice(self) -> str:
        """What would help, in words."""
        from tir_mlir.ptx.prediction.advice import advice_of

        return advice_of(self)

    def __str__(self) -> str:
        from tir_mlir.ptx.prediction.advice import describe

        return describe(self)

    __repr__ = __str__


@dataclass
class _KernelWork:
    """A launch on a card. pipes: cycles of a multiprocessor that a block occupies each pipe, by name."""

    launch: TracedLaunch
    card: Card
    trace: BlockTrace
    costs: list[Cost] = field(default_factory=list)
    requests: dict[int, Request] = field(default_factory=dict)

    def __post_init__(self) -> None:
        instructions = self.launch.kernel.instructions
        self.costs = [_apply_efficiency(cost_of(ins, self.card)) for ins in instructions]
        active = min(self.launch.blocks, self.card.multiprocessors)
        share = self.card.l2 / self.card.clock / active
        self.l2_bytes = min(L2_BYTES, share)
        for position, rows in self.trace.accesses.items():
            requests = sum(row.requests for row in rows)
            if requests:
                self.requests[position] = self._request(position)

    @property
    def pipes(self) -> dict[str, float]:
        """Cycles of a block by pipe."""
        totals: dict[str, float] = {}
        for n, count in enumerate(self.trace.counts.tolist()):
            for name, cycles in self.costs[n].pipes.items():
                totals[name] = totals.get(name, 0.0) + cycles * count / self.trace.blocks
            if count and n in self.requests:
                for name, cycles in self.requests[n].pipes.items():
                    totals[name] = totals.get(name, 0.0) + cycles * count / self.trace.blocks
        return totals

    def _request(self, position: int) -> Request:
        """What an execution of an access by a warp occupies."""
        ins, card = self.launch.kernel.instructions[position], self.card
        executed = max(1, int(self.trace.counts[position]))
        passes = l2 = 0.0
        latency, asynchronous = float(card.shared_latency), ins.parts[0] == "cp"
        for row in self.trace.accesses[position]:
            units = row.units / executed
            if row.space == "shared":
                passes += units
                continue
            passes += max(row.requests / executed, units / 4) if "bulk" not in ins.parts else 0.0
            reaches, from_dram = self._misses(position)
            l2 += units * 32 * reaches / self.l2_bytes
            if row.requests:
                far = card.l2_latency + from_dram * (card.dram_latency - card.l2_latency)
                latency = L1_LATENCY + reaches * (far - L1_LATENCY)
        return Request({"memory": passes / PIPE_EFFICIENCY, **({"L2": l2} if l2 else {})}, latency, asynchronous)

    def _misses(self, position: int) -> tuple[float, float]:
        """The part of the sectors of an access that the L1 cache does not have, and of these the part that the L2 does
        not have."""
        array = self.trace.array_of.get(position, -1)
        writes = is_write(self.launch.kernel.instructions[position])
        distinct, every = (self.trace.written if writes else self.trace.read).get(array, (1.0, 1.0))
        if not every or not distinct:
            return 1.0, 1.0
        moved = distinct * 32 * self.launch.blocks
        size = self.launch.arrays[array][1] if 0 <= array < len(self.launch.arrays) else moved
        return (1.0 if writes else distinct / every), min(1.0, size / moved)

    @property
    def l2_total(self) -> float:
        """Bytes that the L2 cache moves."""
        read = sum(distinct for distinct, _ in self.trace.read.values())
        return (read + sum(every for _, every in self.trace.written.values())) * 32 * self.launch.blocks

    @property
    def dram_total(self) -> float:
        """Bytes that DRAM moves at least: each array once."""
        total = 0.0
        for traffic in (self.trace.read, self.trace.written):
            for array, (distinct, _) in traffic.items():
                moved = distinct * 32 * self.launch.blocks
                size = self.launch.arrays[array][1] if 0 <= array < len(self.launch.arrays) else moved
                total += min(moved, size)
        return total


def _apply_efficiency(cost: Cost) -> Cost:
    """With the efficiency of pipes."""
    return Cost({name: cycles / PIPE_EFFICIENCY for name, cycles in cost.pipes.items()}, cost.latency)


def predict(
    launch: TracedLaunch, card: Card, registers: int, estimated: bool = False, spilled: int = 0
) -> GpuPrediction:
    """Predict the time of a launch. registers: of a thread; estimated: not by ptxas; spilled: bytes of a thread that
    ptxas keeps in memory.

    Raises PtxError for an instruction that is not known, and for blocks that do not come to their end.
    """
    trace = trace_launch(launch)
    tensor = _tensor_kind(launch.kernel)
    card = card.at_power(bool(tensor))
    work = _KernelWork(launch, card, trace)
    shared = launch.kernel.shared_bytes + launch.shared_bytes
    resident, held_by = CUDA(f"sm_{card.capability}").occupancy(launch.threads, shared, registers)
    resident = max(1, resident)
    walk = BlockWalk(launch.kernel, -(-launch.threads // 32), work.costs, work.requests)
    alone = walk.cycles(trace.path)
    pipes = work.pipes
    rows = math.ceil(launch.blocks / card.multiprocessors)
    times = {
        "latency": card.seconds(_cycles(alone, max(pipes.values(), default=0.0), rows, resident)),
        "L2": work.l2_total / (card.l2 * 1e9),
        "DRAM": work.dram_total / (card.dram * 1e9),
    }
    body = max(times.values())
    every = card.seconds(launch.blocks / card.multiprocessors) / body
    report = trace.report
    return GpuPrediction(
        kernel=launch.kernel.name,
        card=card,
        seconds=LAUNCH_SECONDS + body,
        busy={name: cycles * every for name, cycles in pipes.items()} | {n: times[n] / body for n in ("L2", "DRAM")},
        limit=_limit(times, pipes, alone, min(resident, rows)),
        resident=resident,
        held_by=held_by,
        registers=registers,
        estimated=estimated,
        waves=launch.blocks / (resident * card.multiprocessors),
        alone=alone,
        waiting=walk.waiting,
        copies=any(request.asynchronous for request in work.requests.values()),
        conflicts=report.bank_conflicts / max(1, report.shared_passes),
        wasted=1 - report.sectors_least / max(1, report.sectors),
        notes=_notes(trace, spilled),
        tensor=tensor,
    )


def _cycles(alone: float, most: float, rows: int, resident: int) -> float:
    """Cycles of a multiprocessor for `rows` blocks, `resident` at a time. alone: of one block without others; most:
    those that it occupies the busiest pipe."""
    rounds, rest = divmod(rows, resident)
    return rounds * _overlapped_cycles(alone, most, resident) + (_overlapped_cycles(alone, most, rest) if rest else 0.0)


def _overlapped_cycles(alone: float, most: float, blocks: int) -> float:
    """Cycles of blocks that run at the same time: those of the busiest pipe, by the part of the time in which at least
    one of the blocks needs it. Each needs it for the part of the time that it does alone, whatever the others do:
    the utilization of a processor by several programs (Tanenbaum, Modern Operating Systems, 3.1)."""
    if not most:
        return alone
    idle = 1 - most / max(alone, most)
    return blocks * most / (1 - idle**blocks)


def _limit(times: Mapping[str, float], pipes: Mapping[str, float], alone: float, together: int) -> str:
    body = max(times.values())
    if body < LAUNCH_SECONDS:
        return "launch"
    where = max(times, key=lambda name: times[name])
    if where != "latency":
        return where
    pipe = max(pipes, key=lambda name: pipes[name], default="latency")
    return "latency" if alone > pipes.get(pipe, 0.0) * together else pipe


def _notes(trace: BlockTrace, spilled: int) -> tuple[str, ...]:
    notes = []
    if spilled:
        notes.append(f"ptxas spills {spilled} bytes of a thread: what they cost is not in the time")
    if trace.is_specialized:
        notes.append("warps of a block take paths of their own: only the longest is followed, waits for others are not")
    if trace.reads_values:
        notes.append("branches or addresses depend on values in memory, which are taken to be 0")
    return tuple(notes)


def _tensor_kind(kernel: Kernel) -> str:
    kinds = {i.parts[0] for i in kernel.instructions} & {"mma", "wmma", "wgmma"}
    return max(kinds, default="")
