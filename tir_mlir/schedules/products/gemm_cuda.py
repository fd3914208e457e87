"""Schedule for matrix products on GPUs without tensor cores: tiles in shared memory, 4 x 4 groups in registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import loops_by_iter
from tir_mlir.schedules.products.contraction import Contraction, ContractionOperand, contraction
from tir_mlir.target import CUDA

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr

_GROUP = 4
"""Rows and columns of a group of sums: a thread reads as many numbers at once from shared memory."""
_PADDING = 4
"""Numbers between the rows of a transposed tile, so that threads that write a column use different banks."""


@dataclass(frozen=True)
class BlockTile:
    """Rows, columns and terms of the sums of a block of threads, and its threads along them."""

    m: int
    n: int
    k: int
    rows: int
    columns: int

    @property
    def groups(self) -> tuple[int, int]:
        """The groups of a thread along rows and columns."""
        return self.m // (self.rows * _GROUP), self.n // (self.columns * _GROUP)


_TILES = (
    BlockTile(64, 128, 16, 8, 16),
    BlockTile(128, 64, 16, 16, 8),
    BlockTile(64, 64, 16, 8, 16),
    BlockTile(32, 64, 16, 8, 16),
    BlockTile(32, 32, 16, 8, 8),
    BlockTile(32, 32, 8, 8, 8),
    BlockTile(16, 16, 8, 4, 4),
)  # fmt: skip
"""From the best to the smallest."""


def cuda_gemm(sch: Schedule, block: BlockHandle, gpu: CUDA, tile: BlockTile | None = None) -> None:
    """Schedule a product C[m, n] += A * B of floats; operands may be transposed. tile: default the best that fits.

        for i, j, k in T.grid(m, n, k):          for i_0 (blockIdx.y), j_0 (blockIdx.x):
            with T.block("C"): C += A * B   ->     for i_1 (threadIdx.y), j_1 (threadIdx.x):
                                                     for k_0: copy tiles of A and B to shared memory, k first
                                                       for k_1, unrolled: 8 x 8 sums in registers += A * B
                                                     C = sums, 4 at once

    Errors: ScheduleError for a batch, or sizes that no tile divides.
    """
    what = contraction(sch, block)
    tile = tile or _tile_for(what, gpu)
    back = sch.cache_write(block, 0, "local")
    _lay_out_sums(sch, block, back, tile)
    loops = loops_by_iter(sch, block)
    m, n = tile.groups
    i0, i1, i2, i3 = sch.split(loops[what.m], [None, m, tile.rows, _GROUP])
    j0, j1, j2, j3 = sch.split(loops[what.n], [None, n, tile.columns, _GROUP])
    k0, k1 = sch.split(loops[what.k], [None, tile.k])
    sch.reorder(i0, j0, i2, j2, k0, k1, i1, i3, j1, j3)
    for loop, axis in ((i0, "blockIdx.y"), (j0, "blockIdx.x"), (i2, "threadIdx.y"), (j2, "threadIdx.x")):
        sch.bind(loop, axis)
    sch.reverse_compute_at(back, j2)
    sch.vectorize(sch.get_loops(back)[-1])
    for operand in (what.left, what.right):
        _share(sch, block, operand, what, tile, k0)
    sch.decompose_reduction(block, k0)
    sch.unroll(k1)


def _tile_for(what: Contraction, gpu: CUDA) -> BlockTile:
    """The best tile that divides the sizes. Raises ScheduleError."""
    if what.batch:
        raise ScheduleError(f"a batch of products is not scheduled for {gpu.chip}; fix: bind its loop to blockIdx.z")
    if fitting := tiles_of(what):
        return fitting[0]
    sizes = [what.extent(axis) for axis in (what.m, what.n, what.k)]
    text = " x ".join("an unknown size" if size is None else str(size) for size in sizes)
    raise ScheduleError(
        f"no tile divides a product of {text} for {gpu.chip}; fix: sch.pad_einsum to multiples of 16, 16 and 8"
    )


def tiles_of(what: Contraction) -> list[BlockTile]:
    """The tiles that divide the sizes of a product, the best first."""
    sizes = [what.extent(axis) for axis in (what.m, what.n, what.k)]

    def divides(tile: BlockTile) -> bool:
        parts = zip(sizes, (tile.m, tile.n, tile.k), strict=True)
        return all(size is not None and size % part == 0 for size, part in parts)

    return [tile for tile in _TILES if divides(tile)]


def _lay_out_sums(sch: Schedule, block: BlockHandle, back: BlockHandle, tile: BlockTile) -> None:
    """The sums by block, thread, group and position in the group: those of a thread are together."""
    rows, columns = tile.rows * _GROUP, tile.columns * _GROUP

    def digits(i: IntExpr, j: IntExpr) -> tuple[IntExpr, ...]:
        return (
            i // tile.m, j // tile.n, i % rows // _GROUP, j % columns // _GROUP,
            i % tile.m // rows, i % _GROUP, j % tile.n // columns, j % _GROUP,
        )  # fmt: skip

    sch.transform_block_layout(back, digits)
    sch.transform_layout(block, ("write", 0), digits)


def _share(
    sch: Schedule, block: BlockHandle, operand: ContractionOperand, what: Contraction, tile: BlockTile, at: LoopHandle
) -> None:
    """Copy a tile of an operand to shared memory, by all threads, 4 numbers at once; terms are its first dimension."""
    copy = sch.cache_read(block, operand.name, "shared")
    sch.compute_at(copy, at)
    if operand.axes[0] != what.k:
        sch.transform_layout(copy, ("write", 0), lambda i, k: (k, i))
        sch.storage_align(copy, 0, 0, 32, _PADDING)
    fused = sch.fuse(*sch.get_loops(copy)[-2:])
    _, y, x, lanes = sch.split(fused, [None, tile.rows, tile.columns, _GROUP])
    sch.bind(y, "threadIdx.y")
    sch.bind(x, "threadIdx.x")
    sch.vectorize(lanes)
