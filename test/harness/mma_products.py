"""Products of matrices by `mma.sync`: tiles through shared memory into fragments, a tile of the product a warp."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import scripts

from tir_mlir import Schedule
from tir_mlir.intrin.mma import get_mma_intrin_group

PRODUCT = """
for i, j, k in T.grid({m}, {n}, {k}):
    with T.block("product"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.{sums}(0)
        C[vi, vj] = C[vi, vj] + {left} * {right}
"""
INSTRUCTIONS = {
    "float16": (16, 8, 16), "bfloat16": (16, 8, 16), "float32": (16, 8, 8), "int8": (16, 8, 32), "uint8": (16, 8, 32),
    "float64": (8, 8, 4),
}  # fmt: skip
SUMS = {"int8": "int32", "uint8": "int32", "float64": "float64"}


def product(
    m: int, n: int, k: int, dtype: str = "float16", sums: str = "", trans_a: bool = False, trans_b: bool = False
):
    sums = sums or SUMS.get(dtype, "float32")
    left, right = "A[vk, vi]" if trans_a else "A[vi, vk]", "B[vj, vk]" if trans_b else "B[vk, vj]"
    if sums != dtype:
        left, right = (f'T.cast({operand}, "{sums}")' for operand in (left, right))
    a, b = (k, m) if trans_a else (m, k), (n, k) if trans_b else (k, n)
    params = f"A: T.Buffer({a}, '{dtype}'), B: T.Buffer({b}, '{dtype}'), C: T.Buffer(({m}, {n}), '{sums}')"
    return scripts.function(PRODUCT.format(m=m, n=n, k=k, sums=sums, left=left, right=right), params)


def tiled(
    func,
    shape: tuple[int, int, int],
    dtype: str = "float16",
    sums: str = "",
    trans_a: bool = False,
    trans_b: bool = False,
    warps: tuple[int, int] = (2, 2),
    scope: str = "shared",
) -> tuple[Schedule, dict[str, str], dict[str, Any]]:
    """The product by tiles of `shape` a warp, `warps` below and beside each other in a block; the names of intrinsics,
    and the blocks that they are of."""
    group = get_mma_intrin_group(
        shape, dtype, sums or SUMS.get(dtype, "float32"), load_scope=scope, trans_a=trans_a, trans_b=trans_b
    )
    sch = Schedule(func)
    i, j, k = sch.get_loops("product")
    i_0, i_1, i_2 = sch.split(i, [None, warps[0], shape[0]])
    j_0, j_1, j_2 = sch.split(j, [None, warps[1], shape[1]])
    k_0, k_1 = sch.split(k, [None, shape[2]])
    sch.reorder(i_0, j_0, i_1, j_1, k_0, i_2, j_2, k_1)
    for loop, axis in ((i_0, "blockIdx.y"), (j_0, "blockIdx.x"), (i_1, "threadIdx.z"), (j_1, "threadIdx.y")):
        sch.bind(loop, axis)
    inner = sch.blockize(i_2)
    copies = [sch.cache_read(inner, n, "shared") for n in range(2)] if scope == "shared" else []
    loads = [sch.cache_read(inner, n, group[f"scope_{name}"]) for n, name in enumerate("ab")]
    for load in loads:
        sch.compute_at(load, k_0)
    store = sch.cache_write(inner, 0, "mma.accumulator")
    sch.reverse_compute_at(store, j_1)
    for copy in copies:
        sch.compute_at(copy, k_0)
        fused = sch.fuse(*sch.get_loops(copy)[-2:])
        for part, axis in zip(sch.split(fused, [None, *warps, 32])[1:], "zyx", strict=True):
            sch.bind(part, f"threadIdx.{axis}")
    sch.decompose_reduction(inner, k_0)
    return (
        sch,
        group,
        {"load_a": loads[0], "load_b": loads[1], "store": store, "init": "product_init", "compute": inner},
    )


def scheduled(func, *arguments, **options) -> Schedule:
    """The same, by the intrinsics."""
    sch, group, blocks = tiled(func, *arguments, **options)
    for name, block in blocks.items():
        sch.tensorize(block if name == "compute" else sch.get_loops(block)[-2], group[name])
    return sch


def operands(m: int, n: int, k: int, dtype: str, trans_a: bool, trans_b: bool, seed: int = 0) -> list[np.ndarray]:
    """Small integers, whose products and sums are exact; bfloat16 as its bits."""
    rng = np.random.default_rng(seed)
    shapes = [(k, m) if trans_a else (m, k), (n, k) if trans_b else (k, n)]
    low, high = {"int8": (-128, 128), "uint8": (0, 256)}.get(dtype, (-4, 5))
    arrays = [rng.integers(low, high, shape) for shape in shapes]
    if dtype == "bfloat16":
        return [(a.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16) for a in arrays]
    return [a.astype(dtype) for a in arrays]


def expected(a: np.ndarray, b: np.ndarray, trans_a: bool, trans_b: bool, sums: str) -> np.ndarray:
    """The product of such operands."""
    wide = [
        (x.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
        if x.dtype == np.uint16
        else x.astype(np.float64)
        for x in (a, b)
    ]
    return ((wide[0].T if trans_a else wide[0]) @ (wide[1].T if trans_b else wide[1])).astype(sums)
