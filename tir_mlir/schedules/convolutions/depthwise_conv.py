"""Schedule for depthwise and grouped convolutions: vectorize the result, accumulate in registers."""

from __future__ import annotations

from typing import Any

from tir_mlir.schedule import Schedule
from tir_mlir.schedules.convolutions.convolution import Convolution
from tir_mlir.schedules.free_choice import Free
from tir_mlir.schedules.products.epilogue import merge_epilogue
from tir_mlir.target import Target


def depthwise(
    sch: Schedule, block: Any, what: Convolution, target: Target, threads: int, free: Free, epilogue: Any | None = None
) -> None:
    """Vectorize the innermost axis of the result with extent > 1; all reductions run inside it."""
    by_name = dict(zip(what.extents, sch.get_loops(block), strict=True))
    wide = [a for a in what.result if what.extents[a] != 1] or list(what.result)
    lane = by_name[wide[-1]]
    outer = [by_name[a] for a in what.result if a != wide[-1]]
    sums = [by_name[a] for a in what.extents if a not in what.result]
    lane_0, lane_1 = sch.split(lane, [None, target.lanes(what.bits) * free.choice("vectors", (1, 2, 4), 1)])
    sch.reorder(*outer, lane_0, *sums, lane_1)
    write_back = sch.cache_write(block, 0, "local")
    merge_epilogue(sch, write_back, epilogue)
    sch.reverse_compute_at(write_back, lane_0, preserve_unit_loops=True)
    sch.vectorize(lane_1)
    sch.decompose_reduction(block, sums[0])
    sch.vectorize(sch.get_loops(write_back)[-1])
    if threads > 1 and len(wide) > 1:
        sch.parallel(by_name[wide[0]])
