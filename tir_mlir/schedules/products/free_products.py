"""The free parameters of the plans of matrix products."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import ceil

from tir_mlir.schedules.block_queries import LARGE
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.products.contraction import Contraction
from tir_mlir.schedules.products.gemm_panels import Panels
from tir_mlir.schedules.products.tile_sizes import MOST_VECTORS, Tiles
from tir_mlir.target import Target

MOST_ROWS = 12
"""The maximum number of rows of a free tile."""
PASSES = (1, 2, 3, 4, 6, 8)
"""Candidates for the number of passes over the reduction."""
SHORTEST = 128
"""The minimum number of reduction steps of one of several passes."""
GROUPS = (1, 2, 4, 8)
"""Candidates for the panels that a tile of rows passes over."""
UNROLLED = (1, 2, 4)
"""Candidates for the reduction steps that are unrolled."""


def free_tile(
    free: Free, m: int | None, n: int | None, lanes: int, target: Target, mr: int, nr: int, panel: int = 0
) -> tuple[int, int]:
    """Rows and columns of a register tile whose accumulators, a row of the right operand and a left element fit in
    registers: from half of the rows that fit. panel: the width of panels that the right operand has, which remains."""
    wide = min(MOST_VECTORS, ceil((n or LARGE) / lanes))
    fixed = max(1, nr // lanes)
    vectors = fixed if panel else free.choice("tile_vectors", range(1, wide + 1), fixed)
    most = max(1, min(MOST_ROWS, (target.registers - 1 - vectors) // vectors))
    mr = min(mr, most)
    rows = range(max(1, most // 2), most + 1)
    return free.choice("tile_rows", [r for r in rows if r <= (m or LARGE)], mr), nr if panel else vectors * lanes


def depths(k: int, default: int) -> Iterable[int]:
    """Candidates for the reduction steps per pass: those of even passes.

        1024: 128 256 512 1024        127: 127        1021: 256 511 1021

    A shorter last pass has code of its own: it is not faster, and takes up to six times as long to build.
    """
    if k >= LARGE:
        return [default]
    even = [k // p for p in PASSES if k % p == 0 and k // p >= SHORTEST]
    halves = [d for p in (2, 4) if (d := ceil(k / p)) >= SHORTEST] if len(even) < 2 else []
    return [k, *even, *halves]


def free_panels(free: Free, what: Contraction, plan: Panels, target: Target, threads: int) -> Panels:
    """A plan with its parameters sampled."""
    m, n, k = (what.extent(a) for a in (what.m, what.n, what.k))
    mr, nr = free_tile(free, m, n, target.lanes(what.bits), target, plan.mr, plan.nr, what.right.panel)
    kc = free.choice("depth", depths(k or LARGE, plan.kc), plan.kc)
    steps = free.choice("unroll", UNROLLED if k else (plan.steps,), plan.steps)
    packed = plan.packed if what.must_pack or what.right.panel else free.flag("packed", plan.packed)
    by_columns = free.flag("by_columns", plan.by_columns) if threads > 1 else plan.by_columns
    tiles = ceil((m or LARGE) / mr)
    blocks = [b for b in (0, 4, 8, 16, 32) if b < tiles] if threads == 1 else ()
    block = free.choice("block", blocks, plan.block)
    prefetch = free.flag("prefetch", plan.prefetch)
    groups = [g for g in GROUPS if g < ceil((n or LARGE) / nr)] if packed and k and kc == k else ()
    group = free.choice("group", groups, plan.group)
    return replace(
        plan, mr=mr, nr=nr, kc=kc, steps=steps, packed=packed, by_columns=by_columns, block=block, prefetch=prefetch,
        group=group, why=(),
    )  # fmt: skip


def free_tiles(free: Free, what: Contraction, plan: Tiles, target: Target) -> Tiles:
    """The same for tiles in blocks of the caches."""
    m, n, k = (what.extent(a) for a in (what.m, what.n, what.k))
    mr, nr = free_tile(free, m, n, target.lanes(what.bits), target, plan.mr, plan.nr, what.right.panel)
    kc = free.choice("depth", depths(k or LARGE, plan.kc), plan.kc)
    counts = (1, 2, 4, 8, 16, 32, 64)
    high, wide = (ceil((extent or LARGE) / tile) for extent, tile in ((m, mr), (n, nr)))
    rows = free.choice("rows", [c for c in counts if c <= high], ceil(plan.mc / plan.mr))
    columns = free.choice("columns", [c for c in counts if c <= wide], ceil(plan.nc / plan.nr))
    return Tiles(mr, nr, kc, rows * mr, columns * nr)
