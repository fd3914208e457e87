"""Matrix products at the speed of the CPU."""

from __future__ import annotations

from math import ceil, prod
from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.contraction import Contraction, contraction
from tir_mlir.schedules.tiles import LARGE, Tiles, tiles
from tir_mlir.target import Target, host

SQUARE = 8
"""Side of the squares in which an operand is turned while it is packed."""
THREAD_WORK = 1 << 20
"""Multiply-adds that pay for waking a thread."""


def gemm(sch: Schedule, block: Any, target: Target | None = None, threads: int | None = None) -> None:
    """Schedule a matrix product (a batch of them, operands transposed or not) for a CPU.

        for i, j, k in T.grid(m, n, k):                  for j_0, k_0: pack B[k_0, j_0]
            with T.block("C"): C += A * B      ->            for i_0 (parallel), j_1, i_1:
                                                                 for k_1: a tile of C in registers += A * B
                                                                 C tile += registers

    `block` is the product, each iter bound to a loop of its own. Any extents, symbolic ones too. `target`: this machine
    when left out; `threads`: its cores. Raises ScheduleError where the block is no product.
    """
    target = target or host()
    what = contraction(sch, block)
    work = prod(what.extent(a) or LARGE for a in (what.m, what.n, what.k))
    threads = min(threads or target.cores, max(1, work // THREAD_WORK))
    plan = tiles(what.extent(what.m), what.extent(what.n), what.extent(what.k), what.bits, target, threads)
    Gemm(sch, block, what, plan, target, threads).run()


class Gemm:
    """One product on its way."""

    def __init__(self, sch: Schedule, block: Any, what: Contraction, plan: Tiles, target: Target, threads: int):
        self.sch, self.block, self.what, self.plan, self.target, self.threads = sch, block, what, plan, target, threads
        self.m, self.n, self.k = (what.extent(a) or LARGE for a in (what.m, what.n, what.k))

    def run(self) -> None:
        sch, plan = self.sch, self.plan
        batch, i, j, k = self._loops(self.block)
        k_0 = None
        if plan.kc < self.k:
            k_0, _ = sch.split(k, [None, plan.kc])
            parts, write_back = sch.rfactor(k_0, 0), self.block
            batch, i, j, k_0, k = self._nest(parts)
        else:
            parts = self.block
            write_back = sch.cache_write(parts, 0, "local")
        i_0, i_1, i_2 = sch.split(i, [None, ceil(plan.mc / plan.mr), plan.mr])
        j_0, j_1, j_2 = sch.split(j, [None, ceil(plan.nc / plan.nr), plan.nr])
        sch.reorder(*batch, j_0, *([] if k_0 is None else [k_0]), i_0, j_1, i_1, k, i_2, j_2)
        sch.reverse_compute_at(write_back, i_1, preserve_unit_loops=True)
        if self._packs_right():
            self._pack_right(parts, k_0 or j_0)
        sch.unroll(i_2)
        sch.vectorize(j_2)
        sch.decompose_reduction(parts, k)
        *_, rows, columns = sch.get_loops(write_back)
        sch.unroll(rows)
        sch.vectorize(columns)
        if self.threads > 1:
            sch.parallel(i_0)

    def _loops(self, block: Any) -> tuple[list, Any, Any, Any]:
        what = self.what
        by_name = dict(zip(what.extents, self.sch.get_loops(block), strict=True))
        order = [by_name[a] for a in (*what.batch, what.m, what.n, what.k)]
        self.sch.reorder(*order)
        return order[:-3], order[-3], order[-2], order[-1]

    def _nest(self, parts: Any) -> tuple[list, Any, Any, Any, Any]:
        *batch, i, j, k_0, k = self.sch.get_loops(parts)
        return batch, i, j, k_0, k

    def _packs_right(self) -> bool:
        """Whether the right operand is read often enough, from far enough, to be worth a copy in the order of use.

        Where its columns are not neighbours, vectors need one.
        """
        what, plan = self.what, self.plan
        if what.right.axes[-1] != what.n:
            return True
        return self.k * self.n * what.right.bits // 8 > self.target.l2 and self.m > 2 * plan.mr

    def _pack_right(self, parts: Any, at: Any) -> None:
        """The right operand, panel by panel of nr columns, each a row of the sum after the other."""
        sch, what, nr = self.sch, self.what, self.plan.nr
        packed = sch.cache_read(parts, what.right.name, "global")
        sch.compute_at(packed, at)
        axes = what.right.axes
        k, n = axes.index(what.k), axes.index(what.n)
        rest = [a for a in range(len(axes)) if a not in (k, n)]

        def panels(*index: Any) -> tuple:
            return (*(index[a] for a in rest), index[n] // nr, index[k], index[n] % nr)

        sch.transform_layout(packed, ("write", 0), panels, assume_injective_transform=True)
        loops = sch.get_loops(packed)[-len(axes) :]
        n_0, lanes = sch.split(loops[n], [None, nr])
        sch.vectorize(lanes)
        if self.threads > 1:
            sch.reorder(n_0, *(x for x in loops if x is not loops[n]), lanes)
            sch.parallel(n_0)
        if axes[-1] != what.n:  # rows and columns change places: squares that are turned in registers
            k_0, k_1 = sch.split(loops[k], [None, SQUARE])
            sch.reorder(n_0, k_0, k_1, lanes)
            sch.unroll(k_1)
