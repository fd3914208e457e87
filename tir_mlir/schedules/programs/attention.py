"""Schedule for attention: two products with a softmax between them, tile of rows by tile of rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.intrin.dot_products import dot_product
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import (
    LARGE,
    block_handle,
    block_info,
    block_view,
    even_tile,
    extents,
    iters,
    loops_by_iter,
    widest_bits,
)
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.gpu.attention import attention_tiles
from tir_mlir.schedules.producers import Member, row_axes, with_producers
from tir_mlir.schedules.products.contraction import Contraction, contraction
from tir_mlir.schedules.products.dequantization import computed_from_less, inline_each
from tir_mlir.schedules.products.packing import copy_in, pack, packs_right
from tir_mlir.schedules.products.short_numbers import has_tiles
from tir_mlir.schedules.products.stage_amx import BLOCK, TileStage, stage_unit, tile_stage
from tir_mlir.schedules.products.stage_dots import DotStage, dot_stage, fills_vectors, stage_dot
from tir_mlir.schedules.products.tile_sizes import FROM_L2, Tiles, register_tile, room
from tir_mlir.schedules.programs.block_kinds import Kind, kind_of
from tir_mlir.schedules.rows.repeated_values import allow_reciprocals, costly_values
from tir_mlir.schedules.steps import CHUNKS_PER_THREAD, all_or_nothing, inline, merge_epilogue, parallelize
from tir_mlir.target import Target, chosen, resolved

if TYPE_CHECKING:
    from tir_mlir.schedule.primitives import BlockLike

ROWS = 32
"""The number of queries in a tile, if its scores fit in half of L2."""
REUSE = 5
"""The minimum number of queries for which transposing the keys pays off."""


@all_or_nothing
def attention(
    sch: Schedule,
    block: BlockLike,
    target: Target | str | None = None,
    threads: int | None = None,
    reciprocal: bool = True,
    free: bool = False,
) -> None:
    """Schedule attention, or two products with row-wise operators between them, so that scores remain in the cache.

        for h, q, k, d: S += Q * K             for h (parallel): transpose the keys to panels
        for h, q, k: M = max(M, S)                 for q_0:
        for h, q, k: E = exp(S - M)      ->            for 32 rows: S, in register tiles ; M ; E ; Z
        for h, q, k: Z += E                            for 32 rows: P, in register tiles
        for h, q, k, e: P += E * V                     for 32 rows: O
        for h, q, e: O = P / Z

    block: the last block; the others are its transitive producers, with any elementwise blocks between them (a scale, a
    mask, a bias, weights that are divided before the second product). Any number of batch axes, any head size; numbers
    of queries and keys may be symbolic, as for a cache that grows. Each iter must be bound to its own loop.
    target: default this machine; threads: default its number of cores; reciprocal: see `rowwise`; free: as in
    `gemm`. For a GPU, the program is written in tiles, with an online softmax (`tir_mlir.examples.attention`), and what
    is between the products remains in registers.
    Raises ScheduleError unless there are two products, of which the second depends on the first, with reductions over
    the same rows.
    """
    block = block_handle(sch, block)
    if (gpu := resolved(target).as_gpu()) is not None:
        attention_tiles(sch, gpu)
        return
    schedule_attention(sch, block, chosen(target), threads, reciprocal, free=free)


def schedule_attention(
    sch: Schedule,
    block: BlockHandle,
    target: Target,
    threads: int | None,
    reciprocal: bool,
    fixed: Collection[str] = (),
    free: bool = False,
    epilogue: BlockHandle | None = None,
) -> None:
    """The same as `attention`, without the producers in `fixed`. epilogue: as in `gemm`, if the block is a product."""
    what = attention_of(sch, block, fixed)
    if what is None:
        raise ScheduleError(
            f'block "{block_info(sch, block).name}" ends no attention: it must depend on two products, the second one '
            "of weights that depend on the first, with a reduction of the same rows between them",
            fix="use tir_mlir.schedules.auto",
        )
    if what.members[-1].info.name in what.products:  # sums remain in registers only in allocated buffers
        what = _match_with_copy(sch, block, fixed, epilogue) or what
    options = Free(sch, block, free)
    AttentionSchedule(sch, what, target, options.threads(threads or target.cores), options).run(reciprocal)


def _match_with_copy(
    sch: Schedule, block: BlockHandle, fixed: Collection[str], epilogue: BlockHandle | None
) -> AttentionBlocks | None:
    """The attention with a copy of its result, or what is computed of it, as the last block; None if there may be no
    keys to sum over."""
    try:
        copy = sch.cache_write(block, 0, "global")
    except ScheduleError:
        return None
    merge_epilogue(sch, copy, epilogue)
    return attention_of(sch, copy, fixed)


def multiplies_short(target: Target, dtype: str, queries: int, keys: int, depth: int, width: int) -> bool:
    """Whether both products of an attention, whose weights have the type of the others, have instructions:
    whole tiles, or dot products of whole vectors. depth, width: elements of a key and of a value."""
    if has_tiles(target, dtype, dtype, "float32"):
        return all(n % BLOCK == 0 for n in (queries, keys, depth, width))
    dot = dot_product(target, dtype, dtype, "float32")
    return dot is not None and queries >= REUSE and fills_vectors(dot, keys, depth) and fills_vectors(dot, width, keys)


@dataclass(frozen=True)
class AttentionBlocks:
    """The blocks of an attention.

    rows: the iter of the last block that is tiled.
    batch: those around it.
    products: by block name.
    outside: the names of the blocks that compute its inputs.
    """

    members: list[Member]
    batch: list[str]
    rows: str
    products: dict[str, Contraction]
    outside: Collection[str]


def attention_of(sch: Schedule, block: BlockHandle, fixed: Collection[str] = ()) -> AttentionBlocks | None:
    """The attention that ends in a block, without the producers in `fixed`; None if it ends in none.

    Of the products that the block depends on, it takes the last one, and the last one that its weights depend on; what
    computes the keys, queries and values remains outside.
    """
    members = with_producers(sch, block, fixed)
    order = [m for m in members if kind_of(sch, m.block) is Kind.PRODUCT]
    if len(order) < 2:
        return None
    values = contraction(sch, order[-1].block).right.name
    outside = {m.info.name for m in members if values in map(str, m.info.writes)} | set(fixed)
    order = [m for m in with_producers(sch, block, outside) if kind_of(sch, m.block) is Kind.PRODUCT]
    if len(order) < 2:
        return None
    scores, last = order[-2:]
    outside |= {block_info(sch, p).name for p in sch.get_producers(scores.block)}
    members = with_producers(sch, block, outside)
    products = {m.info.name: contraction(sch, m.block) for m in (scores, last)}
    if not _has_row_values(sch, members, scores.info.name, last.info.name, outside):
        return None
    return _match_shared_rows(members, products, outside)


def _has_row_values(sch: Schedule, members: list[Member], scores: str, last: str, outside: Collection[str]) -> bool:
    """Whether a reduction, other than the products, depends on the scores, and not on the last product."""
    for member in members:
        above = {m.info.name for m in with_producers(sch, member.block, outside)}
        if member.reduces and member.info.name not in (scores, last) and scores in above and last not in above:
            return True
    return False


def _match_shared_rows(
    members: list[Member], products: dict[str, Contraction], outside: Collection[str]
) -> AttentionBlocks | None:
    """The attention of these blocks, if they have the rows of both products in common."""
    axes = row_axes(members)
    if not axes or any(m.own_iters(axes) is None for m in members):
        return None
    tiled = {m.along.get(products[m.info.name].m, "") for m in members if m.info.name in products}
    if len(tiled) != 1 or not (rows := tiled.pop()) or rows not in axes:
        return None
    return AttentionBlocks(members, [a for a in axes if a != rows], rows, products, outside)


class AttentionSchedule:
    """The state of scheduling one attention."""

    def __init__(self, sch: Schedule, what: AttentionBlocks, target: Target, threads: int, free: Free):
        self.sch, self.what, self.target, self.threads, self.free = sch, what, target, threads, free
        self.last = what.members[-1]
        axis_extents = extents(self.last.info)
        self.queries = axis_extents[what.rows] or LARGE
        self.heads = prod(axis_extents[a] or LARGE for a in what.batch)
        self.tile = self._rows_of_tile()
        self.stages: dict[str, TileStage | DotStage] = {}
        self.sum_copies: set[str] = set()
        self.by_heads = threads < 2 or self.heads % threads == 0 or self.heads >= CHUNKS_PER_THREAD * threads

    def _rows_of_tile(self) -> int:
        """The number of queries in a tile: the scores of one stage in half of L2."""
        longest = max(prod(e or 1 for e in self._inner_extents(m).values()) for m in self.what.members)
        bits = max(widest_bits(m.info) for m in self.what.members)
        most = max(8, min(ROWS, self.target.l2 * 8 // (2 * bits * longest) // 8 * 8))
        default = even_tile(self.queries, most, next(unit for unit in (8, 4, 2, 1) if unit <= self.queries))
        return self.free.choice("rows", [r for r in (8, 16, 32, 64) if r <= self.queries], default)

    def _inner_extents(self, member: Member) -> dict[str, int | None]:
        """The extents of the results of a member for one row."""
        outer = member.own_iters([*self.what.batch, self.what.rows]) or []
        axis_extents = extents(member.info)
        return {n: axis_extents[n] for n in iters(member.info, "S") if n not in outer}

    def run(self, reciprocal: bool) -> None:
        sch, what = self.sch, self.what
        self._inline()
        self._tile_products()
        what = self.what
        loops = loops_by_iter(sch, self.last.block)
        rows, tile_row = sch.split(loops[what.rows], [None, self.tile])
        outer = [*(loops[a] for a in what.batch), rows]
        mine = {n: tile_row if n == what.rows else x for n, x in loops.items() if n not in what.batch}
        sch.reorder(*outer, *mine.values())
        nests = {self.last.info.name: mine}
        for member in reversed(what.members[:-1]):
            nests[member.info.name] = self._compute_at_tile(member, outer)
        for member in what.members:
            name = member.info.name
            if name in self.sum_copies:
                continue
            if name in self.stages:
                self.stages[name].schedule(sch, outer[-2] if len(outer) > 1 else None)
                continue
            if name in what.products:
                self._product(member, nests[name], outer)
            else:
                self._vectorize(member, nests[name])
            if reciprocal:
                allow_reciprocals(sch, member.block)
        self._parallelize(outer)

    def _inline(self) -> None:
        """Inline elementwise blocks into their only consumer, or cheap ones into all, unless one is a product."""
        for member in reversed(self.what.members[:-1]):
            readers = [self.sch.get(b).name for b in self.sch.get_consumers(member.block)]
            few = len(readers) == 1 or self._is_cheap(member)
            if not member.reduces and few and not any(name in self.what.products for name in readers):
                inline(self.sch, member.block)
        members = with_producers(self.sch, self.last.block, self.what.outside)
        self.what = replace(self.what, members=members)
        self.last = members[-1]

    def _tile_products(self) -> None:
        """Let tiles of the CPU compute the products of their types."""
        for member in self.what.members:
            what = self.what.products.get(member.info.name)
            stage = None if what is None else self._short_stage(member.block, what)
            if stage is not None:
                self.stages[member.info.name] = stage
                self.sum_copies.add(block_info(self.sch, stage.sums).name)
        if self.stages:
            members = with_producers(self.sch, self.last.block, self.what.outside)
            self.what, self.last = replace(self.what, members=members), members[-1]

    def _short_stage(self, block: BlockHandle, what: Contraction) -> TileStage | DotStage | None:
        """A product of short numbers by tiles of the CPU, or by its dot products; None if it has neither."""
        if (unit := stage_unit(what, self.target, self.tile, self.queries)) is not None:
            return tile_stage(self.sch, block, what, unit)
        dot = None if self.queries < REUSE else stage_dot(what, self.target)
        return None if dot is None else dot_stage(self.sch, block, what, dot, self.tile)

    def _is_cheap(self, member: Member) -> bool:
        """Whether to compute a block again costs less than to store and load it: a scale or a mask of one element."""
        return len(member.info.reads) == 1 and not costly_values(block_view(self.sch, member.block), False)

    def _compute_at_tile(self, member: Member, outer: Sequence[LoopHandle]) -> dict[str, LoopHandle]:
        """Compute a producer at the tile; returns its loops there, by iter."""
        loops_by_iter(self.sch, member.block)  # refuses a block whose loops were split
        if (stage := self.stages.get(member.info.name)) is not None:
            stage.place(self.sch)
        else:
            self.sch.compute_at(member.block, outer[-1], preserve_unit_loops=True)
        # keys that no query of the tile sees; tiles of weights are copied for all of them
        if not isinstance(stage, TileStage) and self.sch.can_trim_reduction(member.block, outer[-1]):
            self.sch.trim_reduction(member.block, outer[-1])
        if stage is not None:
            return {}
        loops = loops_by_iter(self.sch, member.block, skipped=len(outer))
        batch = member.own_iters(self.what.batch) or []
        return {n: x for n, x in loops.items() if n not in batch}

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _product(self, member: Member, nest: dict[str, LoopHandle], outer: Sequence[LoopHandle]) -> None:
        """A product of the rows of a tile: a tile of its result remains in registers during the whole sum."""
        sch, what = self.sch, self.what.products[member.info.name]
        dequantizer = computed_from_less(sch, member.block, what.right)
        lanes = self.target.lanes(what.bits)
        few = self.queries < REUSE
        panels = outer[-2] if len(outer) > 1 else None
        if what.right.axes[-1] != what.n and few:  # each key is read once, for all queries
            inline_each(sch, dequantizer)
            sch.reorder(nest[what.n], nest[what.m], nest[what.k])
            sch.vectorize(nest[what.k])
            return
        chosen = register_tile(self.tile, what.extent(what.n), lanes, self.target, FROM_L2, exact=True)
        mr, vectors = self._free_tile(member.info.name, chosen.rows, chosen.vectors)
        nr = vectors * lanes
        plan = self._plan(what, mr, nr)
        # values are packed by one thread, while the others wait if they share a head
        reused = self.queries > self.tile and (self.by_heads or dequantizer or what.right.is_widened)
        if what.right.axes[-1] != what.n or (reused and packs_right(what, plan, self.target)):
            pack(sch, what, what.right, what.n, nr, member.block, panels, 1)
        if what.left.is_widened and what.left.axes[-1] == what.k:  # once for all columns
            own = any(what.left.name in map(str, m.info.writes) for m in self.what.members)  # its copy is at the tile
            sch.vectorize(sch.get_loops(copy_in(sch, what.left, member.block, None if own else outer[-1]))[-1])
        inline_each(sch, dequantizer)
        self._tile_product(member, what, nest, plan)

    def _plan(self, what: Contraction, mr: int, nr: int) -> Tiles:
        """The tiles of a product; of a symbolic sum in one pass."""
        depth = what.extent(what.k) or 1
        kc = even_tile(depth, max(16, room(self.target, "l1") // (nr * what.bits // 8)))
        return Tiles(mr, nr, kc, self.tile, what.extent(what.n) or LARGE)

    def _tile_product(self, member: Member, what: Contraction, nest: dict[str, LoopHandle], plan: Tiles) -> None:
        """Register tiles, of all rows before the next columns; a long sum in passes, whose panels remain in L1."""
        sch, k = self.sch, nest[what.k]
        r_0, r_1 = sch.split(nest[what.m], [None, plan.mr])
        c_0, c_1 = sch.split(nest[what.n], [None, plan.nr])
        passes = []
        if plan.kc < (what.extent(what.k) or 0):
            outer, k = sch.split(k, [None, plan.kc])
            passes.append(outer)
        sch.reorder(*passes, c_0, r_0, k, r_1, c_1)
        init = sch.decompose_reduction(member.block, [*passes, k][0])
        sch.unroll(r_1)
        sch.vectorize(c_1)
        *_, rows, columns = sch.get_loops(init)
        sch.unroll(rows)
        sch.vectorize(columns)

    def _free_tile(self, name: str, mr: int, vectors: int) -> tuple[int, int]:
        """The register tile of a product, sampled if it is free: whole rows of a tile, masked vectors of any width."""
        vectors = self.free.choice(f"{name}.tile_vectors", (1, 2, 4), vectors)
        most = max(1, (self.target.registers - 1 - vectors) // vectors)
        rows = [r for r in range(1, min(most, 8) + 1) if self.tile % r == 0]
        return self.free.choice(f"{name}.tile_rows", rows, mr if mr in rows else rows[-1]), vectors

    def _vectorize(self, member: Member, nest: dict[str, LoopHandle]) -> None:
        """A row-wise block: rows outside, vectors along the rows."""
        (row,) = member.own_iters([self.what.rows]) or (None,)
        order = [nest[row], *(x for n, x in nest.items() if n != row)] if row in nest else list(nest.values())
        if len(order) > 1:
            self.sch.reorder(*order)
            self.sch.vectorize(order[-1])

    def _parallelize(self, outer: Sequence[LoopHandle]) -> None:
        """Parallel over heads if there are enough, else over the tiles of a head."""
        if self.threads < 2:
            return
        parallelize(self.sch, outer[:-1] if self.by_heads and len(outer) > 1 else outer[-1:], self.threads)
