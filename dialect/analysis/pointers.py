"""Access pointers: the buffer and the first element that one points to, and the elements that it declares to access."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Index, attrs, constant_integer, dtypes, is_block, is_loop, read_apply
from tir_mlir.dialect.ir.op_views import (
    AddIOp,
    AlignedPointerOp,
    ApplyOp,
    IndexCastSIOp,
    IntToPtrOp,
    MulIOp,
    StridedMetadataOp,
    SubviewOp,
    TypedOp,
    ViewLikeOp,
    defining_op,
    isa,
)
from tir_mlir.dialect.presburger import fold_index, intervals


def pointee(op: ir.Operation) -> ir.Value | None:
    """The memref that an access pointer points into."""
    current = op
    while not isa(current, AlignedPointerOp):
        if not len(current.operands):
            return None
        value = current.operands[0]
        if isinstance(value.owner, ir.Block):
            return None
        current = value.owner.operation
    return AlignedPointerOp(current).source


def address(op: ir.Operation) -> tuple[Buffer, ir.Value] | None:
    """The buffer and the start (in elements) of a pointer `base + start * bytes`; None for any other."""
    for number in _operands(IntToPtrOp(op).address, IndexCastSIOp):
        for base, scaled in _pairs(_operands(number, AddIOp)):
            for source in _operands(base, AlignedPointerOp):
                for start, width in _pairs(_operands(scaled, MulIOp)):
                    if constant_integer(width) == dtypes.bits(Buffer(source).dtype) // 8:
                        return Buffer(source), start
    return None


def base_of(op: ir.Operation) -> ir.Value | None:
    """The memref whose base a pointer is (`A.data`)."""
    bases = [s for n in _operands(IntToPtrOp(op).address, IndexCastSIOp) for s in _operands(n, AlignedPointerOp)]
    return bases[0] if bases else None


def extra_offset(start: ir.Value, buffer: Buffer) -> ir.Value | None:
    """x of `elem_offset + x`."""
    for base, extra in _pairs(_operands(start, AddIOp)):
        if _operands(base, StridedMetadataOp) == [buffer.value]:
            return extra
    return None


def declared_count(op: ir.Operation) -> int | None:
    """The number of elements that a pointer accesses, if `access_ptr(extent=)` gives one."""
    return attrs.get(op, attrs.COUNT)


def window(op: ir.Operation) -> tuple[list[Index], list[Index]] | None:
    """Mins and extents of the elements that a pointer with a declared extent accesses.

    None without an extent, if it is not a box of the buffer, or if the buffer is not stored row by row.
    """
    count, pointed_at = declared_count(op), address(op)
    if count is None or pointed_at is None:
        return None
    buffer, start = pointed_at
    extra = extra_offset(start, buffer)
    offset = _index(start if extra is None else extra)
    if extra is None and _operands(start, StridedMetadataOp) == [buffer.value]:
        offset = Index.constant(0)
    shape = [n for n in buffer.shape if n is not None]
    if offset is None or len(shape) != buffer.rank or buffer.is_view:
        return None
    return _box(offset, count, shape, intervals.enclosing_ranges(op))


def _box(
    offset: Index, count: int, shape: Sequence[int], ranges: intervals.ValueRanges
) -> tuple[list[Index], list[Index]] | None:
    """`count` elements from the linear `offset` on, as a box: full inner axes, a part of one, a point of the others."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    fits = (d for d, (n, s) in enumerate(zip(shape, strides, strict=False)) if count % s == 0 and count // s <= n)
    axis = next(fits, None)
    if axis is None or (offset % strides[axis]).simplify().as_constant() != 0:
        return None
    mins, part = [], count // strides[axis]
    for d, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        coordinate = offset // stride % size if d else offset // stride
        mins.append(fold_index(coordinate.simplify(), ranges) if d <= axis else Index.constant(0))
    last = intervals.interval(mins[axis], ranges)[1]
    if axis and (last is None or last + part > shape[axis]):
        return None
    return mins, [Index.constant(1 if d < axis else part if d == axis else n) for d, n in enumerate(shape)]


def _index(value: ir.Value) -> Index | None:
    """A value as an affine expression; None if it is computed otherwise."""
    if (number := constant_integer(value)) is not None:
        return Index.constant(number)
    owner = value.owner
    if isinstance(owner, ir.Block):
        return Index.from_value(value) if is_loop(owner.owner) or is_block(owner.owner) else None
    return read_apply(value) if isa(owner, ApplyOp) else None


def _operands(value: ir.Value, kind: type[TypedOp]) -> list[ir.Value]:
    """The operands of the defining op of a value if it has this class, else []."""
    op = defining_op(value, kind)
    return [] if op is None else op.operands


def _pairs(operands: list[ir.Value]) -> list[tuple[ir.Value, ir.Value]]:
    """Two operands in either order."""
    return [] if len(operands) != 2 else [(operands[0], operands[1]), (operands[1], operands[0])]


def has_fixed_pointer(buffer: Buffer, axis: int | None) -> bool:
    """Whether a call gets a pointer into a buffer, or into a view of it, and nothing is computed from the strides
    there. axis: a view that takes one index of it and of all dimensions outside keeps its strides; None: none does.
    """
    users = [use.owner.operation for use in buffer.value.uses]
    first = 2 + buffer.rank  # after base, offset and sizes
    strides = [v for o in users if isa(o, StridedMetadataOp) for v in list(o.results)[first:]]
    pointed = any(isa(o, AlignedPointerOp) for o in users)
    views = [o for o in users if isa(o, ViewLikeOp) and not _is_within_row(o, axis)]
    fixed = pointed and not any(True for v in strides for _ in v.uses)
    return fixed or any(has_fixed_pointer(Buffer(v.results[0]), None) for v in views)


def _is_within_row(view: ir.Operation, axis: int | None) -> bool:
    if axis is None or not isa(view, SubviewOp):
        return False
    return all(size == 1 for size in list(ir.DenseI64ArrayAttr(view.attributes["static_sizes"]))[: axis + 1])
