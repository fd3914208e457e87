"""Schedule for matrix products on CPUs with 32 vector registers or more: wide register tiles over whole panels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil

from tir_mlir.prediction.cores import core_or_typical
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import LARGE, block_info, even_tile, loops_by_iter
from tir_mlir.schedules.products.contraction import Contraction, ContractionOperand
from tir_mlir.schedules.products.packing import LINE, REUSE, copy_in, exceeds_l2, pack, rows_held
from tir_mlir.schedules.products.tile_sizes import FROM_L2, kept_in, register_tile, room
from tir_mlir.schedules.steps import give_reasons, merge_epilogue, place_epilogue, put_in_order
from tir_mlir.target import Target

MANY_REGISTERS = 32
"""The number of vector registers from which on the tiles are wide: their loads then need not come from L1."""
STEPS = 4
"""Reduction steps unrolled in the inner loop."""
BLOCKS = (16, 8)
"""Tiles of rows in a block of one thread: the rows of the left operand that remain in L2 while all panels pass."""
PAGE, PAGE_MISS = 4096, 20
"""Bytes of a page, and the cycles to find one that the tile before has not used."""
WORTHWHILE = 0.05
"""The least share of the cycles of a tile that blocks must save, as each has partial tiles of its own."""
RESULT_MISS = 500
"""The cycles that the lines of a tile of the result take to come from behind L2."""
OFTEN = 24
"""The minimum number of tiles that read a panel, for packing to pay off if L2 holds the right operand."""
SHARE = 16
"""Tiles of rows in a share of a thread, if the number of rows is symbolic."""
NARROW_SHARE = 1
"""The same, if there are few columns and terms: all panels remain in the cache, and small shares are even."""
LONG_SHARE = 4
"""The same, if there are few columns and many terms: as many tiles read a panel from behind L2."""
EVEN = 0.95
"""The minimum share of the threads' time that tiles of columns must fill to be preferred to tiles of rows."""


@dataclass(frozen=True)
class Panels:
    """mr x nr: register tile.

    kc: reduction steps per pass over a panel of kc x nr.
    steps: those unrolled.
    packed: whether panels of the right operand are packed.
    by_columns: whether threads share the columns, not the rows.
    block: tiles of rows that pass over all panels before the next ones do; 0: all rows of a thread.
    prefetch: whether a tile of the result is prefetched while the one before is computed.
    share: tiles of rows in a share of a thread, if the number of rows is symbolic.
    group: panels that a tile of rows passes over before the next one does.
    together: panels that one row reads at once.
    why: in words.
    """

    mr: int
    nr: int
    kc: int
    steps: int
    packed: bool
    by_columns: bool
    block: int = 0
    prefetch: bool = False
    share: int = SHARE
    group: int = 1
    together: int = 1
    why: tuple[str, ...] = ()


def sharing_rows(plan: Panels, what: Contraction) -> Panels:
    """The panels if there are too few of them for all threads: these share the rows. A right operand of so few columns
    is read where it is. Of sums in several passes, a share reads its part of the left operand and all panels."""
    share = NARROW_SHARE if plan.kc >= (what.extent(what.k) or LARGE) else LONG_SHARE
    return replace(plan, packed=False, by_columns=False, block=0, share=share)


