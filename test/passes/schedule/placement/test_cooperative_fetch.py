"""Fetches of halo tiles by all threads of a block: the loops of a tile fused, split by the threads, with a tail."""

from __future__ import annotations

import pytest
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError


def window(shape: tuple[int, ...], size: int):
    """Sums over windows of `size` in each dimension."""
    names = "ijk"[: len(shape)]
    halo = "x".join(str(n + size - 1) for n in shape)
    out = "x".join(map(str, shape))
    spatial = " ".join(f"{v}:{n}" for v, n in zip(names, shape, strict=True))
    reduce = " ".join(f"r{v}:{size}R" for v in names)
    index, at = ", ".join(f"v{v}" for v in names), ", ".join(f"v{v} + vr{v}" for v in names)
    nest = each(f"Y {spatial} {reduce}", f"Y[{index}] += X[{at}]", init=f"Y[{index}] = 0.0")
    return program(f"X:{halo} Y:{out}", nest)


def fetched(shape: tuple[int, ...], tile: tuple[int, ...], threads: tuple[int, ...], size: int = 3) -> Schedule:
    """A tile of the input in shared memory, fetched by `threads`."""
    sch = Schedule(window(shape, size))
    fetch = sch.cache_read("Y", 0, "shared")
    loops = sch.get_loops("Y")
    spatial, reduce = loops[: len(shape)], loops[len(shape) :]
    pairs = [sch.split(loop, [None, part]) for loop, part in zip(spatial, tile, strict=True)]
    outer, inner = [p[0] for p in pairs], [p[1] for p in pairs]
    sch.reorder(*outer, *inner, *reduce)
    block, lanes = (sch.fuse(*group) if len(shape) > 1 else group[0] for group in (outer, inner))
    sch.bind(block, "blockIdx.x")
    sch.compute_at(fetch, block)
    tile_loops = sch.get_loops(fetch)[-len(shape) :]
    whole = sch.fuse(*tile_loops) if len(shape) > 1 else tile_loops[0]
    parts = sch.split(whole, [None, *threads])
    for loop, axis in zip(parts[1:], ("threadIdx.y", "threadIdx.x")[-len(threads) :], strict=True):
        sch.bind(loop, axis)
    sch.bind(lanes, "threadIdx.x")
    return sch


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("shape", "tile", "threads", "size"),
    [
        ((64,), (16,), (8,), 3),
        ((60,), (12,), (5,), 4),
        ((16, 16), (8, 8), (64,), 3),
        ((16, 16), (8, 8), (4, 16), 3),
        ((18, 15), (6, 5), (7,), 4),
        ((13, 10), (4, 5), (32,), 3),  # tiles at the end are partial
        ((8, 8, 8), (4, 4, 4), (64,), 3),
        ((6, 4, 10), (3, 4, 5), (4, 8), 2),
    ],
)
def test_a_halo_is_fetched_by_threads_that_do_not_divide_it(shape, tile, threads, size):
    assert fetched(shape, tile, threads, size).verify()


def test_convolution_with_a_tile_of_channels():
    sch = Schedule(window_of_channels())
    fetch = sch.cache_read("Y", 0, "shared")
    f, h, w, c, r, q = sch.get_loops("Y")
    (h0, h1), (w0, w1), (c0, c1) = sch.split(h, [None, 8]), sch.split(w, [None, 8]), sch.split(c, [None, 4])
    sch.reorder(h0, w0, f, h1, w1, c0, c1, r, q)
    for loop, axis in zip(
        (h0, w0, f, h1, w1), ("blockIdx.y", "blockIdx.x", *(f"threadIdx.{d}" for d in "zyx")), strict=False
    ):
        sch.bind(loop, axis)
    sch.compute_at(fetch, c0)
    _, z, y, x = sch.split(sch.fuse(*sch.get_loops(fetch)[-3:]), [None, 4, 8, 8])  # 4 x 10 x 10 by 256
    for loop, axis in ((z, "threadIdx.z"), (y, "threadIdx.y"), (x, "threadIdx.x")):
        sch.bind(loop, axis)
    assert sch.verify()


def window_of_channels():
    body = "Y[vf, vh, vw] += X[vc, vh + vr, vw + vq] * W[vf, vc, vr, vq]"
    nest = each("Y f:4 h:16 w:16 c:8R r:3R q:3R", body, init="Y[vf, vh, vw] = 0.0")
    return program("X:8x18x18 W:4x8x3x3 Y:4x16x16", nest)


def test_a_fetch_that_leaves_elements_out_is_refused():
    sch = Schedule(window((16, 16), 3))
    fetch = sch.cache_read("Y", 0, "shared")
    whole = sch.fuse(*sch.get_loops(fetch))
    with pytest.raises(ScheduleError, match="multiply to 320, less than the extent 324"):
        sch.split(whole, [5, 64])


def test_blocks_that_write_into_each_others_halo_are_refused():
    """Each block adds to the halo around its tile: blocks next to each other meet there."""
    text = """
for b in range(4):
    for f_0 in range(4):
        for f_1 in range(32):
            with T.block("S"):
                vi = T.axis.spatial(18, b // 2 * 8 + (f_0 * 32 + f_1) // 10)
                vj = T.axis.spatial(18, b % 2 * 8 + (f_0 * 32 + f_1) % 10)
                T.where(f_0 * 32 + f_1 < 100)
                S[vi, vj] = S[vi, vj] + 1.0
"""
    sch = Schedule(program("S:18x18", text))
    loops = sch.get_loops("S")
    with pytest.raises(ScheduleError, match=r"S\[0, 8\]|S\[8, 0\]"):
        sch.bind(loops[0], "blockIdx.x")
    sch.bind(loops[2], "threadIdx.x")


def test_what_tiles_with_a_tail_compute_is_copied_back_at_the_indices_of_the_tiles():
    sch = Schedule(window((14, 14), 3))
    back = sch.cache_write("Y", 0, "local")
    y, x, *reduce = sch.get_loops("Y")
    (y0, y1), (x0, x1) = (sch.split(loop, [None, 8]) for loop in (y, x))
    sch.reorder(y0, x0, y1, x1, *reduce)
    block = sch.fuse(y0, x0)
    sch.reverse_compute_at(back, x1)
    assert block is not None and "vi = T.axis.spatial(14, i_0_j_0_fused // 2 * 8 + i_1)" in sch.mod.script().replace(
        "v0", "vi"
    )
    assert sch.verify()


def test_a_halo_of_tiles_with_a_tail_is_as_large_as_a_tile_needs():
    sch = Schedule(window((14, 14), 3))
    fetch = sch.cache_read("Y", 0, "shared")
    y, x, *reduce = sch.get_loops("Y")
    (y0, y1), (x0, x1) = (sch.split(loop, [None, 8]) for loop in (y, x))
    sch.reorder(y0, x0, y1, x1, *reduce)
    sch.compute_at(fetch, sch.fuse(y0, x0))
    assert "for ax0, ax1 in T.grid(10, 10):" in sch.mod.script()
    assert sch.verify()
