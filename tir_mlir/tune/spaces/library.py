"""The default space: the schedules of the library with their parameters free, generic rules for the rest."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from itertools import permutations
from math import prod
from typing import TYPE_CHECKING

from tir_mlir import schedules
from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.diagnostics import InternalError, ScheduleError, ScheduleWarning
from tir_mlir.dialect.ir import enter_context
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import (
    LARGE,
    along_memory,
    block_handle,
    block_info,
    extent_of,
    extents,
    iters,
    last_axis,
    widest_bits,
)
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.steps import attempt, parallelize
from tir_mlir.target import Target, chosen

if TYPE_CHECKING:
    from tir_mlir.schedule import BlockHandle, LoopHandle
    from tir_mlir.schedule.primitives import BlockLike


def library(sch: Schedule, target: Target | str | None = None, threads: int | None = None) -> None:
    """Schedule every block of a program, with all parameters as decisions: `schedules.auto(sch, free=True)`, and
    `generic` for the blocks that no function of `tir_mlir.schedules` takes.

    Of a block that is elementwise or a reduction, but no product or convolution, the decision `"NAME.generic"` tells
    whether it is scheduled by the library, 0, or by `generic`, 1; the default is the library.

    The defaults of the decisions give the library's own schedule of the blocks that it takes.
    """
    functions = [sch.func_working_on] if sch.func_working_on else list(sch.mod.prim_funcs)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"schedules\.auto leaves block", ScheduleWarning)
        picked = schedules.auto(sch, target, threads, free=True, leave=partial(_uses_generic_rules, sch))
    for name in reversed([n for n, function in picked.items() if function is None]):
        for function in functions:
            try:
                block = sch.get_block(name, function)
            except ScheduleError:  # of another function, or gone
                continue
            generic(sch, block, target, threads)


def _uses_generic_rules(sch: Schedule, block: BlockHandle) -> bool:
    """The decision whether generic rules take a block that the library has a schedule for."""
    return Free(sch, block, True).flag("generic", False)


TILES = (1, 4, 8, 16, 32, 64)
"""Candidates for the tile of a spatial loop."""
STEPS = (1, 2, 4, 8, 16)
"""Candidates for the inner part of a reduction loop."""
VECTORS = (1, 2, 4)
"""Candidates for the vectors of the innermost tile."""
FEW = 64
"""The number of results up to which a reduction may be split into partial results."""


def generic(sch: Schedule, block: BlockLike, target: Target | str | None = None, threads: int | None = None) -> None:
    """Schedule a block by generic rules, each of them a decision: a space for blocks that no library schedule takes.

        for i, j: P[i, j] = f(A[i, j])                 for i_0, j_0 (parallel):
        for i, j, k: C[i, j] = max(C[i, j],     ->         for k_0: copies of the tiles that are read
                       P[i, k] - B[k, j])                       for i_1, k_1 (unrolled), j_1 (vectorized): C = max(..)

    Producers are inlined; a reduction with few results is split into partial results; the loops are tiled, with guards
    where the tiles do not divide; the results are accumulated in a cache, and what is read is copied; the innermost
    loops are unrolled and vectorized, or replaced by a tensor intrinsic that fits; the outermost run in parallel. A
    step that is not legal for the block is left out, so every point of the space is a schedule of the same program.

    block: any block, whose loops are serial. target: default this machine; threads: default its number of cores.
    """
    block = block_handle(sch, block)
    target = chosen(target)
    if any(str(sch.get(loop).kind) != "serial" for loop in sch.get_loops(block)):
        return
    GenericSpace(sch, block, target, threads or target.cores).run()


class GenericSpace:
    """The state of scheduling one block."""

    def __init__(self, sch: Schedule, block: BlockHandle, target: Target, threads: int):
        self.sch, self.block, self.target = sch, block, target
        self.free = Free(sch, block, True)
        self.threads = self.free.threads(threads)

    def run(self) -> None:
        self._inline_producers()
        self._split_reduction()
        info, loops = block_info(self.sch, self.block), self.sch.get_loops(self.block)
        if len(loops) != len(info.iter_vars) or not loops:
            self._schedule_plain_loops(loops)
            return
        by_name = dict(zip((i.name for i in info.iter_vars), loops, strict=True))
        if any(i.kind == "O" for i in info.iter_vars) or not self._tensorize(by_name):
            self._tile(by_name)

    # --- rules --------------------------------------------------------------------------------------------------------

    def _inline_producers(self) -> None:
        for producer in self.sch.get_producers(self.block):
            name = block_info(self.sch, producer).name
            if self.sch.can_compute_inline(producer) and self.free.flag(f"inline_{name}", True):
                attempt(self.sch, lambda producer=producer: self.sch.compute_inline(producer))

    def _split_reduction(self) -> None:
        """Sum up in partial results, one for each lane, if there are few results."""
        sch, info = self.sch, block_info(self.sch, self.block)
        sums, domain = iters(info, "R"), extents(info)
        loops = sch.get_loops(self.block)
        results = prod(domain[n] or LARGE for n in iters(info, "S"))
        if not sums or results > FEW or len(loops) != len(domain) or len(info.writes) != 1:
            return
        lanes = self.target.lanes(widest_bits(info))
        parts = self.free.choice("partial_results", [c for c in (lanes, 4 * lanes) if c <= (domain[sums[-1]] or 0)], 1)
        if parts == 1:
            return
        loop = loops[list(domain).index(sums[-1])]

        def split() -> BlockHandle:
            return sch.rfactor(sch.split(loop, [None, parts])[1], len(info.writes[0].axes))

        self.block = attempt(sch, split) or self.block

    def _tensorize(self, loops: dict[str, LoopHandle]) -> bool:
        """Tile by an intrinsic that fits. Returns whether the block is scheduled."""
        names = fitting(self.sch, self.block, loops)
        which = self.free.choice("tensorize", range(len(names) + 1), 1 if names else 0)
        if not which:
            return False
        outer = attempt(self.sch, lambda: tensorize_block(self.sch, self.block, loops, names[which - 1]))
        if outer:
            attempt(self.sch, lambda: parallelize(self.sch, outer, self.threads))
        return outer is not None

    def _tile(self, loops: dict[str, LoopHandle]) -> None:
        """Tile all loops: spatial tiles, the outer reduction, the inner one, the innermost tile."""
        sch, info = self.sch, block_info(self.sch, self.block)
        domain, lane = extents(info), self._lane()
        spatial = [n for n in loops if n not in iters(info, "R") and n != lane] + ([lane] if lane in loops else [])
        sums = [n for n in along_memory(info, iters(info, "R"))]
        factors = {n: self._factor(n, domain[n], n == lane, n in sums) for n in loops}

        def split() -> tuple[dict[str, LoopHandle], dict[str, LoopHandle]]:
            parts = {n: sch.split(loops[n], [None, f]) for n, f in factors.items() if f > 1}
            first = {n: parts[n][0] if n in parts else loops[n] for n in loops}
            second = {n: parts[n][1] for n in parts}
            order = [first[n] for n in (*spatial, *sums)]
            order += [second[n] for n in (*spatial, *sums) if n in second and n != lane]
            order += [second[lane]] if lane in second else []
            if len(order) > 1:
                sch.reorder(*order)
            return first, second

        levels = attempt(sch, split)
        if levels is None:
            self._schedule_plain_loops(list(loops.values()))
            return
        first, second = levels
        outer, steps = [first[n] for n in spatial], [first[n] for n in sums]
        self._cache(outer, steps)
        self._vectorize(second.get(lane or ""), [second[n] for n in (*sums, *spatial) if n in second and n != lane])
        attempt(sch, lambda: parallelize(sch, outer, self.threads))

    def _lane(self) -> str | None:
        """The iter to vectorize: that of the last dimension of the result, else of the contiguous reduction."""
        info = block_info(self.sch, self.block)
        kinds = [i.name for i in info.iter_vars if i.kind != "O"]
        last = last_axis(info)
        if last in kinds and (extents(info)[last] or LARGE) > 1:
            return last
        sums = along_memory(info, iters(info, "R"))
        return sums[-1] if sums else None

    def _factor(self, name: str, extent: int | None, lane: bool, reduced: bool) -> int:
        size = extent or LARGE
        if lane:
            lanes = self.target.lanes(widest_bits(block_info(self.sch, self.block)))
            wide = [v * lanes for v in VECTORS if v * lanes <= size] or [size]
            return self.free.choice(f"vector_{name}", wide, wide[0])
        candidates = [c for c in (STEPS if reduced else TILES) if c <= size]
        return self.free.choice(f"{'steps' if reduced else 'tile'}_{name}", candidates, 1)

    def _cache(self, outer: list[LoopHandle], steps: list[LoopHandle]) -> None:
        """Accumulate results in a cache, and copy what is read, tile by tile."""
        sch, info = self.sch, block_info(self.sch, self.block)
        if steps and outer and len(info.writes) == 1 and self.free.flag("cache_write", True):
            attempt(sch, lambda: sch.reverse_compute_at(sch.cache_write(self.block, 0, "local"), outer[-1]))
        written = {str(w) for w in info.writes}
        anchor = (steps or outer)[-1:]
        for name in dict.fromkeys(str(r) for r in info.reads if str(r) not in written):
            if anchor and self.free.flag(f"cache_{name}", False):
                attempt(sch, lambda name=name: sch.compute_at(sch.cache_read(self.block, name, "global"), anchor[0]))
        if steps:
            attempt(sch, lambda: sch.decompose_reduction(self.block, steps[0]))

    def _vectorize(self, lane: LoopHandle | None, inner: list[LoopHandle]) -> None:
        sch = self.sch
        if lane is not None:
            attempt(sch, lambda: sch.vectorize(lane))
        unrolled = 1
        for loop in inner:
            unrolled *= extent_of(sch, loop) or LARGE
        if inner and unrolled <= FEW and self.free.flag("unroll", True):
            for loop in inner:
                attempt(sch, lambda loop=loop: sch.unroll(loop))

    def _schedule_plain_loops(self, loops: list[LoopHandle]) -> None:
        """Loops that are not the iters, or that refuse tiles: the first one in parallel, the last vectorized."""
        sch = self.sch
        if loops and self.threads > 1:
            attempt(sch, lambda: sch.parallel(loops[0]))
        if len(loops) > 1 and self.free.flag("vectorize", True):
            attempt(sch, lambda: sch.vectorize(loops[-1]))


# --- tiles for tensor intrinsics: which ones fit a block, and the loops that they replace -----------------------------


MOST_AXES = 4
"""The maximum number of axes of an intrinsic whose orders are tried."""


def fitting(sch: Schedule, block: BlockHandle, loops: dict[str, LoopHandle]) -> list[str]:
    """The registered intrinsics that a tile of a block can be replaced by, tried on a copy."""
    info = block_info(sch, block)
    kinds = [len(iters(info, kind)) for kind in "SR"]
    intrinsics = []
    for name in TensorIntrin.list():
        axes = _axes(name)
        few = all(sum(k == kind for k, _ in axes) <= count for kind, count in zip("SR", kinds, strict=True))
        if axes and len(axes) <= MOST_AXES and few and _fits(sch.copy(), block, loops, name):
            intrinsics.append(name)
    return intrinsics


def tensorize_block(sch: Schedule, block: BlockHandle, loops: dict[str, LoopHandle], name: str) -> list[LoopHandle]:
    """Tile a block by the sizes of an intrinsic and replace the tile by it. Returns the spatial loops around it.

    Raises ScheduleError if no assignment of its axes to iters of the block fits.
    """
    why: ScheduleError | None = None
    for sizes in _assignments(sch, block, name):
        try:
            return sch.executor.all_or_nothing(lambda sizes=sizes: _tile_and_tensorize(sch, block, loops, sizes, name))
        except InternalError:
            raise
        except ScheduleError as error:
            why = error
    raise why or ScheduleError(f"no tile of the block has the sizes of {name}")


def _fits(trial: Schedule, block: BlockHandle, loops: dict[str, LoopHandle], name: str) -> bool:
    try:
        tensorize_block(trial, block, loops, name)
    except InternalError:
        raise
    except ScheduleError:
        return False
    return True


def _axes(name: str) -> list[tuple[str, int]]:
    """The kind and extent of each axis of an intrinsic."""
    intrinsic = TensorIntrin.get(name)
    with enter_context():
        axes = intrinsic.form().axes if intrinsic is not None else ()
        return [(a.kind, a.extent.as_constant() or 0) for a in axes if not a.is_unit]


def _assignments(sch: Schedule, block: BlockHandle, name: str) -> Iterator[dict[str, int]]:
    """The sizes of a tile by iter, in the order of the intrinsic's axes, for each way to assign iters that they divide.

    The innermost iters first.
    """
    info, axes = block_info(sch, block), _axes(name)
    domain = extents(info)
    spatial, sums = (iters(info, kind)[::-1] for kind in "SR")
    tile_sizes = {kind: [size for k, size in axes if k == kind] for kind in "SR"}
    for some in permutations(spatial, len(tile_sizes["S"])):
        for others in permutations(sums, len(tile_sizes["R"])):
            sizes = dict(zip((*some, *others), (*tile_sizes["S"], *tile_sizes["R"]), strict=True))
            if all(size and (domain[n] or 1) % size == 0 for n, size in sizes.items()):
                yield sizes


def _tile_and_tensorize(
    sch: Schedule, block: BlockHandle, loops: dict[str, LoopHandle], sizes: dict[str, int], name: str
) -> list[LoopHandle]:
    info = block_info(sch, block)
    parts = {n: sch.split(loops[n], [None, size]) for n, size in sizes.items()}
    outer = {n: parts[n][0] if n in parts else loop for n, loop in loops.items()}
    spatial, sums = (iters(info, kind) for kind in "SR")
    inner = [parts[n][1] for n in sizes]
    sch.reorder(*(outer[n] for n in (*spatial, *sums)), *inner)
    if sums and sch.can_decompose_reduction(block, outer[sums[0]]):
        sch.decompose_reduction(block, outer[sums[0]])
    sch.tensorize(inner[0], name)
    return [outer[n] for n in spatial]
