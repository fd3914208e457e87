"""A product of matrices of float16 on tensor cores: 16 x 16 tiles through shared memory into fragments."""

from __future__ import annotations

from typing import Any

from harness import scripts

from tir_mlir import Schedule
from tir_mlir.intrin.wmma import get_wmma_intrin_group

PRODUCT = """
for i, j, k in T.grid({m}, {n}, {k}):
    with T.block("product"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.{sums}(0)
        C[vi, vj] = C[vi, vj] + {left} * {right}
"""


def product(m: int = 64, n: int = 64, k: int = 64, sums: str = "float32", trans_b: bool = False):
    left, right = "A[vi, vk]", "B[vj, vk]" if trans_b else "B[vk, vj]"
    if sums != "float16":
        left, right = (f'T.cast({operand}, "{sums}")' for operand in (left, right))
    shape = (n, k) if trans_b else (k, n)
    params = f"A: T.Buffer(({m}, {k}), 'float16'), B: T.Buffer({shape}, 'float16'), C: T.Buffer(({m}, {n}), '{sums}')"
    return scripts.function(PRODUCT.format(m=m, n=n, k=k, sums=sums, left=left, right=right), params)


def tiled(func, tile: tuple[int, int] = (2, 2), warps: int = 1, vector: int = 1) -> tuple[Schedule, dict[str, Any]]:
    """The product with everything in place for `tensorize`: the blocks by the names of a group of intrinsics. Each of
    `warps` has a tile of its own, below each other."""
    sch = Schedule(func)
    block = sch.get_block("product")
    i, j, k = sch.get_loops(block)
    i0, warp, i1, i2 = sch.split(i, [None, warps, tile[0], 16])
    j0, j1, j2 = sch.split(j, [None, tile[1], 16])
    k0, k1 = sch.split(k, [None, 16])
    sch.reorder(i0, j0, warp, i1, k0, j1, i2, j2, k1)
    sch.bind(i0, "blockIdx.y")
    sch.bind(j0, "blockIdx.x")
    sch.bind(warp, "threadIdx.y")
    inner = sch.blockize(i2)
    blocks: dict[str, Any] = {"compute": inner}
    shared = [sch.cache_read(inner, n, "shared") for n in range(2)]
    for n, name in enumerate("ab"):
        blocks[f"load_{name}"] = sch.cache_read(inner, n, f"wmma.matrix_{name}")
        sch.compute_at(blocks[f"load_{name}"], sch.get_loops(inner)[-1])
    blocks["store"] = sch.cache_write(inner, 0, "wmma.accumulator")
    sch.reverse_compute_at(blocks["store"], i1)
    for copy in shared:
        sch.compute_at(copy, k0)
        fused = sch.fuse(*sch.get_loops(copy)[-2:])
        _, warp, lane, adjacent = sch.split(fused, [None, warps, 32, vector])
        sch.bind(warp, "threadIdx.y")
        sch.bind(lane, "threadIdx.x")
        if vector > 1:
            sch.vectorize(adjacent)
    lp = sch.get_loops(blocks["store"])[-2:]
    if tile[1] > 1:
        jo, ji = sch.split(lp[1], [None, 16])
        sch.reorder(jo, lp[0], ji)
    sch.decompose_reduction(inner, k0)
    blocks["init"] = sch.get_block("product_init")
    return sch, blocks


def on_tensor_cores(func, sums: str = "float32", trans_b: bool = False, **options) -> Schedule:
    """The product by the intrinsics."""
    sch, blocks = tiled(func, **options)
    group = get_wmma_intrin_group("shared", "global", "float16", sums, trans_b)
    for key, name in group.items():
        block = blocks[key]
        sch.tensorize(block if key == "compute" else sch.get_loops(block)[-2], name)
    return sch
