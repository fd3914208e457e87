"""Schedule for matrix products of narrow operands with 32-bit accumulators, by dot products and 2 x 2 products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, gcd

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.intrin.dot_products import Dot, dot_product, is_shifted
from tir_mlir.intrin.matrix_products import matrix_product
from tir_mlir.runtime.kernels.matrix_products import MatrixProduct
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import block_info, extent_of, loops_by_iter
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.operand_types import store_as
from tir_mlir.schedules.products.contraction import Contraction
from tir_mlir.schedules.products.grouped_packing import (
    computed_rows,
    copy_operand,
    lay_out_tile,
    pack_groups,
    pack_row_groups,
    pack_rows,
    vectorize_tile,
    write_back_of,
)
from tir_mlir.schedules.products.packing import exceeds_l2
from tir_mlir.schedules.products.tile_sizes import (
    ALIKE,
    MOST_VECTORS,
    OVERHEAD,
    StepCost,
    kept_in,
    pays_to_fetch_ahead,
    register_tile,
    room,
)
from tir_mlir.schedules.steps import CHUNKS_PER_THREAD, give_reasons, merge_epilogue
from tir_mlir.target import Target

Multiplier = Dot | MatrixProduct
"""An instruction that adds to `rows` x `lanes` sums `group` products each."""
TYPICAL = 1 << 10
"""The assumed value of a symbolic extent."""
FEW_ROWS = 4
"""The minimum number of rows for packing to pay off."""
MOST_SUMS = 16
"""The maximum number of accumulators: twice those that saturate two units. Tiles of more are up to 12 % slower (Zen 4),
and take longer to build."""
MOST_TILES = 24
"""The maximum number of accumulators that are tiles: four units a cycle, and the loads of a step are many instructions
(Neoverse V2, predicted: 16 take 1.32 of the least cycles, 24 1.07)."""
WRITTEN = 8
"""The most columns of a row that are gathered from tiles of sums and written together."""
REUSE = 16
"""The minimum number of tiles that use a panel of the right operand while it is in cache."""


@dataclass(frozen=True)
class DotTile:
    """rows x vectors: register tile of accumulators.

    block: number of rows whose left operand fits in L2.
    by_columns: whether each panel of the right operand is packed just before all rows use it, and threads share the
        panels; else it is packed as a whole, and threads share the blocks of rows.
    why: in words.
    """

    rows: int
    vectors: int
    block: int
    by_columns: bool
    why: tuple[str, ...] = ()


def dot_for(what: Contraction, target: Target, packed: bool = False) -> Multiplier | None:
    """The instruction for a product; None if the general schedule applies (other types, or few rows).

    packed: callers pass the right operand in panels: it may then be widened in registers, else where it is packed."""
    if not what.plain or what.bits != 32 or (what.extent(what.m) or TYPICAL) < FEW_ROWS:
        return None
    widening, types = packed or what.right.group > 0, (what.left.dtype, what.right.dtype, what.dtype)
    return matrix_product(target, *types) or dot_product(target, *types, widening=widening)


def _units(what: Contraction, plan: DotTile, dot: Multiplier) -> dict[str, int]:
    """By axis, of what its extent must be a multiple."""
    units = {} if what.right.group else {what.n: plan.vectors * dot.lanes, what.k: dot.group}
    return units if dot.rows == 1 else {**units, what.m: plan.rows}


def _pad(sch: Schedule, block: BlockHandle, what: Contraction, units: dict[str, int]) -> bool:
    """Pad axes of a product to multiples of units, if that is possible."""
    if not units:
        return True
    try:
        sch.pad_einsum(block, [units.get(axis, 1) for axis in what.extents])
    except ScheduleError:
        return False
    return True


def _compute_at(sch: Schedule, producers: Sequence[BlockHandle | None], loops: Sequence[LoopHandle]) -> None:
    """Compute producers at the innermost of some loops, if there is one."""
    for producer in producers if loops else []:
        if producer is not None:
            sch.compute_at(producer, loops[-1], preserve_unit_loops=True)


def dot_gemm(
    sch: Schedule, block: BlockHandle, what: Contraction, dot: Multiplier, target: Target, threads: int, free: Free,
    epilogue: BlockHandle | None = None,
) -> bool:  # fmt: skip
    """Schedule a product of 8 or 16-bit operands, summed in 32 bits. Returns False, unchanged, if it cannot be padded.

        for i, j, k in T.grid(m, n, k):                 pack B[j_0, k_0, j_1, k_1]
            with T.block("C"):                          for i_0 (parallel): pack A[i, k]
                C += wide(A) * wide(B)          ->          for j_0, i_1, k_0: a tile of C in registers, row by row:
                                                                dot product of lanes x group
                                                            C = the tile

    With few rows, A is packed first, and each panel B[j_0] just before its use, in `for j_0 (parallel)`.

    The instruction reduces `group` adjacent elements, so both operands are packed in such groups, converted to its
    operand type, and padded with zeros to full groups and vectors. Integers are exact, as int32 arithmetic is. A
    reduction of symbolic extent cannot be padded, as it may be empty. A right operand that callers pass packed, see
    `prepack`, and a left one that has groups of the type as it is, are read in place. An instruction that takes several
    rows reads the left one from panels, too, as high as a tile, whose last one is padded.
    """
    plan = _free_tile(free, what, dot, target, tile(what, dot, target, threads))
    if what.right.group:
        if not _is_packed(what, dot) or plan.vectors * dot.lanes != what.right.panel:
            return False
    if not _pad(sch, block, what, _units(what, plan, dot)):
        return False
    rhs = None if what.right.group else copy_operand(sch, block, what.right)
    give_reasons(sch, what.out, plan.why)
    lhs, sums = _left_copy(sch, block, what, dot)
    in_rows = computed_rows(sch, what.left, lhs) is not None or what.left.axes[-1] == what.k
    write_back = write_back_of(sch, block, what)
    if dot.rows > 1:
        lay_out_tile(sch, block, what, dot.rows, dot.lanes)
    in_place = epilogue is None or merge_epilogue(sch, write_back, epilogue)
    batch, i_0, j_0, i_1, i_2, j_1, inner, k_0 = _tile_block(sch, block, what, plan, dot)
    sch.reverse_compute_at(write_back, i_1, preserve_unit_loops=True)
    for packed, dtype in ((lhs, dot.left_dtype), (rhs, dot.dtype)):
        if packed is not None:
            store_as(sch, packed, dtype)
    rows, columns = (batch[-1:], [j_0]) if plan.by_columns else ([i_0], batch[-1:])
    _compute_at(sch, [lhs], rows)
    _compute_at(sch, [rhs] if sums is None else [sums, rhs], columns)
    sharing = 1 if plan.by_columns else threads
    if lhs is not None:
        _pack_left(sch, lhs, what, plan, dot, threads if plan.by_columns else 1, in_rows)
    if rhs is not None:
        pack_groups(sch, rhs, what, plan.vectors * dot.lanes, dot.group, sharing)
    calls = [(inner, dot.name)]
    if sums is not None and isinstance(dot, Dot):
        calls.append((_sum_columns(sch, sums, plan, dot, sharing), dot.sum_name))
    _compute_in_registers(sch, block, write_back, dot, (i_2, j_1, k_0))
    if pays_to_fetch_ahead(_panel_bytes(what), plan.block // plan.rows, target):
        sch.annotate(k_0, "prefetch", {what.right.name: sch.get(j_0).loop_var.name})
    if free.flag("prefetch", exceeds_l2(what, target)) and in_place:  # else a later block may replace what is written
        sch.annotate(i_1, "prefetch", str(block_info(sch, write_back).writes[0]))
    if threads > 1:
        sch.parallel(j_0 if plan.by_columns else i_0)
    for loop, name in calls:  # last: each later step would ask what a call declares that it reads and writes
        sch.tensorize(loop, name)
    return True


def _pack_left(
    sch: Schedule, lhs: BlockHandle, what: Contraction, plan: DotTile, dot: Multiplier, threads: int, in_rows: bool
) -> None:
    """Pack the left operand: rows, or panels as high as a tile for an instruction that takes several rows."""
    if dot.rows > 1:
        pack_row_groups(sch, lhs, what, plan.rows, dot.group, threads)
    else:
        pack_rows(sch, lhs, what, dot.group, threads, in_rows)


def _compute_in_registers(
    sch: Schedule, block: BlockHandle, write_back: BlockHandle, dot: Multiplier, loops: Sequence[LoopHandle]
) -> None:
    """Unroll a tile, and start and write it back in vectors. loops: i_2, j_1, k_0 of `_tile_block`."""
    i_2, j_1, k_0 = loops
    sch.unroll(i_2)
    sch.unroll(j_1)
    start = sch.get_loops(sch.decompose_reduction(block, k_0))
    if dot.rows > 1:
        start = [*start[:-2], sch.fuse(*start[-2:])]
    vectorize_tile(sch, start[-3:])
    *_, rows, row = sch.get_loops(write_back)
    together = dot.lanes if dot.rows == 1 else gcd(WRITTEN, extent_of(sch, row) or 1)
    vectorize_tile(sch, [rows, *sch.split(row, [None, together])])


def dot_panels(what: Contraction, target: Target, threads: int) -> tuple[int, int]:
    """The width of the panels in which a product reads its right operand, and the group of terms, if callers can pass
    it so: the operands are those of an instruction and fill its vectors. (0, 0): they cannot."""
    dot, n, k = dot_for(what, target, packed=True), what.extent(what.n) or 0, what.extent(what.k) or 0
    if dot is None or what.right.dtype != dot.dtype:
        return 0, 0
    width = tile(what, dot, target, threads).vectors * dot.lanes
    return (0, 0) if n % width or k % dot.group or not n * k else (width, dot.group)


def _is_packed(what: Contraction, dot: Multiplier) -> bool:
    """Whether the right operand has the groups of an instruction, in panels of its vectors."""
    (n, k), right = (what.extent(a) or 1 for a in (what.n, what.k)), what.right
    fits = right.group == dot.group and right.dtype == dot.dtype and right.panel % dot.lanes == 0
    return fits and right.axes[-2] == what.n and n % right.panel == 0 and k % dot.group == 0


def tile(what: Contraction, dot: Multiplier, target: Target, threads: int) -> DotTile:
    """Choose the tile with the fewest cycles, of padded rows and columns; of equal ones, that with the fewest loads."""
    m, n, k = (what.extent(a) or TYPICAL for a in (what.m, what.n, what.k))
    widened, spare = (dot.widening or 0.0, dot.spare) if isinstance(dot, Dot) else (0.0, 0)
    step = StepCost(
        spare=1 + spare, most_rows=target.registers, most_sums=MOST_SUMS if dot.rows == 1 else MOST_TILES, padded=True,
        height=dot.rows, alike=1.0 if dot.rows == 1 else ALIKE,
        most_vectors=max(MOST_VECTORS, what.right.panel // dot.lanes if what.right.group else 0),
        cycles=lambda rows, vectors: OVERHEAD + max(rows * vectors + vectors * widened, rows + vectors) / 2,
        prefers=lambda rows, vectors: (vectors % dot.rows, -rows * vectors, rows + vectors),
    )  # fmt: skip
    chosen = register_tile(m, n, dot.lanes, target, step, panel=what.right.panel if what.right.group else 0)
    rows, vectors, length = chosen.rows, chosen.vectors, k * dot.bits // 8
    most = max(rows * REUSE, room(target, "l2") // length)
    any_rows = threads > 1 and what.extent(what.m) is None and bool(what.right.group)  # of few, one thread has all
    width = vectors * dot.lanes
    if _by_columns(0 if any_rows else m, length, ceil(n / width), width, target, threads):
        why = kept_in(target, "l2", f"panel of {k} steps", width * length)
        return DotTile(rows, vectors, ceil(m / rows) * rows, True, (chosen.why, why))
    block = ceil(m / (ceil(m / (most * threads)) * threads))  # the same number of blocks per thread
    block = ceil(block / rows) * rows
    why = kept_in(target, "l2", f"block of {block} rows", block * length)
    return DotTile(rows, vectors, block, False, (chosen.why, why))


def _by_columns(rows: int, length: int, panels: int, width: int, target: Target, threads: int) -> bool:
    """Whether to pack panels just before their use: half of L2 holds all rows of the left operand, and a panel, of
    `length` bytes a row; and there are panels for all threads."""
    enough = threads == 1 or panels >= CHUNKS_PER_THREAD * threads
    return enough and max(rows, width) * length <= room(target, "l2")


def _free_tile(free: Free, what: Contraction, dot: Multiplier, target: Target, plan: DotTile) -> DotTile:
    """The tile with its sizes sampled, if they are free."""
    if not free:
        return plan
    wide = min(4, ceil((what.extent(what.n) or TYPICAL) / dot.lanes))
    widths = [plan.vectors] if what.right.group else range(1, wide + 1)
    vectors = free.choice("tile_vectors", widths, plan.vectors)
    spare = dot.spare if isinstance(dot, Dot) else 0
    most = max(1, (target.registers - 1 - spare - vectors) // vectors)
    rows = free.choice("tile_rows", range(max(1, most // 4), most + 1), min(plan.rows, most))
    m = what.extent(what.m) or TYPICAL
    if free.flag("by_columns", plan.by_columns):
        return DotTile(rows, vectors, ceil(m / rows) * rows, True)
    blocks = [c for c in (1, 2, 4, 8, 16, 32) if (c - 1) * rows < m]
    return DotTile(rows, vectors, rows * free.choice("block", blocks, plan.block // plan.rows), False)


def _left_copy(
    sch: Schedule, block: BlockHandle, what: Contraction, dot: Multiplier
) -> tuple[BlockHandle | None, BlockHandle | None]:
    """The block that copies the left operand, None if it is read in place; if that shifts it, also the one that sums
    the columns of the right."""
    if isinstance(dot, MatrixProduct):
        return copy_operand(sch, block, what.left), None
    if not is_shifted(dot, what.left.dtype):
        return None if _has_groups(sch, block, what, dot) else copy_operand(sch, block, what.left), None
    read = block_info(sch, block).reads[what.left.position].buffer.name
    padding = [p for p in sch.get_producers(block) if read in map(str, block_info(sch, p).writes)]
    lhs, sums = sch.shift_operand(block, read)
    for producer in padding:
        sch.compute_inline(producer)
    return lhs, sums


def _has_groups(sch: Schedule, block: BlockHandle, what: Contraction, dot: Dot) -> bool:
    """Whether the left operand is an array with the adjacent terms, of the type, that an instruction takes."""
    left, read = what.left, block_info(sch, block).reads[what.left.position]
    is_given = str(read) == left.name and not any(
        left.name in map(str, block_info(sch, p).writes) for p in sch.get_producers(block)
    )
    return is_given and read.buffer.adjacent and left.dtype == dot.left_dtype and left.axes[-1] == what.k


def _panel_bytes(what: Contraction) -> int:
    """The bytes, of one each, of a right operand that callers pass in panels; 0 of another."""
    return (what.extent(what.n) or 0) * (what.extent(what.k) or 0) if what.right.group else 0


def _sum_columns(sch: Schedule, sums: BlockHandle, plan: DotTile, dot: Dot, threads: int) -> LoopHandle:
    """Sum the columns of the packed right operand, a panel at a time, in registers. Returns the loop over lanes."""
    write_back = sch.cache_write(sums, 0, "local")
    *_, j, k = sch.get_loops(sums)
    j_0, j_1, j_2 = sch.split(j, [None, plan.vectors, dot.lanes])
    k_0, k_1 = sch.split(k, [None, dot.group])
    sch.reorder(j_0, k_0, j_1, j_2, k_1)
    sch.reverse_compute_at(write_back, j_0, preserve_unit_loops=True)
    sch.unroll(j_1)
    start = sch.decompose_reduction(sums, k_0)
    *_, columns = sch.get_loops(write_back)
    for vectors, lanes in (sch.get_loops(start)[-2:], sch.split(columns, [None, dot.lanes])):
        sch.unroll(vectors)
        sch.vectorize(lanes)
    if threads > 1:
        sch.parallel(j_0)
    return j_2


def _tile_block(
    sch: Schedule, block: BlockHandle, what: Contraction, plan: DotTile, dot: Multiplier
) -> tuple[list[LoopHandle], LoopHandle, LoopHandle, LoopHandle, LoopHandle, LoopHandle, LoopHandle, LoopHandle]:
    """Tile the block. Returns the loops: batch, i_0, j_0, i_1, i_2, j_1, the outermost of an instruction, k_0."""
    by_name = loops_by_iter(sch, block)
    batch = [by_name[a] for a in what.batch]
    i_0, i_1, i_2 = sch.split(by_name[what.m], [None, plan.block // plan.rows, plan.rows])
    j_0, j_1, j_2 = sch.split(by_name[what.n], [None, plan.vectors, dot.lanes])
    k_0, k_1 = sch.split(by_name[what.k], [None, dot.group])
    outer = (j_0, i_0) if plan.by_columns else (i_0, j_0)
    inner = [j_2, k_1]
    if dot.rows > 1:
        i_2, i_3 = sch.split(i_2, [None, dot.rows])
        inner = [i_3, *inner]
    sch.reorder(*batch, *outer, i_1, k_0, i_2, j_1, *inner)
    return batch, i_0, j_0, i_1, i_2, j_1, inner[0], k_0
