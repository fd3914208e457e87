"""The rows of a memory that a tile is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tir_mlir.accel.operands import Tile


@dataclass(frozen=True)
class TileRows:
    """Rows from a first one on: of each dimension of the tile's grid, so many, with these distances."""

    counts: tuple[int, ...]
    strides: tuple[int, ...]

    @cached_property
    def span(self) -> int:
        """Rows from the first one to behind the last one."""
        if 0 in self.counts:
            return 0
        return 1 + sum((n - 1) * s for n, s in zip(self.counts, self.strides, strict=True))

    def view_of(self, array: np.ndarray[Any, Any], first: int) -> np.ndarray[Any, Any]:
        """The view of these rows of an array with an entry for each row of the memory."""
        if self.strides == (1,):  # as most are, and much faster
            return array[first : first + self.counts[0]]
        distances = [s * array.strides[0] for s in self.strides]
        return as_strided(array[first:], (*self.counts, *array.shape[1:]), (*distances, *array.strides[1:]))


def tile_view(values: np.ndarray[Any, Any], tile: Tile, first: int, strides: Sequence[int]) -> np.ndarray[Any, Any]:
    """The elements of a whole tile, from its first row on; the last rows may be behind the end of the memory."""
    packed = values[first : first + prod(tile.grid)]
    if not tile.free and len(packed) == prod(tile.grid):
        return packed.view(tile.dtype).reshape(tile.shape)
    rows = TileRows(tile.grid, tuple(tile.strides_in_rows(strides))).view_of(values.view(tile.dtype), first)
    return as_strided(rows, tile.shape, (*rows.strides[:-1], *_row_strides(tile, rows.itemsize)))


def _row_strides(tile: Tile, itemsize: int) -> list[int]:
    made = [itemsize]
    for size in tile.row[:0:-1]:
        made.insert(0, made[0] * size)
    return made
