"""Tiles for tensor intrinsics: which ones fit a block, and the loops that they replace."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.diagnostics import InternalError, ScheduleError
from tir_mlir.dialect.ir import entered
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.block_queries import block_info, extents, iters

MOST_AXES = 4
"""The maximum number of axes of an intrinsic whose orders are tried."""


def fitting(sch: Schedule, block: Any, loops: dict[str, Any]) -> list[str]:
    """The registered intrinsics that a tile of a block can be replaced by, tried on a copy."""
    info = block_info(sch, block)
    kinds = [len(iters(info, kind)) for kind in "SR"]
    found = []
    for name in TensorIntrin.list():
        axes = _axes(name)
        few = all(sum(k == kind for k, _ in axes) <= count for kind, count in zip("SR", kinds, strict=True))
        if axes and len(axes) <= MOST_AXES and few and _fits(sch.copy(), block, loops, name):
            found.append(name)
    return found


def tensorized(sch: Schedule, block: Any, loops: dict[str, Any], name: str) -> list[Any]:
    """Tile a block by the sizes of an intrinsic and replace the tile by it. Returns the spatial loops around it.

    Raises ScheduleError if no assignment of its axes to iters of the block fits.
    """
    why: ScheduleError | None = None
    for sizes in _assignments(sch, block, name):
        try:
            return sch.executor.all_or_nothing(lambda sizes=sizes: _tiled(sch, block, loops, sizes, name))
        except InternalError:
            raise
        except ScheduleError as error:
            why = error
    raise why or ScheduleError(f"no tile of the block has the sizes of {name}")


def _fits(trial: Schedule, block: Any, loops: dict[str, Any], name: str) -> bool:
    try:
        tensorized(trial, block, loops, name)
    except InternalError:
        raise
    except ScheduleError:
        return False
    return True


def _axes(name: str) -> list[tuple[str, int]]:
    """The kind and extent of each axis of an intrinsic."""
    intrinsic = TensorIntrin.get(name)
    with entered():
        axes = intrinsic.form().axes if intrinsic is not None else ()
        return [(a.kind, a.extent.as_constant() or 0) for a in axes if not a.is_unit]


def _assignments(sch: Schedule, block: Any, name: str) -> Iterator[dict[str, int]]:
    """The sizes of a tile by iter, in the order of the intrinsic's axes, for each way to assign iters that they divide.

    The innermost iters first.
    """
    info, axes = block_info(sch, block), _axes(name)
    known = extents(info)
    spatial, sums = (iters(info, kind)[::-1] for kind in "SR")
    wanted = {kind: [size for k, size in axes if k == kind] for kind in "SR"}
    for some in permutations(spatial, len(wanted["S"])):
        for others in permutations(sums, len(wanted["R"])):
            sizes = dict(zip((*some, *others), (*wanted["S"], *wanted["R"]), strict=True))
            if all(size and (known[n] or 1) % size == 0 for n, size in sizes.items()):
                yield sizes


def _tiled(sch: Schedule, block: Any, loops: dict[str, Any], sizes: dict[str, int], name: str) -> list[Any]:
    info = block_info(sch, block)
    parts = {n: sch.split(loops[n], [None, size]) for n, size in sizes.items()}
    outer = {n: parts[n][0] if n in parts else loop for n, loop in loops.items()}
    spatial, sums = (iters(info, kind) for kind in "SR")
    inside = [parts[n][1] for n in sizes]
    sch.reorder(*(outer[n] for n in (*spatial, *sums)), *inside)
    if sums and sch.can_decompose_reduction(block, outer[sums[0]]):
        sch.decompose_reduction(block, outer[sums[0]])
    sch.tensorize(inside[0], name)
    return [outer[n] for n in spatial]
