"""Chains of elementwise operators in one pass over memory."""

from __future__ import annotations

from math import ceil
from typing import Any

from tir_mlir.dialect.errors import ScheduleError
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.convolution import block_info
from tir_mlir.schedules.nest import extents, iters, nest, size
from tir_mlir.schedules.sharing import inline, share
from tir_mlir.schedules.tiles import LARGE
from tir_mlir.target import Target, host

THREAD_WORK = 1 << 15
"""Elements that pay for waking a thread."""


def elementwise(sch: Schedule, block: Any, target: Target | None = None, threads: int | None = None) -> None:
    """Schedule elementwise operators (broadcasts too) that end in `block`: one pass, by vectors, over threads.

        for i, j: t[i, j] = X[i, j] * Y[j]            for i (parallel):
        for i, j: out[i, j] = max(t[i, j], 0)   ->        for j: out[i, j] = max(X[i, j] * Y[j], 0), by vectors

    Each iter bound to a loop of its own. Blocks before it that reduce, or cannot be inlined, stay as they are. Any
    extents, symbolic ones too. `target`: this machine when left out; `threads`: its cores. Raises ScheduleError where
    `block` itself reduces.
    """
    target = target or host()
    if isinstance(block, str):
        block = sch.get_block(block)
    info = block_info(sch, block)
    if iters(info, "R"):
        raise ScheduleError(f'block "{info.name}" reduces; use tir_mlir.schedules.reduction for it')
    _inline_before(sch, block)
    info, loops = block_info(sch, block), nest(sch, block)
    order = [a[0] for a in info.writes[0].axes if len(a) == 1]
    order = [*(n for n in loops if n not in order), *order]
    if not order:
        return
    if order != list(loops):
        sch.reorder(*(loops[n] for n in order))
    threads = min(threads or target.cores, max(1, size(info) // THREAD_WORK))
    *outer, inner = (loops[n] for n in order)
    if threads > 1 and not outer:
        piece = ceil((extents(info)[order[-1]] or LARGE) / threads)
        first, inner = sch.split(inner, [None, min(piece, target.l1)])
        outer = [first]
    sch.vectorize(inner)
    share(sch, outer, threads)


def _inline_before(sch: Schedule, block: Any) -> None:
    """Merge what is computed before the block into it, the nearest first."""
    kept: set[str] = set()
    while True:
        for producer in sch.get_producers(block):
            info = block_info(sch, producer)
            if info.name not in kept:
                if iters(info, "R") or not inline(sch, producer):
                    kept.add(info.name)
                break
        else:
            return
