"""Turning all users of a buffer over to a smaller one that holds the same elements, shifted."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect import constants, walk
from tir_mlir.dialect.create import apply
from tir_mlir.dialect.index import Index, emit_map
from tir_mlir.dialect.subviews import kept_dims
from tir_mlir.passes.lower.blocks import Simplifier
from tir_mlir.passes.lower.facts import index_of, numbers

DYNAMIC = ir.ShapedType.get_dynamic_size()
POINTERS = ("memref.extract_aligned_pointer_as_index", "memref.extract_strided_metadata")


def can_reindex(buffer: ir.Value) -> bool:
    """Whether every user can follow a change of shape: affine accesses, views, and pointers taken of views."""
    for use in buffer.uses:
        name = use.owner.name
        if name not in ("affine.load", "affine.store", "memref.subview"):
            return False
        if name == "memref.subview" and not _can_retype(use.owner.operation):
            return False
    return True


def _can_retype(view: ir.Operation) -> bool:
    """Whether the users of a view take any strides."""
    if any(s == DYNAMIC for s in numbers(view, "static_strides")):
        return False
    if _kept(view) is None:
        return False
    for use in view.results[0].uses:
        name = use.owner.name
        if name not in (*walk.AFFINE_ACCESS, "memref.load", "memref.store", "memref.subview", *POINTERS, "memref.dim"):
            return False
        if name == "memref.subview" and not _can_retype(use.owner.operation):
            return False
    return True


def _kept(view: ir.Operation) -> list[int] | None:
    """The dimensions of the source that a view keeps; None where that is not clear."""
    return kept_dims(ir.MemRefType(view.results[0].type).shape, numbers(view, "static_sizes"))


def reindex(old: ir.Value, new: ir.Value, mins: Sequence[Index]) -> None:
    """Let every user of `old` use `new`, indices shifted by `mins`. Requires `can_reindex`, or equal types."""
    if old.type == new.type:
        old.replace_all_uses_with(new)
        return
    for user in dict.fromkeys(use.owner.operation for use in old.uses):
        if user.name == "memref.subview":
            _shift_view(user, new, mins)
        else:
            _shift_access(user, new, mins)


def _shift_access(op: ir.Operation, new: ir.Value, mins: Sequence[Index]) -> None:
    shorten = Simplifier(op, {})
    indices = [shorten(i - low) for i, low in zip(walk.access_indices(op), mins, strict=True)]
    map_, used = emit_map(indices)
    value = list(op.operands)[:1] if "store" in op.name else []
    constants.rebuild(op, [*value, new, *used], {"map": ir.AffineMapAttr.get(map_)})


def _shift_view(view: ir.Operation, new: ir.Value, mins: Sequence[Index]) -> None:
    """The same view of the smaller buffer; offsets that became constant are static in its type."""
    segments = numbers(view, "operandSegmentSizes")
    operands = list(view.operands)[1:]
    dynamic, rest = iter(operands[: segments[1]]), operands[segments[1] :]
    shorten = Simplifier(view, {})
    static, values = [], []
    with ir.InsertionPoint(view), view.location:
        for offset, low in zip(numbers(view, "static_offsets"), mins, strict=True):
            index = Index.constant(offset) if offset != DYNAMIC else index_of(next(dynamic))
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
        made = ir.Operation.create("memref.subview", [type_], [new, *values, *rest], attributes)
    _retype(view.results[0], made.results[0])
    constants.erase(view)


def _view_type(view: ir.Operation, source: ir.MemRefType, offsets: Sequence[int]) -> ir.MemRefType:
    """The type of a view of `source` with these static (or DYNAMIC) offsets."""
    old = ir.MemRefType(view.results[0].type)
    strides, start = source.get_strides_and_offset()
    known = start != DYNAMIC and all(o != DYNAMIC and s != DYNAMIC for o, s in zip(offsets, strides, strict=True))
    offset = start + sum(o * s for o, s in zip(offsets, strides, strict=True)) if known else DYNAMIC
    factors = numbers(view, "static_strides")
    steps = [DYNAMIC if s == DYNAMIC else s * t for s, t in zip(strides, factors, strict=True)]
    steps = [steps[d] for d in _kept(view) or []]
    return ir.MemRefType.get(old.shape, old.element_type, ir.StridedLayoutAttr.get(offset, steps), source.memory_space)


def _retype(old: ir.Value, new: ir.Value) -> None:
    """Turn users of a view over to its successor of another type; views of views follow."""
    users = dict.fromkeys(use.owner.operation for use in old.uses)
    old.replace_all_uses_with(new)
    for user in users:
        if user.name == "memref.subview":
            type_ = _view_type(user, ir.MemRefType(new.type), numbers(user, "static_offsets"))
            user.results[0].set_type(type_)
            _retype_below(user)


def _retype_below(view: ir.Operation) -> None:
    for use in view.results[0].uses:
        if use.owner.name == "memref.subview":
            user = use.owner.operation
            type_ = _view_type(user, ir.MemRefType(view.results[0].type), numbers(user, "static_offsets"))
            user.results[0].set_type(type_)
            _retype_below(user)


def view_box(view: ir.Operation) -> tuple[list[Index], list[Index]]:
    """Offsets and extents (in elements of the source) of all that a view can reach. Requires static strides."""
    segments = numbers(view, "operandSegmentSizes")
    operands = list(view.operands)[1:]
    offsets, sizes = iter(operands[: segments[1]]), iter(operands[segments[1] : segments[1] + segments[2]])
    mins = [Index.constant(n) if n != DYNAMIC else index_of(next(offsets)) for n in numbers(view, "static_offsets")]
    extents = [Index.constant(n) if n != DYNAMIC else index_of(next(sizes)) for n in numbers(view, "static_sizes")]
    strides = numbers(view, "static_strides")
    return mins, [(e - 1) * s + 1 for e, s in zip(extents, strides, strict=True)]
