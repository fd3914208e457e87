"""Queries on blocks and loops, shared by the schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, prod

from mlir import ir

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import Block, bits, enter_context, loops_above, ops
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, AFFINE_STORE, DIVISIONS
from tir_mlir.dialect.ir.op_views import CastOp, IfOp, StoreOp, YieldOp, isa
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedule.info import BlockInfo, LoopInfo, RegionInfo
from tir_mlir.schedule.primitives import BlockLike

"""Casts between load and store that the lowering of transposed tiles takes."""


_COPY_NEUTRAL_OPS = CastOp.names | YieldOp.names | {"affine.parallel", "affine.apply"}


def block_handle(sch: Schedule, block: BlockLike) -> BlockHandle:
    """The handle of a block that is given by it or by its name."""
    return sch.get_block(block) if isinstance(block, str) else block


def block_info(sch: Schedule, block: BlockHandle) -> BlockInfo:
    """The properties of a block."""
    info = sch.executor.info(block)
    if not isinstance(info, BlockInfo):
        raise ScheduleError(f"{block} is not a block")
    return info


def kind_of_loop(sch: Schedule, loop: LoopHandle) -> str:
    """The kind of a loop: `serial`, `parallel` and so on."""
    info = sch.executor.info(loop)
    if not isinstance(info, LoopInfo):
        raise ScheduleError(f"{loop} is not a loop")
    return str(info.kind)


def block_view(sch: Schedule, block: BlockHandle) -> Block:
    """The op of a block, to look at; dead after the next step."""
    with enter_context():  # not that of `sch.mod`, which is the user's to keep: the next step would have to copy it
        view = sch.executor.view(block, sch.executor.version)
    if not isinstance(view, Block):
        raise ScheduleError(f"{block} is not a block", None)
    return view


def is_copy(sch: Schedule, block: BlockHandle) -> bool:
    """Whether a block stores what it loads, unchanged or cast to another type."""
    steps = [o.name for o in ops(block_view(sch, block).op)]
    moved = [n for n in steps if n not in _COPY_NEUTRAL_OPS]
    return moved == [AFFINE_LOAD, AFFINE_STORE]


def num_stores(sch: Schedule, block: BlockHandle) -> int:
    """How many elements an instance of a block stores, its inner loops counted once."""
    return sum(isa(op, StoreOp) for op in ops(block_view(sch, block).op))


def is_conditional_value(op: ir.Operation) -> bool:
    """Whether an op is a conditional value (`if_then_else`)."""
    return isa(op, IfOp) and len(op.results) > 0


def has_conditional_values(sch: Schedule, block: BlockHandle) -> bool:
    """Whether a block has conditional values: what they guard is a vector only if its lanes are adjacent."""
    return any(is_conditional_value(o) for o in ops(block_view(sch, block).op))


def guards_division(sch: Schedule, block: BlockHandle) -> bool:
    """Whether a conditional value of a block divides integers, which traps in lanes that are masked off."""
    guards = [o for o in ops(block_view(sch, block).op) if is_conditional_value(o)]
    return any(o.name in DIVISIONS for guard in guards for o in ops(guard))


def extent_of(sch: Schedule, loop: LoopHandle) -> int | None:
    """The extent of a loop; None if symbolic."""
    info = sch.executor.info(loop)
    return info.extent if isinstance(info, LoopInfo) else None


def loops_by_iter(sch: Schedule, block: BlockHandle, skipped: int = 0) -> dict[str, LoopHandle]:
    """The loop that each iter is bound to, by the name of the iter, from the outermost loop to the innermost.

    skipped: leave out the so many outermost loops, at which the block is computed. Raises ScheduleError unless each
    iter is bound to a loop of its own.
    """
    loops = sch.get_loops(block)[skipped:]
    with enter_context():
        view = block_view(sch, block)
        names = _bound_iters(view, [loop.var for loop in loops_above(view.outermost)[skipped:]], bool(skipped))
        if names is None:
            counts_differ = len(loops) != len(view.iters)
            counts = (
                f"{len(view.iters)} iters but {len(loops)} loops"
                if counts_differ
                else "iters without a loop of their own"
            )
            raise ScheduleError(f'block "{view.name}" has {counts}; schedule it before its loops are split or fused')
    return dict(zip(names, loops, strict=True))


def _bound_iters(block: Block, variables: Sequence[ir.Value], moved: bool) -> list[str] | None:
    """The iter that is bound to each loop; None if they are not one to one. A loop that runs once may bind none."""
    names: dict[int, str] = {}
    unbound = []
    for it in block.iters:
        bound_loops = [n for n, var in enumerate(variables) if var in it.binding.values]
        if len(bound_loops) == 1 and bound_loops[0] not in names:
            names[bound_loops[0]] = it.name
        elif not bound_loops and (moved or it.extent.as_constant() == 1):
            unbound.append(it.name)
        else:
            return None
    free = [n for n in range(len(variables)) if n not in names]
    names |= dict(zip(free, unbound, strict=False))
    return [names[n] for n in range(len(variables))] if len(free) == len(unbound) else None


def iters(info: BlockInfo, kind: str) -> list[str]:
    """The names of the iters of a kind (S or R), in order."""
    return [i.name for i in info.iter_vars if i.kind == kind]


def num_instances(info: BlockInfo) -> int:
    """The number of instances of a block; symbolic extents count as `LARGE`."""
    return prod(LARGE if i.dom.extent is None else i.dom.extent for i in info.iter_vars)


def extents(info: BlockInfo) -> dict[str, int | None]:
    """The extent of each iter; None if symbolic."""
    return {i.name: i.dom.extent for i in info.iter_vars}


def last_axis(info: BlockInfo) -> str | None:
    """The iter that indexes the last dimension of the output; None if the index is not a single iter. Raises
    ScheduleError for a block of which no write is known."""
    if not info.writes:
        raise ScheduleError(f'block "{info.name}" declares no writes; declare them, or schedule it step by step')
    (region, *_) = info.writes
    return region.axes[-1][0] if region.axes and len(region.axes[-1]) == 1 else None


def along_memory(info: BlockInfo, names: list[str]) -> list[str]:
    """Move the iter that indexes the contiguous dimension of the input of highest rank to the end; that of the result,
    where inputs are read at computed positions."""
    written = {str(w) for w in info.writes}
    reads = sorted((r for r in info.reads if str(r) not in written), key=lambda r: -len(r.axes))
    for region in (*reads, *info.writes):
        for name in names:
            if region.axes and name in region.axes[-1]:
                return [*(n for n in names if n != name), name]
    return names


def is_contiguous(region: RegionInfo, axis_extents: Mapping[str, int | None], axes: Sequence[str]) -> bool:
    """Whether the last dimensions of a buffer, which these axes index, are accessed one element after the other."""
    first = len(region.axes) - len(axes)
    for dimension, axis in enumerate(axes, first):
        start, then = (region.index_at(dimension, n) for n in (0, 1))
        if start is None or then != start + 1 or region.region[dimension].extent != 1:
            return False
        if dimension > first and region.buffer.shape[dimension] != axis_extents[axis]:
            return False
    return True


def widest_bits(info: BlockInfo) -> int:
    """The width in bits of the widest element type that a block accesses."""
    return max(bits(r.buffer.dtype) for r in (*info.reads, *info.writes))


LARGE = 1 << 20
"""The assumed value of a symbolic extent."""


def even_tile(extent: int, most: int, unit: int = 1, workers: int = 1) -> int:
    """A tile size (at most `most`, a multiple of `unit`) that cuts an extent into equal tiles, evenly over workers."""
    parts = ceil(extent / (most * workers)) * workers if extent < LARGE else 1
    step = ceil(extent / parts) if extent < LARGE else most
    return ceil(min(step, most) / unit) * unit
