"""Printing of vector values: slices and ramps, broadcasts, lanes, casts of bits, calls of intrinsics."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mlir import ir

from tir_mlir.dialect.constants.dense import splat_of
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Index, attrs, dtypes, llvm_intrinsics, signs, vectors, walk
from tir_mlir.dialect.ir.lowering_op_views import BroadcastOp, ExtractOp, ShapeCastOp, VectorBitcastOp
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, StoreOp, defining_op, isa
from tir_mlir.script.printer.expression_text import ADD, ExprText, binary, call, constant, quote

if TYPE_CHECKING:
    from tir_mlir.script.printer.expressions import ValuePrinter


def handlers(values: ValuePrinter) -> dict[str, Callable[[ir.Operation, ir.Value], ExprText]]:
    """The printers of ops by name."""
    return {
        "affine.vector_load": lambda op, value: _slice(values, op, vectors.shape_of(op.results[0])),
        "vector.shape_cast": lambda op, value: _reshaped_load(values, op),
        "vector.broadcast": lambda op, value: _broadcast(values, op),
        "vector.from_elements": lambda op, value: _from_elements(values, op),
        "vector.extract": lambda op, value: _extract(values, op),
        "vector.bitcast": lambda op, value: _bits(values, op, value),
        llvm_intrinsics.CALL: lambda op, value: _intrinsic(values, op),
    }


def target(values: ValuePrinter, op: ir.Operation) -> tuple[ExprText, ir.Value]:
    """The elements that a vector store writes, and the value as a list of lanes."""
    value = StoreOp(op).value
    shape = vectors.shape_of(value)
    if len(shape) > 1 and (cast := defining_op(value, ShapeCastOp)):
        value = cast.source
    return _slice(values, op, shape), value


def lane_stores(ops: Sequence[ir.Operation], position: int) -> list[ir.Operation]:
    """The stores from a position on that write the lanes of one vector, in order, at a constant step; else none."""
    first = ops[position]
    vector = _lane_of(first, 0)
    if vector is None:
        return []
    stores = list(ops[position : position + vectors.shape_of(vector)[0]])
    if any(_lane_of(op, n) != vector for n, op in enumerate(stores)) or len(stores) != vectors.shape_of(vector)[0]:
        return []
    return stores if _steps(stores) is not None else []


def scatter(values: ValuePrinter, stores: Sequence[ir.Operation]) -> str:
    """`A[0:8:2] = v`."""
    value = _lane_of(stores[0], 0)
    assert value is not None
    return f"{_strided_access(values, stores).text} = {values.text(value).text}"


def _lane_of(op: ir.Operation, lane: int) -> ir.Value | None:
    """The vector of whose lane a store writes the value."""
    extract = defining_op(StoreOp(op).value, ExtractOp) if isa(op, AffineStoreOp) else None
    if extract is None or attrs.NAME in extract.op.attributes:
        return None
    return extract.source if attrs.integers(extract.op, "static_position") == [lane] else None


def _slice(values: ValuePrinter, op: ir.Operation, shape: Sequence[int]) -> ExprText:
    """`A[i, 0:16]`; an end beyond the row goes on in the next one."""
    lanes = 1
    for extent in shape:
        lanes *= extent
    return _access(values, op, len(walk.access_indices(op)) - 1, 1, lanes)


def _access(values: ValuePrinter, op: ir.Operation, axis: int, stride: int, lanes: int) -> ExprText:
    parts = [values.index(i).text for i in walk.access_indices(op)]
    low = walk.access_indices(op)[axis]
    parts[axis] = _range(values, low, stride, lanes)
    return values.subscript(accessed_memref(op), parts)


def _range(values: ValuePrinter, low: Index, stride: int, lanes: int) -> str:
    if stride < 1:
        return f"T.Ramp({values.index(low).text}, {stride}, {lanes})"
    start, number = values.index(low), low.as_constant()
    size = ExprText(str(stride * lanes))
    end = str(number + stride * lanes) if number is not None else binary(start, "+", size, ADD).text
    return f"{start.text}:{end}" if stride == 1 else f"{start.text}:{end}:{stride}"


def _strided_access(values: ValuePrinter, ops: Sequence[ir.Operation]) -> ExprText:
    steps = _steps(ops)
    assert steps is not None
    return _access(values, ops[0], steps[0], steps[1], len(ops))


def _steps(ops: Sequence[ir.Operation]) -> tuple[int, int] | None:
    """The axis in which accesses of one buffer move, by a constant step; None if they do otherwise."""
    if len({accessed_memref(op) for op in ops}) != 1:
        return None
    rows = [walk.access_indices(op) for op in ops]
    moves = [
        [(b - a).simplify().as_constant() for a, b in zip(*pair, strict=True)] for pair in itertools.pairwise(rows)
    ]
    if not moves or any(m != moves[0] for m in moves) or None in moves[0]:
        return None
    axes = [n for n, step in enumerate(moves[0]) if step]
    return (axes[0], moves[0][axes[0]] or 0) if len(axes) == 1 else None


def _reshaped_load(values: ValuePrinter, op: ir.Operation) -> ExprText:
    load = vectors.underlying_load(op.results[0])
    if load is None:
        raise TirError(f"vector.shape_cast of a value has no TVMScript form ({op.location})")
    return values.text(load.results[0])


def _broadcast(values: ValuePrinter, op: ir.Operation) -> ExprText:
    source = BroadcastOp(op).source
    if isinstance(source.type, ir.VectorType):
        raise TirError(f"vector.broadcast of a vector has no TVMScript form ({op.location})")
    return splat(values.typed_text(source, _element(op.results[0])), vectors.shape_of(op.results[0])[0])


def splat(scalar: ExprText, lanes: int) -> ExprText:
    return call("T.Broadcast", scalar, str(lanes))


def _element(value: ir.Value) -> str | None:
    dtype = signs.dtype_of(value)
    return None if dtype is None else dtypes.element(dtype)


def dense(attribute: ir.Attribute, type_: ir.VectorType, dtype: str | None) -> ExprText:
    """A constant vector of equal lanes."""
    element = splat_of(attribute)
    if element is None or len(type_.shape) != 1:
        raise TirError("a constant vector of different lanes has no TVMScript form")
    scalar = constant(element, type_.element_type, dtype and dtypes.element(dtype))
    return splat(scalar, type_.shape[0])


def _from_elements(values: ValuePrinter, op: ir.Operation) -> ExprText:
    makers = [v.owner for v in op.operands]
    loads = [m.operation for m in makers if not isinstance(m, ir.Block) and isa(m, AffineLoadOp)]
    if len(loads) == len(makers) and _steps(loads) is not None and not any(map(values.names.get, op.operands)):
        return _strided_access(values, loads)
    lanes = [_lane(v) for v in op.operands]
    sources: list[ir.Value] = []
    for vector, _ in lanes:
        if vector not in sources:
            sources.append(vector)
    starts: list[int] = []
    for number in range(len(sources)):
        previous = sources[number - 1].type if number else None
        size = previous.shape[0] if isinstance(previous, ir.VectorType) else 1
        starts.append(starts[-1] + size if number else 0)
    picked = [starts[sources.index(vector)] + lane for vector, lane in lanes]
    dtype = _element(op.results[0])
    return _shuffle_text([values.typed_text(v, dtype) for v in sources], picked)


def _lane(value: ir.Value) -> tuple[ir.Value, int]:
    """The vector and lane that a scalar is, or the scalar."""
    extract = defining_op(value, ExtractOp)
    if extract is not None and attrs.NAME not in extract.op.attributes:
        position = attrs.integers(extract.op, "static_position")
        if _cast_of_bits(extract) is None and len(position) == 1:
            return extract.source, position[0]
    return value, 0


def _shuffle_text(sources: Sequence[ExprText], picked: Sequence[int]) -> ExprText:
    return call("T.Shuffle", f"[{', '.join(g.text for g in sources)}]", f"[{', '.join(map(str, picked))}]")


def _cast_of_bits(extract: ExtractOp) -> VectorBitcastOp | None:
    """The cast of bits whose only lane an op takes."""
    source = extract.source
    return defining_op(source, VectorBitcastOp) if list(vectors.shape_of(source)) == [1] else None


def _extract(values: ValuePrinter, op: ir.Operation) -> ExprText:
    if cast := _cast_of_bits(ExtractOp(op)):
        return call("T.reinterpret", quote(_name(op.results[0])), values.text(cast.source))
    position = attrs.integers(op, "static_position")
    if len(position) != 1 or len(op.operands) > 1:
        raise TirError(f"this vector.extract has no TVMScript form ({op.location})")
    return _shuffle_text([values.text(ExtractOp(op).source)], position)


def _bits(values: ValuePrinter, op: ir.Operation, value: ir.Value) -> ExprText:
    source = VectorBitcastOp(op).source
    if list(vectors.shape_of(source)) == [1] and (splat_ := defining_op(source, BroadcastOp)):
        source = splat_.source
    return call("T.reinterpret", quote(_name(value)), values.text(source))


def _name(value: ir.Value) -> str:
    return signs.dtype_of(value) or dtypes.to_name(value.type)


def _intrinsic(values: ValuePrinter, op: ir.Operation) -> ExprText:
    name, result = llvm_intrinsics.name_of(op), op.results[0]
    args = [values.text(v) for v in op.operands]
    return call("T.call_llvm_pure_intrin", quote(_name(result)), quote(name), *args)
