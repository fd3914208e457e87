"""Buffers move to the loop that uses them and shrink to the part that one iteration touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect import from_isl, sets, walk
from tir_mlir.dialect.errors import NotProvable
from tir_mlir.dialect.index import Index
from tir_mlir.dialect.views import Buffer, Func, Loop, is_loop, symbols_by_name
from tir_mlir.passes.lower import flow
from tir_mlir.passes.lower.registry import lowering, programs
from tir_mlir.passes.lower.reindex import can_reindex, reindex, view_box

dim_type = isl.dim_type


@lowering("tir-lower-compact", "move buffers to the loop they serve and shrink them to the region it uses")
def run(module: ir.Module) -> None:
    """Place and shrink every allocated buffer.

        %b = memref.alloc : memref<1024x1024xf32>          for %i { for %k {
        for %i { for %k {                                    %b = memref.alloc : memref<16x16xf32>
          fill and use %b[%i * 16 + .., %k * 16 + ..]  -->   fill and use %b[.., ..]

    The place is the innermost loop in whose every iteration each read follows a write of that iteration (isl decides);
    the size is the box of what one iteration touches, where that is constant. Strides of views become static with it.
    A buffer of which this cannot be shown stays as it is. Requires blocks to be removed.
    """
    for func in programs(module):
        compact(func)


def compact(func: Func) -> None:
    """The same for one function."""
    domains: flow.Domains = {}
    for value in [op.results[0] for op in walk.ops(func.op) if op.name == "memref.alloc"]:
        if plan := _plan(value, domains):
            _apply(value, plan)


@dataclass
class Plan:
    """Where a buffer goes and what it keeps: per dimension the shift and the new static extent (None: as it is)."""

    home: ir.Operation | None
    mins: list[Index]
    extents: list[int | None]


def _plan(value: ir.Value, domains: flow.Domains) -> Plan | None:
    """The best placement that can be shown to be right; None to leave the buffer alone."""
    buffer = Buffer(value)
    if not _is_plain(buffer.type):
        return None
    try:
        with sets.question(f"the life of buffer {buffer.name}"):
            touches = flow.touches(value, domains)
    except NotProvable:
        return None
    users = [use.owner.operation for use in value.uses]
    if not users or not touches:
        return None
    loops = flow.common_loops(users)
    first = len([p for p in walk.parents(walk.home(value)) if is_loop(p)])
    depth = _private_depth(buffer, touches, first, len(loops))
    target = loops[depth - 1] if depth > first else None
    mins, extents = _whole(buffer)
    if can_reindex(value):
        try:
            with sets.question(f"the region of buffer {buffer.name}"):
                mins, extents = _box(buffer, _reach(touches, users, domains), [Loop(p).var for p in loops[:depth]])
        except NotProvable:
            pass
    if target is None and all(e is None for e in extents):
        return None
    return Plan(target, mins, extents)


def _whole(buffer: Buffer) -> tuple[list[Index], list[int | None]]:
    """No shift, all extents as they are."""
    return [Index.constant(0) for _ in range(buffer.rank)], [None for _ in range(buffer.rank)]


def _is_plain(type_: ir.MemRefType) -> bool:
    return type_ == ir.MemRefType.get(type_.shape, type_.element_type, memory_space=type_.memory_space)


def _private_depth(buffer: Buffer, touches: Sequence[flow.Touch], first: int, deepest: int) -> int:
    """The number of loops around the innermost place where the buffer may stand."""
    for depth in range(deepest, first, -1):
        try:
            with sets.question(f"whether buffer {buffer.name} is private to a loop"):
                if flow.is_private(touches, depth):
                    return depth
        except NotProvable:
            continue
    return first


def _reach(touches: Sequence[flow.Touch], users: Sequence[ir.Operation], domains: flow.Domains) -> list[isl.Map]:
    """{ iteration -> elements } of all accesses, and of views as a whole: a view must lie inside its buffer."""
    found = [t.elements for t in touches]
    for user in users:
        if user.name == "memref.subview":
            found.append(flow.relation(user, *view_box(user), domains)[1])
    return found


def _box(buffer: Buffer, reach: Sequence[isl.Map], outer: Sequence[ir.Value]) -> tuple[list[Index], list[int | None]]:
    """Per dimension the minimum (over the outer loops) and the constant extent of what one iteration touches."""
    relation: isl.Map | None = None
    mins, extents = _whole(buffer)
    depth = len(outer)
    for part in reach:
        part = part.project_out(dim_type.in_, depth, part.dim(dim_type.in_) - depth)
        relation = part if relation is None else relation.union(part)
    assert relation is not None
    for d in range(buffer.rank):
        low, extent = _bounds(relation, d, outer, buffer)
        size = buffer.shape[d]
        if extent is not None and (size is None or extent < size):
            mins[d], extents[d] = low, extent
    return mins, extents


def _bounds(relation: isl.Map, d: int, outer: Sequence[ir.Value], buffer: Buffer) -> tuple[Index, int | None]:
    """The best affine lower bound of dimension `d` with a constant extent from it on."""
    rank = relation.dim(dim_type.out)
    line = relation.project_out(dim_type.out, d + 1, rank - d - 1).project_out(dim_type.out, 0, d)
    context = line.domain()
    best: tuple[Index, int | None] = (Index.constant(0), None)
    for _, aff in line.dim_min(0).coalesce().gist(context).get_pieces():
        if not aff.get_denominator_val().is_one():
            continue
        apart = line.sum(isl.Map.from_aff(aff.neg())).range()
        if (ends := sets.constant_extent(apart, 0)) is None:
            continue
        extent = ends[1] - ends[0] + 1
        if best[1] is None or extent < best[1]:
            low = from_isl.to_index(
                aff.add_constant_val(isl.Val(ends[0])), outer, symbols_by_name(walk.home(buffer.value))
            )
            best = (low.simplified(), extent)
    return best


def _apply(value: ir.Value, plan: Plan) -> None:
    """Make the buffer anew at its place, with its size, and turn its users over to it."""
    old = value.owner.operation
    type_ = ir.MemRefType(value.type)
    operands = iter(list(old.operands))
    shape, sizes = [], []
    for d, extent in enumerate(plan.extents):
        size = next(operands) if type_.is_dynamic_dim(d) else None
        if extent is None and size is not None:
            sizes.append(size)
        shape.append(type_.shape[d] if extent is None else extent)
    body = plan.home.regions[0].blocks[0] if plan.home is not None else None
    spot = ir.InsertionPoint.at_block_begin(body) if body is not None else ir.InsertionPoint(old)
    attributes = {n: old.attributes[n] for n in old.attributes}
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(sizes), 0])
    new_type = ir.MemRefType.get(shape, type_.element_type, memory_space=type_.memory_space)
    with spot:
        new = ir.Operation.create("memref.alloc", [new_type], sizes, attributes, loc=old.location)
    reindex(value, new.results[0], plan.mins)
    old.erase()
