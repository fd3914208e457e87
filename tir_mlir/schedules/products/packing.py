"""Packing: copy the operands of a matrix product into the order in which the micro-kernel reads them.

When the product runs, or once, when a model is loaded: panels of weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.runtime.aligned_arrays import copy_into, empty
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import LARGE
from tir_mlir.schedules.operand_types import store_as
from tir_mlir.schedules.products.contraction import Contraction, ContractionOperand
from tir_mlir.schedules.products.tile_sizes import IN_PLACE, Tiles, tiles
from tir_mlir.target import Target

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tir_mlir.dialect.symbolic import IntExpr

SQUARE = 8
"""Side of the squares for transposing an operand while packing."""
REUSE = 4
"""The minimum number of tiles that read an element, for packing to pay off."""
LINE = 64
"""Bytes in a cache line."""
WAYS = 8
"""Associativity of a cache: lines whose addresses differ by a multiple of its size / WAYS map to the same set."""
SHORTEST = 64
"""The least number of steps of a pass over a right operand that is read where it is: each pass adds to the result."""


def packs_right(what: Contraction, plan: Tiles, target: Target) -> bool:
    """Whether to pack the right operand: it is reused often, and its panels do not fit in L1 unpacked.

    Also if its columns are not contiguous, as vector loads need, if its type is narrower and must be widened, or if it
    is dequantised.
    """
    if what.right.axes[-1] != what.n or what.right.is_widened or what.right.dequantized:
        return True
    often = _size(what, what.m) >= REUSE * plan.mr
    return often and not _fits(plan.kc, plan.nr, _size(what, what.n), what.right.bits // 8, target)


def in_place_tiles(what: Contraction, plan: Tiles, target: Target, threads: int) -> Tiles:
    """A plan for a right operand that few rows read where it is. If its rows share sets of L1, each tile of rows waits
    for all of it again: the tile is as wide as registers allow, and L2 holds the rows of a pass in half of its sets."""
    m, n, k = (what.extent(a) for a in (what.m, what.n, what.k))
    row = _size(what, what.n) * what.right.bits // 8
    if n is None or packs_right(what, plan, target) or rows_held(target.l1, row) >= plan.kc:
        return plan
    longest = max(SHORTEST, rows_held(target.l2, row) // 2)
    return tiles(m, n, k, what.bits, target, threads, step=IN_PLACE, longest=longest)


def packs_left(what: Contraction, plan: Tiles, target: Target) -> bool:
    """Whether to pack the left operand: it exceeds L2 and is reused often, or it is narrower or dequantised."""
    if what.left.is_widened or what.left.dequantized:
        return True
    far = _size(what, what.m) * _size(what, what.k) * what.left.bits // 8 > target.l2
    return far and _size(what, what.n) >= REUSE * REUSE * plan.nr


def exceeds_l2(what: Contraction, target: Target) -> bool:
    """Whether the result exceeds L2, so that prefetching its tiles pays off."""
    return _size(what, what.m) * _size(what, what.n) * what.bits // 8 > target.l2


def pack_right(
    sch: Schedule, what: Contraction, plan: Tiles, block: BlockHandle, loop: LoopHandle | None, threads: int
) -> None:
    """Pack the right operand into panels of nr columns, at a loop; None: as a whole."""
    pack(sch, what, what.right, what.n, plan.nr, block, loop, threads)


def pack_left(sch: Schedule, what: Contraction, plan: Tiles, block: BlockHandle, loop: LoopHandle, lanes: int) -> None:
    """Pack the left operand: contiguous rows, or panels of mr rows if it is transposed."""
    if what.left.axes[-1] != what.k:
        pack(sch, what, what.left, what.m, plan.mr, block, loop, 1)
    else:
        packed = copy_in(sch, what.left, block, loop)
        _, inner = sch.split(sch.get_loops(packed)[-1], [None, lanes])
        sch.vectorize(inner)


def pack(
    sch: Schedule,
    what: Contraction,
    operand: ContractionOperand,
    along: str,
    width: int,
    block: BlockHandle,
    loop: LoopHandle | None,
    threads: int,
) -> None:
    """Pack an operand into panels of `width` along one axis; within a panel, reduction-major.

    loop: the one where it is packed; None: as a whole, first.
    """
    packed = copy_in(sch, operand, block, loop)
    axes = operand.axes
    k, n = axes.index(what.k), axes.index(along)
    outer_dims = [a for a in range(len(axes)) if a not in (k, n)]

    def panels(*index: IntExpr) -> tuple:
        return (*(index[a] for a in outer_dims), index[n] // width, index[k], index[n] % width)

    sch.transform_layout(packed, ("write", 0), panels, assume_injective_transform=True)
    loops = sch.get_loops(packed)[-len(axes) :]
    n_0, lanes = sch.split(loops[n], [None, width])
    sch.vectorize(lanes)
    if threads > 1:
        sch.reorder(n_0, *(x for x in loops if x is not loops[n]), lanes)
        sch.parallel(n_0)
    if axes[-1] != along or operand.dequantized:
        # transposed: by squares in registers; dequantised: the shifts of the values of a byte are constants
        k_0, k_1 = sch.split(loops[k], [None, SQUARE])
        sch.reorder(n_0, k_0, k_1, lanes)
        sch.unroll(k_1)


def copy_in(sch: Schedule, operand: ContractionOperand, block: BlockHandle, loop: LoopHandle | None) -> BlockHandle:
    """Cache the part of an operand read at a loop (None: all of it), in its `copy_dtype`. Returns the copy."""
    packed = sch.cache_read(block, operand.name, "global")
    if operand.is_widened:
        store_as(sch, packed, operand.copy_dtype)
    if loop is not None:
        sch.compute_at(packed, loop, preserve_unit_loops=True)
    return packed


def _fits(rows: int, columns: int, row: int, size: int, target: Target) -> bool:
    """Whether a rows x columns slice of an operand with row length `row` fits in two thirds of L1."""
    lines = -(-columns * size // LINE) + 1  # rows need not start at a line boundary
    room = target.l1 // LINE
    if row * size % LINE == 0:  # rows conflict in the same sets
        room = min(room, lines * rows_held(target.l1, row * size))
    return 3 * rows * lines <= 2 * room


def rows_held(cache: int, row: int) -> int:
    """The number of rows of `row` bytes whose first lines a cache of a size holds: rows that are a multiple of a power
    of two apart begin in few of its sets."""
    return cache // max(LINE, gcd(row, cache // WAYS))


def _size(what: Contraction, axis: str) -> int:
    return what.extent(axis) or LARGE


@dataclass(frozen=True)
class WeightPanels:
    """A weight in panels of `width` along one dimension, the other dimensions in a given order within a panel.

        W[100, 30]  ->  P[3, 30, 48]     P[p, k, l] = W[p * 48 + l, k], and 0 after row 99      along = 0, inner = (1,)

        W[96, 30]   ->  P[2, 15, 48, 2]  P[p, k, l, t] = W[p * 48 + l, k * 2 + t]       group = 2

        W[16, 96, 30]  ->  P[16, 2, 15, 48, 2]    inner = (0, 2): those of a batch have panels each

    `name`: the parameter; `source`: its shape before; `shape`: after; `dtype`: of both. group: adjacent elements along
    the last of the inner dimensions that remain adjacent; the panels are full then, and those of a batch apart.
    """

    name: str
    source: tuple[int, ...]
    dtype: str
    along: int
    inner: tuple[int, ...]
    width: int
    group: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        panels = -(-self.source[self.along] // self.width)
        if self.group > 1:
            *batch, terms = (self.source[d] for d in self.inner)
            return (*batch, panels, terms // self.group, self.width, self.group)
        return (panels, *(self.source[d] for d in self.inner), self.width)

    @property
    def layout(self) -> Callable[..., tuple]:
        """The index map from the weight to its panels."""
        n, inner, width, group = self.along, self.inner, self.width, self.group
        if group > 1:
            *batch, k = inner
            return lambda *i: (*(i[d] for d in batch), i[n] // width, i[k] // group, i[n] % width, i[k] % group)
        return lambda *i: (i[n] // width, *(i[d] for d in inner), i[n] % width)

    def apply(self, array: ArrayLike) -> np.ndarray:
        """The panels of an array, a copy on a boundary of a cache line, with zeros after the last row.

        Raises ArgumentError for another shape or another size of elements.
        """
        weight = np.asarray(array)
        packed = empty(self.shape, self.dtype)
        if weight.shape != self.source or weight.itemsize != packed.itemsize:
            actual = f"{weight.dtype} of shape {weight.shape}"
            raise ArgumentError(f"panels of {self.name}: expected {self.dtype} of shape {self.source}, got {actual}")
        return panels_of(weight.view(packed.dtype), self, packed)


def panels_of(weight: np.ndarray, panels: WeightPanels, packed: np.ndarray | None = None) -> np.ndarray:
    """The panels of an array of the shape and type that they are of, in `packed` if it is given."""
    packed = empty(panels.shape, weight.dtype) if packed is None else packed
    if panels.group > 1:
        *batch, count, groups, width, group = panels.shape
        matrices = weight.transpose(*panels.inner[:-1], panels.along, panels.inner[-1])
        copy_into(packed, np.swapaxes(matrices.reshape(*batch, count, width, groups, group), -3, -2))
        return packed
    rows = weight.transpose(*panels.inner, panels.along)
    full, rest = divmod(rows.shape[-1], panels.width)
    end = full * panels.width
    copy_into(packed[:full], np.moveaxis(rows[..., :end].reshape(*rows.shape[:-1], full, panels.width), -2, 0))
    if rest:
        copy_into(packed[full, ..., :rest], rows[..., end:])
        packed[full, ..., rest:] = 0
    return packed
