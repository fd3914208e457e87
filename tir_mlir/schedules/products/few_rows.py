"""Schedules for products of few rows: with a dequantised matrix, and of int8 by dot-product instructions."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from tir_mlir.intrin.dot_products import Dot, dot_of_lanes, is_shifted
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import LARGE, block_info, even_tile, iters, loops_by_iter
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.operand_types import store_as
from tir_mlir.schedules.products.contraction import Contraction, num_elements
from tir_mlir.schedules.products.dequantization import LaneSplit, is_along, lane_split, shared_steps, source
from tir_mlir.schedules.products.tile_sizes import STREAMS, RegisterTile, StepCost, register_tile
from tir_mlir.schedules.steps import give_reasons, inline, place_epilogue
from tir_mlir.target import Target

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr

UNPACK = 5
"""Instructions that unpack two vectors of weights."""


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

    def split(self, k: IntExpr) -> tuple[IntExpr, IntExpr, IntExpr, IntExpr]:
        """A step of the sum as (vector of bytes, which weights of the bytes, group, position in the group)."""
        period = self.distance * self.shared
        vectors = max(1, self.distance // self.width)
        vector = k // self.block * vectors + (k % self.distance // self.width if vectors > 1 else 0)
        byte = k % self.width if vectors > 1 else k % self.block // period * self.distance + k % self.distance
        return vector, k % period // self.distance, byte // self.group, byte % self.group


def few_rows_dots(
    sch: Schedule, block: BlockHandle, what: Contraction, producer: BlockHandle, target: Target, threads: int
) -> bool:
    """Schedule a product of few rows of int8 with a matrix that a block unpacks from bytes. Returns False, unchanged,
    if no instruction computes it, or the order of the weights does not fill its vectors.

        for i, j, k in T.grid(m, n, k):                 A_global = A, in the order of the bytes of Q
            with T.block("C"):                          for j_0 (parallel), i_0:
                C += A[i, k] * W(Q[j, k])       ->          for k_0: unpack vectors of W[j_0, k_0]
                                                                a tile of vectors of partial sums: dot products
                                                            C tile = sums of the vectors

    The weights of a byte are unrolled, so that their shifts are constants. Sums are exact, as int32 arithmetic is:
    where the instruction takes unsigned weights, 128 times the sums of A are subtracted, see `shift_operand`.
    """
    k = what.extent(what.k)
    dot = dot_of_lanes(target, what.right.dtype, what.left.dtype) if what.plain and what.dtype == "int32" else None
    if dot is None or k is None or what.batch or not is_along(sch, producer, what.right, what.k):
        return False
    distance, shared = shared_steps(source(block_info(sch, producer)))
    order = StoredOrder(distance, shared, dot.lanes * dot.group, dot.group)
    uneven = distance % order.width and order.width % distance if distance else True
    if shared == 1 or uneven or (distance > 1 and distance % dot.group) or k % order.block:
        return False
    tile = _tile(what, order, target)
    give_reasons(sch, what.out, [tile.why])
    FewRowsDots(sch, block, what, producer, dot, order, tile, threads).run()
    return True


class FewRowsDots:
    """The state of scheduling one product. tile: rows and columns whose partial sums are in registers."""

    def __init__(
        self, sch: Schedule, block: BlockHandle, what: Contraction, producer: BlockHandle, dot: Dot, order: StoredOrder,
        tile: RegisterTile, threads: int,
    ):  # fmt: skip
        self.sch, self.block, self.what, self.producer, self.dot = sch, block, what, producer, dot
        self.order, self.tile, self.threads = order, (tile.rows, tile.vectors), threads

    def run(self) -> None:
        sch, what, dot = self.sch, self.what, self.dot
        position_of = list(what.extents).index
        rows, columns, steps = position_of(what.m), position_of(what.n), position_of(what.k)
        sch.transform_block_layout(self.block, lambda *x: (x[rows], x[columns], *self.order.split(x[steps])))
        parts = sch.rfactor(sch.get_loops(self.block)[-2], 2)
        self._left_copy(parts)
        unpacked, sums = self._unpack_weights(parts)
        j_0, i_0, k_0, h, i_1, j_2, group = self._tile_block(parts)
        sch.reverse_compute_at(self.block, i_0, preserve_unit_loops=True)
        sch.set_scope(parts, 0, "local")
        sch.compute_at(unpacked, h, preserve_unit_loops=True)
        *_, column, _, _, lanes, terms = sch.get_loops(unpacked)
        sch.unroll(column)
        sch.vectorize(sch.fuse(lanes, terms))
        for loop in (h, i_1, j_2):
            sch.unroll(loop)
        self._fill_and_drain(sch.decompose_reduction(parts, k_0))
        sch.tensorize(group, dot.lanes_name)
        if sums is not None:
            self._sum_rows(sums)
        if self.threads > 1:
            sch.parallel(j_0)

    def _left_copy(self, parts: BlockHandle) -> None:
        """Copy the left operand, by tiles of rows, in the order in which the weights are unpacked."""
        sch, what, order, (rows, _) = self.sch, self.what, self.order, self.tile
        copy = sch.cache_read(parts, what.left.name, "global")
        store_as(sch, copy, self.dot.dtype)
        position_of = what.left.axes.index
        of_row, of_step = position_of(what.m), position_of(what.k)

        def tiles(*x: IntExpr) -> tuple:
            vector, h, group, term = order.split(x[of_step])
            return x[of_row] // rows, vector, h, x[of_row] % rows, group, term

        sch.transform_layout(copy, ("write", 0), tiles, assume_injective_transform=True)
        sch.transform_block_layout(copy, lambda *x: (x[of_row], *order.split(x[of_step])))
        *_, group, term = sch.get_loops(copy)
        run = min(order.distance, order.width)
        if what.left.axes[-1] == what.k and run > 1:  # adjacent in the operand, too
            _, inner = sch.split(group, [None, run // order.group])
            sch.vectorize(sch.fuse(inner, term))

    def _unpack_weights(self, parts: BlockHandle) -> tuple[BlockHandle, BlockHandle | None]:
        """The block that unpacks weights for the instruction, and the one that sums the left operand, if it must."""
        sch, what, order = self.sch, self.what, self.order
        sums = None
        if is_shifted(self.dot, what.right.dtype):
            copy, sums = sch.shift_operand(parts, what.right.name)
        else:
            copy = sch.cache_read(parts, what.right.name, "global")
            store_as(sch, copy, self.dot.left_dtype)
        inline(sch, self.producer)
        turned = what.right.axes[0] == what.k

        def stored_index(*x: IntExpr) -> tuple:
            j, k = x[::-1] if turned else x
            return j, *order.split(k)

        sch.transform_layout(copy, ("write", 0), stored_index, assume_injective_transform=True)
        sch.transform_block_layout(copy, stored_index)
        sch.set_scope(copy, 0, "local")
        return copy, sums

    def _tile_block(self, parts: BlockHandle) -> tuple[LoopHandle, ...]:
        sch, (rows, columns) = self.sch, self.tile
        i, j, k_0, h, group, term = sch.get_loops(parts)
        i_0, i_1 = sch.split(i, [None, rows])
        piece = even_tile(self.what.extent(self.what.n) or LARGE, LARGE, columns, self.threads)
        j_0, j_1, j_2 = sch.split(j, [None, ceil(piece / columns), columns])
        sch.reorder(j_0, j_1, i_0, k_0, h, i_1, j_2, group, term)
        return j_0, i_0, k_0, h, i_1, j_2, group

    def _fill_and_drain(self, init: BlockHandle) -> None:
        """The first values of the partial sums, and their sums, in registers."""
        sch = self.sch
        lanes, rows, columns = sch.get_loops(self.block)[-3:]
        sch.reorder(rows, columns, lanes)
        for nest in ((rows, columns, lanes), sch.get_loops(init)[-3:]):
            sch.unroll(nest[0])
            sch.unroll(nest[1])
            sch.vectorize(nest[2])

    def _sum_rows(self, sums: BlockHandle) -> None:
        """Sum the copy of the left operand, lane by lane, in registers."""
        sch = self.sch
        spatial = len(iters(block_info(sch, sums), "S"))  # the row is not an iter if there is one row
        (group, *rows), (*steps, term) = (sch.get_loops(sums)[part] for part in (slice(spatial), slice(spatial, None)))
        sch.reorder(*rows, *steps, group, term)
        sch.transform_layout(sums, ("write", 0), lambda lane, *row: (*row, lane))
        write_back = sch.cache_write(sums, 0, "local")
        if rows:
            sch.reverse_compute_at(write_back, rows[-1])
        start = sch.decompose_reduction(sums, steps[0])
        for copied in (start, write_back):
            sch.vectorize(sch.get_loops(copied)[-1])
        sch.tensorize(group, self.dot.sum_name)


def _unpacking(held: int, spare: int, instructions: float) -> StepCost:
    """A step of a tile whose columns are one number each, in vectors along the sum: all instructions count, those that
    unpack or dequantise the vectors of a column as well."""
    return StepCost(
        held=held, spare=spare, most_vectors=STREAMS, padded=True, alike=1.0,
        cycles=lambda rows, columns: rows * columns + rows + instructions * columns,
        prefers=lambda rows, columns: (rows, columns),
    )  # fmt: skip


def _tile(what: Contraction, order: StoredOrder, target: Target) -> RegisterTile:
    """Rows and columns of the tile with the fewest instructions, whose accumulators, the vectors unpacked for its
    columns, a loaded one and two constants fit in registers. One row, of weights that come from memory, takes them in
    the order of memory: 3 times as fast as eight columns at once on Zen 4."""
    m, n = (what.extent(a) or LARGE for a in (what.m, what.n))
    if m == 1 and n * (what.extent(what.k) or LARGE) // order.shared > target.l2:
        return RegisterTile(1, 1, "tile of 1 x 1: weights come from memory, in its order")
    return register_tile(m, n, 1, target, _unpacking(order.shared, 3, UNPACK / 2))


FEW_ROWS = 64
"""The maximum number of rows: with more, it pays off to transpose the matrix."""
DEQUANTIZE = 5
"""Instructions that dequantise a vector."""


def few_rows_gemm(
    sch: Schedule,
    block: BlockHandle,
    what: Contraction,
    target: Target,
    threads: int,
    free: Free,
    epilogue: BlockHandle | None = None,
) -> None:
    """Schedule a product of few rows whose right operand the block dequantises itself.

        for i, j, k in T.grid(m, n, k):                    for j_0 (parallel), i_0:
            with T.block("C"):                     ->          for k_0: dequantise vectors of W[j_0, k_0],
                C += A[i, k] * W(Q[j, k], ..)                      a tile of vectors of partial sums += A * W
                                                               C tile = sums of the vectors

    A vector of W is dequantised once for the rows of a tile, and nothing is packed or transposed.
    """
    loops = loops_by_iter(sch, block)
    sch.reorder(*(loops[a] for a in (*what.batch, what.m, what.n, what.k)))
    matrix = max(
        (r for r in block_info(sch, block).reads if str(r) not in (what.left.name, what.out)),
        key=lambda r: num_elements(r.buffer),
    )
    plan = lane_split(matrix, target.lanes(what.bits))
    _spread(sch, block, what, plan)
    parts = sch.rfactor(sch.split(loops[what.k], plan.factors)[plan.lanes], len(what.batch) + 2)
    i, j, *steps = sch.get_loops(parts)[len(what.batch) :]
    lanes, inner = steps[plan.lanes], [] if plan.shared is None else [steps[plan.shared]]
    k_0, *between = (x for n, x in enumerate(steps) if n not in (plan.lanes, plan.shared))
    m, n = (what.extent(a) or LARGE for a in (what.m, what.n))
    tile = register_tile(m, n, 1, target, _unpacking(1, 2, DEQUANTIZE))
    give_reasons(sch, what.out, () if free else [tile.why])
    mr, nr = _free_tile(free, what, target, tile)
    i_0, i_1 = sch.split(i, [None, mr])
    piece = even_tile(what.extent(what.n) or LARGE, LARGE, nr, threads)
    j_0, j_1, j_2 = sch.split(j, [None, ceil(piece / nr), nr])
    sch.reorder(j_0, j_1, i_0, k_0, *between, *inner, i_1, j_2, lanes)
    sch.reverse_compute_at(block, i_0)
    sch.set_scope(parts, 0, "local")
    for loop in (*inner, i_1, j_2):
        sch.unroll(loop)
    sch.vectorize(lanes)
    *_, rows, columns, lanes = sch.get_loops(sch.decompose_reduction(parts, k_0))
    sch.unroll(rows)
    sch.unroll(columns)
    sch.vectorize(lanes)
    place_epilogue(sch, epilogue, j_0)
    if threads > 1:
        sch.parallel(j_0)


def _spread(sch: Schedule, block: BlockHandle, what: Contraction, plan: LaneSplit) -> None:
    """If adjacent values share an element, copy the left operand with the values of a vector adjacent."""
    if plan.shared is None or plan.shared < plan.lanes:
        return
    _, lanes, shared = (factor or 1 for factor in plan.factors)
    k = what.left.axes.index(what.k)
    copy = sch.cache_read(block, what.left.name, "global")
    sch.transform_layout(
        copy, ("write", 0),
        lambda *i: (*i[:k], i[k] // (lanes * shared), i[k] % shared, i[k] // shared % lanes, *i[k + 1 :]),
        assume_injective_transform=True,
    )  # fmt: skip


def _free_tile(free: Free, what: Contraction, target: Target, tile: RegisterTile) -> tuple[int, int]:
    """Rows and columns of the tile, sampled if they are free."""
    mr, nr = tile.rows, free.choice("tile_columns", range(1, STREAMS + 1), tile.vectors)
    most = max(1, min(STREAMS, (target.registers - 2 - nr) // nr))
    return free.choice("tile_rows", range(1, min(most, what.extent(what.m) or LARGE) + 1), min(mr, most)), nr
