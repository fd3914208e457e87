"""Convolutions whose tile and border all threads of a fused block index fetch: proved, and with the right numbers."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build

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


@pytest.mark.few(1)
@pytest.mark.parametrize(("out", "stride", "tile"), [(10, 1, 4), (9, 2, 4), (8, 1, 4)])
def test_tiles_of_a_fused_block_index(out, stride, tile):
    sch = tiled(out, stride, tile)
    assert "(-" not in sch.mod.script()
    a = np.random.default_rng(0).integers(-3, 4, (2, *[(out - 1) * stride + 3] * 2)).astype("float32")
    c = np.zeros((2, out, out), "float32")
    build(sch, target="cuda-emulated")(a, c)
    rows = [slice(d, d + (out - 1) * stride + 1, stride) for d in range(3)]
    np.testing.assert_array_equal(c, sum(a[:, y, x] for y in rows for x in rows))


RAGGED = """
@T.prim_func
def conv(A: T.Buffer((2, 3, 15, 19), "float32"), W: T.Buffer((3, 3, 3, 3), "float32"), C: T.Buffer((2, 3, 7, 9))):
    for n, f, y, x, c, dy, dx in T.grid(2, 3, 7, 9, 3, 3, 3):
        with T.block("C"):
            vn, vf, vy, vx, vc, vdy, vdx = T.axis.remap("SSSSRRR", [n, f, y, x, c, dy, dx])
            with T.init():
                C[vn, vf, vy, vx] = 0.0
            C[vn, vf, vy, vx] += A[vn, vc, vy * 2 + vdy, vx * 2 + vdx] * W[vf, vc, vdy, vdx]
"""


@pytest.mark.nightly
def test_no_tile_divides_its_size():
    """Batches, filters and both directions are one index of blocks; channels have a tail, too."""
    sch = Schedule(parse(RAGGED))
    sums = sch.cache_write("C", 0, "local")
    copies = [sch.cache_read("C", operand, "shared") for operand in (0, 1)]
    n, f, y, x, c, dy, dx = sch.get_loops("C")
    (f0, f1), (y0, y1), (x0, x1), (c0, c1) = (sch.split(lp, [None, t]) for lp, t in ((f, 2), (y, 4), (x, 4), (c, 2)))
    sch.reorder(n, f0, y0, x0, f1, y1, x1, c0, c1, dy, dx)
    block = sch.fuse(n, f0, y0, x0)
    axes = ("threadIdx.z", "threadIdx.y", "threadIdx.x")
    for loop, axis in zip((block, f1, y1, x1), ("blockIdx.x", *axes), strict=True):
        sch.bind(loop, axis)
    sch.reverse_compute_at(sums, x1)
    for copy in copies:
        sch.compute_at(copy, c0)
        _, *threads = sch.split(sch.fuse(*sch.get_loops(copy)[5:]), [None, 2, 4, 4])
        for loop, axis in zip(threads, axes, strict=True):
            sch.bind(loop, axis)
    sch.decompose_reduction("C", c0)
    rng = np.random.default_rng(0)
    a, w = (rng.integers(-3, 4, shape).astype("float32") for shape in ((2, 3, 15, 19), (3, 3, 3, 3)))
    c = np.zeros((2, 3, 7, 9), "float32")
    lib = build(sch, target="cuda-emulated")
    lib(a, w, c)
    windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    np.testing.assert_array_equal(c, np.einsum("ncyxij,fcij->nfyx", windows, w))
    assert "A_shared[324]" not in lib.source and "__shared__" in lib.source
