"""Change the type of a memref and of everything derived from it (views, casts, metadata)."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import kept_dims
from tir_mlir.dialect.ir import attrs, edit
from tir_mlir.dialect.ir.op_traits import ACCESSES, NEUTRAL, POINTERS, RETYPED
from tir_mlir.passes.schedule.registry import refuse

DYNAMIC = ir.ShapedType.get_dynamic_stride_or_offset()
_TYPE_AGNOSTIC = ACCESSES | NEUTRAL | POINTERS


def check_retypable(users: list[ir.Operation]) -> None:
    """Refuse when a user of a memref fixes its type, such as a call that takes the buffer itself."""
    for user in users:
        if user.name in RETYPED:
            check_retypable([u.owner.operation for u in user.results[0].uses])
        elif user.name not in _TYPE_AGNOSTIC:
            what = attrs.get(user, "callee", user.name)
            refuse(
                user,
                f"the whole buffer is passed to {what}, whose signature fixes its scope; pass an access "
                "pointer instead",
            )


def retype(value: ir.Value, type_: ir.MemRefType) -> None:
    """Set the type of a memref and propagate it to all views of it."""
    edit.retype(value, type_)
    for use in list(value.uses):
        propagate_type(use.owner.operation)


def propagate_type(user: ir.Operation) -> None:
    """Update the result type of a view from the type of its source."""
    if user.name not in RETYPED:
        return
    result = user.results[0]
    source, old = ir.MemRefType(user.operands[0].type), ir.MemRefType(result.type)
    layout = _subview_layout(user, source, old) if user.name == "memref.subview" else old.layout
    retype(result, ir.MemRefType.get(old.shape, old.element_type, layout, source.memory_space))


def with_scope(type_: ir.MemRefType, scope: str) -> ir.MemRefType:
    """The same memref type in another scope."""
    space = None if scope == "global" else ir.StringAttr.get(scope)
    return ir.MemRefType.get(type_.shape, type_.element_type, type_.layout, space)


def _subview_layout(op: ir.Operation, source: ir.MemRefType, old: ir.MemRefType) -> ir.Attribute:
    """The layout MLIR infers for a subview: strides multiply, offsets add up; unknown if any part is unknown."""
    strides, offset = source.get_strides_and_offset()
    offsets, sizes, steps = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"static_{k}"])) for k in ("offsets", "sizes", "strides")
    )
    inner = [DYNAMIC if DYNAMIC in (s, t) else s * t for s, t in zip(strides, steps, strict=True)]
    total = offset
    for part, stride in zip(offsets, strides, strict=True):
        total = DYNAMIC if DYNAMIC in (total, part, stride) and part != 0 or total == DYNAMIC else total + part * stride
    dims = kept_dims(old.shape, sizes) or []
    return ir.StridedLayoutAttr.get(total, [inner[d] for d in dims])
