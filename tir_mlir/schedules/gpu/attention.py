"""Attention on tensor cores: two products, and what is between them in the registers of a warp."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import Buffer, dtypes, enter_context, funcs, loops_above
from tir_mlir.intrin.mma import get_mma_intrin_group
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo, RegionInfo
from tir_mlir.schedules.block_queries import block_info, block_view, extent_of
from tir_mlir.schedules.gpu.threads import WARP
from tir_mlir.schedules.operand_types import is_product
from tir_mlir.target import GPU

WARP_ROWS = 16
"""Queries of a warp: the rows of a fragment of sums."""
COPY_BYTES = 16
_OPERANDS = ("float16", "bfloat16")


@dataclass(frozen=True, eq=False)
class TileBlock:
    """A block of the program: its own loops are those around no other block; the first one runs over rows. `repeated`:
    whether it is in the loop over tiles of keys."""

    handle: BlockHandle
    info: BlockInfo
    loops: tuple[LoopHandle, ...]
    repeated: bool

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def written(self) -> list[str]:
        return [region.buffer.name for region in self.info.writes]

    @property
    def operands(self) -> list[RegionInfo]:
        """What it reads besides what it writes."""
        return [region for region in self.info.reads if region.buffer.name not in self.written]


class TiledAttention:
    """The blocks of a program of tiles with two products, the first operand of the second one computed of the first."""

    def __init__(self, sch: Schedule, function: str | None = None):
        self.sch, self.function = sch, function or sch.func_working_on or "main"
        blocks = sch.get_child_blocks(sch.get_block("root", self.function))
        with enter_context():
            views = {b: loops_above(block_view(sch, b).outermost) for b in blocks}
            every = [loop for loops in views.values() for loop in loops]
            own = {b: sum(every.count(loop) == 1 for loop in loops) for b, loops in views.items()}
            shared = sum(every.count(loop) == len(blocks) for loop in views[blocks[0]])
        self.blocks = [
            TileBlock(
                b,
                block_info(sch, b),
                tuple(sch.get_loops(b)[len(views[b]) - own[b] :]),
                len(views[b]) > own[b] + shared,
            )
            for b in blocks
        ]
        self.outer = sch.get_loops(blocks[0])[:shared]
        self.products = [block for block in self.blocks if self._multiplies(block)]
        if len(self.products) != 2 or not self.outer or not all(block.loops for block in self.blocks):
            raise ScheduleError(
                f"there are {len(self.products)} products of tiles of float16 or bfloat16, and an attention has two",
                fix="write tiles as tir_mlir.examples.attention does",
            )

    def _multiplies(self, block: TileBlock) -> bool:
        """Whether a block sums products of rows and columns, as `mma.sync` does."""
        if len(block.loops) != 3 or len(block.operands) != 2 or len(block.written) != 1:
            return False
        names, out = [r.buffer.name for r in block.operands], block.info.writes[0].buffer
        types = {r.buffer.dtype for r in block.operands}
        if out.dtype != "float32" or len(types) != 1 or not types <= {*_OPERANDS}:
            return False
        with enter_context():
            return is_product(block_view(self.sch, block.handle), names, out.name, out.dtype)

    @cached_property
    def copies(self) -> list[TileBlock]:
        """What fills the tiles that warps share: the operands of the products that are not computed of one."""
        read = {r.buffer.name for product in self.products for r in product.operands}
        filled = read - {self._left_operand(self.products[1]).buffer.name}
        return [block for block in self.blocks if filled & {*block.written}]

    @property
    def warp_blocks(self) -> list[TileBlock]:
        """What a warp computes in its registers."""
        return [block for block in self.blocks if block not in self.copies]

    @property
    def rows(self) -> int:
        return extent_of(self.sch, self.products[0].loops[0]) or 0

    def scopes(self) -> list[tuple[TileBlock, int, str]]:
        """Where a warp holds what its blocks write first: block, number of the buffer, scope."""
        with enter_context():
            func = next(f for f in funcs(self.sch.executor.module) if f.name == self.function)
            known = {Buffer(value).name for value in func.args}
        found = []
        for block in self.warp_blocks:
            for number, region in enumerate(block.info.writes):
                if region.buffer.name not in known:
                    found.append((block, number, self._scope(block, region)))
                    known.add(region.buffer.name)
        return found

    def _scope(self, block: TileBlock, region: RegionInfo) -> str:
        if region.buffer.name == self._left_operand(self.products[1]).buffer.name:
            return "mma.matrix_a"
        row, *columns = self._iters(block)
        used = {name for axes in region.axes for name in axes}
        if not row & used:
            raise ScheduleError(
                f"{region.buffer.name} has no rows", fix="let the first loop of each block run over rows"
            )
        return "mma.accumulator" if any(used & names for names in columns) else "mma.row"

    def _left_operand(self, product: TileBlock) -> RegionInfo:
        """The operand of a product that has its rows."""
        row = self._iters(product)[0]
        return next(r for r in product.operands if row & {name for axes in r.axes for name in axes})

    def _iters(self, block: TileBlock) -> list[set[str]]:
        """For each own loop of a block, outer to inner, the iters that are bound to expressions of it."""
        with enter_context():
            view = block_view(self.sch, block.handle)
            own = loops_above(view.outermost)[-len(block.loops) :]
            pairs = list(zip(view.iters, view.bindings, strict=True))
            return [{it.name for it, index in pairs if index.uses(loop.var)} for loop in own]


def is_tiled_attention(sch: Schedule, function: str) -> bool:
    """Whether a function is what `attention_tiles` takes."""
    with suppress(ScheduleError):
        TiledAttention(sch, function)
        return True
    return False


def attention_tiles(sch: Schedule, gpu: GPU, function: str | None = None, stages: int = 2) -> None:
    """Schedule attention that is written in tiles, as `tir_mlir.examples.attention` writes it, for tensor cores.

        for h, b:                                 for h (blockIdx.y), b (blockIdx.x):
          for i, d: Qs = Q                          Qs = Q, by all threads, to shared memory
          for i: M, L = ..                          for i_0 (threadIdx.y): M, L, X in registers
          for t:                            ->      for t:
            for j, d: Ks = K; Vs = V                  Ks, Vs, by all threads
            for i, j, d: S += Qs * Ks                 for i_0 (threadIdx.y): S, M, E, P, X: 16 rows of a warp, in its
            for i, j: E = exp(S - M) ..                                      registers; products by mma.sync
            for i, d, j: X += P * Vs
          for i, d: O = X / L                       for i_0 (threadIdx.y): O = X / L

    Any blocks between and after the products: with masks, biases, other norms. Functions are approximate (annotation
    "approximate"), division is by a reciprocal. stages: of a pipeline of the loop over tiles of keys, whose copies are
    that many less one tiles ahead, or fewer, as shared memory allows; 1: none. Errors: ScheduleError for what are not
    two such products.
    """
    what = TiledAttention(sch, function)
    _check(what.rows, gpu)
    scopes = what.scopes()
    for loop, axis in zip(what.outer[::-1], ("blockIdx.x", "blockIdx.y", "blockIdx.z"), strict=False):
        sch.bind(loop, axis)
    sizes = {block: _fill(sch, block, what.rows // WARP_ROWS) for block in what.copies}
    warps = {block.name: sch.split(block.loops[0], [None, WARP_ROWS]) for block in what.warp_blocks}
    for warp, _ in warps.values():
        sch.bind(warp, "threadIdx.y")
    for block, number, scope in scopes:
        sch.set_scope(block.handle, number, scope)
    for block in what.warp_blocks:
        if block not in what.products:
            sch.annotate(block.handle, "approximate", True)
            sch.annotate(block.handle, "reciprocal", True)
    units = [unit for block in what.products for unit in _blockize(sch, block, *warps[block.name])]
    _copy_ahead(sch, len(what.outer), sizes, stages, gpu)
    for part, intrinsic in units:
        sch.tensorize(part, intrinsic)


def _check(rows: int, gpu: GPU) -> None:
    if not gpu.has("mma"):
        raise ScheduleError(f"{gpu.chip} has no mma.sync", fix="schedule for sm_80 or later")
    if rows % WARP_ROWS or rows // WARP_ROWS * WARP > gpu.max_threads:
        raise ScheduleError(
            f"a tile of {rows} rows is not a whole number of warps of {WARP_ROWS} rows",
            fix="tiles of 16, 32, 64 or 128 rows",
        )


def _fill(sch: Schedule, block: TileBlock, warps: int) -> int:
    """Let all threads copy a tile to shared memory, in rows that are moved apart by 16 bytes; as many bytes at once if
    rows in memory are multiples of them. Returns the bytes that the tile needs at most."""
    (region,) = block.info.writes
    lanes = COPY_BYTES * 8 // dtypes.bits(region.buffer.dtype)
    *rows, columns = (extent_of(sch, loop) or 1 for loop in block.loops)
    loop = sch.fuse(*block.loops)
    even = all((read.buffer.shape[-1] or 1) % lanes == 0 for read in block.info.reads)
    _, y, x, vector = sch.split(loop, [None, warps, WARP, lanes])
    sch.bind(y, "threadIdx.y")
    sch.bind(x, "threadIdx.x")
    if even:
        sch.vectorize(vector)
    else:
        sch.unroll(vector)
    sch.set_scope(block.handle, 0, "shared")
    sch.storage_align(block.handle, 0, -2, 2 * lanes, lanes)
    return prod(rows) * (ceil(columns / lanes) + 1) * COPY_BYTES


def _copy_ahead(sch: Schedule, outer: int, sizes: Mapping[TileBlock, int], stages: int, gpu: GPU) -> None:
    """Let the copies of keys and values run as many tiles ahead as there is room. sizes: of tiles, in bytes."""
    repeated = [block for block in sizes if block.repeated]
    if not repeated:
        return
    tiles = sch.get_loops(repeated[0].handle)[outer]
    room = (gpu.shared - sum(sizes.values())) // sum(sizes[block] for block in repeated)
    planes = min(stages, extent_of(sch, tiles) or stages, 1 + room)
    if planes > 1:
        sch.pipeline(tiles, planes)


def _blockize(
    sch: Schedule, block: TileBlock, warp: LoopHandle, row: LoopHandle
) -> list[tuple[BlockHandle | LoopHandle, str]]:
    """Make a product of tiles a block of a warp, its operands in fragments. Returns what becomes which intrinsic."""
    left, right = block.operands  # in the order of the program: rows come with the first one
    columns, terms = (extent_of(sch, loop) or 0 for loop in block.loops[1:])
    terms_last = right.axes[-1] == left.axes[-1]
    group = get_mma_intrin_group((WARP_ROWS, columns, terms), left.buffer.dtype, "float32", trans_b=terms_last)
    with enter_context():
        starts = block_view(sch, block.handle).init is not None
    inner = sch.blockize(row)
    units: list[tuple[BlockHandle | LoopHandle, str]] = []
    for key, region in (("a", left), ("b", right)):
        number = block.info.reads.index(region)
        if not block_info(sch, inner).reads[number].buffer.storage_scope.startswith("mma."):
            load = sch.cache_read(inner, number, group[f"scope_{key}"])
            sch.compute_at(load, warp)
            units.append((sch.get_loops(load)[-2], group[f"load_{key}"]))
    if starts:
        units.append((sch.decompose_reduction(inner, warp), group["init"]))
    return [*units, (inner, group["compute"])]
