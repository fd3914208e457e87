"""Buffers of symbolic size as arguments of kernels: a pointer, and the size with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Index, apply
from tir_mlir.passes.lower.gpu.outline.kernel_memory import device_type
from tir_mlir.passes.lower.op_attrs import is_row_major

DYNAMIC = ir.ShapedType.get_dynamic_size()
DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()


def has_constant_size(type_: ir.Type) -> bool:
    """Whether a type is not a memref, or one whose shape and strides are constants."""
    if not isinstance(type_, ir.MemRefType):
        return True
    strides, offset = type_.get_strides_and_offset()
    return type_.has_static_shape and DYNAMIC_STRIDE not in (*strides, offset)


def pointer_type(type_: ir.Type) -> ir.Type:
    """The type of the argument for a memref: its own, or that of its first element if the size is not constant."""
    if has_constant_size(type_):
        return type_
    memref = ir.MemRefType(type_)
    return ir.MemRefType.get([], memref.element_type, memory_space=memref.memory_space)


def pointer_of(value: ir.Value) -> ir.Value:
    """What a launch passes for a buffer, or for a size."""
    if has_constant_size(value.type):
        return value
    return _reinterpret_cast(value, pointer_type(value.type), [], [])


def buffer_at(value: ir.Value, arguments: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """In a kernel, the buffer behind its argument. `arguments`: those for the values of the function. Raises
    LoweringError for strides that only the call knows."""
    if has_constant_size(value.type):
        return arguments[value]
    buffer = Buffer(value)
    fixed = buffer.type.get_strides_and_offset()[0]
    if not is_row_major(buffer.type) and DYNAMIC_STRIDE in fixed:
        raise LoweringError(
            f'buffer "{buffer.name}" has strides that only a call knows ({buffer.type}); fix: declare it row-major, '
            "or with constant strides"
        )
    sizes = [apply(size.substitute({v: Index.from_value(arguments[v]) for v in size.values})) for size in buffer.dims]
    strides = [arith.constant(ir.IndexType.get(), 1)]
    for size in sizes[:0:-1]:
        strides.insert(0, arith.muli(strides[0], size))
    return _reinterpret_cast(arguments[value], device_type(value.type), sizes, strides)


def _reinterpret_cast(
    source: ir.Value, type_: ir.Type, sizes: Sequence[ir.Value], strides: Sequence[ir.Value]
) -> ir.Value:
    """The memory behind a buffer as one of another shape."""
    memref = ir.MemRefType(type_)
    static_strides, _ = memref.get_strides_and_offset()
    dynamic_sizes = [v for n, v in enumerate(sizes) if memref.is_dynamic_dim(n)]
    dynamic_strides = [v for v, stride in zip(strides, static_strides, strict=True) if stride == DYNAMIC_STRIDE]
    facts = {
        "static_offsets": ir.DenseI64ArrayAttr.get([0]),
        "static_sizes": ir.DenseI64ArrayAttr.get(memref.shape),
        "static_strides": ir.DenseI64ArrayAttr.get(static_strides),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(dynamic_sizes), len(dynamic_strides)]),
    }
    operands = [source, *dynamic_sizes, *dynamic_strides]
    return ir.Operation.create("memref.reinterpret_cast", [memref], operands, facts).results[0]
