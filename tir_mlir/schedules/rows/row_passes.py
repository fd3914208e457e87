"""Free parameters of passes over a row: rows handled together, axes of a row as one loop, passes in one loop."""

from __future__ import annotations

from math import prod
from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.attempt import attempt
from tir_mlir.schedules.block_queries import extent_of, iters
from tir_mlir.schedules.even_tiles import LARGE
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.producers import Member
from tir_mlir.schedules.rows.fused_row import fused_row, pays
from tir_mlir.target import Target

ROWS = (2, 4, 8, 16, 32)
"""Candidates for the rows that are handled together."""
TOGETHER = 8
"""The number of short rows that are handled together: the passes of one row depend on each other, those of several do
not."""
VECTORS = (1, 4, 8)
"""Candidates for the vectors of a step of passes that are joined."""


class RowPasses:
    """The passes of a schedule over rows, each of them a block that runs along a row, with the decisions about them.

        for j: e[j] = exp(X[i, j])            for j_0:
        for k: sum[i] += e[k]          ->         for j_1: e[j] = exp(X[i, j]), vectorized
                                                  for k_1: sum[i] += e[k], vectorized

    By default, each pass is vectorized over the whole row; short rows are handled together, and axes of a row are one
    loop if that `pays`. A pass that may not join another one stays alone. bits: of the widest element.
    """

    def __init__(self, sch: Schedule, rows: list[str], free: Free, target: Target, bits: int):
        self.sch, self.rows, self.free, self.target = sch, rows, free, target
        self.lanes, self.bytes = target.lanes(bits), max(1, bits // 8)
        self.passes: list[tuple[Member, Any]] = []

    def group_rows(self, row: Any, inner: list[Any]) -> tuple[Any, list[Any]]:
        """Handle a few rows together, pass by pass. Returns the loop over groups and the loops inside."""
        count = extent_of(self.sch, row)
        length = prod(extent_of(self.sch, x) or LARGE for x in inner)
        short = TOGETHER * length * self.bytes <= self.target.l1 // 4
        default = TOGETHER if short and (count or 0) >= TOGETHER * self.target.cores else 1
        rows = self.free.choice("rows", [r for r in ROWS if r <= (count or LARGE)], default)
        if rows == 1:
            return row, inner
        outer, row = self.sch.split(row, [None, rows])
        return outer, [row, *inner]

    def add(self, member: Member, loops: list[Any], axes: list[str]) -> None:
        """Add a pass of a block, which is placed; `loops`: those along the row, or around it, outer to inner; `axes`:
        the iters that the innermost of them are bound to."""
        along = self._along(member, loops)
        default = len(along) > 1 and pays(member.info, axes[-len(along) :], self.lanes)
        fuse = len(along) > 1 and self.free.flag(f"fuse_{member.info.name}", default)
        self.passes.append((member, fused_row(self.sch, member.block, along) if fuse else loops[-1]))

    def _along(self, member: Member, loops: list[Any]) -> list[Any]:
        """The innermost loops of a pass that make up a row: of a reduction the sums, of others those inside a row."""
        sums = len(iters(member.info, "R"))
        row_depth = sums or len(member.info.iter_vars) - sum(a in self.rows for a in member.along.values())
        return loops[len(loops) - row_depth :]

    def run(self) -> None:
        """Join and vectorize the passes."""
        joined: set[str] = set()
        for n, (member, loop) in enumerate(self.passes):
            if not member.reduces and n and member.info.name not in joined:
                joined |= self._join(member, loop)
        for member, loop in self.passes:
            if member.info.name not in joined:
                self.sch.vectorize(loop)

    def _join(self, member: Member, loop: Any) -> set[str]:
        """Join the reduction that reads what a block writes with its pass. Returns the blocks joined."""
        written = {str(w) for w in member.info.writes}
        for reader, _ in self.passes:
            if not reader.reduces or len(iters(reader.info, "R")) != 1:
                continue
            if not any(str(r) in written for r in reader.info.reads):
                continue
            vectors = self.free.choice(f"join_{reader.info.name}", VECTORS, 0)
            if vectors and self._joined(reader, loop, vectors * self.lanes):
                return {reader.info.name, member.info.name}
        return set()

    def _joined(self, reader: Member, loop: Any, width: int) -> bool:
        """Run a reduction with a step of the pass that it reads, if that is legal."""
        sch = self.sch

        def steps() -> bool:
            outer, inner = sch.split(loop, [None, width])
            sch.reverse_compute_at(reader.block, outer, preserve_unit_loops=True)
            sch.vectorize(inner)
            sch.vectorize(sch.get_loops(reader.block)[-1])
            return True

        return bool(attempt(sch, steps))
