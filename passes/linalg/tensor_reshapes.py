"""`tensor.reshape` to sizes that the program computes, as collapse_shape and expand_shape."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith, tensor

from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ir.lowering_op_views import TensorFromElementsOp, TensorReshapeOp
from tir_mlir.dialect.ir.op_views import defining_op, isa


def rewrite_tensor_reshapes(module: ir.Module) -> None:
    """Replace each reshape whose shape is given by numbers or single values, in place.

        %s = tensor.from_elements %n, %c4        tensor.expand_shape %x [[0, 1]] output_shape [%n, 4]
        tensor.reshape %x(%s)              -->   (after tensor.collapse_shape to one axis, if %x has several)

    One whose shape is made otherwise remains, and is refused later.
    """
    for reshape in walk.views_in(module.operation, TensorReshapeOp):
        op, source, shape = reshape.op, reshape.source, reshape.shape
        sizes = _sizes(shape, ir.RankedTensorType(op.results[0].type), op)
        if sizes is None:
            continue
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(emit_reshape(source, ir.RankedTensorType(op.results[0].type), sizes))
        op.erase()
        if not any(True for _ in shape.uses) and not isinstance(shape.owner, ir.Block):
            shape.owner.operation.erase()


def _sizes(shape: ir.Value, result: ir.RankedTensorType, op: ir.Operation) -> list[ir.Value] | None:
    """The sizes of the dynamic dimensions of the result; None if they are no single values."""
    unknown = [d for d in range(result.rank) if result.is_dynamic_dim(d)]
    if not unknown:
        return []
    owner = defining_op(shape)
    if owner is None or not isa(owner, TensorFromElementsOp):
        return None
    values = [list(owner.operands)[d] for d in unknown]
    with ir.InsertionPoint(op), op.location:
        index = ir.IndexType.get()
        return [v if isinstance(v.type, ir.IndexType) else arith.index_cast(index, v) for v in values]


def emit_reshape(source: ir.Value, result_type: ir.RankedTensorType, sizes: Sequence[ir.Value]) -> ir.Value:
    """A tensor in another shape, at the insertion point. sizes: of its dynamic dimensions."""
    type_ = ir.RankedTensorType(source.type)
    unknown = ir.ShapedType.get_dynamic_size()
    if type_.rank > 1:
        count = unknown if not type_.has_static_shape else _product(type_.shape)
        flat = ir.RankedTensorType.get([count], type_.element_type)
        source = tensor.collapse_shape(flat, source, [list(range(type_.rank))])
    if result_type.rank == 0:
        return tensor.collapse_shape(result_type, source, [])
    if result_type.rank == 1 and type_.rank > 0:
        return source if source.type == result_type else tensor.cast(result_type, source)
    groups = [list(range(result_type.rank))] if type_.rank else []
    static = [
        unknown if result_type.is_dynamic_dim(d) else result_type.get_dim_size(d) for d in range(result_type.rank)
    ]
    return tensor.expand_shape(result_type, source, groups, list(sizes), static)


def _product(shape: Sequence[int]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product
