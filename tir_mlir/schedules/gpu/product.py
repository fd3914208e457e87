"""Matrix products without tensor cores: tiles in shared memory, 4 x 4 groups of sums in registers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from tir_mlir.dialect.ir import bits, enter_context
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo, RegionInfo
from tir_mlir.schedules.block_queries import block_info, block_view, has_conditional_values, widest_bits
from tir_mlir.schedules.gpu.matrices import ProductBlock, as_matrices
from tir_mlir.schedules.gpu.product_axes import ProductAxes, product_axes
from tir_mlir.schedules.gpu.reduction import reduction
from tir_mlir.schedules.gpu.split_sums import parts_of
from tir_mlir.schedules.gpu.threads import PROCESSORS, WARP
from tir_mlir.schedules.gpu.zero_tiles import read_tile, store_inside
from tir_mlir.schedules.operand_types import reads_only_as, store_as
from tir_mlir.schedules.steps import merge_epilogue, split_sums
from tir_mlir.target import GPU

if TYPE_CHECKING:
    from tir_mlir.dialect.symbolic import IntExpr

GROUP = 4
"""Rows and columns of a group of sums, and numbers between the rows of a transposed tile: a thread reads as many from
shared memory at once, and threads that write a column use different banks. Half as many of 8 bytes."""
SEGMENT = 8
"""Words of a row that a warp copies at once: 32 bytes, a sector."""
WORD = 4
"""Terms of a word, where the GPU adds up four products of bytes at once."""


@dataclass(frozen=True)
class BlockTile:
    """Rows, columns and terms of the sums of a block of threads, and its threads along them."""

    m: int
    n: int
    k: int
    rows: int
    columns: int
    group: int = GROUP

    @property
    def groups(self) -> tuple[int, int]:
        """The groups of a thread along rows and columns."""
        return self.m // (self.rows * self.group), self.n // (self.columns * self.group)

    @property
    def threads(self) -> int:
        return self.rows * self.columns

    def blocks(self, axes: ProductAxes) -> int:
        """The blocks of a product."""
        rows, columns = axes.extent(axes.rows), axes.extent(axes.columns)
        return axes.extent(axes.batch) * ceil(rows / self.m) * ceil(columns / self.n)

    def cost(self, batch: int, m: int, n: int, k: int) -> float:
        """The work of the busiest processor, padding included. A thread loads a group of each operand in the time of
        four products of a group and a group: those of few groups wait for shared memory."""
        waves = ceil(batch * ceil(m / self.m) * ceil(n / self.n) / PROCESSORS)
        rows, columns = self.groups
        return waves * self.m * self.n * ceil(k / self.k) * self.k * max(1.0, (rows + columns) / (rows * columns))


TILES = (
    BlockTile(64, 128, 16, 8, 16),
    BlockTile(128, 64, 16, 16, 8),
    BlockTile(64, 64, 16, 8, 16),
    BlockTile(32, 64, 16, 8, 16),
    BlockTile(32, 32, 16, 8, 8),
    BlockTile(32, 32, 8, 8, 8),
    BlockTile(16, 32, 8, 4, 8),
)  # fmt: skip
"""From the best to the smallest."""


def product(
    sch: Schedule, block: BlockHandle, gpu: GPU, epilogue: BlockHandle | None = None, tile: BlockTile | None = None
) -> None:
    """Schedule a product of any size: batched, transposed, a convolution. tile: default the best for the sizes.

        for i, j, k in T.grid(m, n, k):          for i_0 (blockIdx.y), j_0 (blockIdx.x):
            with T.block("C"): C += A * B   ->     for i_1 (threadIdx.y), j_1 (threadIdx.x):
                                                     for k_0: copy tiles of A and B to shared memory, k first, 0 outside
                                                       for k_1, unrolled: 8 x 8 sums in registers += A * B
                                                     C = sums, 4 at once, where inside

    Bytes with sums of int32 are four terms a word, which `dp4a` multiplies and adds at once: tiles of as many words.

    epilogue: an elementwise block that alone reads the product: computed where sums are stored, if that is legal and
    sums are not in parts: products with few tiles and many terms (`split_sums`). Ragged tiles are filled
    with zeros (`zero_tiles`). Errors: ScheduleError for what is not a product, or what zeros would change.
    """
    kept = {block_info(sch, b).name for b in sch.get_child_blocks(sch.get_block("root", sch.func_working_on))}
    axes = product_axes(sch, block)
    word = WORD if gpu.has("dp4a") and _has_bytes(block_info(sch, block)) else 1
    if tile is None:
        tile = best_tiles(axes, word)[0]
        parts = parts_of(axes, tile.blocks(axes), PROCESSORS)
        if parts > 1:
            _product_of_parts(sch, block, gpu, axes, parts)
            return
    if widest_bits(block_info(sch, block)) > 32:
        tile = replace(tile, group=GROUP // 2)
    what = as_matrices(sch, block, axes)
    multiples = {"b": 1, "m": tile.m, "n": tile.n, "k": tile.k * word}
    reads = [str(r) for r in block_info(sch, block).reads]
    sch.pad_einsum(block, [multiples[role] for role in what.roles])
    padded = dict(zip(reads, map(str, block_info(sch, block).reads), strict=True))
    left, right = padded[what.left], padded[what.right]
    back = sch.cache_write(block, 0, "local")
    for copy in sch.get_consumers(back):  # while its iters are those of matrices, not digits of them
        if block_info(sch, copy).name not in kept:
            store_inside(sch, copy, kept)
    if axes.divides(axes.rows, tile.m) and axes.divides(axes.columns, tile.n):  # all is stored: there is no guard
        store_inside(sch, back, kept)
    _lay_out_sums(sch, what, back, tile)
    k0, k1, inner = _bind(sch, what, tile, word)
    sch.reverse_compute_at(back, inner)
    outer = sch.get_loops(back)
    store_inside(sch, back, kept)
    merge_epilogue(sch, back, epilogue)
    _vectorize_stores(sch, back, outer[-1], tile.group)
    for name, side in ((left, tile.m), (right, tile.n)):
        _share(sch, block, name, what, side, tile, k0, kept, word)
    sch.decompose_reduction(block, k0)
    sch.unroll(k1)


def _product_of_parts(sch: Schedule, block: BlockHandle, gpu: GPU, axes: ProductAxes, parts: int) -> None:
    """A product of parts of the sums, and a sum of the parts."""
    product(sch, split_sums(sch, block, axes.sums[0], parts), gpu)
    reduction(sch, block)


def best_tiles(axes: ProductAxes, word: int = 1) -> list[BlockTile]:
    """The tiles, the best for the sizes of a product first. word: the terms of a word."""
    batch, rows, columns, terms = (axes.extent(group) for group in axes.groups)
    return sorted(TILES, key=lambda tile: tile.cost(batch, rows, columns, ceil(terms / word)))


def _has_bytes(info: BlockInfo) -> bool:
    """Whether a product is of bytes, with sums of int32."""
    written = {str(w) for w in info.writes}
    operands = [r.buffer.dtype for r in info.reads if str(r) not in written]
    return info.writes[0].buffer.dtype == "int32" and all(dtype in ("int8", "uint8") for dtype in operands)


def _lay_out_sums(sch: Schedule, what: ProductBlock, back: BlockHandle, tile: BlockTile) -> None:
    """The sums by block, thread, group and position in the group: those of a thread are together."""
    rows, columns = tile.rows * tile.group, tile.columns * tile.group
    order = [role for role in what.roles if role != "k"]

    def digits(*index: IntExpr) -> tuple[IntExpr, ...]:
        by_role = dict(zip(order, index, strict=True))
        i, j = by_role["m"], by_role["n"]
        batch = (by_role["b"],) if "b" in by_role else ()
        return (
            *batch, i // tile.m, j // tile.n, i % rows // tile.group, j % columns // tile.group,
            i % tile.m // rows, i % tile.group, j % tile.n // columns, j % tile.group,
        )  # fmt: skip

    sch.transform_block_layout(back, digits)
    sch.transform_layout(what.block, ("write", 0), digits)


def _bind(sch: Schedule, what: ProductBlock, tile: BlockTile, word: int) -> tuple[LoopHandle, LoopHandle, LoopHandle]:
    """Split and bind the loops. Returns those over tiles of terms and over their words, and the innermost thread."""
    m, n = tile.groups
    loops = what.loops(sch)
    i0, i1, i2, i3 = sch.split(loops["m"], [None, m, tile.rows, tile.group])
    j0, j1, j2, j3 = sch.split(loops["n"], [None, n, tile.columns, tile.group])
    k0, k1, *bytes_ = sch.split(loops["k"], [None, tile.k, word] if word > 1 else [None, tile.k])
    batch = [loops["b"]] if "b" in loops else []
    sch.reorder(*batch, i0, j0, i2, j2, k0, k1, i1, i3, j1, j3, *bytes_)
    for loop in batch:
        sch.bind(loop, "blockIdx.z")
    for loop, axis in ((i0, "blockIdx.y"), (j0, "blockIdx.x"), (i2, "threadIdx.y"), (j2, "threadIdx.x")):
        sch.bind(loop, axis)
    return k0, k1, j2


def _vectorize_stores(sch: Schedule, back: BlockHandle, loop: LoopHandle, group: int) -> None:
    """Store a group of sums at once where rows of the result are multiples of it, so that all are inside or none."""
    info = block_info(sch, back)
    row = info.writes[0].buffer.shape[-1]
    if row is not None and row % group == 0:
        sch.vectorize(loop)


def _share(
    sch: Schedule, block: BlockHandle, name: str, what: ProductBlock, side: int, tile: BlockTile, at: LoopHandle,
    kept: set[str], word: int,
) -> None:  # fmt: skip
    """Copy a tile of an operand to shared memory, by all threads, 16 bytes at once; words of terms are its first
    dimension."""
    info = block_info(sch, block)
    region, sums = next(r for r in info.reads if str(r) == name), info.writes[0].buffer.dtype
    terms_last = region.axes[-1] == (_iter_of(sch, what, "k"),)
    with enter_context():
        widened = reads_only_as(block_view(sch, block), name, sums)
    copy = read_tile(sch, block, name, "shared", kept)
    if word > 1:
        _share_words(sch, copy, terms_last, side, tile, at, word)
        return
    if widened:  # once for each element, not for each product
        store_as(sch, copy, sums)
    widest = max(bits(region.buffer.dtype), bits(sums))
    lanes = _lanes(sch, copy, 128 // widest, side if not terms_last else tile.k, side * tile.k // tile.threads)
    sch.compute_at(copy, at)
    if terms_last:
        sch.transform_layout(copy, ("write", 0), lambda *i: (*i[:-2], i[-1], i[-2]))
        sch.storage_align(copy, 0, len(region.axes) - 2, WARP, tile.group)
    fused = sch.fuse(*_by_segments(sch, copy, tile.k if terms_last else 0))
    _, y, x, vector = sch.split(fused, [None, tile.rows, tile.columns, lanes])
    sch.bind(y, "threadIdx.y")
    sch.bind(x, "threadIdx.x")
    if lanes > 1:
        sch.vectorize(vector)


def _share_words(
    sch: Schedule, copy: BlockHandle, terms_last: bool, side: int, tile: BlockTile, at: LoopHandle, word: int
) -> None:
    """The same of words: a thread copies one of a row of terms, or a byte of each of four words."""
    terms = tile.k * word
    lanes = _lanes(sch, copy, word, terms if terms_last else side, side * terms // tile.threads)
    sch.compute_at(copy, at)
    rank = len(block_info(sch, copy).writes[0].axes)
    if terms_last:
        sch.transform_layout(copy, ("write", 0), lambda *i: (*i[:-2], i[-1] // word, i[-2], i[-1] % word))
        sch.storage_align(copy, 0, rank - 2, WARP * word, tile.group * word)
    else:
        sch.transform_layout(copy, ("write", 0), lambda *i: (*i[:-2], i[-2] // word, i[-1], i[-2] % word))
    fused = sch.fuse(*_by_segments(sch, copy, terms if terms_last else 0, SEGMENT * word))
    _, y, x, vector = sch.split(fused, [None, tile.rows, tile.columns, lanes])
    sch.bind(y, "threadIdx.y")
    sch.bind(x, "threadIdx.x")
    if lanes > 1:
        sch.vectorize(vector)


def _by_segments(sch: Schedule, copy: BlockHandle, terms: int, segment: int = SEGMENT) -> list[LoopHandle]:
    """The loops of a copy. Rows of terms, which become columns of a tile, are copied by segments: a warp writes fewer
    columns, of more rows, which are in different banks."""
    rows, columns = sch.get_loops(copy)[-2:]
    if terms <= segment:
        return [rows, columns]
    outer, inner = sch.split(columns, [None, segment])
    sch.reorder(outer, rows, inner)
    return [outer, rows, inner]


def _iter_of(sch: Schedule, what: ProductBlock, role: str) -> str:
    return block_info(sch, what.block).iter_vars[what.roles.index(role)].name


def _lanes(sch: Schedule, copy: BlockHandle, lanes: int, row: int, most: int) -> int:
    """The elements that a thread copies at once: `lanes` of rows that start at multiples of these; else fewer."""
    reads = block_info(sch, copy).reads
    if has_conditional_values(sch, copy) and not all(map(_is_plain, reads)):
        return 1  # the condition of a padded image differs in the lanes
    while lanes > 1 and (lanes > most or row % lanes or not all(_rows_are(r, lanes) for r in reads)):
        lanes //= 2
    return lanes


def _is_plain(region: RegionInfo) -> bool:
    """Whether each index of a buffer is an iter."""
    return all(
        len(axis) == 1 and [region.index_at(d, n) for n in (0, 1)] == [0, 1] for d, axis in enumerate(region.axes)
    )


def _rows_are(region: RegionInfo, lanes: int) -> bool:
    """Whether the rows of a buffer are multiples of so many elements long, and read one element after the other."""
    length, last = region.buffer.shape[-1], len(region.axes) - 1
    plain = len(region.axes[last]) == 1 and [region.index_at(last, n) for n in (0, 1)] == [0, 1]
    return plain and length is not None and length % lanes == 0
