"""Vector values: accesses of several elements, lanes, casts of bits. At the current insertion point and location."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlir import ir
from mlir.dialects import affine, vector

from tir_mlir.dialect.ir import attrs
from tir_mlir.dialect.ir.index import Index, emit_map
from tir_mlir.dialect.ir.lowering_op_views import ShapeCastOp
from tir_mlir.dialect.ir.memo import touch_here
from tir_mlir.dialect.ir.op_views import AffineVectorLoadOp, defining_op


def shape_of(value: ir.Value) -> list[int]:
    """The shape of a vector; [] of a scalar."""
    return list(ir.VectorType(value.type).shape) if isinstance(value.type, ir.VectorType) else []


def scalar_type(type_: ir.Type) -> ir.Type:
    """The type of the lanes of a vector; a scalar type itself."""
    return type_.element_type if isinstance(type_, ir.VectorType) else type_


def with_scalar_type(type_: ir.Type, scalar: ir.Type) -> ir.Type:
    """The type of a scalar, or of a vector with as many lanes, of another scalar type."""
    if isinstance(type_, ir.VectorType):
        return ir.VectorType.get(type_.shape, scalar, scalable=type_.scalable_dims)
    return scalar


def element_of(value: ir.Value) -> ir.Type:
    """The type of the lanes of a vector; of a scalar its own."""
    return scalar_type(value.type)


def box(shape: Sequence[int | None], indices: Sequence[Index], lanes: int) -> tuple[int, ...] | None:
    """The shape of a vector of `lanes` elements that follow each other in row-major order, from `indices` on.

    `(lanes,)` within a row, `(4, 16)` for four whole rows; None for a part of several rows.
    """
    inner: list[int] = []
    for size, index in zip(reversed(shape), reversed(indices), strict=True):
        if size is None or lanes <= size or len(inner) + 1 == len(shape):
            return (lanes, *inner)
        if lanes % size or index.simplify().as_constant() != 0:
            return (lanes, *inner) if not inner else None
        inner.insert(0, size)
        lanes //= size
    return None


def load(buffer: ir.Value, indices: Sequence[Index], shape: Sequence[int]) -> ir.Value:
    """The elements of a box of `shape` in the last dimensions as one vector of lanes, in row-major order."""
    touch_here()
    map_, operands = emit_map(indices)
    element = ir.MemRefType(buffer.type).element_type
    loaded = affine.vector_load(ir.VectorType.get(list(shape), element), buffer, operands, map_)
    return loaded if len(shape) == 1 else vector.shape_cast(ir.VectorType.get([prod(shape)], element), loaded)


def store(value: ir.Value, buffer: ir.Value, indices: Sequence[Index], shape: Sequence[int]) -> ir.Operation:
    """The inverse of `load`."""
    touch_here()
    map_, operands = emit_map(indices)
    if len(shape) > 1:
        value = vector.shape_cast(ir.VectorType.get(list(shape), element_of(value)), value)
    return affine.vector_store(value, buffer, operands, map_).operation


def broadcast(value: ir.Value, lanes: int) -> ir.Value:
    """A scalar in every lane."""
    return vector.broadcast(ir.VectorType.get([lanes], value.type), value)


def extract(value: ir.Value, lane: int) -> ir.Value:
    """The value of a lane."""
    return vector.extract(value, [], [lane])


def from_elements(values: Sequence[ir.Value]) -> ir.Value:
    """A vector of scalars."""
    return vector.from_elements(ir.VectorType.get([len(values)], values[0].type), list(values))


def bitcast(value: ir.Value, type_: ir.Type) -> ir.Value:
    """The bits of a scalar or vector as another scalar or vector of as many bits."""
    source = value if isinstance(value.type, ir.VectorType) else broadcast(value, 1)
    target = type_ if isinstance(type_, ir.VectorType) else ir.VectorType.get([1], type_)
    cast = vector.bitcast(target, source)
    return cast if isinstance(type_, ir.VectorType) else extract(cast, 0)


def mark(value: ir.Value, dtype: str) -> None:
    """Record the type of a value on its op."""
    value.owner.attributes[attrs.DTYPE] = ir.StringAttr.get(dtype)


def underlying_load(value: ir.Value) -> ir.Operation | None:
    """The vector load behind a value, whose lanes it may have reshaped; None for anything else."""
    if cast := defining_op(value, ShapeCastOp):
        value = cast.source
    load = defining_op(value, AffineVectorLoadOp)
    return None if load is None else load.op
