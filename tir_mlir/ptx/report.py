"""What a launch did, counted: instructions by kind, divergent branches, barriers, bank conflicts, sectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.analysis.shared_banks import bank_passes, distinct_pairs
from tir_mlir.ptx.parser import PtxInstruction

if TYPE_CHECKING:
    from tir_mlir.ptx.registers import Lanes


@dataclass
class AccessCount:
    """The accesses of one instruction.

    requests: warps that executed it.
    units: passes over the banks of shared memory, or sectors of 32 bytes of global memory.
    least: units if each were used in full.
    """

    line: int
    source: tuple[str, int] | None
    text: str
    space: str
    requests: int = 0
    units: int = 0
    least: int = 0


@dataclass
class Report:
    """The counts of a launch.

    shared_bytes: shared memory of a block, declared and dynamic.
    instructions: by kind, one for each warp.
    accesses: by instruction of shared and global memory; `branches` and `divergent`: of warps.
    barriers: of blocks.
    """

    kernel: str = ""
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    shared_bytes: int = 0
    instructions: dict[str, int] = field(default_factory=dict)
    accesses: list[AccessCount] = field(default_factory=list)
    branches: int = 0
    divergent: int = 0
    barriers: int = 0

    def _sum(self, space: str, name: str) -> int:
        return sum(getattr(a, name) for a in self.accesses if a.space == space)

    @property
    def shared_requests(self) -> int:
        return self._sum("shared", "requests")

    @property
    def shared_passes(self) -> int:
        """Passes over the banks; without conflicts, as many as `shared_least`."""
        return self._sum("shared", "units")

    @property
    def shared_least(self) -> int:
        return self._sum("shared", "least")

    @property
    def bank_conflicts(self) -> int:
        """Passes that a layout without conflicts would not take."""
        return self.shared_passes - self.shared_least

    @property
    def global_requests(self) -> int:
        return self._sum("global", "requests")

    @property
    def sectors(self) -> int:
        """Sectors of 32 bytes of global memory that were moved."""
        return self._sum("global", "units")

    @property
    def sectors_least(self) -> int:
        return self._sum("global", "least")

    def access(self, ins: PtxInstruction, space: str, size: int) -> Callable[[Lanes, np.ndarray], None]:
        """A counter for the accesses of an instruction."""
        row = AccessCount(ins.line, ins.source, ins.text, space)
        self.accesses.append(row)
        return _counter(row, size)

    def merge(self, report: Report) -> None:
        """Add the counts of other blocks of the same launch."""
        for name, n in report.instructions.items():
            self.instructions[name] = self.instructions.get(name, 0) + n
        if not self.accesses:
            self.accesses = report.accesses
        else:
            for mine, addition in zip(self.accesses, report.accesses, strict=True):
                mine.requests += addition.requests
                mine.units += addition.units
                mine.least += addition.least
        self.branches += report.branches
        self.divergent += report.divergent
        self.barriers += report.barriers

    def __str__(self) -> str:
        grid, block = " x ".join(map(str, self.grid)), " x ".join(map(str, self.block))
        lines = [f"kernel {self.kernel}: grid {grid}, block {block}", ""]
        rows = [
            ("instructions of warps", str(sum(self.instructions.values())), ""),
            ("branches of warps", str(self.branches), f"{self.divergent} divergent"),
            ("barriers of blocks", str(self.barriers), ""),
            ("shared requests", str(self.shared_requests),
             f"{_ratio(self.shared_passes, self.shared_requests)} passes each, {self.bank_conflicts} by conflicts"),
            ("global requests", str(self.global_requests),
             f"{_ratio(self.sectors, self.global_requests)} sectors each, {self.sectors_least} are needed"),
        ]  # fmt: skip
        lines += [f"{a:<24}{b:>10}  {c}".rstrip() for a, b, c in rows]
        executed = [a for a in self.accesses if a.requests]
        if executed:
            lines += ["", f"{'line':>6} {'requests':>9} {'each':>6} {'least':>6}  instruction"]
            for a in sorted(executed, key=lambda a: a.line):
                per_request, least = _ratio(a.units, a.requests), _ratio(a.least, a.requests)
                lines.append(f"{a.line:>6} {a.requests:>9} {per_request:>6} {least:>6}  {a.text}")
        lines += ["", "instructions by kind"]
        for name, n in sorted(self.instructions.items(), key=lambda item: (-item[1], item[0])):
            lines.append(f"{n:>10}  {name}")
        return "\n".join(lines)


def _ratio(a: int, b: int) -> str:
    return f"{a / b:.2f}".rstrip("0").rstrip(".") if b else "0"


def _counter(row: AccessCount, size: int) -> Callable[[Lanes, np.ndarray], None]:
    """A function (lanes, addresses) that adds to `row`. A pattern of the call before, moved by whole banks or
    sectors, is not counted again."""
    count, unit = (bank_passes, max(4, size)) if row.space == "shared" else (_sectors, 32)
    last_lanes: Lanes | None = None
    pattern: np.ndarray | None = None
    result = (0, 0, 0)

    def add(lanes: Lanes, address: np.ndarray) -> None:
        nonlocal last_lanes, pattern, result
        relative = address - (int(address[0]) & -unit)
        slices = isinstance(lanes, slice) and isinstance(last_lanes, slice)
        same_lanes = lanes is last_lanes or (slices and lanes == last_lanes)
        if not (same_lanes and pattern is not None and (relative == pattern).all()):
            warps = _warps(lanes, len(address))
            result = count(warps, relative, size)
            last_lanes, pattern = lanes, relative
        row.requests += result[0]
        row.units += result[1]
        row.least += result[2]

    return add


def _warps(lanes: Lanes, count: int) -> np.ndarray:
    """The lanes of addresses."""
    if isinstance(lanes, slice):
        start = lanes.start or 0
        return np.arange(start, start + count)
    return np.asarray(lanes)


def _sectors(lanes: np.ndarray, address: np.ndarray, size: int) -> tuple[int, int, int]:
    """(requests, sectors of 32 bytes, fewest possible for as many bytes)."""
    warps = lanes // 32
    sectors, _ = distinct_pairs(warps, address >> 5)
    units, _ = distinct_pairs(warps, address // size)
    bytes_ = np.bincount(units) * size
    return len(bytes_), len(sectors), int(-(-bytes_ // 32).sum())
