"""Dequantised operands: a block computes them from a smaller array, such as packed integers and scales by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tir_mlir.dialect.ir import bits
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedule.info import BlockInfo, RegionInfo
from tir_mlir.schedules.block_queries import block_info, iters
from tir_mlir.schedules.products.contraction import Contraction, ContractionOperand, num_elements
from tir_mlir.schedules.steps import inline

WINDOW = 256
"""The number of reduction steps among which those that read one element are looked for."""


@dataclass(frozen=True)
class LaneSplit:
    """How to split the reduction loop of a packed operand: the factors, and which of the parts are lanes and unrolled.

    Each element holds the values of `shared` steps, which are unrolled, so that their shifts are constants.
    """

    factors: list[int | None]
    lanes: int
    shared: int | None = None


def dequantizer(sch: Schedule, block: BlockHandle, operand: ContractionOperand) -> BlockHandle | None:
    """The block that computes an operand from fewer bytes, with its own such producers inlined; None if there is none.

    U[..] = Q[..] >> ..                                  W[..] = f(Q[..] >> ..) * S[..]
    W[..] = f(U[..]) * S[..]                  ->         C[..] += A[..] * W[..]
    C[..] += A[..] * W[..]
    """
    producer = _producer(sch, block, operand.name)
    if producer is None or not _widens(sch, producer):
        return None
    while (upstream := next((p for p in sch.get_producers(producer) if _inlinable(sch, p)), None)) is not None:
        if not inline(sch, upstream):
            break
    return producer


def inline_dequantizer(sch: Schedule, block: BlockHandle, operand: ContractionOperand) -> bool:
    """Inline the block that computes an operand from fewer bytes into its reader. Returns whether there was one."""
    producer = dequantizer(sch, block, operand)
    return producer is not None and inline(sch, producer)


def mark_dequantized(sch: Schedule, block: BlockHandle, what: Contraction) -> tuple[Contraction, list[BlockHandle]]:
    """The product with its dequantised operands marked as such, and the blocks that compute them.

    Only those that can be inlined, and thus computed while they are packed.
    """
    found = {x.name: computed_from_less(sch, block, x) for x in (what.left, what.right)}
    lhs, rhs = (replace(x, dequantized=bool(found[x.name])) for x in (what.left, what.right))
    return replace(what, left=lhs, right=rhs), [p for producers in found.values() for p in producers]


def computed_from_less(sch: Schedule, block: BlockHandle, operand: ContractionOperand) -> list[BlockHandle]:
    """The block that computes an operand from fewer bytes and can be inlined; none if there is none."""
    producer = dequantizer(sch, block, operand)
    return [producer] if producer is not None and sch.can_compute_inline(producer) else []


def inline_each(sch: Schedule, producers: Sequence[BlockHandle]) -> None:
    """Inline the blocks that dequantise into the copies that pack their results, or into the products."""
    for producer in producers:
        inline(sch, producer)


def is_along(sch: Schedule, producer: BlockHandle, operand: ContractionOperand, axis: str) -> bool:
    """Whether the largest array that a dequantised operand is computed from is contiguous along an axis of it."""
    info = block_info(sch, producer)
    last = source(info).axes[-1]
    (written,) = info.writes
    return len(last) == 1 and any(
        a == axis and theirs == last for a, theirs in zip(operand.axes, written.axes, strict=True)
    )


def vectorize_dequantizer(sch: Schedule, producer: BlockHandle, lanes: int, threads: int) -> None:
    """Vectorize a block that dequantises, along the last dimension of what it reads."""
    info = block_info(sch, producer)
    packed = source(info)
    along = packed.axes[-1]
    loops = sch.get_loops(producer)
    position = next((n for n, (name, _) in enumerate(info.iters) if (name,) == along), len(loops) - 1)
    plan = lane_split(packed, lanes)
    outer = [x for n, x in enumerate(loops) if n != position]
    steps = sch.split(loops[position], plan.factors)
    inner = [] if plan.shared is None else [steps[plan.shared]]
    middle = [x for n, x in enumerate(steps) if n not in (plan.lanes, plan.shared)]
    sch.reorder(*outer, *middle, *inner, steps[plan.lanes])
    for loop in inner:
        sch.unroll(loop)
    sch.vectorize(steps[plan.lanes])
    if threads > 1 and outer:
        sch.parallel(outer[0])


def source(info: BlockInfo) -> RegionInfo:
    """The largest array that a block reads."""
    return max(info.reads, key=lambda r: num_elements(r.buffer))


def lane_split(region: RegionInfo, lanes: int) -> LaneSplit:
    """How to split the loop of the iter that indexes the last dimension of a region, so that vectors are contiguous.

    k                    -> [None, lanes], lanes last
    k // 2               -> [None, lanes, 2], lanes before the two values of an element
    k // 32 * 16 + k % 16 -> [None, 2, 16], the lanes of the 16 elements of a group last
    """
    distance, shared = shared_steps(region)
    if shared == 1:
        return LaneSplit([None, lanes], 1)
    if distance == 1:
        return LaneSplit([None, lanes, shared], 1, 2)
    if distance <= lanes or distance % lanes:
        return LaneSplit([None, shared, distance], 2, 1)
    return LaneSplit([None, shared, distance // lanes, lanes], 3, 1)


def shared_steps(region: RegionInfo) -> tuple[int, int]:
    """The distance of the steps of the sum that read one element of a region, and their number: (0, 1) if it is one."""
    last = len(region.axes) - 1
    first = region.index_at(last, 0)
    same = [step for step in range(1, WINDOW) if region.index_at(last, step) == first]
    return (same[0], len(same) + 1) if same and first is not None else (0, 1)


def _producer(sch: Schedule, block: BlockHandle, name: str) -> BlockHandle | None:
    """The block that computes an array that a block reads; None for parameters."""
    writes = [p for p in sch.get_producers(block) if name in map(str, block_info(sch, p).writes)]
    return writes[0] if len(writes) == 1 else None


def _inlinable(sch: Schedule, block: BlockHandle) -> bool:
    info = block_info(sch, block)
    return not iters(info, "R") and len(info.writes) == 1


def _widens(sch: Schedule, block: BlockHandle) -> bool:
    """Whether a block is elementwise and, through other such blocks, reads fewer bytes than it writes."""
    if not _inlinable(sch, block):
        return False
    return 0 < _num_bits(_sources(sch, block)) < _num_bits(block_info(sch, block).writes)


def _sources(sch: Schedule, block: BlockHandle) -> list[RegionInfo]:
    """The arrays that a block reads, itself or through elementwise producers."""
    regions = {str(r): r for r in block_info(sch, block).reads}
    for name in list(regions):
        producer = _producer(sch, block, name)
        if producer is not None and _inlinable(sch, producer):
            del regions[name]
            regions |= {str(r): r for r in _sources(sch, producer)}
    return list(regions.values())


def _num_bits(regions: Sequence[RegionInfo]) -> int:
    return sum(num_elements(r.buffer) * bits(r.buffer.dtype) for r in regions)
