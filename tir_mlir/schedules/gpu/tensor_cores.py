"""Matrix products on tensor cores: tiles in shared memory, a tile of the product in the fragments of a warp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, prod

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import bits, enter_context
from tir_mlir.intrin.mma import get_mma_intrin_group
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import RegionInfo
from tir_mlir.schedules.block_queries import block_info, block_view
from tir_mlir.schedules.gpu.matrices import ProductBlock, as_matrices
from tir_mlir.schedules.gpu.product_axes import ProductAxes, product_axes
from tir_mlir.schedules.gpu.threads import PROCESSORS, WARP
from tir_mlir.schedules.gpu.zero_tiles import read_tile, store_inside
from tir_mlir.schedules.operand_types import is_product
from tir_mlir.target import GPU

SUMS = {
    "float16": ("float32", "float16"), "bfloat16": ("float32",), "int8": ("int32",), "uint8": ("int32",),
    "float64": ("float64",),
}  # fmt: skip
"""The types of operands, and those of their sums. float32 is rounded to tf32, so that a target has to allow it."""
TF32_ERROR = 2.0**-10
"""Of a sum of products of float32 in tf32, relative to that of absolute values: two operands are rounded to 11 bits, to
nearest; float32 sums add less than 2 ** -24 a term."""
TILE_BYTES = 64
"""Of a row of terms: four loads of 16 bytes, as permuted addresses without bank conflicts need."""
COPY_BYTES = 16
FEW_TILES = 8
"""Of terms: a third stage, whose planes are numbered by a remainder, takes more instructions than it saves."""


@dataclass(frozen=True)
class WarpTile:
    """Rows and columns of the sums of a warp, and the warps of a block along them."""

    m: int
    n: int
    rows: int
    columns: int

    @property
    def block(self) -> tuple[int, int]:
        """Rows and columns of a block."""
        return self.m * self.rows, self.n * self.columns

    def waves(self, batch: int, m: int, n: int) -> int:
        """How many blocks the busiest processor has."""
        rows, columns = self.block
        return ceil(batch * ceil(m / rows) * ceil(n / columns) / PROCESSORS)

    def cost(self, batch: int, m: int, n: int) -> float:
        """The work of the busiest processor, padding included; a warp loads fragments in the time of products."""
        return self.waves(batch, m, n) * prod(self.block) * (1 + 8 / self.m + 8 / self.n)


TILES = (WarpTile(64, 64, 2, 2), WarpTile(64, 32, 2, 2), WarpTile(32, 32, 2, 2), WarpTile(16, 16, 2, 2))
"""From the best to the smallest."""


def tensor_core_product(
    sch: Schedule,
    block: BlockHandle,
    gpu: GPU,
    epilogue: BlockHandle | None = None,
    tile: WarpTile | None = None,
    stages: int | None = None,
) -> None:
    """Schedule a product of any size for `mma.sync`: batched, transposed, a convolution. tile: default the best for the
    sizes.

        for i, j, k in T.grid(m, n, k):          for i_0 (blockIdx.y), j_0 (blockIdx.x):
            with T.block("C"): C += A * B   ->     for i_1 (threadIdx.z), j_1 (threadIdx.y):
                                                     for k_0: copy tiles of A and B to shared memory, 0 outside
                                                       load fragments of a warp; sums in fragments += A * B
                                                     C = sums, where inside

    epilogue: an elementwise block that alone reads the product: computed in the registers of the sums. Ragged tiles are
    filled with zeros. stages: of a pipeline of the loop over tiles of terms, whose copies are that many less one tiles
    ahead; no more than there are tiles, and than shared memory has planes for. Default 2: predicted to take 0.78 of the
    time of one for 4096^3 on A100 and H200, three 0.83; but 3 where each processor has one block of many tiles,
    which waits for its copies: 0.67 of two for 128 x 768 x 3072. Errors: ScheduleError for what is not a product of
    types that the units have, or what zeros would change.
    """
    if stages is not None and stages < 1:
        raise ScheduleError(f"stages is at least 1, not {stages}")
    kept = {block_info(sch, b).name for b in sch.get_child_blocks(sch.get_block("root", sch.func_working_on))}
    axes = product_axes(sch, block)
    dtype, sums = _types(sch, block, axes, gpu)
    sizes = [axes.extent(group) for group in axes.groups[:3]]
    tile = tile or min(TILES, key=lambda one: one.cost(*sizes))
    depth = TILE_BYTES * 8 // bits(dtype)
    trips = ceil(axes.extent(axes.sums) / depth)
    stages = stages or (3 if tile.waves(*sizes) == 1 and trips > FEW_TILES else 2)
    what = as_matrices(sch, block, axes)
    reads = [str(r) for r in block_info(sch, block).reads]
    sides = {"b": 1, "m": tile.block[0], "n": tile.block[1], "k": depth}
    sch.pad_einsum(block, [sides[role] for role in what.roles])
    padded = dict(zip(reads, map(str, block_info(sch, block).reads), strict=True))
    terms_last = [_terms_last(sch, what, padded[name]) for name in (what.left, what.right)]
    group = get_mma_intrin_group((tile.m, tile.n, depth), dtype, sums, trans_a=not terms_last[0], trans_b=terms_last[1])
    back = sch.cache_write(block, 0, "mma.accumulator")
    even = not any(axes.extent(group) % side for group, side in zip((axes.rows, axes.columns), tile.block, strict=True))
    if even:  # all is stored: there is no guard
        store_inside(sch, back, kept)
    inner, k_0, warp = _bind(sch, what, tile, depth)
    loads, apart = [], list[tuple[BlockHandle, int]]()
    for name, operand, last in zip("ab", (what.left, what.right), terms_last, strict=True):
        shared = read_tile(sch, inner, padded[operand], "shared", kept)
        loads.append(_load(sch, inner, shared, group[f"scope_{name}"], k_0))
        _copy(sch, shared, tile, depth if last else tile.block["ab".index(name)])
        if dtype == "float32":
            apart.append((shared, 4 if last else 8))
        else:
            sch.swizzle(shared, 0)
    sch.reverse_compute_at(back, warp)
    store_inside(sch, back, kept)
    if epilogue is not None:
        sch.reverse_compute_inline(epilogue)
    init = sch.decompose_reduction(inner, k_0)
    _copy_ahead(sch, k_0, min(stages, trips), gpu, tile)
    for shared, offset in apart:  # not each tile has an xor: rows begin at other banks
        sch.storage_align(shared, 0, -2, WARP, offset)
    _tensorize(sch, inner, init, loads, group)


def _load(sch: Schedule, inner: BlockHandle, shared: BlockHandle, scope: str, k_0: LoopHandle) -> BlockHandle:
    """Load a tile to fragments, both in the loop over tiles of terms. Returns the block of the load."""
    load = sch.cache_read(inner, str(block_info(sch, shared).writes[0]), scope)
    sch.compute_at(load, k_0)
    sch.compute_at(shared, k_0)
    return load


def _tensorize(
    sch: Schedule, inner: BlockHandle, init: BlockHandle, loads: Sequence[BlockHandle], group: Mapping[str, str]
) -> None:
    """Make instructions of loads, first sums and products."""
    for name, load in zip("ab", loads, strict=True):
        sch.tensorize(sch.get_loops(load)[-2], group[f"load_{name}"])
    sch.tensorize(sch.get_loops(sch.get_child_blocks(init)[0])[-2], group["init"])
    sch.tensorize(inner, group["compute"])


def has_tensor_types(sch: Schedule, block: BlockHandle, gpu: GPU) -> bool:
    """Whether tensor cores of a GPU multiply the types of a product."""
    with suppress(ScheduleError):
        _types(sch, block, product_axes(sch, block), gpu)
        return True
    return False


def _types(sch: Schedule, block: BlockHandle, axes: ProductAxes, gpu: GPU) -> tuple[str, str]:
    """The types of operands and sums. Refuses those that the units do not have."""
    info = block_info(sch, block)
    dtypes = {str(r): r.buffer.dtype for r in (*info.reads, *info.writes)}
    left, right, sums = (dtypes[name] for name in (axes.left, axes.right, axes.out))
    if not gpu.has("mma"):
        raise ScheduleError(f"{gpu.chip} has no mma.sync")
    known = SUMS.get(left, ("float32",) if left == "float32" and gpu.has("tf32") else ())
    if left != right or sums not in known:
        raise ScheduleError(f'block "{info.name}" multiplies {left} by {right} in {sums}, which tensor cores do not')
    with enter_context():
        plain = is_product(block_view(sch, block), (axes.left, axes.right), axes.out, sums)
    if not plain:
        raise ScheduleError(f'block "{info.name}" computes more than a sum of products')
    return left, sums


def _terms_last(sch: Schedule, what: ProductBlock, name: str) -> bool:
    info = block_info(sch, what.block)
    region: RegionInfo = next(r for r in info.reads if str(r) == name)
    return region.axes[-1] == (info.iter_vars[what.roles.index("k")].name,)


def _bind(sch: Schedule, what: ProductBlock, tile: WarpTile, depth: int) -> tuple[BlockHandle, LoopHandle, LoopHandle]:
    """Split and bind the loops. Returns the block of a warp, the loop over tiles of terms, and the innermost warp."""
    loops = what.loops(sch)
    i0, i1, i2 = sch.split(loops["m"], [None, tile.rows, tile.m])
    j0, j1, j2 = sch.split(loops["n"], [None, tile.columns, tile.n])
    k0, k1 = sch.split(loops["k"], [None, depth])
    batch = [loops["b"]] if "b" in loops else []
    sch.reorder(*batch, i0, j0, i1, j1, k0, i2, j2, k1)
    for loop in batch:
        sch.bind(loop, "blockIdx.z")
    for loop, axis in ((i0, "blockIdx.y"), (j0, "blockIdx.x"), (i1, "threadIdx.z"), (j1, "threadIdx.y")):
        sch.bind(loop, axis)
    return sch.blockize(i2), k0, j1


def _copy_ahead(sch: Schedule, k_0: LoopHandle, stages: int, gpu: GPU, tile: WarpTile) -> None:
    """Let both copies of a loop that copies, loads, copies, loads and multiplies run as far ahead as there is room."""
    ahead = min(stages, gpu.shared_declared // (sum(tile.block) * TILE_BYTES)) - 1
    if ahead > 0:
        sch.pipeline(k_0, [0, ahead, 0, ahead, ahead], [0, 2, 1, 3, 4])


def _copy(sch: Schedule, copy: BlockHandle, tile: WarpTile, row: int) -> None:
    """Copy a tile by all threads, 16 bytes at once where rows in memory are multiples of them. row: of the tile."""
    info = block_info(sch, copy)
    lanes = COPY_BYTES * 8 // bits(info.writes[0].buffer.dtype)
    while lanes > 1 and not all(_rows_are(region, lanes) for region in info.reads):
        lanes //= 2
    rows, columns = sch.get_loops(copy)[-2:]
    across = min(row // lanes, WARP)
    _, z, y, lower = sch.split(rows, [None, tile.rows, tile.columns, WARP // across])
    outer, middle, vector = sch.split(columns, [None, across, lanes])
    sch.reorder(z, y, outer, lower, middle, vector)
    x = sch.fuse(lower, middle)
    for loop, axis in ((z, "z"), (y, "y"), (x, "x")):
        sch.bind(loop, f"threadIdx.{axis}")
    if lanes > 1:
        sch.vectorize(vector)


def _rows_are(region: RegionInfo, lanes: int) -> bool:
    """Whether the rows of a buffer are multiples of so many elements long, and read one element after the other."""
    length, last = region.buffer.shape[-1], len(region.axes) - 1
    plain = len(region.axes[last]) == 1 and [region.index_at(last, n) for n in (0, 1)] == [0, 1]
    return plain and length is not None and length % lanes == 0
