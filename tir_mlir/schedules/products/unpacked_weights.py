"""Products with weights that a block unpacks from bytes: in registers for each tile, or once for all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING

from tir_mlir.intrin.dot_products import Dot, is_shifted
from tir_mlir.passes.lower.memory.allocs import STACK_BUFFER
from tir_mlir.prediction.cores import core_or_typical
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import LARGE, block_info, even_tile, iters
from tir_mlir.schedules.operand_types import store_as
from tir_mlir.schedules.products.contraction import Contraction
from tir_mlir.schedules.products.tile_sizes import (
    LATENCY,
    OVERHEAD,
    STREAMS,
    StepCost,
    kept_in,
    register_tile,
    room,
)
from tir_mlir.schedules.steps import inline, place_epilogue
from tir_mlir.target import Target

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr

UNPACK = 2.5
"""Instructions that unpack a vector of integers."""
DEQUANTIZE = 5
"""Instructions that dequantise a vector of floats."""
STORE = 5
"""Instructions beside, of a vector that is unpacked once for all rows: it is written, and memory is waited for. Fitted
to 8, 12 and 16 rows on a Zen 1."""
DRAIN = 1.5
"""Cycles that add a vector of partial sums to those of other parts."""
TWO_A_CYCLE = 0.5
"""Cycles of a multiply-add where two are done in one."""
MOST_ROWS = 128
"""The most rows for which weights are unpacked once: of more, unpacking is a small part."""
FEWEST_WHOLE = 2
"""The minimum number of columns of a tile whose whole sums are preferred to parts of more columns."""


@dataclass(frozen=True)
class StoredOrder:
    """The order in which weights that share bytes are unpacked: `shared` weights of a byte, `distance` steps of the
    sum apart; `width` adjacent bytes make a vector of groups of `group` weights."""

    distance: int
    shared: int
    width: int
    group: int

    @property
    def block(self) -> int:
        """The steps of the sum that vectors of whole bytes hold."""
        return self.shared * max(self.width, self.distance)

    @property
    def is_full(self) -> bool:
        """Whether vectors consist of whole groups of bytes."""
        fits = self.distance % self.width == 0 or self.width % self.distance == 0
        return fits and (self.distance == 1 or self.distance % self.group == 0)

    def split(self, k: IntExpr) -> tuple[IntExpr, IntExpr, IntExpr, IntExpr]:
        """A step of the sum as (vector of bytes, which weights of the bytes, group, position in the group)."""
        period = self.distance * self.shared
        vectors = max(1, self.distance // self.width)
        vector = k // self.block * vectors + (k % self.distance // self.width if vectors > 1 else 0)
        byte = k % self.width if vectors > 1 else k % self.block // period * self.distance + k % self.distance
        return vector, k % period // self.distance, byte // self.group, byte % self.group


@dataclass(frozen=True)
class UnpackedTile:
    """rows x columns, whose vectors of partial sums are in registers, and the vectors of bytes that are summed at once.

    block: the rows for which these vectors of a column are unpacked once; 0: a tile unpacks its own, in registers.
    width: the columns whose partial sums are in L2 meanwhile.
    why: in words.
    """

    rows: int
    columns: int
    vectors: int
    block: int
    width: int
    why: tuple[str, ...]


def unpacked_tile(what: Contraction, order: StoredOrder, target: Target, bits: int, spare: int = 0) -> UnpackedTile:
    """The tile that takes the fewest cycles. bits: of an unpacked weight. spare: registers of an instruction."""
    m, n, k = (what.extent(a) or LARGE for a in (what.m, what.n, what.k))
    vectors = k // (order.shared * order.width)
    if m == 1 and n * k // order.shared > target.l2:
        # 3 times as fast as eight columns at once on Zen 4
        return UnpackedTile(1, 1, vectors, 0, n, ("tile of 1 x 1: weights come from memory, in its order",))
    instructions = DEQUANTIZE if order.group == 1 else UNPACK
    rate = _multiply_cycles(order, target, spare)
    own = register_tile(m, n, 1, target, unpacking(order.shared, 3, instructions, rate))
    once = _tile_of_unpacked(m, n, vectors, order, target, bits, spare)
    of_parts = DRAIN * once.rows / (once.vectors * order.shared) if once.vectors < vectors else 0.0
    row = order.width * bits / 8 / core_or_typical(target).l2 if m * k * bits // 8 > room(target, "l1") else 0.0
    each = max(_unpacking_cost(spare, rate).cycles(once.rows, once.columns), once.rows * row) / once.columns + of_parts
    cycles = ceil(m / once.rows) * each + ceil(m / once.block) * (instructions + STORE) / 2
    computing = OVERHEAD / own.vectors + max((own.rows + instructions) / 2, own.rows * rate)
    own_each = max(computing, own.rows * row / own.vectors)
    if cycles < ceil(m / own.rows) * own_each:
        return once
    return UnpackedTile(own.rows, own.vectors, vectors, 0, n, (own.why,))


def _tile_of_unpacked(
    m: int, n: int, vectors: int, order: StoredOrder, target: Target, bits: int, spare: int
) -> UnpackedTile:
    """The tile of weights that are unpacked once for a block of rows: the columns of a tile are in L1 whole, if two of
    them are, and the rows in L2. Else the parts of both, and the partial sums of `width` columns in L2."""
    size = order.shared * order.width * bits // 8
    block = ceil(m / ceil(m / MOST_ROWS))
    cost = _unpacking_cost(spare, _multiply_cycles(order, target, spare))
    near = block * vectors * size <= room(target, "l2")
    fitting = min(room(target, "l1"), STACK_BUFFER) // (vectors * size) if near else 0
    most_columns = min(fitting, cost.most_vectors) if fitting >= FEWEST_WHOLE else cost.most_vectors
    tile = register_tile(block, n, 1, target, replace(cost, most_vectors=most_columns), masked=True)
    rows, columns = tile.rows, tile.vectors
    block = ceil(block / rows) * rows
    most = max(1, min(room(target, "l1") // (rows + columns), room(target, "l2") // (2 * block)) // size)
    part = vectors if columns <= fitting else max(d for d in range(1, most + 1) if vectors % d == 0)
    sums = block * order.width // order.group * 4
    width = even_tile(n, max(columns, room(target, "l2") // (2 * sums)), columns)
    steps = part * order.shared * order.width
    why = kept_in(target, "l1", f"{columns} columns of {steps} unpacked weights", part * size * columns)
    return UnpackedTile(rows, columns, part, block, width, (tile.why, why))


def unpacking(held: int, spare: int, instructions: float, rate: float = TWO_A_CYCLE) -> StepCost:
    """A step of a tile whose columns are one number each, in vectors along the sum: all instructions count, those that
    unpack or dequantise the vectors of a column as well; and multiply-adds, at the rate of their units."""
    return StepCost(
        held=held, spare=spare, most_vectors=STREAMS, padded=True, alike=1.0,
        cycles=lambda rows, columns: max(
            (rows * columns + rows + instructions * columns) / 2, OVERHEAD + rows * columns * rate
        ),
        prefers=lambda rows, columns: (rows, columns),
    )  # fmt: skip


def _unpacking_cost(spare: int, rate: float) -> StepCost:
    """The same of weights that are unpacked already, in L1, and of rows in L2."""
    return StepCost(
        spare=1 + spare, padded=True,
        cycles=lambda rows, columns: (
            OVERHEAD + max(rows * columns * rate, max(rows * columns, rows + columns, LATENCY) / 2)
        ),
        prefers=lambda rows, columns: ((2 * rows + columns) / (rows * columns),),
    )  # fmt: skip


def _multiply_cycles(order: StoredOrder, target: Target, spare: int) -> float:
    """The cycles of a dot product that is one instruction: where its units take one a cycle, other units have the time
    to unpack weights for each tile. Other products are counted as two a cycle."""
    alone = order.group > 1 and not spare
    return target.vector_bits / core_or_typical(target).multiply_bits if alone else TWO_A_CYCLE


class UnpackedProduct:
    """The state of scheduling one product, by dot products or, without, by multiply-adds of numbers.

    for i, j, k in T.grid(m, n, k):                 A_global = A, in the order of the bytes of Q
        with T.block("C"):                          for j_0 (parallel), i_b, k_b, j_1: unpack vectors of W[j_1, k_b]
            C += A[i, k] * W(Q[j, k])       ->          for i_0:
                                                            for k_0: a tile of vectors of partial sums += A * W
                                                            C tile += sums of the vectors

    Where a tile has all rows, or few have the others, vectors are unpacked in registers, in the loop over k_0.
    """

    def __init__(
        self, sch: Schedule, block: BlockHandle, what: Contraction, producer: BlockHandle, dot: Dot | None,
        order: StoredOrder, tile: UnpackedTile, threads: int,
    ):  # fmt: skip
        self.sch, self.block, self.what, self.producer, self.dot = sch, block, what, producer, dot
        self.order, self.tile, self.threads = order, tile, threads
        self.lanes = order.width // order.group
        self.depth = 2 if dot else 1  # loops of a vector of weights: groups and their terms

    def run(self, epilogue: BlockHandle | None = None) -> None:
        sch, what, tile = self.sch, self.what, self.tile
        position_of = list(what.extents).index
        rows, columns, steps = position_of(what.m), position_of(what.n), position_of(what.k)

        def lanes_of(*x: IntExpr) -> tuple:
            (*vector, h), (lane, *term) = self._split(x[steps])
            return x[rows], x[columns], lane, *vector, h, *term

        sch.transform_block_layout(self.block, lanes_of)
        sums = sch.rfactor(sch.get_loops(self.block)[2], 2)
        parts = sums if self.is_whole else sch.rfactor(sch.get_loops(sums)[3], 0)
        self._left_copy(parts)
        unpacked, shifts = self._unpack_weights(parts)
        j_0, j_b, k_b, j_1, i_0, k_0, h, i_1, j_2, group = self._tile_block(parts)
        sch.set_scope(parts, 0, "local")
        self._compute_weights(unpacked, j_1 if tile.block else h)
        if not self.is_whole:
            sch.reverse_compute_at(sums, i_0, preserve_unit_loops=True)
            self._add_up(sums)
            sch.decompose_reduction(sums, k_b)
        sch.reverse_compute_at(self.block, i_0 if self.is_whole else j_b, preserve_unit_loops=True)
        for loop in (h, i_1, j_2):
            sch.unroll(loop)
        self._vectorize_tile(sch.get_loops(sch.decompose_reduction(parts, k_0))[-3:])
        self._add_up(self.block, in_registers=self.is_whole)
        if shifts is not None:
            self._sum_rows(shifts)
        place_epilogue(sch, epilogue, j_0)
        if self.threads > 1:
            sch.parallel(j_0)
        if self.dot is None:
            sch.vectorize(group)
        else:  # last, as in gemm_dots
            sch.tensorize(group, self.dot.lanes_name)

    @property
    def is_whole(self) -> bool:
        """Whether the partial sums of a tile have all terms: there is one part."""
        return (self.what.extent(self.what.k) or 0) == self.tile.vectors * self.order.shared * self.order.width

    def _split(self, k: IntExpr) -> tuple[tuple[IntExpr, ...], tuple[IntExpr, ...]]:
        """A step of the sum as (part, if there are several, vector of the part, which weights of the bytes) and a lane:
        of dot products, (group, position in the group)."""
        vector, h, *lane = self.order.split(k)
        size = self.tile.vectors
        vectors = (vector,) if self.is_whole else (vector // size, vector % size)
        return (*vectors, h), tuple(lane if self.dot else lane[:1])

    def _left_copy(self, parts: BlockHandle) -> None:
        """Copy the left operand, by tiles of rows, in the order in which the weights are unpacked."""
        sch, what, order, rows = self.sch, self.what, self.order, self.tile.rows
        copy = sch.cache_read(parts, what.left.name, "global")
        self._store(copy, self.dot.dtype if self.dot else what.left.copy_dtype)
        position_of = what.left.axes.index
        of_row, of_step = position_of(what.m), position_of(what.k)

        def tiles(*x: IntExpr) -> tuple:
            (*part, vector, h), lane = self._split(x[of_step])
            return *part, x[of_row] // rows, vector, h, x[of_row] % rows, *lane

        sch.transform_layout(copy, ("write", 0), tiles, assume_injective_transform=True)
        sch.transform_block_layout(copy, lambda *x: (x[of_row], *chain(*self._split(x[of_step]))))
        row, *loops = sch.get_loops(copy)
        group, *term = loops[-self.depth :]
        run = min(order.distance, order.width)
        if what.left.axes[-1] == what.k and (run > 1 or order.shared == 1):  # adjacent in the operand, too
            width = run if order.shared > 1 else order.width
            _, inner = sch.split(group, [None, width // order.group])
            self._vectorize([inner, *term])
        if self.threads > 1 and self.tile.block:
            sch.parallel(row)

    def _store(self, copy: BlockHandle, dtype: str) -> None:
        if block_info(self.sch, copy).writes[0].buffer.dtype != dtype:
            store_as(self.sch, copy, dtype)

    def _unpack_weights(self, parts: BlockHandle) -> tuple[BlockHandle, BlockHandle | None]:
        """The block that unpacks weights, and the one that sums the left operand, if the instruction must shift it."""
        sch, what, dot = self.sch, self.what, self.dot
        sums = None
        if dot is not None and is_shifted(dot, what.right.dtype):
            copy, sums = sch.shift_operand(parts, what.right.name)
        else:
            copy = sch.cache_read(parts, what.right.name, "global")
            self._store(copy, dot.left_dtype if dot else what.right.copy_dtype)
        inline(sch, self.producer)
        turned = what.right.axes[0] == what.k

        def stored_index(*x: IntExpr) -> tuple:
            j, k = x[::-1] if turned else x
            return j, *chain(*self._split(k))

        sch.transform_layout(copy, ("write", 0), stored_index, assume_injective_transform=True)
        sch.transform_block_layout(copy, stored_index)
        return copy, sums

    def _compute_weights(self, unpacked: BlockHandle, loop: LoopHandle) -> None:
        """Unpack weights at a loop: in registers if they are those of one tile, else on the stack."""
        sch, in_registers = self.sch, not self.tile.block
        sch.compute_at(unpacked, loop, preserve_unit_loops=True)
        sch.set_scope(unpacked, 0, "local")
        loops = sch.get_loops(unpacked)
        loops, lane = loops[: -self.depth], loops[-self.depth :]
        sch.unroll(loops[-3] if in_registers else loops[-1])  # columns, or the weights of a byte
        self._vectorize(lane)

    def _tile_block(self, parts: BlockHandle) -> tuple[LoopHandle, ...]:
        """Tile the sums. Returns the loops j_0, j_b, k_b (j_b: one part), j_1, i_0, k_0, h, i_1, j_2, group."""
        sch, what, tile = self.sch, self.what, self.tile
        i, j, group, *k_b, k_0, h = sch.get_loops(parts)[: 5 if self.is_whole else 6]
        term = sch.get_loops(parts)[-1:] if self.dot else []
        tiles = (tile.block or what.extent(what.m) or tile.rows) // tile.rows
        i_b, i_0, i_1 = sch.split(i, [None, max(1, tiles), tile.rows])
        piece = even_tile(what.extent(what.n) or LARGE, LARGE, tile.columns, self.threads)
        tiles = ceil(piece / tile.columns)
        together = max(d for d in range(1, max(1, tile.width // tile.columns) + 1) if tiles % d == 0)
        j_0, j_b, j_1, j_2 = sch.split(j, [None, tiles // together, together, tile.columns])
        sch.reorder(j_0, i_b, j_b, *k_b, j_1, i_0, k_0, h, i_1, j_2, group, *term)
        return j_0, j_b, (k_b or [j_b])[0], j_1, i_0, k_0, h, i_1, j_2, group

    def _add_up(self, sums: BlockHandle, in_registers: bool = True) -> None:
        """Add partial sums: those of parts, or of lanes."""
        *_, lanes, rows, columns = self.sch.get_loops(sums)
        self.sch.reorder(rows, columns, lanes)
        if in_registers:
            self._vectorize_tile([rows, columns, lanes])
        else:
            self.sch.vectorize(lanes)

    def _vectorize(self, lane: Sequence[LoopHandle]) -> None:
        self.sch.vectorize(self.sch.fuse(*lane) if len(lane) > 1 else lane[0])

    def _vectorize_tile(self, loops: Sequence[LoopHandle]) -> None:
        rows, columns, lanes = loops
        self.sch.unroll(rows)
        self.sch.unroll(columns)
        self.sch.vectorize(lanes)

    def _sum_rows(self, sums: BlockHandle) -> None:
        """Sum the copy of the left operand, lane by lane, in registers."""
        sch, dot = self.sch, self.dot
        assert dot is not None  # only instructions shift
        spatial = len(iters(block_info(sch, sums), "S"))  # the row is not an iter if there is one row
        outer, (*steps, term) = (sch.get_loops(sums)[part] for part in (slice(spatial), slice(spatial, None)))
        lane = 0 if self.is_whole else 1  # after that of parts
        group = outer.pop(lane)
        sch.reorder(*outer, *steps, group, term)
        sch.transform_layout(sums, ("write", 0), lambda *x: (*x[:lane], *x[lane + 1 :], x[lane]))
        write_back = sch.cache_write(sums, 0, "local")
        if outer:
            sch.reverse_compute_at(write_back, outer[-1])
        start = sch.decompose_reduction(sums, steps[0])
        for copied in (start, write_back):
            sch.vectorize(sch.get_loops(copied)[-1])
        sch.tensorize(group, dot.sum_name)
