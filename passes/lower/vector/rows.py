"""Lower vector accesses of programs: several rows at once, and lanes that are apart in memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod

from mlir import ir
from mlir.dialects import memref, vector

from tir_mlir.dialect.ir import Buffer, Index, create, edit, vectors, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineVectorAccessOp, AffineVectorLoadOp, AffineVectorStoreOp, StoreOp, isa
from tir_mlir.passes.lower.memory import strides
from tir_mlir.passes.lower.registry import Content, lowering, programs


@lowering(
    "tir-lower-rows",
    "Lower vector accesses of several rows, and of elements with gaps between them",
    works_on=Content(ops={*AffineVectorAccessOp.names}),
)
def run(module: ir.Module) -> None:
    """Make every vector access one of adjacent elements.

        %b = affine.vector_load %B[%i, 0]             %rows = memref.collapse_shape %B [[0, 1]]
               : memref<16x4xi8>, vector<16x4xi8> --> %b = affine.vector_load %rows[%i * 4] : vector<64xi8>

    Where the rows are apart (views, aligned buffers) each row is loaded; where elements are, each element. Requires
    final layouts, except those of aligned buffers.
    """
    for func in programs(module):
        for op in [o for o in walk.ops(func.op) if isa(o, AffineVectorAccessOp)]:
            with ir.InsertionPoint(op), op.location:
                _lower(op)


def _lower(op: ir.Operation) -> None:
    buffer = accessed_memref(op)
    value = op.results[0] if len(op.results) else StoreOp(op).value
    shape = list(vectors.shape_of(value))
    if not _are_elements_adjacent(buffer):
        _split_access(op, value, shape, [])
    elif len(shape) > 1 and _are_rows_adjacent(buffer, shape):
        _flat(op, value, shape)
    elif len(shape) > 1:
        _split_access(op, value, shape, shape[-1:])


def _are_elements_adjacent(buffer: ir.Value) -> bool:
    if strides.is_padded(buffer):
        root = Buffer(buffer).root.op
        assert root is not None
        return strides.strides_of(root)[-1] == 1
    return ir.MemRefType(buffer.type).get_strides_and_offset()[0][-1] == 1


def _are_rows_adjacent(buffer: ir.Value, shape: Sequence[int]) -> bool:
    """Whether the last dimensions, but the first of the access, are whole and without gaps."""
    if strides.is_padded(buffer):
        return False
    type_ = ir.MemRefType(buffer.type)
    steps = type_.get_strides_and_offset()[0][-len(shape) :]
    fills_rows = list(type_.shape)[-len(shape) + 1 :] == list(shape[1:])
    return fills_rows and all(a == b * n for a, b, n in zip(steps, steps[1:], shape[1:], strict=False))


def _flat(op: ir.Operation, value: ir.Value, shape: Sequence[int]) -> None:
    """One access of a view in which the rows are one."""
    buffer, indices = accessed_memref(op), walk.access_indices(op)
    type_ = ir.MemRefType(buffer.type)
    outer = type_.rank - len(shape)
    dynamic = ir.ShapedType.get_dynamic_size()
    first = type_.shape[outer]
    size = dynamic if first == dynamic else first * prod(shape[1:])
    layout = type_.layout
    if (strides_and_offset := type_.get_strides_and_offset()) and isinstance(layout, ir.StridedLayoutAttr):
        layout = ir.StridedLayoutAttr.get(strides_and_offset[1], [*strides_and_offset[0][:outer], 1])
        view_type = ir.MemRefType.get([*type_.shape[:outer], size], type_.element_type, layout, type_.memory_space)
    else:
        view_type = ir.MemRefType.get([*type_.shape[:outer], size], type_.element_type, memory_space=type_.memory_space)
    groups = [*([d] for d in range(outer)), list(range(outer, type_.rank))]
    view = memref.collapse_shape(view_type, buffer, groups)
    start = [*indices[:outer], indices[outer] * prod(shape[1:])]
    if isa(op, AffineVectorLoadOp):
        loaded = vectors.load(view, start, [prod(shape)])
        _replace(op, vector.shape_cast(value.type, loaded))
    else:
        flat = vector.shape_cast(ir.VectorType.get([prod(shape)], vectors.element_of(value)), value)
        vectors.store(flat, view, start, [prod(shape)])
        op.erase()


def _split_access(op: ir.Operation, value: ir.Value, shape: Sequence[int], row: Sequence[int]) -> None:
    """One access for each row (`row`: its shape) or element of the box."""
    buffer, indices = accessed_memref(op), walk.access_indices(op)
    points = list(itertools.product(*map(range, shape[: len(shape) - len(row)])))
    points_indices = [_point_indices(indices, point, len(shape)) for point in points]
    if isa(op, AffineVectorStoreOp):
        for point, indices_of_row in zip(points, points_indices, strict=True):
            part = vector.extract(value, [], list(point))
            vectors.store(part, buffer, indices_of_row, row) if row else create.store(part, buffer, indices_of_row)
        op.erase()
        return
    parts = [
        vectors.load(buffer, indices_of_row, row) if row else create.load(buffer, indices_of_row)
        for indices_of_row in points_indices
    ]
    if row:
        parts = [lane for part in parts for lane in _lanes(part)]
    _replace(op, vector.from_elements(value.type, parts))


def _lanes(part: ir.Value) -> list[ir.Value]:
    count = vectors.shape_of(part)[0]
    return list(ir.Operation.create("vector.to_elements", [vectors.element_of(part)] * count, [part]).results)


def _point_indices(indices: Sequence[Index], point: Sequence[int], rank: int) -> list[Index]:
    """The index of an element or row of the box."""
    moves = [0] * (len(indices) - rank) + list(point) + [0] * (rank - len(point))
    return [(i + m).simplify() for i, m in zip(indices, moves, strict=True)]


def _replace(op: ir.Operation, value: ir.Value) -> None:
    edit.replace_uses(op.results[0], value)
    op.erase()
