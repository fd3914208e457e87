"""Shrink allocated buffers to the region that one iteration uses, at the loop they serve."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import kept_dims
from tir_mlir.dialect.analysis.accesses import accesses_of_op
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    Index,
    Loop,
    apply,
    attrs,
    edit,
    emit_map,
    func_of,
    is_loop,
    only_reads,
    owner_op,
    read_value,
    symbols_by_name,
    walk,
)
from tir_mlir.dialect.ir.op_traits import stored_value
from tir_mlir.dialect.ir.op_views import (
    AffineAccessOp,
    AffineElementAccessOp,
    AllocOp,
    ComputedAccessOp,
    DimOp,
    PointerOp,
    SubviewOp,
    isa,
)
from tir_mlir.dialect.presburger import isl_exprs, sets
from tir_mlir.passes.lower.blocks.blocks import Simplifier
from tir_mlir.passes.lower.memory import lifetimes
from tir_mlir.passes.lower.memory.lifetimes import common_loops
from tir_mlir.passes.lower.op_attrs import is_row_major
from tir_mlir.passes.lower.registry import lowering, programs

dim_type = isl.dim_type


@lowering("tir-lower-compact", "Shrink buffers to the region used by one iteration of the loop they serve")
def run(module: ir.Module) -> None:
    """Place and shrink every allocated buffer.

        %b = memref.alloc : memref<1024x1024xf32>          for %i { for %k {
        for %i { for %k {                                    %b = memref.alloc : memref<16x16xf32>
          fill and use %b[%i * 16 + .., %k * 16 + ..]  -->   fill and use %b[.., ..]

    The new position is the innermost loop in each iteration of which every read follows a write of that iteration
    (decided by isl), and not inside a vectorized loop. The new size is the bounding box of one iteration, if constant.
    Strides of views become static accordingly. Buffers for which this cannot be proved are kept. Requires blocks to be
    removed.
    """
    for func in programs(module):
        compact(func)


Copies = Callable[[Buffer, Sequence[ir.Operation]], Sequence[bool] | None]
"""Of the loops around all uses of a buffer, which have a copy for each iteration; None: the buffer remains as it is."""

OtherIndices = Callable[[ir.Value], Mapping[ir.Operation, Sequence[Index]] | None]


def compact(
    func: Func,
    copies: Copies = lambda buffer, loops: [True] * len(loops),
    considered: Callable[[ir.Value], bool] = lambda value: True,
    other_indices: OtherIndices = lambda value: None,
) -> None:
    """The same for one function. `copies`: which loops a buffer may be private to. The region is then that of all
    iterations of the others together, and the position outside of the first of them. `considered`: which buffers.
    `other_indices`: simpler indices that tell the elements of a buffer apart, to decide what it is private to."""
    for value, plan in _plans(func, copies, considered, other_indices):
        _apply(value, plan)


@only_reads
def _plans(
    func: Func, copies: Copies, considered: Callable[[ir.Value], bool], other_indices: OtherIndices
) -> list[tuple[ir.Value, CompactionPlan]]:
    """The buffers of a function that move or shrink. No plan depends on another: it holds loops and shape variables,
    which all remain."""
    domains: lifetimes.Domains = {}
    values = [op.results[0] for op in walk.ops(func.op) if isa(op, AllocOp)]
    return [
        (value, plan)
        for value in values
        if considered(value) and (plan := _plan(value, domains, copies, other_indices))
    ]


@dataclass
class CompactionPlan:
    """The new position of a buffer (None: unchanged); for each dimension the offset to subtract and the new static
    extent (None: unchanged).
    """

    scope: ir.Block | None
    mins: list[Index]
    extents: list[int | None]


def _plan(
    value: ir.Value, domains: lifetimes.Domains, copies: Copies, other_indices: OtherIndices
) -> CompactionPlan | None:
    """The best placement that can be proved; None to keep the buffer."""
    buffer = Buffer(value)
    if not is_row_major(buffer.type) or is_used_whole(value):
        return None
    try:
        with sets.question(f"the lifetime of buffer {buffer.name}"):
            touches = lifetimes.timed_accesses(value, domains)
            indices = other_indices(value)
            timed = touches if indices is None else lifetimes.timed_accesses(value, domains, indices)
    except NotProvable:
        return None
    users = [use.owner.operation for use in value.uses]
    if not users or not touches:
        return None
    loops = _outside_lanes(lifetimes.common_loops(users))
    first = len([p for p in walk.parents(owner_op(value)) if is_loop(p)])
    loops = loops[: _private_depth(buffer, timed, first, len(loops))]
    if (own_copies := copies(buffer, loops)) is None:
        return None
    depth = list(own_copies).index(False) if False in own_copies else len(own_copies)
    mins, extents = _full_box(buffer)
    if can_reindex(value):
        try:
            with sets.question(f"the region of buffer {buffer.name}"):
                reach = [
                    _project_shared_loops(part, own_copies) for part in _accessed_elements(touches, users, domains)
                ]
                mins, extents = _box(
                    buffer, reach, [Loop(p).var for p, is_own in zip(loops, own_copies, strict=True) if is_own]
                )
        except NotProvable:
            pass
    scope = None if depth == first else Loop(loops[depth - 1]).body if depth else func_of(owner_op(value)).body
    if scope is None and all(e is None for e in extents):
        return None
    return CompactionPlan(scope, mins, extents)


def _project_shared_loops(reach: isl.Map, own: Sequence[bool]) -> isl.Map:
    """{ iteration of the loops with copies of their own, ... -> elements } of all iterations of the others."""
    for number in reversed([n for n, is_own in enumerate(own) if not is_own]):
        reach = reach.project_out(dim_type.in_, number, 1)
    return reach


def _outside_lanes(loops: Sequence[ir.Operation]) -> Sequence[ir.Operation]:
    """The loops outside the first vectorized one: its lanes run together, so each needs elements of its own."""
    lanes = next((n for n, op in enumerate(loops) if Loop(op).kind == "vectorized"), len(loops))
    return loops[:lanes]


def _full_box(buffer: Buffer) -> tuple[list[Index], list[int | None]]:
    """No offset, all extents unchanged."""
    return [Index.constant(0) for _ in range(buffer.rank)], [None for _ in range(buffer.rank)]


def _private_depth(buffer: Buffer, touches: Sequence[lifetimes.TimedAccess], first: int, deepest: int) -> int:
    """The number of loops around the innermost legal position of the buffer."""
    plain = None
    with suppress(NotProvable), sets.question(f"what is written of buffer {buffer.name} before it is read"):
        plain = lifetimes.plain_depth(touches)
    for depth in range(deepest, first, -1):
        if plain is not None and depth <= plain:
            return depth
        try:
            with sets.question(f"whether buffer {buffer.name} is private to a loop"):
                if lifetimes.is_private(touches, depth):
                    return depth
        except NotProvable:
            continue
    return first


def _accessed_elements(
    touches: Sequence[lifetimes.TimedAccess], users: Sequence[ir.Operation], domains: lifetimes.Domains
) -> list[isl.Map]:
    """{ iteration -> elements } of all accesses, and of whole views, which must lie inside their buffer."""
    relations = [t.elements for t in touches]
    for user in users:
        if isa(user, SubviewOp):
            relations.append(lifetimes.relation(user, *view_box(user), domains)[1])
    return relations


def _box(buffer: Buffer, reach: Sequence[isl.Map], outer: Sequence[ir.Value]) -> tuple[list[Index], list[int | None]]:
    """For each dimension the minimum (over the outer loops) and the constant extent of the accesses of one
    iteration.
    """
    relation: isl.Map | None = None
    mins, extents = _full_box(buffer)
    depth = len(outer)
    for part in reach:
        part = part.project_out(dim_type.in_, depth, part.dim(dim_type.in_) - depth)
        relation = part if relation is None else relation.union(part)
    assert relation is not None
    for d in range(buffer.rank):
        low, extent = _bounds(relation, d, outer, buffer)
        size = buffer.shape[d]
        moves = buffer.scope == "local" and extent == size and bool(low.values)  # registers have constant indices
        if extent is not None and (size is None or extent < size or moves):
            mins[d], extents[d] = low, extent
    return mins, extents


def _bounds(relation: isl.Map, d: int, outer: Sequence[ir.Value], buffer: Buffer) -> tuple[Index, int | None]:
    """The best affine lower bound of dimension `d` with a constant extent."""
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
            low = isl_exprs.to_index(
                aff.add_constant_val(isl.Val(ends[0])), outer, symbols_by_name(owner_op(buffer.value))
            )
            best = (low.simplify(), extent)
    return best


def _apply(value: ir.Value, plan: CompactionPlan) -> None:
    """Create the buffer at its new position and size, and redirect its users."""
    old = value.owner.operation
    type_ = ir.MemRefType(value.type)
    operands = iter(list(old.operands))
    shape, sizes = [], []
    for d, extent in enumerate(plan.extents):
        size = next(operands) if type_.is_dynamic_dim(d) else None
        if extent is None and size is not None:
            sizes.append(size)
        shape.append(type_.shape[d] if extent is None else extent)
    spot = ir.InsertionPoint.at_block_begin(plan.scope) if plan.scope is not None else ir.InsertionPoint(old)
    attributes = {n: old.attributes[n] for n in old.attributes}
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(sizes), 0])
    new_type = ir.MemRefType.get(shape, type_.element_type, memory_space=type_.memory_space)
    with spot:
        new = ir.Operation.create("memref.alloc", [new_type], sizes, attributes, loc=old.location)
    reindex(value, new.results[0], plan.mins)
    old.erase()


DYNAMIC = ir.ShapedType.get_dynamic_size()


def can_reindex(buffer: ir.Value) -> bool:
    """Whether every user supports a change of shape: affine accesses, views, and pointers to views."""
    for use in buffer.uses:
        user = use.owner.operation
        if not isa(user, AffineElementAccessOp, SubviewOp):
            return False
        if isa(user, SubviewOp) and not _can_retype(user):
            return False
    return True


def _can_retype(view: ir.Operation) -> bool:
    """Whether the users of a view support any strides."""
    if any(s == DYNAMIC for s in attrs.integers(view, "static_strides")):
        return False
    if _kept_source_dims(view) is None:
        return False
    for use in view.results[0].uses:
        user = use.owner.operation
        if not isa(user, AffineAccessOp, ComputedAccessOp, PointerOp, SubviewOp, DimOp):
            return False
        if isa(user, SubviewOp) and not _can_retype(user):
            return False
    return True


def _kept_source_dims(view: ir.Operation) -> list[int] | None:
    """The dimensions of the source that a view keeps; None if ambiguous."""
    return kept_dims(ir.MemRefType(view.results[0].type).shape, attrs.integers(view, "static_sizes"))


def reindex(old: ir.Value, new: ir.Value, mins: Sequence[Index]) -> None:
    """Redirect every user of `old` to `new`, with indices shifted by `mins`.

    Requires `can_reindex`, or equal types and shifts of 0.
    """
    if old.type == new.type and all(low.as_constant() == 0 for low in mins):
        old.replace_all_uses_with(new)
        return
    for user in dict.fromkeys(use.owner.operation for use in old.uses):
        if isa(user, SubviewOp):
            _shift_view(user, new, mins)
        else:
            _shift_access(user, new, mins)


def _shift_access(op: ir.Operation, new: ir.Value, mins: Sequence[Index]) -> None:
    shorten = Simplifier(op, {})
    indices = [shorten(i - low) for i, low in zip(walk.access_indices(op), mins, strict=True)]
    map_, operands = emit_map(indices)
    value = stored_value(op)
    edit.rebuild(op, [*([] if value is None else [value]), new, *operands], {"map": ir.AffineMapAttr.get(map_)})


def _shift_view(view: ir.Operation, new: ir.Value, mins: Sequence[Index]) -> None:
    """The same view of the smaller buffer; offsets that became constant are static in its type."""
    segments = attrs.integers(view, "operandSegmentSizes")
    operands = list(view.operands)[1:]
    dynamic, other_operands = iter(operands[: segments[1]]), operands[segments[1] :]
    shorten = Simplifier(view, {})
    static, values = [], []
    with ir.InsertionPoint(view), view.location:
        for offset, low in zip(attrs.integers(view, "static_offsets"), mins, strict=True):
            index = Index.constant(offset) if offset != DYNAMIC else read_value(next(dynamic))
            index = shorten(index - low)
            number = index.as_constant()
            static.append(DYNAMIC if number is None else number)
            if number is None:
                values.append(apply(index))
        changes = {
            "static_offsets": ir.DenseI64ArrayAttr.get(static),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, len(values), *segments[2:]]),
        }
        attributes = {n: view.attributes[n] for n in view.attributes} | changes
        type_ = _view_type(view, ir.MemRefType(new.type), static)
        shifted = ir.Operation.create("memref.subview", [type_], [new, *values, *other_operands], attributes)
    _retype(view.results[0], shifted.results[0])
    edit.erase(view)


def _view_type(view: ir.Operation, source: ir.MemRefType, offsets: Sequence[int]) -> ir.MemRefType:
    """The type of a view of `source` with these static (or DYNAMIC) offsets."""
    old = ir.MemRefType(view.results[0].type)
    strides, start = source.get_strides_and_offset()
    static = start != DYNAMIC and all(o != DYNAMIC and s != DYNAMIC for o, s in zip(offsets, strides, strict=True))
    offset = start + sum(o * s for o, s in zip(offsets, strides, strict=True)) if static else DYNAMIC
    factors = attrs.integers(view, "static_strides")
    steps = [DYNAMIC if s == DYNAMIC else s * t for s, t in zip(strides, factors, strict=True)]
    steps = [steps[d] for d in _kept_source_dims(view) or []]
    return ir.MemRefType.get(old.shape, old.element_type, ir.StridedLayoutAttr.get(offset, steps), source.memory_space)


def _retype(old: ir.Value, new: ir.Value) -> None:
    """Replace a view by its successor of another type; nested views follow."""
    users = dict.fromkeys(use.owner.operation for use in old.uses)
    old.replace_all_uses_with(new)
    for user in users:
        if isa(user, SubviewOp):
            type_ = _view_type(user, ir.MemRefType(new.type), attrs.integers(user, "static_offsets"))
            user.results[0].set_type(type_)
            _retype_below(user)


def _retype_below(view: ir.Operation) -> None:
    for use in view.results[0].uses:
        if isa(use.owner, SubviewOp):
            user = use.owner.operation
            type_ = _view_type(user, ir.MemRefType(view.results[0].type), attrs.integers(user, "static_offsets"))
            user.results[0].set_type(type_)
            _retype_below(user)


def view_box(view: ir.Operation) -> tuple[list[Index], list[Index]]:
    """Offsets and extents (in elements of the source) of all elements that a view can access. Requires static
    strides.
    """
    segments = attrs.integers(view, "operandSegmentSizes")
    operands = list(view.operands)[1:]
    offsets, sizes = iter(operands[: segments[1]]), iter(operands[segments[1] : segments[1] + segments[2]])
    mins = [
        Index.constant(n) if n != DYNAMIC else read_value(next(offsets)) for n in attrs.integers(view, "static_offsets")
    ]
    extents = [
        Index.constant(n) if n != DYNAMIC else read_value(next(sizes)) for n in attrs.integers(view, "static_sizes")
    ]
    strides = attrs.integers(view, "static_strides")
    return mins, [(e - 1) * s + 1 for e, s in zip(extents, strides, strict=True)]


# --- whether a buffer is used whole, by a look at the loops around its accesses: most buffers between nests are ------


def is_used_whole(value: ir.Value) -> bool:
    """Whether accesses to elements reach from end to end of each dimension, and no loop is around all of them, so that
    the buffer can neither move nor shrink. False if that is not plain to see."""
    users = [use.owner.operation for use in value.uses]
    if not users or any(not isa(op, AffineElementAccessOp) for op in users) or common_loops(users):
        return False
    shape = Buffer(value).shape
    return all(size is not None and any(_spans(op, d, size) for op in users) for d, size in enumerate(shape))


def _spans(op: ir.Operation, d: int, size: int) -> bool:
    """Whether an access runs for all indices of a dimension."""
    (access,) = accesses_of_op(op)
    variable = access.mins[d].is_value()
    enclosing = walk.parents(op)[:-1]  # without the function
    if variable is None or not all(is_loop(p) and _length(p) for p in enclosing):
        return False
    return any(Loop(p).var == variable and _length(p) == size for p in enclosing)


def _length(loop: ir.Operation) -> int:
    """The number of iterations of a loop from 0 to a constant; 0 for others."""
    lowers, uppers = Loop(loop).lowers, Loop(loop).uppers
    if len(lowers) != 1 or len(uppers) != 1 or lowers[0].as_constant() != 0:
        return 0
    return max(uppers[0].as_constant() or 0, 0)
