"""Attributes of buffers (`A.data`, `A.strides[0]`), regions, access pointers, and calls of C functions."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith, llvm, memref

from tir_mlir.dialect.ir import Index, attrs, create, dtypes
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.script.language.markers import DType
from tir_mlir.script.language.words import ACCESS_MASKS, MATRIX_CALLS
from tir_mlir.script.parser import arithmetic
from tir_mlir.script.parser.items import (
    BufferProperty,
    BufferRef,
    Const,
    PointerValue,
    Ramp,
    RegionRef,
    ScriptValue,
    Slice,
    as_const,
    as_index,
    describe,
    dtype_of,
    is_expr,
    mlir_type,
)
from tir_mlir.script.parser.source import ParseError


def attribute(buffer: BufferRef, name: str) -> object:
    """`buffer.name` in a program."""
    if name == "elem_offset":
        return BufferProperty(buffer, name, lambda: ScriptValue(list(metadata(buffer).operation.results)[1], "int32"))
    if name in ("data", "strides"):
        return BufferProperty(buffer, name)
    if name == "shape":
        return tuple(buffer.shape)
    if name == "dtype":
        return buffer.dtype
    if name == "name":
        return buffer.name
    if name in ("access_ptr", "scope", "vload", "vstore"):
        return BufferMethod(buffer, name)
    raise ParseError(
        f"a buffer has no {name}; it has access_ptr, data, elem_offset, strides, shape, dtype, scope(), vload, vstore"
    )


class BufferMethod:
    """`A.access_ptr` or `A.scope`, before the call."""

    def __init__(self, buffer: BufferRef, name: str):
        self.buffer = buffer
        self.name = name


def stride(item: BufferProperty, key: object) -> object:
    """`A.strides[0]`, from the metadata op of the buffer."""
    axis = as_const(key)
    if item.what != "strides" or axis is None or not -item.buffer.rank <= axis < item.buffer.rank:
        raise ParseError(f"{describe(item)} is indexed by an axis of the buffer, 0 to {item.buffer.rank - 1}")
    buffer = item.buffer
    values = buffer.stride_values or _strides(metadata(buffer), buffer.rank)
    value = values[axis]
    return ScriptValue(value, "int32") if not _is_top(value) else Index.from_value(value)


def _is_top(value: ir.Value) -> bool:
    """Whether a value is defined at the top level of the function, so that it is a valid affine symbol."""
    owner = value.owner
    parent = None if isinstance(owner, ir.Block) else owner.parent
    return parent is not None and isa(parent, FuncOp)


def metadata(buffer: BufferRef) -> ir.OpView:
    """The `memref.extract_strided_metadata` of a buffer: the one that binds its strides, or a new one here."""
    return buffer.metadata if buffer.metadata is not None else memref.ExtractStridedMetadataOp(buffer.ssa)


def _strides(op: ir.OpView, rank: int) -> Sequence[ir.Value]:
    return list(op.operation.results)[2 + rank :]


def region(buffer: BufferRef, items: Sequence[object], widen: bool = False) -> RegionRef:
    """The region that subscripts with slices and single indices select. `widen`: all of an axis where an index is not
    affine, which else is an error."""
    items = [] if list(items) == [()] else items
    if len(items) != buffer.rank:
        raise ParseError(f"buffer {buffer.name} has {buffer.rank} axes but its region has {len(items)}")
    mins, extents = [], []
    for item, size in zip(items, buffer.shape, strict=True):
        if isinstance(item, Ramp) or (isinstance(item, Slice) and item.step is not None):
            raise ParseError("a region has no step")
        begin, end = (item.begin, item.end) if isinstance(item, Slice) else (item, None)
        first = Index.constant(0) if begin is None else _affine(begin, widen)
        last = size if end is None else _affine(end, widen)
        if first is None or last is None:
            first, last = Index.constant(0), size
        elif not isinstance(item, Slice):
            last = first + 1
        mins.append(first)
        extents.append((last - first).simplify())
    return RegionRef(buffer, mins, extents)


def _affine(item: object, widen: bool) -> Index | None:
    """A bound of a region as an affine expression; with `widen`, None for a computed integer."""
    index = as_index(item)
    if index is not None:
        return index
    if not is_expr(item) or dtype_of(item) == "bool" or dtypes.is_float(dtype_of(item)):
        raise ParseError(f"a region is bounded by integers, not {describe(item)}")
    if not widen:
        raise ParseError(f"this region is bounded by affine expressions, not {describe(item)}")
    return None


def python_value(item: object, what: str) -> object:
    """The parse-time value of an item, for names, attributes and annotations."""
    if isinstance(item, Const):
        return item.value
    if isinstance(item, Index) and (number := item.as_constant()) is not None:
        return number
    if isinstance(item, dict):
        return {python_value(k, what): python_value(v, what) for k, v in item.items()}
    if isinstance(item, (list, tuple)):
        return type(item)(python_value(v, what) for v in item)
    if isinstance(item, DType):
        return item.dtype
    if is_expr(item) or isinstance(item, BufferRef | RegionRef | BufferProperty | PointerValue | Slice):
        raise ParseError(f"{what} must be known when the program is parsed; this is {describe(item)}")
    return item


# ---- access pointers


def access_ptr(buffer: BufferRef, mask: object, offset: object = 0, extent: object = None) -> PointerValue:
    """A pointer to the first element of the buffer plus `offset` elements, tagged with its access mode.

    A constant `extent` is the number of elements that it accesses; without one it may access all of the buffer.
    """
    text = ACCESS_MASKS.get(mask) if isinstance(mask, int) else mask
    if not isinstance(text, str) or text not in ACCESS_MASKS.values():
        raise ParseError(f'an access pointer is for "r", "w" or "rw" (1, 2, 3), not {mask!r}')
    base = memref.ExtractAlignedPointerAsIndexOp(buffer.ssa).result
    start = list(metadata(buffer).operation.results)[1]
    if as_const(offset) != 0:
        extra = arithmetic.to_index(offset)
        start = arith.addi(start, create.apply(extra) if isinstance(extra, Index) else extra)
    pointer = _pointer(base, start, buffer, text)
    count = as_const(extent)
    if count is not None:
        if count < 0:
            raise ParseError(f"the extent of an access pointer is a number of elements, not {count}")
        pointer.ssa.owner.attributes[attrs.COUNT] = attrs.to_attr(count)
    return pointer


def _pointer(base: ir.Value, start: ir.Value, buffer: BufferRef, mask: str) -> PointerValue:
    width = arith.constant(ir.IndexType.get(), dtypes.bits(buffer.dtype) // 8)
    address = arith.addi(base, arith.muli(start, width))
    number = arith.index_cast(ir.IntegerType.get_signless(64), address)
    result = llvm.inttoptr(mlir_type("handle"), number)
    result.owner.attributes[attrs.ACCESS] = ir.StringAttr.get(mask)
    return PointerValue(result)


def tvm_access_ptr(data: object, offset: object, mask: object) -> PointerValue:
    """`T.tvm_access_ptr(type, A.data, A.elem_offset, extent, mask)`: the printed form of `A.access_ptr(mask)`."""
    if not (isinstance(data, BufferProperty) and data.what == "data"):
        raise ParseError(f"the data of an access pointer is A.data for a buffer A, not {describe(data)}")
    buffer = data.buffer
    if isinstance(offset, BufferProperty):
        if offset.what != "elem_offset" or offset.buffer is not buffer:
            expected = f"{buffer.name}.elem_offset"
            raise ParseError(f"the offset of a pointer to {buffer.name} is {expected}, not {describe(offset)}")
        return access_ptr(buffer, mask)
    text = ACCESS_MASKS.get(mask) if isinstance(mask, int) else mask
    if not isinstance(text, str) or text not in ACCESS_MASKS.values():
        raise ParseError(f"the mask of an access pointer is 1 (reads), 2 (writes) or 3 (both), not {mask!r}")
    base = memref.ExtractAlignedPointerAsIndexOp(buffer.ssa).result
    start = arithmetic.to_index(offset)
    return _pointer(base, create.apply(start) if isinstance(start, Index) else start, buffer, text)  # type: ignore[arg-type]


def call_extern(module: ir.Module, name: str, args: Sequence[object], dtype: str, as_op: bool = False) -> object:
    """Create `func.call @name(args)`. The first call declares the function; later calls must have the same type.

    Returns its result; with `as_op` the op.
    """
    values = [_argument(a) for a in args]
    results = [] if dtype in ("void", "") else [mlir_type(dtype)]
    _declare(module, name, [v.type for v in values], results)
    op = ir.Operation.create(
        "func.call", results=results, operands=values, attributes={"callee": ir.FlatSymbolRefAttr.get(name)}
    )
    if as_op or not results:
        return op if as_op else None
    return PointerValue(op.results[0]) if dtype == "handle" else arithmetic.make_value(op.results[0], dtype)


def matrix_call(module: ir.Module, name: str, items: dict[str, object]) -> None:
    """A call of a matrix function, `func.call @tvm_mma_sync`; its layout is the attribute `tir.layout`."""
    layout = items.pop("layout", None)
    for key, mode in MATRIX_CALLS[name].items():
        data = items[key]
        if not isinstance(data, BufferProperty) or data.what != "data":
            raise ParseError(f"T.{name} takes a fragment as F.data, not {describe(data)}")
        items[key] = PointerValue(_base(data.buffer, mode))
    if "value" in items:
        items["value"] = arithmetic.cast(items["value"], "float32")
    call = call_extern(module, name, list(items.values()), "void", as_op=True)
    assert isinstance(call, ir.Operation)
    if layout is not None:
        call.attributes[attrs.LAYOUT] = ir.StringAttr.get(str(python_value(layout, "the layout")))


def _argument(item: object) -> ir.Value:
    if isinstance(item, PointerValue):
        return item.ssa
    if isinstance(item, BufferProperty) and item.what == "data":
        return _base(item.buffer)
    if isinstance(item, BufferRef):
        raise ParseError(
            f'a C function takes a pointer: {item.name}.access_ptr("r"), "w" or "rw", not the buffer itself'
        )
    item = arithmetic.as_expr(item, "a pointer or a number")
    if dtypes.lanes(dtype_of(item)) > 1:
        raise ParseError(f"a C function takes pointers and numbers, not {describe(item)}: store it to a buffer")
    return arithmetic.to_value(item, dtype_of(item))


def _base(buffer: BufferRef, mode: str = "rw") -> ir.Value:
    """`A.data`: the pointer from which `A.elem_offset` counts."""
    base = memref.ExtractAlignedPointerAsIndexOp(buffer.ssa).result
    result = llvm.inttoptr(mlir_type("handle"), arith.index_cast(ir.IntegerType.get_signless(64), base))
    result.owner.attributes[attrs.ACCESS] = ir.StringAttr.get(mode)
    return result


def _declare(module: ir.Module, name: str, args: list[ir.Type], results: list[ir.Type]) -> None:
    call_type = ir.FunctionType.get(args, results)
    for op in module.body.operations:
        if isa(op.operation, FuncOp) and ir.StringAttr(op.attributes["sym_name"]).value == name:
            declared = ir.TypeAttr(op.attributes["function_type"]).value
            if declared != call_type:
                raise ParseError(f"{name} is called as {call_type} here but is {declared} in this module")
            return
    with ir.InsertionPoint(module.body):
        create.declare(name, args, results)
