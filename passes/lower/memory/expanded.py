"""Lower views that split one dimension into several of unknown size."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ir.op_views import ExpandShapeOp, isa
from tir_mlir.passes.lower.registry import Content, lowering


@lowering(
    "tir-lower-expanded",
    "Lower memref.expand_shape to several unknown sizes",
    works_on=Content(ops={"memref.expand_shape"}),
)
def run(module: ir.Module) -> None:
    """Lower a view that expands one dimension to several of unknown size.

        %v = memref.expand_shape %x [[0, 1]] output_shape [%n, %m] : memref<?xf32> into memref<?x?xf32>
            -->
        %base, %offset, %size, %stride = memref.extract_strided_metadata %x
        %r = memref.reinterpret_cast %base to offset: [%offset], sizes: [%n, %m], strides: [%m * %stride, %stride]
        %v = memref.cast %r

    `expand-strided-metadata` aborts the process on such a view; it lowers those of one unknown size, which remain.
    """
    for op in walk.ops(module.operation):
        if isa(op, ExpandShapeOp) and _has_several_unknown_sizes(op):
            with ir.InsertionPoint(op), op.location:
                view = _view(op)
            op.results[0].replace_all_uses_with(view)
            op.erase()


def _groups(op: ir.Operation) -> list[list[int]]:
    """For each dimension of the source, those of the result that it is expanded to."""
    return [[ir.IntegerAttr(a).value for a in ir.ArrayAttr(group)] for group in op.attributes["reassociation"]]  # type: ignore[attr-defined]


def _has_several_unknown_sizes(op: ir.Operation) -> bool:
    shape, unknown = ir.MemRefType(op.results[0].type).shape, ir.ShapedType.get_dynamic_size()
    return any(sum(shape[d] == unknown for d in group) > 1 for group in _groups(op))


def _view(op: ir.Operation) -> ir.Value:
    source, result = ExpandShapeOp(op).source, ir.MemRefType(op.results[0].type)
    unknown, index = ir.ShapedType.get_dynamic_size(), ir.IndexType.get()
    computed = iter(list(op.operands)[1:])
    sizes = [next(computed) if n == unknown else arith.constant(index, n) for n in result.shape]
    rank = ir.MemRefType(source.type).rank
    base = ir.MemRefType.get([], result.element_type, memory_space=result.memory_space)
    metadata = ir.Operation.create("memref.extract_strided_metadata", [base, *[index] * (1 + 2 * rank)], [source])
    base_value, offset, *sizes_and_strides = metadata.results
    strides: list[ir.Value] = [offset] * result.rank
    for group, stride in zip(_groups(op), sizes_and_strides[rank:], strict=True):
        for dim in reversed(group):
            strides[dim] = stride
            stride = arith.muli(stride, sizes[dim])
    layout = ir.StridedLayoutAttr.get(unknown, [unknown] * result.rank)
    type_ = ir.MemRefType.get([unknown] * result.rank, result.element_type, layout, result.memory_space)
    every = [unknown] * result.rank
    view = memref.reinterpret_cast(type_, base_value, [offset], sizes, strides, [unknown], every, every)
    return memref.cast(result, view)
