"""A space of kernels for a GPU: tiles of products in shared memory, a thread for each element of the rest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ScheduleError, TirError
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info, extent_of, iters
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.gpu.product import best_tiles, product
from tir_mlir.schedules.gpu.product_axes import product_axes
from tir_mlir.schedules.steps import attempt
from tir_mlir.target import CUDA

if TYPE_CHECKING:
    from tir_mlir.schedule import BlockHandle

THREADS = (8, 16, 32)
"""Candidates for the threads along each axis of a tile."""
THREAD_TILE = (1, 2, 4, 8)
"""Candidates for the elements of a thread along each axis."""
STEPS = (4, 8, 16, 32)
"""Candidates for the part of a sum that is in shared memory at one time."""
FLAT = (64, 128, 256)
"""Candidates for the threads of a block in one dimension."""


def kernels(sch: Schedule, target: CUDA | None = None) -> None:
    """Bind the loops of every block to blocks and threads, each decision free.

        for i, j, k: C[i, j] += A[i, k] * B[k, j]    ->    blockIdx, threadIdx, tiles of A and B fetched by all threads
        for i, j: D[i, j] = f(C[i, j])               ->    one thread an element

    Raises ScheduleError for a program that `target` (default: a typical GPU) cannot run so.
    """
    gpu = target or CUDA()
    for block in [b for b in sch.get_child_blocks(sch.get_block("root"))]:
        free = Free(sch, block, True)
        product = partial(_product, sch, block, free, gpu)
        if not (_is_product(sch, block) and attempt(sch, product)):
            _flat(sch, block, free)
    try:
        build(sch, gpu)
    except ScheduleError:
        raise
    except TirError as error:
        raise ScheduleError(f"the kernels cannot run: {error}") from error


def _is_product(sch: Schedule, block: BlockHandle) -> bool:
    """Whether a block sums up over one loop into a matrix, from two buffers."""
    info = block_info(sch, block)
    return len(iters(info, "S")) == 2 and len(iters(info, "R")) == 1 and len(info.reads) >= 2


def _product(sch: Schedule, block: BlockHandle, free: Free, gpu: CUDA) -> bool:
    """By one of the tiles of `schedules.gemm`, from the best, or by tiles whose sizes are free."""
    try:
        tiles = best_tiles(product_axes(sch, block))
    except ScheduleError:  # not a product
        tiles = []
    number = free.choice("tile", range(len(tiles) + 1), 0)
    if number == len(tiles):
        return _tile_product(sch, block, free)
    product(sch, block, gpu, tile=tiles[number])
    return True


def _tile_product(sch: Schedule, block: BlockHandle, free: Free) -> bool:
    """Accumulators in registers, tiles of the operands in shared memory."""
    threads = [free.choice(f"threads_{axis}", THREADS, 16) for axis in "yx"]
    tile_sizes = [free.choice(f"own_{axis}", THREAD_TILE, 4) for axis in "yx"]
    step = free.choice("step", STEPS, 16)
    back = sch.cache_write(block, 0, "local")
    i, j, k = sch.get_loops(block)
    (i0, i1, i2), (j0, j1, j2) = (
        sch.split(loop, [None, count, part]) for loop, count, part in zip((i, j), threads, tile_sizes, strict=True)
    )
    k0, k1 = sch.split(k, [None, step])
    sch.reorder(i0, j0, i1, j1, k0, k1, i2, j2)
    sch.reverse_compute_at(back, j1)
    for loop, axis in zip((i0, j0, i1, j1), ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"), strict=True):
        sch.bind(loop, axis)
    for operand in (0, 1):
        fetch = sch.cache_read(block, operand, "shared")
        sch.compute_at(fetch, k0)
        whole = sch.fuse(*sch.get_loops(fetch)[-2:])
        _, y, x = sch.split(whole, [None, *threads])
        sch.bind(y, "threadIdx.y")
        sch.bind(x, "threadIdx.x")
    sch.decompose_reduction(block, k0)
    return True


def _flat(sch: Schedule, block: BlockHandle, free: Free) -> None:
    """One thread for each element that a block writes."""
    info, loops = block_info(sch, block), sch.get_loops(block)
    count = len(iters(info, "S"))
    if len(loops) != len(info.iter_vars) or not count:
        raise ScheduleError(f'block "{info.name}" has no loop for each of its iters, or none that threads could share')
    spatial = [loop for loop, it in zip(loops, info.iter_vars, strict=True) if it.kind == "S"]
    sums = [loop for loop in loops if loop not in spatial]
    if sums:
        sch.reorder(*spatial, *sums)
    fused = sch.fuse(*spatial) if count > 1 else spatial[0]
    extent = extent_of(sch, fused)
    threads = free.choice("threads", FLAT, 128)
    outer, inner = sch.split(fused, [None, min(threads, extent) if extent else threads])
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")
