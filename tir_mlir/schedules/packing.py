"""Operands of a matrix product copied into the order in which the tile reads them."""

from __future__ import annotations

from math import gcd
from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.contraction import Contraction, Operand
from tir_mlir.schedules.tile_sizes import LARGE, Tiles
from tir_mlir.target import Target

SQUARE = 8
"""Side of the squares in which an operand is turned while it is packed."""
REUSE = 4
"""Tiles that must read an element, for a copy of it to pay."""
LINE = 64
"""Bytes that come to the cache at once."""
WAYS = 8
"""Of L1: lines whose addresses differ by a multiple of L1 / WAYS share as many places."""


def packs_right(what: Contraction, plan: Tiles, target: Target) -> bool:
    """Whether a panel of the right operand is read often enough, and lies badly enough for L1, to be copied.

    Where its columns are not neighbours, vectors need a copy; a narrower type is widened once, in the copy.
    """
    if what.right.axes[-1] != what.n or what.right.dtype != what.dtype:
        return True
    often = _size(what, what.m) >= REUSE * plan.mr
    return often and not _fits(plan.kc, plan.nr, _size(what, what.n), what.right.bits // 8, target)


def packs_left(what: Contraction, plan: Tiles, target: Target) -> bool:
    """Whether rows of the left operand are read from far enough, and often enough, or are of a narrower type."""
    if what.left.dtype != what.dtype:
        return True
    far = _size(what, what.m) * _size(what, what.k) * what.left.bits // 8 > target.l2
    return far and _size(what, what.n) >= REUSE * REUSE * plan.nr


def far_result(what: Contraction, target: Target) -> bool:
    """Whether the result does not stay in L2 while it is computed: its tiles are worth asking for ahead."""
    return _size(what, what.m) * _size(what, what.n) * what.bits // 8 > target.l2


def pack_right(sch: Schedule, what: Contraction, plan: Tiles, block: Any, at: Any, threads: int) -> None:
    """The right operand, panel by panel of nr columns, each a row of the sum after the other."""
    pack(sch, what, what.right, what.n, plan.nr, block, at, threads)


def pack_left(sch: Schedule, what: Contraction, plan: Tiles, block: Any, at: Any, lanes: int) -> None:
    """The left operand: rows as they lie, closer together; where they lie as columns, panels of mr rows."""
    if what.left.axes[-1] != what.k:
        pack(sch, what, what.left, what.m, plan.mr, block, at, 1)
    else:
        packed = _copy(sch, what, what.left, block, at)
        _, inner = sch.split(sch.get_loops(packed)[-1], [None, lanes])
        sch.vectorize(inner)


def pack(
    sch: Schedule, what: Contraction, operand: Operand, along: str, width: int, block: Any, at: Any, threads: int
) -> None:
    """An operand copied at the loop `at`: panels of `width` of one axis, in each one row of the sum after the other."""
    packed = _copy(sch, what, operand, block, at)
    axes = operand.axes
    k, n = axes.index(what.k), axes.index(along)
    rest = [a for a in range(len(axes)) if a not in (k, n)]

    def panels(*index: Any) -> tuple:
        return (*(index[a] for a in rest), index[n] // width, index[k], index[n] % width)

    sch.transform_layout(packed, ("write", 0), panels, assume_injective_transform=True)
    loops = sch.get_loops(packed)[-len(axes) :]
    n_0, lanes = sch.split(loops[n], [None, width])
    sch.vectorize(lanes)
    if threads > 1:
        sch.reorder(n_0, *(x for x in loops if x is not loops[n]), lanes)
        sch.parallel(n_0)
    if axes[-1] != along:  # rows and columns change places: squares that are turned in registers
        k_0, k_1 = sch.split(loops[k], [None, SQUARE])
        sch.reorder(n_0, k_0, k_1, lanes)
        sch.unroll(k_1)


def _copy(sch: Schedule, what: Contraction, operand: Operand, block: Any, at: Any) -> Any:
    """The block that copies what a loop reads of an operand, in the type of the sums."""
    packed = sch.cache_read(block, operand.name, "global")
    if operand.dtype != what.dtype:
        sch.unsafe_set_dtype(packed, 0, what.dtype)  # wider: it holds every value
    sch.compute_at(packed, at, preserve_unit_loops=True)
    return packed


def _fits(rows: int, columns: int, row: int, size: int, target: Target) -> bool:
    """Whether rows x columns elements of an operand with so many in a row find room in two thirds of L1."""
    lines = -(-columns * size // LINE) + 1  # rows begin anywhere in a line
    room = target.l1 // LINE
    if row * size % LINE == 0:  # rows meet in the same sets
        room = min(room, lines * room // gcd(row * size // LINE, target.l1 // (LINE * WAYS)))
    return 3 * rows * lines <= 2 * room


def _size(what: Contraction, axis: str) -> int:
    return what.extent(axis) or LARGE
