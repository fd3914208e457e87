"""Execution counters, kept per region: all ops of a region run as often as the region."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.ir import parent_op
from tir_mlir.dialect.ir.op_traits import WRITTEN_OPERAND
from tir_mlir.dialect.ir.op_views import CountedLoopOp, YieldOp, isa

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table


LOADS, STORES, FLOPS, RUNS = "loads", "stores", "flops", "runs"


class Tally:
    """The counts per run of each region, and the number of runs.

    `once[n]`: counts by (what, name) of one run of region n; `runs[n]`: its runs, incremented by the program; `more`:
    counts that vary from run to run (active lanes of a mask).
    """

    def __init__(self) -> None:
        self.once: list[Counter[tuple[str, str]]] = []
        self.runs: list[int] = []
        self.more: Counter[tuple[str, str]] = Counter()

    def region(self) -> int:
        self.once.append(Counter())
        self.runs.append(0)
        return len(self.once) - 1

    def total(self) -> Counter[tuple[str, str]]:
        totals = Counter(self.more)
        for once, runs in zip(self.once, self.runs, strict=True):
            for key, count in once.items():
                totals[key] += count * runs
        return totals


@dataclass
class Counts:
    """Loads and stores of elements of a buffer, and float operations whose results are stored to it."""

    loads: int = 0
    stores: int = 0
    flops: int = 0


@dataclass
class Report:
    """The counts of a run: `report["C"].loads`, `.stores`, `.flops` of a buffer, `report.runs["C"]` runs of a block.

    Float operations per lane: 1 for a sum, product, quotient, maximum or `math` function, 2 for a multiply-add, 0 for
    casts and comparisons. They are attributed to the buffer of the first store that the result flows to, or to "" if
    there is none. Loads and stores count the lanes of a vector, without those disabled by a mask. `results`: the exact
    contents of the buffer parameters by name, with `exact=True`.
    """

    name: str
    buffers: dict[str, Counts] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    results: dict[str, np.ndarray] = field(default_factory=dict)
    seconds: float = 0.0

    @staticmethod
    def from_tally(name: str, tally: Tally, order: list[str]) -> Report:
        by_buffer: defaultdict[str, Counts] = defaultdict(Counts, {n: Counts() for n in order})
        report = Report(name)
        for (what, key), count in tally.total().items():
            if what == RUNS:
                report.runs[key] = report.runs.get(key, 0) + count
            elif count:
                setattr(by_buffer[key], what, getattr(by_buffer[key], what) + count)
        report.buffers = dict(by_buffer)
        return report

    def __getitem__(self, buffer: str) -> Counts:
        return self.buffers[buffer]

    @property
    def total(self) -> Counts:
        every = self.buffers.values()
        return Counts(sum(c.loads for c in every), sum(c.stores for c in every), sum(c.flops for c in every))

    def _rows(self) -> list[tuple[str, ...]]:
        rows = [(name or "-", c.loads, c.stores, c.flops) for name, c in self.buffers.items()]
        rows.append(("total", self.total.loads, self.total.stores, self.total.flops))
        return [(name, *[f"{n:,}" for n in numbers]) for name, *numbers in rows]

    def _blocks(self) -> str:
        return ", ".join(f"{name} {count:,}" for name, count in self.runs.items())

    def __str__(self) -> str:
        rows = [(self.name, LOADS, STORES, FLOPS), *self._rows()]
        widths = [max(len(row[n]) for row in rows) for n in range(4)]
        lines = ["  ".join([r[0].ljust(widths[0]), *[c.rjust(w) for c, w in zip(r[1:], widths[1:], strict=True)]])
                 for r in rows]  # fmt: skip
        return "\n".join([*lines, *([f"blocks run: {self._blocks()}"] if self.runs else [])])

    __repr__ = __str__

    def __rich__(self) -> Table:
        from rich.table import Table

        table = Table(title=self.name, caption=f"blocks run: {self._blocks()}" if self.runs else None)
        table.add_column("buffer")
        for word in (LOADS, STORES, FLOPS):
            table.add_column(word, justify="right")
        for row in self._rows():
            table.add_row(*row)
        return table


def destination(value: ir.Value) -> ir.Value | None:
    """The memref of the first store that a value flows to, through ops, loops and selects, or None."""
    seen: set[ir.Value] = set()
    todo = [value]
    while todo:
        current = todo.pop(0)
        if current in seen:
            continue
        seen.add(current)
        for use in reversed(list(current.uses)):  # MLIR lists the last use first
            op = use.owner.operation
            if op.name in WRITTEN_OPERAND:
                written = WRITTEN_OPERAND[op.name]
                if use.operand_number != written and isinstance(op.operands[written].type, ir.MemRefType):
                    return op.operands[written]
            elif isa(op, CountedLoopOp):
                number = use.operand_number - (len(op.operands) - len(op.results))
                if number >= 0:
                    todo += [op.results[number], op.regions[0].blocks[0].arguments[1 + number]]
            elif isa(op, YieldOp):
                parent = parent_op(op)
                if use.operand_number < len(parent.results):
                    todo.append(parent.results[use.operand_number])
            else:
                todo += list(op.results)
    return None
