"""What a block computes, as far as it decides how to schedule it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import ops
from tir_mlir.dialect.ir.op_traits import PRODUCTS, SUMS
from tir_mlir.dialect.ir.op_views import AffineIfOp, AffineLoopOp, CallOp, YieldOp
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedule.info import BlockInfo
from tir_mlir.schedules.block_queries import block_info, block_view, is_conditional_value, iters, kind_of_loop
from tir_mlir.schedules.convolutions.convolution import convolution
from tir_mlir.schedules.products.contraction import contraction, matrix_vector
from tir_mlir.schedules.products.group_sums import group_sums
from tir_mlir.schedules.products.grouped_tiles import tile_product


class Kind(Enum):
    """The kinds of blocks."""

    PRODUCT = "product"
    CONVOLUTION = "convolution"
    REDUCTION = "reduction"
    ELEMENTWISE = "elementwise"
    OPAQUE = "opaque"  # loops, branches, calls or other blocks inside, or ordered iters
    NUMBER = "number"  # no loop from the start: a single number
    SCHEDULED = "scheduled"  # no longer one serial loop for each iter


def kind_of(sch: Schedule, block: BlockHandle) -> Kind:
    """The kind of a block, from its iters, accesses and body."""
    info = block_info(sch, block)
    loops = sch.get_loops(block)
    if not loops:
        return Kind.NUMBER
    if any(kind_of_loop(sch, loop) != "serial" for loop in loops):
        return Kind.SCHEDULED
    op_names = [o.name for o in ops(block_view(sch, block).op)[1:] if not is_conditional_value(o)]
    kinds = {it.kind for it in info.iter_vars}
    if not info.writes or "O" in kinds or _is_opaque(op_names, init="R" in kinds):
        return Kind.OPAQUE
    if "R" not in kinds:
        return Kind.ELEMENTWISE
    if _multiplies(op_names) and _matches(tile_product, sch, block):
        return Kind.PRODUCT
    if _multiplies(op_names) and _sums_all_inputs(info):
        if _matches(group_sums, sch, block):
            return Kind.PRODUCT
        if _matches(contraction, sch, block) or _matches(matrix_vector, sch, block):
            return Kind.PRODUCT
        if _matches(convolution, sch, block):
            return Kind.CONVOLUTION
    return Kind.REDUCTION


def _is_opaque(op_names: list[str], init: bool) -> bool:
    """Whether a body is more than straight-line code; a reduction has one branch, its init."""
    branches = sum(name in AffineIfOp.names for name in op_names)
    control_ops = [n for n in op_names if n in AffineLoopOp.names or n in CallOp.names or n.startswith("scf.")]
    return branches > init or any(name not in YieldOp.names for name in control_ops)


def _multiplies(op_names: list[str]) -> bool:
    return any(name in PRODUCTS for name in op_names) and any(name in SUMS for name in op_names)


def _sums_all_inputs(info: BlockInfo) -> bool:
    """Whether every input is indexed by a reduction iter: a value of a row is not an operand of a product."""
    sums, written = set(iters(info, "R")), {str(w) for w in info.writes}
    return all(sums & {n for axis in r.axes for n in axis} for r in info.reads if str(r) not in written)


def _matches(matcher: Callable[[Schedule, BlockHandle], object], sch: Schedule, block: BlockHandle) -> bool:
    try:
        matcher(sch, block)
    except ScheduleError:
        return False
    return True
