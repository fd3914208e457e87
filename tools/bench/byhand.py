"""Short hand-written schedules, the fallback for programs that `tir_mlir.schedules` does not cover or refuses."""

from __future__ import annotations

from typing import Any

from tir_mlir import Schedule
from tir_mlir.target.host import host


def gemm(sch: Schedule, block: str, threads: int) -> None:
    """Tile by four rows and two vectors; first pack B in transposed layout when its rows are not contiguous in the
    sum."""
    info: Any = sch.get(sch.get_block(block))
    where = next(i for i, region in enumerate(info.reads) if region.buffer.name == "B")
    if info.iters[-1][0] in info.reads[where].axes[-1]:
        sch.cache_read(block, where, "global")
        sch.transform_layout(block, ("read", where), lambda j, r: (r, j))
    i, j, r = sch.get_loops(block)
    i_0, i_1 = sch.split(i, [None, 4])
    j_0, j_1 = sch.split(j, [None, 2 * _lanes()])
    sch.reorder(i_0, j_0, r, i_1, j_1)
    init = sch.decompose_reduction(block, r)
    sch.vectorize(sch.get_loops(init)[-1])
    sch.vectorize(j_1)
    sch.unroll(i_1)
    _parallel(sch, i_0, threads)
    for after in sch.get_consumers(block):
        elementwise(sch, after, threads)


def conv2d(sch: Schedule, block: str, threads: int) -> None:
    """Vectorize the image columns; keep the accumulators in registers."""
    _, o, h, v, c, kh, kw = sch.get_loops(block)
    v_0, v_1 = sch.split(v, [None, _lanes()])
    sch.reorder(o, h, v_0, c, kh, kw, v_1)
    init = sch.decompose_reduction(block, c)
    sch.vectorize(sch.get_loops(init)[-1])
    sch.vectorize(v_1)
    _parallel(sch, o, threads)


def by_row(sch: Schedule, block: str, threads: int) -> None:
    """Compute all producers of the block row by row."""
    row = sch.get_loops(block)[0]
    for producer in reversed(_before(sch, block)):
        sch.compute_at(producer, row)
    _parallel(sch, row, threads)


def _before(sch: Schedule, block: Any) -> list[Any]:
    """Return the transitive producers of a block in topological order."""
    found: dict[str, Any] = {}
    for producer in sch.get_producers(block):
        for one in (*_before(sch, producer), producer):
            found.setdefault(sch.get(one).name, one)
    return list(found.values())


def elementwise(sch: Schedule, block: Any, threads: int) -> None:
    """Vectorize the innermost loop."""
    row, column = sch.get_loops(block)
    _, lane = sch.split(column, [None, _lanes()])
    sch.vectorize(lane)
    _parallel(sch, row, threads)


def chain(sch: Schedule, block: str, threads: int) -> None:
    """Inline all producers into one elementwise block."""
    while producers := sch.get_producers(block):
        sch.compute_inline(producers[0])
    elementwise(sch, block, threads)


def _lanes() -> int:
    return host().vector_bits // 32


def _parallel(sch: Schedule, loop: Any, threads: int) -> None:
    if threads > 1:
        sch.parallel(loop)
