"""Tiles of ragged products, filled with zeros: guards at loads of tiles and at stores only, none in the sum.

    sch.pad_einsum(block, [32, 32, 16])        whole tiles, of padded copies A_pad, B_pad, C_pad in global memory
    tile = read_tile(sch, block, "A", "shared")          A_shared = A if inside else 0; A_pad is gone
    back = write_tile(sch, block, "local")               C_pad = C_local
    ... split, reorder, compute_at(tile, k_0), reverse_compute_at(back, j_1) ...
    store_inside(sch, back)                              C = C_local where inside; C_pad is gone

Every step is proved: `pad_einsum` proves that the terms of the padding are 0, and the two inlining steps that the
copies hold the same values. Nothing padded remains outside of shared memory and registers. The same steps take the
copies of `reindex` into the tiles: a convolution becomes a product of matrices that only its tiles have.
"""

from __future__ import annotations

from collections.abc import Collection

from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import block_info


def read_tile(
    sch: Schedule, block: BlockHandle, operand: int | str, scope: str, kept: Collection[str] = ()
) -> BlockHandle:
    """Copy an operand to another scope as `cache_read` does, computing there what its producers compute.

        for i, k: A_pad[i, k] = A[i, k] if i < 100 else 0        for i, k:
        for i, j, k: C_pad[i, j] += A_pad[i, k] * B[k, j]   ->       A_pad_shared[i, k] = A[i, k] if i < 100 else 0

    kept: names of blocks that remain: all that are not copies of this schedule. Returns the copy, to be placed by
    `compute_at`.
    """
    copy = sch.cache_read(block, operand, scope)
    while producer := next((p for p in sch.get_producers(copy) if block_info(sch, p).name not in kept), None):
        sch.compute_inline(producer)
    return copy


def store_inside(sch: Schedule, back: BlockHandle, kept: Collection[str] = ()) -> None:
    """Let the write-back of a tile, which is placed, store what its consumers store: where they do.

        for tile: for i, j: C_pad[..] = C_local[i, j]
        for i, j: C[i, j] = C_pad[i, j], i < 100       ->    for tile: for i, j: C[..] = C_local[i, j] where .. < 100

    kept: names of blocks that remain.
    """
    while consumer := next((c for c in sch.get_consumers(back) if block_info(sch, c).name not in kept), None):
        sch.reverse_compute_inline(consumer)