def near_rows(plan: Panels, what: Contraction, room_for_rows: int, threads: int) -> Panels:
    """The panels of a symbolic number of rows, in blocks that some bytes hold: each panel reads all rows of a block."""
    if threads > 1 and not plan.by_columns:
        return plan  # shares are blocks
    row = (what.extent(what.k) or LARGE) * max(1, what.bits // 8)
    return replace(plan, block=max(BLOCKS[0], room_for_rows // (plan.mr * row)))


def few_rows_panels(what: Contraction, target: Target, threads: int) -> Panels:
    """The panels of a product of few rows, which reads the right operand where it is. A panel is as long as L2 holds
    for the next tiles, if its rows are a page apart: then they share a few sets."""
    plan = panels(what, target, threads)
    return replace(plan, packed=False, by_columns=True, kc=min(plan.kc, target.l2 // PAGE))


def panels(what: Contraction, target: Target, threads: int) -> Panels:
    """Choose the tile and the panels of a product. A panel fits in half of L2, if it is read more than once: only a
    long reduction is split."""
    m, n, k = (what.extent(a) or LARGE for a in (what.m, what.n, what.k))
    size = max(1, what.bits // 8)
    lanes, masked = target.lanes(what.bits), what.extent(what.n) is None
    tile = register_tile(ceil(m / threads), n, lanes, target, FROM_L2, panel=what.right.panel, masked=masked)
    mr, nr = min(tile.rows, m), tile.vectors * lanes
    reused = m > mr or not what.right.panel
    kc = even_tile(k, max(16, room(target, "l2") // (nr * size)), STEPS) if reused else k
    packed = _packs(what, mr, nr, target)
    rows, columns = (_thread_utilization(tiles, threads) for tiles in (ceil(m / mr), ceil(n / nr)))
    any_rows = bool(what.right.panel) and what.extent(what.m) is None  # of few, one thread has the only share
    by_columns = threads > 1 and (columns >= EVEN or columns >= rows) and (packed or any_rows or columns > rows)
    kc = min(kc, k)
    why = (tile.why, kept_in(target, "l2", f"panel of {kc} steps", kc * nr * size))
    together = _panels_together(what, nr, target, threads)
    plan = Panels(mr, nr, kc, STEPS if what.extent(what.k) else 1, packed, by_columns, together=together, why=why)
    plan = _with_groups(plan, what, target, threads)
    if threads > 1 or m == LARGE or what.right.panel or plan.group > 1:
        return plan
    return _with_blocks(plan, what, target)


def _with_groups(plan: Panels, what: Contraction, target: Target, threads: int) -> Panels:
    """The plan, with groups of packed panels that half of L2 holds, if L2 does not hold all three matrices: a tile of
    rows then comes from behind L2 once for each group, not for each panel."""
    m, n, k = (what.extent(a) or LARGE for a in (what.m, what.n, what.k))
    size = max(1, what.bits // 8)
    count = ceil(ceil(n / plan.nr) / (threads if plan.by_columns else 1))
    most = room(target, "l2") // (plan.kc * plan.nr * size)
    near = size * (m * k + k * n + m * n) <= target.l2
    few = target.registers < MANY_REGISTERS  # their tiles take longer for what they read of a row
    if few or not plan.packed or near or LARGE in (m, n, k) or m <= plan.mr or min(most, count) < 2:
        return plan
    group = ceil(count / ceil(count / most))
    why = kept_in(target, "l2", f"{group} panels for each tile of rows", group * plan.kc * plan.nr * size)
    return replace(plan, group=group, why=(*plan.why, why))


def _panels_together(what: Contraction, nr: int, target: Target, threads: int) -> int:
    """The panels that one row reads at once: as many as the core reads memory by, whose sums are half of the registers,
    if they come from behind L2 and there are as many for each thread."""
    m, n, k = (what.extent(a) or LARGE for a in (what.m, what.n, what.k))
    if m > 1 or what.right.panel != nr or n * k * what.bits // 8 <= target.l2:
        return 1
    most = min(core_or_typical(target).streams, target.registers // 2 * target.lanes(what.bits) // nr)
    return max((t for t in range(1, most + 1) if n % (t * nr * threads) == 0), default=1)


def _with_blocks(plan: Panels, what: Contraction, target: Target) -> Panels:
    """The plan, with blocks of rows that pass over all panels one after another where a tile takes fewer cycles so.

    The first tile of a block waits for each panel, unless it comes from where it is read as fast as it is used.
    Without blocks, each tile begins new pages of the left operand and the result, whose rows are far apart.
    """
    m, n, k = (what.extent(a) or LARGE for a in (what.m, what.n, what.k))
    size, core = max(1, what.bits // 8), core_or_typical(target)
    rows = next((b for b in BLOCKS if 4 * b * plan.mr * k * size <= target.l2), BLOCKS[-1])
    if m <= rows * plan.mr or n <= plan.nr or size * (m * k + k * n + m * n) <= target.l2:
        return plan
    tile = plan.mr * plan.kc * plan.nr / core.multiply_adds(what.dtype, target)
    pages = PAGE_MISS * plan.mr * (1 + ceil(plan.kc * size / PAGE))
    row_wait = max(0.0, plan.mr * plan.kc * size / core.rate_of(m * k * size, target) - tile)
    panel_wait = max(0.0, plan.nr * plan.kc * size / core.rate_of(k * n * size, target) - tile)
    without, within = pages + row_wait, panel_wait / rows
    costs = f"of {tile:.0f} cycles of a tile they save {without:.0f} for new pages and rows, and wait {within:.0f}"
    if without - within < WORTHWHILE * tile:
        return replace(plan, why=(*plan.why, f"no blocks of rows: {costs}"))
    why = (*plan.why, f"blocks of {rows * plan.mr} rows: {costs}")
    return replace(plan, block=rows, prefetch=exceeds_l2(what, target) and tile < 10 * RESULT_MISS, why=why)


def _packs(what: Contraction, mr: int, nr: int, target: Target) -> bool:
    """Whether to pack the right operand: its columns are not contiguous, its type is narrower, it is dequantised, or it
    is reused and exceeds half of L2, or is reused often and its rows share sets of L1 or its vectors cross lines."""
    m, n, k = (what.extent(a) or LARGE for a in (what.m, what.n, what.k))
    row = n * what.right.bits // 8
    if what.right.panel:
        return False
    if what.must_pack:
        return True
    slow = row % LINE != 0 or rows_held(target.l1, row) < k
    far = 2 * k * n * what.bits // 8 > target.l2
    return n > nr and ((far and m >= REUSE * mr) or (slow and m >= OFTEN * mr))


def _thread_utilization(tiles: int, threads: int) -> float:
    """The share of the threads' time that equal tiles fill."""
    return tiles / (ceil(tiles / threads) * threads)


class PanelGemm:
    """Schedule a (batched) matrix product in panels of columns.

        for i, j, k in T.grid(m, n, k):             for j_0 (parallel): pack the panel B[:, j_0]
            with T.block("C"): C += A * B    ->         for i_1:
                                                            for k_1, k_2 (unrolled): a tile of C in registers += A * B
                                                            C tile = registers

    A panel remains in L2 while all rows use it. With by_columns unset, the threads share the rows: B is packed as a
    whole first. A reduction too long for a panel is split, and its parts add up in C. packed: the operand that the
    caller packs. epilogue: see `gemm`.
    """

    def __init__(
        self, sch: Schedule, block: BlockHandle, what: Contraction, plan: Panels, target: Target, threads: int, *,
        packed: str | None = None, epilogue: BlockHandle | None = None,
    ):  # fmt: skip
        self.packed, self.epilogue = packed, epilogue
        self.sch, self.block, self.what, self.plan, self.target, self.threads = sch, block, what, plan, target, threads
        self.shares_rows = (threads > 1 and not plan.by_columns) or plan.block > 0

    def run(self) -> None:
        sch, plan = self.sch, self.plan
        give_reasons(sch, self.what.out, plan.why)
        batch, i, j, k_0, k, block, write_back = self._accumulate_in_registers()
        in_place = bool(k_0) or self.epilogue is None or merge_epilogue(sch, write_back, self.epilogue)
        i_0, i_1, i_2 = self._rows(i)
        inner = [count for count in (plan.group, plan.together) if count > 1]
        j_0, *passes, j_1 = sch.split(j, [None, *inner, plan.nr])
        of_group, at_once = passes[: plan.group > 1], passes[plan.group > 1 :]
        k_1, *k_2 = sch.split(k, [None, plan.steps]) if plan.steps > 1 else [k]
        sch.reorder(*batch, *i_0, j_0, *k_0, i_1, *of_group, k_1, *k_2, *at_once, i_2, j_1)
        tile = of_group[0] if of_group else i_1
        sch.reverse_compute_at(write_back, tile, preserve_unit_loops=True)
        self._pack(block, batch, k_0[-1] if k_0 else j_0)
        for loop in (*k_2, *at_once):
            sch.unroll(loop)
        sch.unroll(i_2)
        sch.vectorize(j_1)
        sch.decompose_reduction(block, k_1)
        *_, rows, columns = sch.get_loops(write_back)
        if at_once:
            panel, columns = sch.split(columns, [None, plan.nr])
            sch.unroll(panel)
        sch.unroll(rows)
        sch.vectorize(columns)
        if k_0:  # zeros before the first part: parts that ask which is the first one are twice the code
            sch.decompose_reduction(write_back, k_0[0])
            place_epilogue(sch, self.epilogue, j_0)
        if plan.prefetch and in_place:  # as in gemm_dots
            sch.annotate(tile, "prefetch", str(block_info(sch, write_back).writes[0]))
        if self.threads > 1:
            sch.parallel(j_0 if plan.by_columns else i_0[0])

    def _accumulate_in_registers(
        self,
    ) -> tuple[list[LoopHandle], LoopHandle, LoopHandle, list[LoopHandle], LoopHandle, BlockHandle, BlockHandle]:
        """Accumulate in registers. Returns the loops (k_0: none or one), the block and the one that writes back."""
        sch, what, block = self.sch, self.what, self.block
        by_name = loops_by_iter(sch, block)
        put_in_order(sch, by_name, (*what.batch, what.m, what.n, what.k))
        *batch, i, j, k = sch.get_loops(block)
        if self.plan.kc >= (what.extent(what.k) or LARGE):
            return batch, i, j, [], k, block, sch.cache_write(block, 0, "local")
        k_0, _ = sch.split(k, [None, self.plan.kc])
        parts = sch.rfactor(k_0, 0)
        *batch, i, j, k_0, k = sch.get_loops(parts)
        return batch, i, j, [k_0], k, parts, block

    def _rows(self, i: LoopHandle) -> tuple[list[LoopHandle], LoopHandle, LoopHandle]:
        """Split the rows: blocks or shares of the threads (none or one loop), tiles, rows of a tile."""
        if not self.shares_rows:
            i_1, i_2 = self.sch.split(i, [None, self.plan.mr])
            return [], i_1, i_2
        if self.plan.block:
            i_0, i_1, i_2 = self.sch.split(i, [None, self.plan.block, self.plan.mr])
            return [i_0], i_1, i_2
        is_static = self.what.extent(self.what.m) is not None
        i_0, i_1, i_2 = self.sch.split(
            i, [self.threads, None, self.plan.mr] if is_static else [None, self.plan.share, self.plan.mr]
        )
        return [i_0], i_1, i_2

    def _pack(self, block: BlockHandle, batch: list[LoopHandle], panel: LoopHandle) -> None:
        """Pack the right operand panel by panel, or as a whole if threads share the rows; the left one if it is not
        in rows, narrower or dequantised."""
        sch, what, plan = self.sch, self.what, self.plan
        batch_loop = batch[-1] if batch else None
        if plan.packed and what.right.name != self.packed:
            loop, threads = (batch_loop, self.threads) if self.shares_rows else (panel, 1)
            pack(sch, what, what.right, what.n, plan.nr, block, loop, threads)
        if what.left.name == self.packed:
            return
        if what.left.axes[-1] != what.k:
            pack(sch, what, what.left, what.m, plan.mr, block, batch_loop, self.threads)
        elif what.left.is_widened or what.left.dequantized:
            self._widen(what.left, block, batch_loop)

    def _widen(self, operand: ContractionOperand, block: BlockHandle, loop: LoopHandle | None) -> None:
        sch = self.sch
        packed = copy_in(sch, operand, block, loop)
        *_, rows, columns = sch.get_loops(packed)
        sch.vectorize(sch.split(columns, [None, self.target.lanes(operand.bits)])[1])
        if self.threads > 1:
            sch.parallel(rows)
