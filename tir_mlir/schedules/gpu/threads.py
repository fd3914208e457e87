"""Threads for the elements of a block: loops that are bound to blocks and threads."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import block_info, extent_of, iters, kind_of_loop, loops_by_iter
from tir_mlir.schedules.steps import attempt

WARP = 32
PROCESSORS = 108
"""Of an A100, as a typical number: work is cut so that all of them have some."""
THREADS = 256
"""The threads of a block, where nothing else decides."""
BLOCKS = ("blockIdx.x", "blockIdx.y", "blockIdx.z")


def fuse_all(sch: Schedule, loops: Sequence[LoopHandle]) -> LoopHandle:
    """Nested loops as one."""
    return sch.fuse(*loops) if len(loops) > 1 else loops[0]


def fuse_sizes(sch: Schedule, loops: Sequence[LoopHandle]) -> list[LoopHandle]:
    """Nested loops as few: of those that become one only the first may have an extent that a call decides, as a fused
    index is divided by the others."""
    groups: list[list[LoopHandle]] = []
    for loop in loops:
        if not groups or extent_of(sch, loop) is None:
            groups.append([])
        groups[-1].append(loop)
    return [fuse_all(sch, group) for group in groups]


def bind_blocks(sch: Schedule, loops: Sequence[LoopHandle]) -> LoopHandle:
    """Bind nested loops to blocks. Returns the innermost. Errors: ScheduleError for more than three loops of extents
    that a call decides."""
    fused = fuse_sizes(sch, loops)
    if len(fused) > len(BLOCKS):
        text = f"calls decide {len(fused)} sizes, and there are {len(BLOCKS)} axes of blocks"
        raise ScheduleError(f"{text}; fix: fewer symbolic sizes in one block")
    for loop, axis in zip(fused, BLOCKS, strict=False):
        sch.bind(loop, axis)
    return fused[-1]


def bind_shared(sch: Schedule, loops: Sequence[LoopHandle], axis: str, threads: int) -> LoopHandle:
    """Bind nested loops to blocks, and so many of their iterations to the threads of a block along an axis. Returns the
    innermost."""
    *above, loop = fuse_sizes(sch, loops)
    if threads == 1:
        return bind_blocks(sch, [*above, loop])
    outer, inner = sch.split(loop, [None, threads])
    bind_blocks(sch, [*above, outer])
    sch.bind(inner, axis)
    return inner


def bind_flat(sch: Schedule, loops: Sequence[LoopHandle], threads: int = THREADS, lanes: int = 1) -> None:
    """One thread for so many adjacent iterations of nested loops, which become vectors.

    for i, j in T.grid(n, m):   ->   for i_j_0 (blockIdx.x), i_j_1 (threadIdx.x, 256): for i_j_2 (vectorized, 4):
    """
    *above, loop = fuse_sizes(sch, loops)
    extent = extent_of(sch, loop)
    if extent is not None:
        threads = min(threads, max(1, -(-extent // lanes)))
    outer, inner, *vector = sch.split(loop, [None, threads, lanes] if lanes > 1 else [None, threads])
    bind_blocks(sch, [*above, outer])
    sch.bind(inner, "threadIdx.x")
    for each in vector:
        sch.vectorize(each)


def per_element(sch: Schedule, block: BlockHandle) -> None:
    """One thread for each value of the leading spatial iters of a block; what is inside of these remains serial.

        for i, j, k: with T.block("C"): ...   ->   for i_j_0 (blockIdx.x), i_j_1 (threadIdx.x): for k: ...

    Spatial iters that a reduction has are all leading: its terms have an order among themselves only. Errors:
    ScheduleError without a leading spatial iter.
    """
    info, loops = block_info(sch, block), loops_by_iter(sch, block)
    spatial, names = iters(info, "S"), list(loops)
    if all(it.kind in "SR" for it in info.iter_vars) and names[: len(spatial)] != spatial and spatial:
        names = [*(n for n in names if n in spatial), *(n for n in names if n not in spatial)]
        sch.reorder(*(loops[n] for n in names))
    leading = []
    for name in names:
        if name not in spatial:
            break
        leading.append(loops[name])
    if not leading:
        raise ScheduleError(f'block "{info.name}" has no leading spatial iter, so its instances are not independent')
    bind_flat(sch, leading)


def one_thread(sch: Schedule, block: BlockHandle) -> None:
    """A kernel of one thread, for a block whose instances run in order, and for a single number.

    for i: with T.block("B"): ...   ->   for u (blockIdx.x, 1): for i: with T.block("B"): ...
    """
    loops = sch.get_loops(block)
    if any(kind_of_loop(sch, loop) != "serial" for loop in loops):
        raise ScheduleError(f'block "{block_info(sch, block).name}" is in loops that were scheduled before')
    sch.bind(sch.add_unit_loop(loops[0] if loops else block), "blockIdx.x")


def by_elements(sch: Schedule) -> dict[str, str]:
    """Schedule every block of a function by `per_element`, or by `one_thread` where that refuses: what always lowers.
    Returns the name of the function for each block."""
    picked: dict[str, str] = {}
    for block in sch.get_child_blocks(sch.get_block("root")):
        found = attempt(sch, lambda block=block: per_element(sch, block) or per_element)
        if found is None:
            one_thread(sch, block)
        picked[block_info(sch, block).name] = (found or one_thread).__name__
    return picked
