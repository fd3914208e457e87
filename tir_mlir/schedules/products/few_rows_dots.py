"""Schedule for products of few rows of int8 with weights of fewer bits, by dot-product instructions."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

from tir_mlir.intrin.dot_products import Dot, dot_of_lanes, is_shifted
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info, iters
from tir_mlir.schedules.even_tiles import LARGE, even_tile
from tir_mlir.schedules.products.contraction import Contraction
from tir_mlir.schedules.products.dequantized import is_along, shared_steps, source
from tir_mlir.schedules.products.terms import store_as
from tir_mlir.schedules.products.tile_sizes import STREAMS
from tir_mlir.schedules.threads import inline
from tir_mlir.target import Target

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

    def split(self, k: Any) -> tuple[Any, Any, Any, Any]:
        """A step of the sum as (vector of bytes, which weights of the bytes, group, place in the group)."""
        period = self.distance * self.shared
        vectors = max(1, self.distance // self.width)
        vector = k // self.block * vectors + (k % self.distance // self.width if vectors > 1 else 0)
        byte = k % self.width if vectors > 1 else k % self.block // period * self.distance + k % self.distance
        return vector, k % period // self.distance, byte // self.group, byte % self.group


def few_rows_dots(sch: Schedule, block: Any, what: Contraction, producer: Any, target: Target, threads: int) -> bool:
    """Schedule a product of few rows of int8 with a matrix that a block unpacks from bytes. Returns False, unchanged,
    if there is no instruction for it, or the order of the weights does not fill its vectors.

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
    FewRowsDots(sch, block, what, producer, dot, order, _tile(what, order, target), threads).run()
    return True


class FewRowsDots:
    """The state of scheduling one product. tile: rows and columns whose partial sums are in registers."""

    def __init__(
        self, sch: Schedule, block: Any, what: Contraction, producer: Any, dot: Dot, order: StoredOrder,
        tile: tuple[int, int], threads: int,
    ):  # fmt: skip
        self.sch, self.block, self.what, self.producer, self.dot = sch, block, what, producer, dot
        self.order, self.tile, self.threads = order, tile, threads

    def run(self) -> None:
        sch, what, dot = self.sch, self.what, self.dot
        position_of = list(what.extents).index
        rows, columns, steps = position_of(what.m), position_of(what.n), position_of(what.k)
        sch.transform_block_layout(self.block, lambda *x: (x[rows], x[columns], *self.order.split(x[steps])))
        parts = sch.rfactor(sch.get_loops(self.block)[-2], 2)
        self._left_copy(parts)
        unpacked, sums = self._unpacked(parts)
        j_0, i_0, k_0, h, i_1, j_2, group = self._tiled(parts)
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

    def _left_copy(self, parts: Any) -> None:
        """Copy the left operand, by tiles of rows, in the order in which the weights are unpacked."""
        sch, what, order, (rows, _) = self.sch, self.what, self.order, self.tile
        copy = sch.cache_read(parts, what.left.name, "global")
        store_as(sch, copy, self.dot.dtype)
        position_of = what.left.axes.index
        of_row, of_step = position_of(what.m), position_of(what.k)

        def tiles(*x: Any) -> tuple:
            vector, h, group, term = order.split(x[of_step])
            return x[of_row] // rows, vector, h, x[of_row] % rows, group, term

        sch.transform_layout(copy, ("write", 0), tiles, assume_injective_transform=True)
        sch.transform_block_layout(copy, lambda *x: (x[of_row], *order.split(x[of_step])))
        *_, group, term = sch.get_loops(copy)
        run = min(order.distance, order.width)
        if what.left.axes[-1] == what.k and run > 1:  # adjacent in the operand, too
            _, inner = sch.split(group, [None, run // order.group])
            sch.vectorize(sch.fuse(inner, term))

    def _unpacked(self, parts: Any) -> tuple[Any, Any]:
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

        def stored(*x: Any) -> tuple:
            j, k = x[::-1] if turned else x
            return j, *order.split(k)

        sch.transform_layout(copy, ("write", 0), stored, assume_injective_transform=True)
        sch.transform_block_layout(copy, stored)
        sch.set_scope(copy, 0, "local")
        return copy, sums

    def _tiled(self, parts: Any) -> tuple[Any, ...]:
        sch, (rows, columns) = self.sch, self.tile
        i, j, k_0, h, group, term = sch.get_loops(parts)
        i_0, i_1 = sch.split(i, [None, rows])
        piece = even_tile(self.what.extent(self.what.n) or LARGE, LARGE, columns, self.threads)
        j_0, j_1, j_2 = sch.split(j, [None, ceil(piece / columns), columns])
        sch.reorder(j_0, j_1, i_0, k_0, h, i_1, j_2, group, term)
        return j_0, i_0, k_0, h, i_1, j_2, group

    def _fill_and_drain(self, init: Any) -> None:
        """The first values of the partial sums, and their sums, in registers."""
        sch = self.sch
        lanes, rows, columns = sch.get_loops(self.block)[-3:]
        sch.reorder(rows, columns, lanes)
        for nest in ((rows, columns, lanes), sch.get_loops(init)[-3:]):
            sch.unroll(nest[0])
            sch.unroll(nest[1])
            sch.vectorize(nest[2])

    def _sum_rows(self, sums: Any) -> None:
        """Sum the copy of the left operand, lane by lane, in registers."""
        sch = self.sch
        spatial = len(iters(block_info(sch, sums), "S"))  # the row is no iter if there is one row
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


def _tile(what: Contraction, order: StoredOrder, target: Target) -> tuple[int, int]:
    """Rows and columns of the tile with the fewest instructions, whose accumulators, and the vectors unpacked for its
    columns, fit in registers. One row, of weights that come from memory, takes them in the order of memory: 3 times as
    fast as eight columns at once on Zen 4."""
    m, n = (what.extent(a) or LARGE for a in (what.m, what.n))
    if m == 1 and n * (what.extent(what.k) or LARGE) // order.shared > target.l2:
        return 1, 1

    def cost(tile: tuple[int, int]) -> float:
        rows, columns = tile
        return ceil(m / rows) * ceil(n / columns) * (rows * columns + rows + UNPACK / 2 * columns)

    fits = [
        (rows, columns)
        for rows in range(1, STREAMS + 1)
        for columns in range(1, STREAMS + 1)
        if rows * columns + order.shared * columns + 2 <= target.registers
    ]
    return min(fits, key=cost)
