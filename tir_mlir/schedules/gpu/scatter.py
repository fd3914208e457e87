"""Updates of elements that data choose, such as histograms, on a GPU: one atomic instruction each."""

from __future__ import annotations

from math import prod

from tir_mlir.dialect.analysis import atomic_kind, commutative_update
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import annotation_keys, bits, enter_context, ops, to_name
from tir_mlir.dialect.ir.op_views import MemrefStoreOp, StoreOp, isa
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import LARGE, block_info, block_view, extent_of, num_instances
from tir_mlir.schedules.gpu.threads import PROCESSORS, THREADS, bind_flat, fuse_all
from tir_mlir.target import GPU

SHARED_BYTES = 16 << 10
"""The largest array of which each block has a copy: several blocks share a multiprocessor."""
UPDATES = 8
"""Updates of each element in a block that pay for clearing the copy, and adding it to the array."""


def scatter(sch: Schedule, block: BlockHandle, gpu: GPU) -> None:
    """Schedule a block that updates elements that data choose: a thread for each update.

        for i, j: Y[P[i], j] += X[i, j]   ->   for i_j_0 (blockIdx.x), i_j_1 (threadIdx.x): Y[P[..], ..] += X[..]

    Where many updates go to a small array, each block updates a copy in shared memory, which it adds to the array in
    the end. Floats are added in an order that differs from run to run. Errors: ScheduleError for another block, and for
    an operator or a type that the GPU does not update at once.
    """
    with enter_context():
        stores = [op for op in ops(block_view(sch, block).op) if isa(op, MemrefStoreOp)]
        scattered = len(stores) == 1 and commutative_update(stores[0]) is not None
        known = scattered and atomic_kind(stores[0]) and to_name(StoreOp(stores[0]).value.type) in gpu.atomic_types
    if not known:
        raise ScheduleError(f"{block} updates no elements that data choose, or {gpu.chip} has no instruction for it")
    info, loops = block_info(sch, block), sch.get_loops(block)
    buffer, total = info.writes[0].buffer, num_instances(info)
    count = prod(size or LARGE for size in buffer.shape)
    blocks = min(2 * PROCESSORS, total // max(UPDATES * count, THREADS))
    known_sizes = None not in [extent_of(sch, loop) for loop in loops]
    if blocks < PROCESSORS // 4 or count * bits(buffer.dtype) > 8 * SHARED_BYTES or not known_sizes:
        bind_flat(sch, loops)
        return
    outer, _, inner = sch.split(fuse_all(sch, loops), [blocks, None, THREADS])
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")
    sch.annotate(outer, annotation_keys.SHARED_UPDATES, buffer.name)
