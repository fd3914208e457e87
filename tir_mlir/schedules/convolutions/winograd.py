"""Schedule for products between two transforms of tiles, as convolutions by Winograd's algorithm are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import bits
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedules.block_queries import block_info, extent_of, iters, num_instances
from tir_mlir.schedules.convolutions.conv_tile_sizes import UNROLLED
from tir_mlir.schedules.convolutions.convolution import convolution
from tir_mlir.schedules.products.tile_sizes import register_tile
from tir_mlir.schedules.steps import all_or_nothing, give_reasons, parallelize
from tir_mlir.target import Target
from tir_mlir.target.work_cost import balance, product_cycles, worth_threads

ENOUGH = 64
"""The number of tiles that share the weights of a strip: fewer wait for weights of many channels, from behind L2."""
STEP = 128
"""Bytes, of two lines of a cache, that the matrices of a tile are apart beside a multiple of twice as many: so those of
16 positions are in different sets."""


@dataclass(frozen=True)
class TiledProduct:
    """`M[i, j, n, y, x, o] += T[i, j, n, y, x, c] * W[o / panel, i, j, c, o % panel]`, between transforms of tiles.

    image: the block that computes T; pads: those that pad what it reads; results: the one that reads M.
    images, high, wide, channels: extents of n, y, x and o; step: results of a tile along y and along x.
    """

    product: BlockHandle
    image: BlockHandle
    pads: Sequence[BlockHandle]
    results: BlockHandle
    dtype: str
    images: int
    high: int
    wide: int
    channels: int
    panel: int
    step: int


@all_or_nothing
def winograd(
    sch: Schedule, block: BlockHandle, target: Target, threads: int | None, epilogue: BlockHandle | None
) -> None:
    """Schedule a product between two transforms of the tiles of images, for a CPU.

        for h, w, c: P = X, or 0 at a margin        for n, s:
        for i, j, n, y, x, c: T = .. P ..               P, T: the rows of a strip of tiles, vectors of channels
        for i, j, n, y, x, o, c: M += T * W     ->      for i, j, o_0, r_0: a tile of M in registers
        for n, h, w, o: Y = relu(.. M ..)               Y: the results of the strip

    Strips have whole rows of tiles, as many as share the weights well. block: the product; epilogue: what transforms it
    to the results, element by element. Raises ScheduleError for other products.
    """
    what = _tiled_product(sch, block, epilogue)
    size, lanes = bits(what.dtype) // 8, target.lanes(bits(what.dtype))
    cycles = product_cycles(num_instances(block_info(sch, block)), what.dtype, target)
    threads = worth_threads(cycles, threads or target.cores)
    rows = _rows_of_strip(what, threads)
    tile = register_tile(rows * what.wide, what.channels, lanes, target, panel=what.panel)
    give_reasons(sch, block_info(sch, block).name, [tile.why, f"strips of {rows} x {what.wide} tiles"])
    _join_tiles(sch, what, rows)
    strips, sums = _multiply(sch, what, tile.rows)
    image, results = (_vectorize(sch, part, lanes) for part in (what.image, what.results))
    for pad in what.pads:
        sch.compute_at(pad, image, preserve_unit_loops=True)
        sch.vectorize(sch.get_loops(pad)[-1])
    for part in (what.image, sums):
        sch.storage_align(part, 0, 3, 2 * STEP // size, STEP // size)
    sch.merge(image, strips, results)  # last: a step takes the longer the more is in the nest that it changes
    parallelize(sch, sch.get_loops(what.product)[:2], threads)


def _tiled_product(sch: Schedule, block: BlockHandle, epilogue: BlockHandle | None) -> TiledProduct:
    """Match a block and those around it. Raises ScheduleError if they are something else."""
    what, info = convolution(sch, block), block_info(sch, block)
    images = [p for p in sch.get_producers(block) if what.left in map(str, block_info(sch, p).writes)]
    if len(images) != 1 or epilogue is None or len(sch.get_consumers(block)) != 1:
        raise _not_tiled(info, "the left operand and the results must be computed by one block each")
    if len(what.result) != 6 or what.result + what.sums != tuple(what.extents) or len(what.sums) != 1:
        raise _not_tiled(info, "it must have two positions, images, tiles of two axes, channels, and one sum")
    (*_, n, y, x, o), after = what.result, block_info(sch, epilogue)
    images_count, high, wide, channels = (what.extents[a] or 0 for a in (n, y, x, o))
    results = [it.dom.extent or 0 for it in after.iter_vars]
    step = results[1] // max(1, high) if len(results) == 4 else 0
    if results != [images_count, high * step, wide * step, channels] or step < 2 or iters(after, "R"):
        raise _not_tiled(info, "each tile must have the same number of results along both axes")
    if not what.panel or channels % what.panel:
        raise _not_tiled(info, "the weights must be in full panels")
    pads = sch.get_producers(images[0])
    sizes = images_count, high, wide, channels, what.panel, step
    return TiledProduct(block, images[0], pads, epilogue, what.dtype, *sizes)


def _not_tiled(info: BlockInfo, why: str) -> ScheduleError:
    return ScheduleError(f'block "{info.name}" is not a product between transforms of tiles: {why}')


def _rows_of_strip(what: TiledProduct, threads: int) -> int:
    """The rows of tiles of a strip: the fewest that have `ENOUGH` tiles and divide those of an image; fewer if threads
    would have strips less evenly."""
    divisors = [rows for rows in range(1, what.high + 1) if what.high % rows == 0]
    even = balance(what.images * what.high, threads)
    shared = [rows for rows in divisors if balance(what.images * what.high // rows, threads) >= even]
    return next((rows for rows in shared if rows * what.wide >= ENOUGH), shared[-1])


def _join_tiles(sch: Schedule, what: TiledProduct, rows: int) -> None:
    """Let the tiles of a strip be rows of a matrix, for each of their positions: strip, position, tile, channel."""
    wide, step = what.wide, what.step
    for part in (what.image, what.product):
        sch.transform_layout(part, ("write", 0), lambda i, j, n, y, x, c: (n, y // rows, i, j, y % rows * wide + x, c))
    sch.transform_block_layout(what.product, lambda i, j, n, y, x, *at: (n, y // rows, i, j, y % rows, x, *at))
    sch.transform_block_layout(what.product, lambda n, s, i, j, y, x, *at: (n, s, i, j, y * wide + x, *at))
    sch.transform_block_layout(what.image, lambda i, j, n, y, x, c: (n, y // rows, y % rows, x, c, i, j))
    sch.transform_block_layout(
        what.results,
        lambda n, h, w, o: (n, h // (rows * step), h // step % rows, w // step, o, h % step, w % step),
    )


def _multiply(sch: Schedule, what: TiledProduct, mr: int) -> tuple[LoopHandle, BlockHandle]:
    """Tile the product. Returns the loop over strips, and the block that writes the sums."""
    write_back = sch.cache_write(what.product, 0, "local")
    n, s, i, j, r, o, k = sch.get_loops(what.product)
    r_0, r_1 = sch.split(r, [None, mr])
    o_0, o_1 = sch.split(o, [None, what.panel])
    k_0, k_1 = sch.split(k, [None, min(UNROLLED, extent_of(sch, k) or 1)])
    sch.reorder(n, s, i, j, o_0, r_0, k_0, k_1, r_1, o_1)
    sch.reverse_compute_at(write_back, r_0, preserve_unit_loops=True)
    for loop in (k_1, r_1):
        sch.unroll(loop)
    sch.vectorize(o_1)
    sch.decompose_reduction(what.product, k_0)
    *_, rows, columns = sch.get_loops(write_back)
    sch.unroll(rows)
    sch.vectorize(columns)
    return s, write_back


def _vectorize(sch: Schedule, part: BlockHandle, lanes: int) -> LoopHandle:
    """Compute a transform of a tile for vectors of channels at once, in registers. Returns its loop over strips."""
    _, strip, *_, channels, i, j = sch.get_loops(part)
    _, vector = sch.split(channels, [None, lanes])
    sch.reorder(i, j, vector)
    for loop in (i, j):
        sch.unroll(loop)
    sch.vectorize(vector)
    return strip
