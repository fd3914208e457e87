"""Two axes of a block as one: rows of an image that together fill the rows of tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tir_mlir.accel.mapping.pairing import Pairing, iterator_axes
from tir_mlir.dialect.computation import Form
from tir_mlir.schedule import BlockHandle, Schedule

_TRIED = 3
"""Numbers of rows that are tried at most for two axes."""


@dataclass(frozen=True)
class Join:
    """An axis whose tiles count rows, and another one: `count` iterations of this one, each with all of the first, are
    one axis of `rows`."""

    outer: int
    inner: int
    count: int
    size: int
    """The extent of the inner axis."""

    @property
    def rows(self) -> int:
        return self.count * self.size

    def join_indices(self, indices: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
        """Indices that are these axes, after the step: the outer one counts groups of rows."""
        at = dict(zip(axes, indices, strict=True))
        y, x = at[self.outer], at[self.inner]
        at |= {self.outer: y // self.count, self.inner: y % self.count * self.size + x}
        return tuple(at[axis] for axis in axes)


def rank_joins(form: Form, pairing: Pairing, extents: Sequence[int]) -> Iterator[Join]:
    """The joins that fill more of the tiles whose rows are an axis, the fullest first."""
    role = pairing.role
    for iterator, inner in enumerate(pairing.axes):
        tile, size = role.extents[iterator], extents[inner]
        if role.form.axes[iterator].kind != "S" or not _counts_rows(pairing, iterator) or size % tile == 0:
            continue
        for outer in iterator_axes(form, role, pairing.operands, iterator):
            if outer not in pairing.axes and outer < inner:
                counts = [n for n in range(2, extents[outer] + 1) if extents[outer] % n == 0]
                ranked = sorted(counts, key=lambda n: (-_share(n * size, tile), n))
                better = [n for n in ranked if _share(n * size, tile) > _share(size, tile)]
                yield from (Join(outer, inner, n, size) for n in better[:_TRIED])


def _share(rows: int, tile: int) -> float:
    """How much of whole tiles are so many rows."""
    return rows / (-(-rows // tile) * tile)


def _counts_rows(pairing: Pairing, iterator: int) -> bool:
    """Whether an iterator is the row of each tile that it indexes."""
    role = pairing.role
    tiles = [(t, dims) for t, dims in zip(role.tiles, role.dims, strict=True) if iterator in dims]
    return all(tile.grid and dims.index(iterator) == 0 for tile, dims in tiles)


def join_axes(
    sch: Schedule, block: BlockHandle, join: Join, result: Sequence[int], windows: Mapping[BlockHandle, Sequence[int]]
) -> None:
    """Join two axes of a block. result: the axes that are the indices of what it writes; windows: what copies its
    operands, with the axes that are their indices; it goes on over rows and their elements."""

    def map_indices(axes: Sequence[int]) -> Callable[..., tuple[int, ...]]:
        return lambda *indices: join.join_indices(indices, axes)

    def group_rows(*iters: int) -> tuple[int, ...]:
        """The outer iter as groups and rows of one, this before the inner iter."""
        y, x = join.outer, join.inner
        return (*iters[:y], iters[y] // join.count, *iters[y + 1 : x], iters[y] % join.count, *iters[x:])

    def join_rows(*iters: int) -> tuple[int, ...]:
        x = join.inner
        return (*iters[:x], iters[x] * join.size + iters[x + 1], *iters[x + 2 :])

    for copy, axes in windows.items():
        sch.transform_layout(copy, ("write", 0), map_indices(axes))
    sch.transform_block_layout(block, group_rows)  # one after the other: each has an inverse that is one expression
    sch.transform_block_layout(block, join_rows)
    sch.transform_layout(block, ("write", 0), map_indices(result))
