"""What some blocks of a launch execute, without the values: branches and addresses only, no memory, no checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tir_mlir.errors import PtxError
from tir_mlir.ptx import instructions
from tir_mlir.ptx.instructions.control import apply_guard
from tir_mlir.ptx.instructions.loads import space_of
from tir_mlir.ptx.instructions.rows import types_of
from tir_mlir.ptx.instructions.wmma import tile_access, tile_counter
from tir_mlir.ptx.machine import WARP, Machine, Step, padded_width
from tir_mlir.ptx.memory import WINDOWS, regions_of
from tir_mlir.ptx.parser import Kernel, PtxInstruction
from tir_mlir.ptx.prediction.slices import ACCESSES, needed_positions
from tir_mlir.ptx.registers import Lanes, RegisterFile, Run, vector
from tir_mlir.ptx.report import AccessCount, Report
from tir_mlir.ptx.tensors import TensorMap
from tir_mlir.ptx.types import integer, size_of

TURNS = 1_000_000
"""Branches after which the blocks are taken to be endless."""
SAMPLES = 3
"""Blocks that are followed."""


@dataclass(frozen=True)
class TracedLaunch:
    """A launch without memory. arrays: first address and bytes of each; maps: tensor maps by the address that the
    kernel has of them."""

    kernel: Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    parameters: bytes
    arrays: tuple[tuple[int, int], ...]
    maps: Mapping[int, TensorMap] = field(default_factory=dict)

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]


@dataclass(frozen=True)
class BlockTrace:
    """What sampled blocks execute. counts: warps by position of the instruction; accesses: by position; path: the
    positions [first, stop) that the busiest warp goes through, in order; is_specialized: whether warps of a block take
    paths of their own; reads_values: whether branches or addresses depend on values in memory, taken to be 0; read,
    written: distinct sectors of each array that loads and stores of a block access, and all that they request."""

    blocks: int
    counts: np.ndarray
    accesses: Mapping[int, list[AccessCount]]
    array_of: Mapping[int, int]
    path: list[tuple[int, int]]
    is_specialized: bool
    reads_values: bool
    report: Report
    read: Mapping[int, tuple[float, float]]
    written: Mapping[int, tuple[float, float]]


def is_write(ins: PtxInstruction) -> bool:
    """Whether an access of global memory writes it."""
    if ins.parts[0] == "cp":
        return next(p for p in ins.parts if p.split("::")[0] in ("shared", "global")) == "global"
    return ins.parts[0] in ("st", "atom", "red") or "store" in ins.parts


def _count_distinct(values: np.ndarray) -> int:
    values = np.sort(values)  # np.unique hashes, which takes several times as long
    return int(np.count_nonzero(values[1:] != values[:-1])) + min(1, len(values))


def sample_blocks(count: int) -> list[int]:
    """Blocks in the middle of equal parts of a grid: they are seldom at its edges."""
    some = min(count, SAMPLES)
    return [(2 * n + 1) * count // (2 * some) for n in range(some)]


def trace_launch(launch: TracedLaunch) -> BlockTrace:
    """Follow some blocks. Raises PtxError for an instruction that is not known, and for blocks that do not end."""
    return TraceMachine(launch, sample_blocks(launch.blocks)).trace()


class TraceMachine(Machine):
    """The machine without memory: instructions that decide nothing about branches and addresses are only counted.

    Loads give 0, waits are over at once.
    """

    def __init__(self, launch: TracedLaunch, blocks: Sequence[int]):  # no memories: not that of the machine
        kernel = launch.kernel
        self.launch, self.kernel, self.grid, self.block = launch, kernel, launch.grid, launch.block
        self.first_block, self.blocks, self.threads = blocks[0], len(blocks), launch.threads
        self.width = padded_width(kernel, self.threads)
        self.lanes = self.blocks * self.width
        self.own = np.arange(self.lanes)
        self.cta, self.tid = self.own // self.width, self.own % self.width
        self.alive = self.tid < self.threads
        self.report = Report(kernel.name, launch.grid, launch.block, kernel.shared_bytes + launch.shared_bytes)
        self.parameters, self.limit = launch.parameters, TURNS
        self.active, self.at = slice(None), 0
        self.ready, self.parked = {}, {}
        self.end = len(kernel.instructions)
        self.positions = {id(ins): n for n, ins in enumerate(kernel.instructions)}
        self._lay_out()
        special = self._special(launch.shared_bytes)
        block, (x, y, _) = np.asarray(blocks)[self.cta], self.grid
        for name, value in (("x", block % x), ("y", block // x % y), ("z", block // (x * y))):
            special["%ctaid." + name] = value.astype(np.uint32)
        self.registers = RegisterFile(kernel, self.lanes, special, self.symbols)
        self.needed = needed_positions(kernel)
        self.accesses: dict[int, list[AccessCount]] = {}
        self.array_of: dict[int, int] = {}
        self.sectors: dict[int, list[np.ndarray]] = {}
        self.starts = np.array([start for start, _ in launch.arrays], np.int64)
        self.changes = np.zeros(self.end + 1, np.int64)
        self.turns: list[tuple[int, int, Lanes]] = []
        self.plan: list[Step | None] = [self._plan(n, ins) for n, ins in enumerate(kernel.instructions)]
        self.next_step = self._next_steps()

    def _lay_out(self) -> None:
        """The addresses of variables and parameters."""
        self.symbols = {}
        for space in ("shared", "local"):
            variables = [v for v in self.kernel.variables.values() if v.space == space]
            variables.sort(key=lambda v: v.bytes == 0)
            sizes = [(v.name, v.bytes or self.launch.shared_bytes, v.alignment if v.bytes else 1024) for v in variables]
            regions = regions_of(sizes, 256 if space == "shared" else 16)
            self.symbols |= {v.name: r.start for v, r in zip(variables, regions, strict=True)}
        constants = [v for v in self.kernel.variables.values() if v.space in ("global", "const")]
        regions = regions_of([(v.name, v.bytes, v.alignment) for v in constants], 4096)
        self.symbols |= {r.name: r.start + WINDOWS["global"] for r in regions}
        offset = 0
        for p in self.kernel.parameters:
            offset = -(-offset // p.alignment) * p.alignment
            self.symbols[p.name] = WINDOWS["param"] + offset
            offset += p.bytes

    # --- what is executed ---

    def _next_steps(self) -> list[int]:
        """The first position from each one on at which something is to be done."""
        following = [self.end] * (self.end + 1)
        for n in range(self.end - 1, -1, -1):
            following[n] = following[n + 1] if self.plan[n] is None else n
        return following

    def _plan(self, position: int, ins: PtxInstruction) -> Step | None:
        """An instruction as far as it decides about branches and addresses; None: it does not."""
        row = instructions.ROWS.get(ins.parts[0])
        if row is None:
            raise PtxError(f"the machine does not know the instruction `{ins.text}`", "instruction", ins.line)
        if ins.parts[0] in ("bra", "brx", "ret", "exit"):
            return Step(row.compile(self, ins), True, None, False, frozenset())
        if ins.parts[0] in ("bar", "barrier") and not {"arrive", "warp"} & set(ins.parts):
            return Step(apply_guard(self, ins, self._wait_at(ins)), True, None, False, frozenset())
        is_needed = position in self.needed
        if ins.parts[0] in ACCESSES and not {"param", "param::entry", "local"} & set(ins.parts):
            run = self._access(position, ins, is_needed)
        elif not is_needed:
            return None
        elif self.is_pure(ins) or ins.parts[0] in ("cvta", "ld", "activemask"):
            run = row.compile(self, ins) if "local" not in ins.parts else self._zero(ins)
        elif ins.parts[0] in ("shfl", "vote", "match", "redux", "elect"):
            return Step(row.compile(self, ins), True, None, False, frozenset())
        else:
            run = self._zero(ins, value=ins.parts[0] == "mbarrier")
        if run is None:
            return None
        guard = None if ins.guard is None else self.registers.rows(ins.guard, "pred", ins)
        return Step(run, False, guard, ins.negated, frozenset())

    def _wait_at(self, ins: PtxInstruction) -> Run:
        """A barrier: its lanes go on when no others can."""
        votes = self._zero(ins) if "red" in ins.parts else None

        def wait(on: Lanes, position: int) -> None:
            if votes is not None:
                votes(on)
            self.park(position, on)

        return wait

    def _zero(self, ins: PtxInstruction, value: bool = False) -> Run:
        """The registers of a result are 0; predicates are `value`."""
        rows = [self.registers.bits[n] for n in vector(ins.operands[0].replace("|", ",")) if n in self.registers.bits]

        def run(on: Lanes) -> None:
            for bits in rows:
                bits[on] = value if bits.dtype == np.bool_ else 0

        return run

    def _access(self, position: int, ins: PtxInstruction, is_needed: bool) -> Run | None:
        """Count the accesses of an instruction."""
        counts = self._counters(position, ins)
        if not is_needed:
            return counts
        zero = self._zero(ins)
        if counts is None:
            return zero

        def run(on: Lanes) -> None:
            counts(on)
            zero(on)

        return run

    def _counters(self, position: int, ins: PtxInstruction) -> Run | None:
        name, operands = ins.parts[0], ins.operands
        if name == "wmma":
            return self._wmma(position, ins) if ins.parts[1] != "mma" else None
        if name in ("ldmatrix", "stmatrix"):
            rows = 8 * int(next(p for p in ins.parts if p in ("x1", "x2", "x4"))[1:])
            return self._counter(position, ins, "shared", operands[name == "ldmatrix"], 16, rows)
        if name == "cp":
            return self._copy(position, ins)
        size = size_of(types_of(ins)[-1])
        if name in ("ld", "ldu", "st"):
            size *= len(vector(operands[name == "st"]))
        return self._counter(position, ins, space_of(ins), operands[name not in ("st", "red")], size)

    def _row(self, position: int, ins: PtxInstruction, space: str, size: int) -> Callable[[Lanes, np.ndarray], None]:
        count = self.report.access(ins, space, size)
        self.accesses.setdefault(position, []).append(self.report.accesses[-1])
        return count

    def _counter(
        self, position: int, ins: PtxInstruction, space: str | None, operand: str, size: int, rows: int = WARP
    ) -> Run:
        """Counts accesses of the first `rows` lanes of warps."""
        read = self.registers.address(operand, ins)
        spaces = ["global", "shared"] if space is None else [space]
        count = {name: self._row(position, ins, name, size) for name in spaces}
        lane = self.tid % WARP

        def run(on: Lanes) -> None:
            if rows < WARP:
                on = self.own[on][lane[on] < rows]
            address = read(on)
            first = int(address[0])
            name = space or ("shared" if WINDOWS["shared"] <= first < WINDOWS["local"] else "global")
            if name == "global":
                self._touch(position, on, address)
            if WINDOWS["shared"] <= first < WINDOWS["local"]:
                address = address - WINDOWS["shared"]
            count[name](on, address)

        return run

    def _touch(self, position: int, on: Lanes, address: np.ndarray) -> None:
        """Remember which array an instruction accesses, and its sectors there of the first block."""
        if position not in self.array_of:
            self.array_of[position] = int(np.searchsorted(self.starts, int(address[0]), "right")) - 1
            self.sectors[position] = []
        if self.blocks > 1:
            address = address[self.cta[on] == 0]
        sector = (address - self.starts[self.array_of[position]]) >> 5
        changes = np.empty(len(sector), np.bool_)
        changes[:1] = True
        np.not_equal(sector[1:], sector[:-1], out=changes[1:])
        self.sectors[position].append(sector[changes])

    def _wmma(self, position: int, ins: PtxInstruction) -> Run:
        before = len(self.report.accesses)
        access, count = tile_access(self, ins), tile_counter(self, ins)
        self.accesses[position] = self.report.accesses[before:]

        def run(on: Lanes) -> None:
            for lanes in self.own[on].reshape(-1, WARP):
                of_warp = access(lanes)
                if of_warp.space == "global":
                    self._touch(position, np.full(len(of_warp.chunks), lanes[0]), of_warp.chunks)
                count(lanes, of_warp)

        return run

    def _copy(self, position: int, ins: PtxInstruction) -> Run | None:
        """`cp.async` of threads and in bulk."""
        if {"commit_group", "wait_group", "wait_all", "mbarrier", "prefetch"} & set(ins.parts[1:4]):
            return None
        if "bulk" in ins.parts:
            return self._bulk_copy(position, ins)
        size = integer(ins.operands[2])
        to, source = (
            self._counter(position, ins, space, operand, size)
            for space, operand in zip(("shared", "global"), ins.operands, strict=False)
        )
        limits = () if "L2::cache_hint" in ins.parts else ins.operands[3:]
        length = self.registers.read(limits[0], "u32", ins) if limits else None

        def run(on: Lanes) -> None:
            to(on)
            some = on if length is None else self.select_lanes(on, length(on) > 0)
            if some is not None:
                source(some)

        return run

    def _bulk_copy(self, position: int, ins: PtxInstruction) -> Run:
        """Bytes of a bulk or tensor copy, as sectors, and as passes over all banks."""
        into = ins.operands[0] if "tensor" not in ins.parts else None
        self._row(position, ins, "global", 16)
        self._row(position, ins, "shared", 16)
        rows = self.accesses[position]
        if into is not None:
            size = self.registers.read(ins.operands[2], "u32", ins)
            first = next(p for p in ins.parts if p.split("::")[0] in ("shared", "global"))
            far = ins.operands[1 if first.startswith("shared") else 0]
            where = self.registers.address(far, ins)
        else:
            operand = next(o for o in ins.operands if "{" in o)
            where, size = self.registers.address(f"[{operand[1:].split(',')[0].strip()}]", ins), None

        def run(on: Lanes) -> None:
            addresses = where(on)
            if self.launch.arrays:
                self.array_of.setdefault(position, int(np.searchsorted(self.starts, int(addresses[0]), "right")) - 1)
            for k, address in enumerate(addresses.tolist()):
                tensor = self.launch.maps.get(address)
                moved = int(size(on)[k]) if size is not None else tensor.bytes if tensor is not None else 0
                for row, unit in zip(rows, (32, 128), strict=True):
                    row.requests += 1
                    row.units += -(-moved // unit)
                    row.least += -(-moved // unit)

        return run

    # --- running ---

    def trace(self) -> BlockTrace:
        """Run all threads to their end."""
        self.push(0, self.compact_lanes(np.nonzero(self.alive)[0]))
        with np.errstate(all="ignore"):
            while self.ready or self.parked:
                if not self.ready:
                    self._release()
                self.limit -= 1
                position = min(self.ready)
                lanes = self.ready.pop(position)
                if self.limit < 0:
                    self.fault("the launch does not come to an end", "deadlock", lanes, 0, position=position)
                self._advance(position, lanes, min(self.ready, default=self.end))
        counts = np.cumsum(self.changes)[:-1]
        for ins, n in zip(self.kernel.instructions, counts.tolist(), strict=True):
            if n:
                self.report.instructions[ins.name] = self.report.instructions.get(ins.name, 0) + n
        loads = [self.kernel.instructions[n] for n in self.needed if self.kernel.instructions[n].parts[0] in ACCESSES]
        reads_values = any(not {"param", "param::entry"} & set(ins.parts) for ins in loads)
        path, is_specialized = self._busiest_path()
        traffic = [self._traffic(writes) for writes in (False, True)]
        return BlockTrace(
            self.blocks, counts, self.accesses, self.array_of, path, is_specialized, reads_values, self.report, *traffic
        )

    def _traffic(self, writes: bool) -> dict[int, tuple[float, float]]:
        """By array: distinct sectors and requested ones of a block, on average."""
        positions: dict[int, list[int]] = {}
        for position, array in self.array_of.items():
            if is_write(self.kernel.instructions[position]) == writes:
                positions.setdefault(array, []).append(position)
        traffic = {}
        for array, some in positions.items():
            touched = [part for n in some for part in self.sectors.get(n, ())]
            every = sum(row.units for n in some for row in self.accesses[n] if row.space == "global")
            distinct = _count_distinct(np.concatenate(touched)) if touched else every / self.blocks
            traffic[array] = float(distinct), every / self.blocks
        return traffic

    def _release(self) -> None:
        """Nobody else can go on: all barriers are over."""
        parked, self.parked = self.parked, {}
        for position, lanes in parked.items():
            self.push(position + 1, self.compact_lanes(self.own[lanes]))

    def _advance(self, position: int, lanes: Lanes, stop: int) -> None:
        """Go on with these lanes up to `stop`, or to an instruction that moves them."""
        first, stop = position, stop if stop > position else self.end
        while (position := self.next_step[position]) < stop:
            step = self.plan[position]
            assert step is not None
            self.at = position
            if step.control:
                self._note(first, position + 1, lanes)
                step.run(lanes, position)
                return
            active: Lanes | None = lanes
            if step.guard is not None:
                guard = step.guard[lanes]
                active = self.select_lanes(lanes, ~guard if step.negated else guard)
            if active is not None:
                self.active = active
                step.run(active)
            position += 1
        self._note(first, stop, lanes)
        if stop < self.end:
            self.push(stop, lanes)

    def _note(self, first: int, stop: int, lanes: Lanes) -> None:
        warps = self.warps_of(lanes)
        self.changes[first] += warps
        self.changes[stop] -= warps
        self.turns.append((first, stop, lanes))

    def _busiest_path(self) -> tuple[list[tuple[int, int]], bool]:
        """The path of the warp that executes most, and whether warps of its block differ by more than a fifth."""
        executed = np.zeros(self.lanes // WARP, np.int64)
        for first, stop, lanes in self.turns:
            executed[np.unique(self.own[lanes] // WARP) if not isinstance(lanes, slice) else self._warps(lanes)] += (
                stop - first
            )
        warp = int(executed.argmax())
        per_block = self.width // WARP
        block = executed[warp // per_block * per_block :][: -(-self.threads // WARP)]
        path = [(first, stop) for first, stop, lanes in self.turns if self._has(lanes, warp)]
        return path, bool(block.min() < 0.8 * block.max())

    def _warps(self, lanes: slice) -> slice:
        start, stop, _ = lanes.indices(self.lanes)
        return slice(start // WARP, -(-stop // WARP))

    def _has(self, lanes: Lanes, warp: int) -> bool:
        if isinstance(lanes, slice):
            span = self._warps(lanes)
            return span.start <= warp < span.stop
        first = int(np.searchsorted(lanes, warp * WARP))
        return first < len(lanes) and int(lanes[first]) < (warp + 1) * WARP
