"""Places and coverage: what runs between two ops, and whether what is read has been written in the same iteration."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import Access, access_boxes, access_domain
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import Counterexample, Element
from tir_mlir.dialect.ir import (
    Buffer,
    child_towards,
    common_parent,
    is_loop,
    only_reads,
    owner_op,
    parents,
    position,
)
from tir_mlir.dialect.presburger import Domain, dim_type, flatten, question, region_map, sizes_without, smallest_point


def loops_around(op: ir.Operation) -> int:
    """How many loops of the function hold `op`, itself included: the iterations that two accesses in it share."""
    return len([p for p in [op, *parents(op)] if is_loop(p)])


def meeting(first: ir.Operation, second: ir.Operation) -> tuple[ir.Operation, ir.Operation, ir.Operation]:
    """The innermost op that holds both, and its children towards the first and the second."""
    level = common_parent([first, second])
    return level, child_towards(level, first), child_towards(level, second)


def comes_before(first: ir.Operation, second: ir.Operation) -> bool:
    """Whether, in one iteration of what holds both, all of `first` runs before any of `second`."""
    _, one, other = meeting(first, second)
    return one.block == other.block and position(one) < position(other)


def span(first: ir.Operation, second: ir.Operation) -> list[ir.Operation]:
    """The ops of the common body from the one with `first` to the one with `second`, both included."""
    _, one, other = meeting(first, second)
    listed = [o.operation for o in one.block.operations]
    return listed[listed.index(one) : listed.index(other) + 1]


def written_within(span_ops: Sequence[ir.Operation], buffers: set[ir.Value]) -> Access | None:
    """The first write to one of some buffers beneath some ops."""
    for op in span_ops:
        for access in accesses(op):
            if access.is_write and access.buffer in buffers:
                return access
    return None


def elements(access: Access, level: ir.Operation) -> tuple[isl.Map, Domain]:
    """{ loops at and above `level` -> elements } of an access, everything beneath relaxed."""
    dom = access_domain(access)
    return projected(dom, access, level), dom


def projected(dom: Domain, access: Access, level: ir.Operation) -> isl.Map:
    """The elements of an access over a domain of all loops around it, as a function of those at and above `level`."""
    relation = region_map(dom, access.mins, access.extents)
    kept = dom.free + loops_around(level)
    relation = relation.project_out(dim_type.in_, kept, len(dom.dims) - kept)
    return relation.project_out(dim_type.in_, 0, dom.free)


def _plainly_covered(reads: Sequence[Access], writes: Sequence[Access], level: ir.Operation) -> bool:
    """Whether the box of the reads lies in the box of the writes, every element of which is written."""
    wanted, filled = access_boxes.access_box(reads, level), access_boxes.access_box(writes, level)
    if wanted is None or filled is None or not filled.dense:
        return False
    parts = zip(wanted.mins, wanted.extents, filled.mins, filled.extents, strict=True)
    return all(low.same(start) and extent.same(size) for low, extent, start, size in parts)


@only_reads
def uncovered(reads: Sequence[Access], writes: Sequence[Access], level: ir.Operation) -> Uncovered | None:
    """An element that is read beneath `level` and not written there in the same iteration, or None.

    A write under a condition that isl cannot express, or at an index that is not affine, does not count.
    """
    if reads and writes and _plainly_covered(reads, writes, level):
        return None
    with question(f"whether all that is read of {Buffer(reads[0].buffer).name} is written before"):
        written: isl.Map | None = None
        for access in writes:
            part, dom = elements(access, level)
            if access.exact and dom.exact:
                written = part if written is None else written.union(part)
        for access in reads:
            missing, _ = elements(access, level)
            if written is not None:
                missing = missing.subtract(written)
            if not missing.is_empty():
                return shown_element(access.buffer, missing)
    return None


class Uncovered(Counterexample):
    """An element that nothing writes in time."""

    def __str__(self) -> str:
        return f"{self.element} (unless {self.unless})" if self.unless else str(self.element)


def shown_element(buffer: ir.Value, missing: isl.Map) -> Uncovered:
    """The least element of a relation, as the user writes it, with the sizes at which there is none."""
    rank = Buffer(buffer).rank
    point = smallest_point(flatten(missing)) or []
    element = Element.of(Buffer(buffer).name, point[len(point) - rank :])
    return Uncovered(element=element, unless=sizes_without(missing, owner_op(buffer)))
