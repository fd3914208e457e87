"""Updates of elements that data choose, such as histograms, on a GPU: one atomic instruction each."""

from __future__ import annotations

from tir_mlir.dialect.analysis import atomic_kind, commutative_update
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import enter_context, ops, to_name
from tir_mlir.dialect.ir.op_views import MemrefStoreOp, StoreOp, isa
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import block_view
from tir_mlir.schedules.gpu.threads import bind_flat
from tir_mlir.target import GPU


def scatter(sch: Schedule, block: BlockHandle, gpu: GPU) -> None:
    """Schedule a block that updates elements that data choose: a thread for each update.

        for i, j: Y[P[i], j] += X[i, j]   ->   for i_j_0 (blockIdx.x), i_j_1 (threadIdx.x): Y[P[..], ..] += X[..]

    Floats are added in an order that differs from run to run. Errors: ScheduleError for another block, and for an
    operator or a type that the GPU does not update at once.
    """
    with enter_context():
        stores = [op for op in ops(block_view(sch, block).op) if isa(op, MemrefStoreOp)]
        scattered = len(stores) == 1 and commutative_update(stores[0]) is not None
        known = scattered and atomic_kind(stores[0]) and to_name(StoreOp(stores[0]).value.type) in gpu.atomic_types
    if not known:
        raise ScheduleError(f"{block} updates no elements that data choose, or {gpu.chip} has no instruction for it")
    bind_flat(sch, sch.get_loops(block))
