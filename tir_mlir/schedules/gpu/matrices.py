"""Products of any layout as products of matrices: blocks with the iters batch, row, column and term."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import RegionInfo
from tir_mlir.schedules.block_queries import block_info
from tir_mlir.schedules.gpu.product_axes import ProductAxes

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr


@dataclass(frozen=True)
class ProductBlock:
    """A block `out[b, m, n] += left[b, m, k] * right[b, n, k]`.

    left, right: names of the buffers that it reads.
    roles: of its iters, and so of its loops: "bmnk" in any order, without "b" if there is one product.
    """

    block: BlockHandle
    left: str
    right: str
    roles: str

    def loops(self, sch: Schedule) -> dict[str, LoopHandle]:
        """The loop of each role, while the block has one for each."""
        return dict(zip(self.roles, sch.get_loops(self.block), strict=True))


def as_matrices(sch: Schedule, block: BlockHandle, axes: ProductAxes) -> ProductBlock:
    """Let a block access its buffers as matrices, by copies that are computed where tiles are filled and stored.

        for n, f, h, w, c, r, s:                           for m, n, k in T.grid(F, N * H * W, C * R * S):
            Y[n, f, h, w] += (                        ->       Y_reindex[m, n] += W_reindex[m, k] * X_reindex[n, k]
                X[n, c, h + r, w + s] * W[f, c, r, s])

    A block whose groups have one iter each, which is an index of its own, remains as it is. `read_tile` and
    `store_inside` take the copies into those of the tiles. Requires a block as `product_axes` matches it.
    """
    groups = axes.groups if axes.extent(axes.batch) > 1 else ((*axes.batch, *axes.rows), axes.columns, axes.sums)
    if _is_plain(sch, block, axes, groups):
        roles = {group[0]: role for group, role in zip(axes.groups, "bmnk", strict=True) if group}
        names = [it.name for it in block_info(sch, block).iter_vars]
        return ProductBlock(block, axes.left, axes.right, "".join(roles[name] for name in names))
    names = [it.name for it in block_info(sch, block).iter_vars]
    buffers = {}
    for buffer in (axes.left, axes.right, axes.out):
        region = _region(sch, block, buffer)
        used = [n for n in names if any(n in axis for axis in region.axes)]
        sch.reindex(block, buffer)
        buffers[buffer] = f"{buffer}_reindex"
        sch.transform_layout(block, buffers[buffer], fuse_groups(used, groups, axes))
    sch.transform_block_layout(block, fuse_groups(names, groups, axes))
    roles = "bmnk" if len(groups) == 4 else "mnk"
    return ProductBlock(block, buffers[axes.left], buffers[axes.right], roles)


def _region(sch: Schedule, block: BlockHandle, name: str) -> RegionInfo:
    info = block_info(sch, block)
    return next(r for r in (*info.reads, *info.writes) if str(r) == name)


def _is_plain(sch: Schedule, block: BlockHandle, axes: ProductAxes, groups: Sequence[tuple[str, ...]]) -> bool:
    """Whether each group is one iter, and each index of a buffer is one of them."""
    info = block_info(sch, block)
    if sorted(n for group in groups for n in group) != sorted(it.name for it in info.iter_vars):
        return False
    regions = (*info.reads, *info.writes)
    alone = all(
        len(axis) == 1 and [r.index_at(d, n) for n in (0, 1)] == [0, 1]
        for r in regions for d, axis in enumerate(r.axes)
    )  # fmt: skip
    return alone and all(len(group) == 1 for group in groups)


def fuse_groups(
    names: Sequence[str], groups: Sequence[Sequence[str]], axes: ProductAxes
) -> Callable[..., tuple[IntExpr, ...]]:
    """The index map from iters to one number for each group of which there are any; the last iter counts fastest."""

    def size(name: str) -> int:
        return axes.sizes[name] or 1

    def digits(*values: IntExpr) -> tuple[IntExpr, ...]:
        by_name, result = dict(zip(names, values, strict=True)), []
        for group in groups:
            used = [name for name in group if name in by_name]
            if used:
                result.append(
                    reduce(lambda number, name: number * size(name) + by_name[name], used[1:], by_name[used[0]])
                )
        return tuple(result)

    return digits
