"""Convolutions whose tile and border all threads of a fused block index fetch: proved, and with the right numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.script import parse

CONV = """
@T.prim_func
def conv(A: T.Buffer((2, {size}, {size}), "float32"), C: T.Buffer((2, {out}, {out}), "float32")):
    for n, y, x, dy, dx in T.grid(2, {out}, {out}, 3, 3):
        with T.block("C"):
            vn, vy, vx, vdy, vdx = T.axis.remap("SSSRR", [n, y, x, dy, dx])
            with T.init():
                C[vn, vy, vx] = 0.0
            C[vn, vy, vx] += A[vn, vy * {stride} + vdy, vx * {stride} + vdx]
"""


def tiled(out: int, stride: int, tile: int) -> Schedule:
    sch = Schedule(parse(CONV.format(out=out, stride=stride, size=(out - 1) * stride + 3)))
    n, y, x, dy, dx = sch.get_loops("C")
    (y0, y1), (x0, x1) = sch.split(y, [None, tile]), sch.split(x, [None, tile])
    sch.reorder(n, y0, x0, y1, x1, dy, dx)
    block = sch.fuse(n, y0, x0)
    for loop, axis in ((block, "blockIdx.x"), (y1, "threadIdx.y"), (x1, "threadIdx.x")):
        sch.bind(loop, axis)
    copy = sch.cache_read("C", 0, "shared")
    sch.compute_at(copy, block)
    _, ty, tx = sch.split(sch.fuse(*sch.get_loops(copy)[1:]), [None, tile, tile])
    sch.bind(ty, "threadIdx.y")
    sch.bind(tx, "threadIdx.x")
    return sch


@pytest.mark.parametrize(("out", "stride", "tile"), [(10, 1, 4), (9, 2, 4), (8, 1, 4)])
def test_tiles_of_a_fused_block_index(out, stride, tile):
    sch = tiled(out, stride, tile)
    assert "(-" not in sch.mod.script()
    a = np.random.default_rng(0).integers(-3, 4, (2, *[(out - 1) * stride + 3] * 2)).astype("float32")
    c = np.zeros((2, out, out), "float32")
    build(sch, target="cuda-emulated")(a, c)
    rows = [slice(d, d + (out - 1) * stride + 1, stride) for d in range(3)]
    np.testing.assert_array_equal(c, sum(a[:, y, x] for y in rows for x in rows))
