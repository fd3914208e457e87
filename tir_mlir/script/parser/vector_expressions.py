"""Vector values: accesses of several elements, broadcasts, lanes, casts of bits, calls of LLVM's intrinsics."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import Index, attrs, create, dtypes, llvm_intrinsics, vectors
from tir_mlir.dialect.ir.op_views import SubviewOp, isa
from tir_mlir.script.language.markers import DType
from tir_mlir.script.parser import arithmetic, pointers
from tir_mlir.script.parser.items import (
    BufferRef,
    Const,
    Expr,
    Ramp,
    ScriptValue,
    Slice,
    as_const,
    as_index,
    describe,
    dtype_of,
    is_expr,
)
from tir_mlir.script.parser.source import ParseError

if TYPE_CHECKING:
    from tir_mlir.script.parser.expressions import Evaluator


@dataclass(frozen=True)
class StridedLanes:
    """`count` elements of a buffer: the first at `indices`, the others `stride` further in `axis` each."""

    buffer: BufferRef
    indices: list[Index]
    axis: int
    stride: int
    count: int

    @property
    def dtype(self) -> str:
        return dtypes.with_lanes(self.buffer.dtype, self.count)

    def lane_index(self, lane: int) -> list[Index]:
        """The index of the element of a lane."""
        moved = list(self.indices)
        moved[self.axis] = (moved[self.axis] + lane * self.stride).simplify()
        return moved

    def box(self) -> tuple[int, ...] | None:
        """The shape of the elements if they follow each other in memory; None if they do not."""
        if self.stride != 1 or self.axis != self.buffer.rank - 1:
            return None
        type_ = ir.MemRefType(self.buffer.ssa.type)
        strides, _ = type_.get_strides_and_offset()
        if strides[-1] != 1:
            return None
        sizes = [s.as_constant() for s in self.buffer.shape]
        shape = vectors.box(sizes, self.indices, self.count)
        if shape is None:
            raise ParseError(f"{self.count} elements of {self.buffer.name} from here are part of several rows")
        if len(shape) > 1 and not _are_dense(strides[-len(shape) :], shape) and not self._is_window():
            raise ParseError(
                f"{self.count} elements of {self.buffer.name} are several rows, which its strides hold apart; "
                "load one row at a time"
            )
        return shape

    def _is_window(self) -> bool:
        """Whether the buffer is a view that takes the strides of its source: its rows count, wherever they are."""
        owner = self.buffer.ssa.owner
        return not isinstance(owner, ir.Block) and isa(owner, SubviewOp) and not self.buffer.stride_values


def _are_dense(strides: Sequence[int], shape: Sequence[int]) -> bool:
    """Whether rows follow each other; the first extent is that of the access."""
    return all(a == b * n for a, b, n in zip(strides, strides[1:], shape[1:], strict=False))


def lanes_of(buffer: BufferRef, items: Sequence[object]) -> StridedLanes | None:
    """The elements that subscripts with a slice or ramp select; None without one."""
    sliced = [(n, item) for n, item in enumerate(items) if isinstance(item, Slice | Ramp)]
    if not sliced:
        return None
    if len(items) != buffer.rank:
        raise ParseError(f"buffer {buffer.name} has {buffer.rank} axes but {len(items)} indices are given")
    if len(sliced) > 1:
        raise ParseError(f"a value has the lanes of one axis; {buffer.name} is sliced along {len(sliced)}: use a loop")
    axis, item = sliced[0]
    ramp = item if isinstance(item, Ramp) else _ramp(buffer, axis, item)
    indices = [_affine(buffer, ramp.base if n == axis else index) for n, index in enumerate(items)]
    return StridedLanes(buffer, indices, axis, ramp.stride, ramp.lanes)


def _affine(buffer: BufferRef, item: object) -> Index:
    index = as_index(arithmetic.as_expr(item, "an index"))
    if index is None:
        raise ParseError(
            f"the lanes of {buffer.name} start at an affine expression of loops, iters and sizes, not at "
            f"{describe(item)}; load the elements one by one"
        )
    return index


def _ramp(buffer: BufferRef, axis: int, item: Slice) -> Ramp:
    """A slice as the elements that it selects: `begin:end:step`."""
    begin = 0 if item.begin is None else item.begin
    low, high = _affine(buffer, begin), buffer.shape[axis] if item.end is None else _affine(buffer, item.end)
    step, extent = 1 if item.step is None else as_const(item.step), (high - low).simplify().as_constant()
    if step is None or step < 1:
        raise ParseError("the step of a slice is a constant of 1 or more; T.ramp takes others")
    if extent is None:
        raise ParseError(f"a slice of {buffer.name} is a value of a constant number of lanes; use a loop")
    return ramp(low, step, -(-extent // step))


def ramp(base: object, stride: object, lanes: object) -> Ramp:
    """`T.ramp(base, stride, lanes)`."""
    step, count = as_const(stride), as_const(lanes)
    if step is None:
        raise ParseError(f"the stride of a ramp is a constant integer, not {describe(stride)}")
    if count is None or not 1 <= count <= dtypes.MOST_LANES:
        text = describe(lanes) if count is None else count
        raise ParseError(f"a vector value has 2 to {dtypes.MOST_LANES} lanes, not {text}")
    return Ramp(base, step, count)


def fold_ramp(op: str, lhs: object, rhs: object) -> Ramp | None:
    """`T.ramp(0, 1, 4) + i * 4`, `i * 4 - T.ramp(...)`, `T.ramp(...) * 2` as a ramp; None for anything else."""
    ramp, scalar = (lhs, rhs) if isinstance(lhs, Ramp) else (rhs, lhs)
    if not isinstance(ramp, Ramp):
        return None
    index, base = as_index(scalar), as_index(ramp.base)
    if index is None or base is None:
        return None
    if op == "+":
        return Ramp(base + index, ramp.stride, ramp.lanes)
    if op == "-":
        return (
            Ramp(base - index, ramp.stride, ramp.lanes) if ramp is lhs else Ramp(index - base, -ramp.stride, ramp.lanes)
        )
    factor = index.as_constant()
    return Ramp(base * factor, ramp.stride * factor, ramp.lanes) if op == "*" and factor is not None else None


def load(lanes: StridedLanes) -> ScriptValue:
    """The elements as a vector: one load if they follow each other in memory, else one of each."""
    if lanes.count == 1:
        return ScriptValue(create.load(lanes.buffer.ssa, lanes.indices), lanes.buffer.dtype)
    _check(lanes)
    if lanes.stride == 0:
        return ScriptValue(vectors.broadcast(create.load(lanes.buffer.ssa, lanes.indices), lanes.count), lanes.dtype)
    if (shape := lanes.box()) is not None:
        return ScriptValue(vectors.load(lanes.buffer.ssa, lanes.indices, shape), lanes.dtype)
    return ScriptValue(
        vectors.from_elements([create.load(lanes.buffer.ssa, lanes.lane_index(n)) for n in range(lanes.count)]),
        lanes.dtype,
    )


def store(lanes: StridedLanes, item: object) -> None:
    """Store a vector, or a scalar to every element."""
    _check(lanes)
    value = arithmetic.convert_for_store(item, lanes.dtype, f"buffer {lanes.buffer.name}")
    if lanes.count == 1:
        create.store(value, lanes.buffer.ssa, lanes.indices)
    elif lanes.stride == 0:
        raise ParseError(f"all lanes are stored to one element of {lanes.buffer.name}: the stride is 0")
    elif (shape := lanes.box()) is not None:
        vectors.store(value, lanes.buffer.ssa, lanes.indices, shape)
    else:
        for n in range(lanes.count):
            create.store(vectors.extract(value, n), lanes.buffer.ssa, lanes.lane_index(n))


def _check(lanes: StridedLanes) -> None:
    if lanes.buffer.dtype == "bool" and lanes.count > 1:
        raise ParseError(f"{lanes.buffer.name} holds bool, whose vectors have no form in memory; use int8")


# ---- calls


def dtype_name(dtype: object) -> str:
    """The name of a type given as a string or as `T.int8x4`."""
    dtype = dtype.dtype if isinstance(dtype, DType) else dtype
    if not isinstance(dtype, str) or not (dtype in dtypes.NAMES or dtypes.is_vector(dtype)):
        raise ParseError(dtypes.refusal(dtype if isinstance(dtype, str) else describe(dtype)))
    return dtype


def _broadcast(word: str, value: object, lanes: object) -> Expr:
    item, count = arithmetic.as_expr(value), ramp(0, 0, lanes).lanes
    dtype = dtype_of(item)
    if dtypes.lanes(dtype) > 1:
        raise ParseError(f"T.{word} repeats a scalar, not a value of type {dtype}")
    dtype = dtypes.with_lanes(dtype, count)
    return ScriptValue(arithmetic.to_value(item, dtype), dtype) if count > 1 else item


def _shuffle(word: str, sources: object, indices: object) -> ScriptValue:
    """The lanes of vectors, one after another, that the indices select; one index gives a scalar."""
    if not isinstance(sources, list | tuple) or not isinstance(indices, list | tuple) or not sources or not indices:
        raise ParseError(f"T.{word} takes lists: T.{word}([a, b], [0, 1])")
    exprs = [arithmetic.as_expr(i) for i in sources]
    dtype = dtypes.element(dtype_of(exprs[0]))
    if any(dtypes.element(dtype_of(e)) != dtype for e in exprs):
        raise ParseError(f"T.{word} takes values of one type")
    lanes = [(e, n) for e in exprs for n in range(dtypes.lanes(dtype_of(e)))]
    numbers = [as_const(i) for i in indices]
    if any(n is None or not 0 <= n < len(lanes) for n in numbers):
        raise ParseError(f"the indices of T.{word} are constants of 0 to {len(lanes) - 1}, the lanes of its values")
    picked = [_lane(*lanes[n or 0]) for n in numbers]
    shuffled = picked[0] if len(picked) == 1 else vectors.from_elements(picked)
    return arithmetic.make_value(shuffled, dtypes.with_lanes(dtype, len(picked)))


def _half(word: str, dtype: object, vec: object) -> ScriptValue:
    item = arithmetic.as_expr(vec)
    lanes = dtypes.lanes(dtype_of(item))
    if lanes < 2 or lanes % 2:
        raise ParseError(f"T.{word} takes a vector with an even number of lanes, not {dtype_of(item)}")
    start = lanes // 2 if word == "vectorhigh" else 0
    return _of_type(word, dtype, _shuffle(word, [item], list(range(start, start + lanes // 2))))


def _combine_vectors(word: str, dtype: object, first: object, second: object) -> ScriptValue:
    items = [arithmetic.as_expr(first), arithmetic.as_expr(second)]
    if dtype_of(items[0]) != dtype_of(items[1]):
        raise ParseError(f"T.{word} takes two vectors of one type, not {dtype_of(items[0])} and {dtype_of(items[1])}")
    return _of_type(word, dtype, _shuffle(word, items, list(range(2 * dtypes.lanes(dtype_of(items[0]))))))


def _of_type(word: str, dtype: object, value: ScriptValue) -> ScriptValue:
    """The value, if it has the type that the call names."""
    if dtype_name(dtype) != dtype_of(value):
        raise ParseError(f"T.{word} of this vector is {dtype_of(value)}, not {dtype_name(dtype)}")
    return value


def _lane(item: Expr, number: int) -> ir.Value:
    value = arithmetic.to_value(item, dtype_of(item))
    return vectors.extract(value, number) if dtypes.lanes(dtype_of(item)) > 1 else value


def _arguments(evaluate: Evaluator, node: ast.Call, *keywords: str) -> tuple[list[object], dict[str, object]]:
    """The evaluated arguments; others than these keywords are refused."""
    name = ast.unparse(node.func)
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg not in keywords for k in node.keywords):
        raise ParseError(f"{name} takes no starred arguments, and the keywords {', '.join(keywords)}")
    return [evaluate(a) for a in node.args], {k.arg or "": evaluate(k.value) for k in node.keywords}


def _reinterpret(evaluate: Evaluator, node: ast.Call) -> ScriptValue:
    """`T.reinterpret("int32", x)`, `T.reinterpret(x, "int32")` or `T.reinterpret(x, dtype="int32")`."""
    items, named = _arguments(evaluate, node, "dtype", "value")
    types = [named["dtype"]] if "dtype" in named else [i for i in items if isinstance(i, str | DType)]
    values = [named["value"]] if "value" in named else [i for i in items if not isinstance(i, str | DType)]
    if len(types) != 1 or len(values) != 1 or len(items) + len(named) != 2:
        raise ParseError('T.reinterpret takes a type and a value: T.reinterpret("int32", x)')
    item, dtype = arithmetic.as_expr(values[0]), dtype_name(types[0])
    with evaluate.state.source.location(node):
        return bits_as(item, dtype)


def bits_as(item: Expr, dtype: str) -> ScriptValue:
    """The bits of a value as another type."""
    source = dtype_of(item)
    sizes = [dtypes.bits(d) * dtypes.lanes(d) for d in (source, dtype)]
    if sizes[0] != sizes[1] or "bool" in (dtypes.element(source), dtypes.element(dtype)):
        raise ParseError(f"T.reinterpret is a bitcast: {source} and {dtype} differ in width")
    value, type_ = arithmetic.to_value(item, source), dtypes.to_mlir(dtype)
    same = dtypes.lanes(source) == dtypes.lanes(dtype)
    bits = arith.bitcast(type_, value) if same else vectors.bitcast(value, type_)
    if dtypes.is_unsigned(dtype) or dtypes.is_unsigned(source):
        bits.owner.attributes[attrs.DTYPE] = ir.StringAttr.get(dtype)
    return ScriptValue(bits, dtype)


# ---- LLVM's intrinsics


_NAME = re.compile(r"llvm\.\w+(\.\w+)*", re.ASCII)


class IntrinsicName(str):
    """The value of `T.llvm_lookup_intrinsic_id("llvm.fma")`."""


def _lookup(word: str, name: object) -> IntrinsicName:
    if not isinstance(name, str):
        raise ParseError(f'T.{word} takes the name of an intrinsic, such as "llvm.fma", not {describe(name)}')
    return IntrinsicName(name)


def _call_intrinsic(evaluate: Evaluator, node: ast.Call) -> ScriptValue:
    """`T.call_llvm_pure_intrin("int32x16", "llvm.name", ...)`; in the older order the type is the last argument, and
    the number of arguments, a `T.uint32`, follows the name."""
    items, named = _arguments(evaluate, node, "dtype")
    form = 'T.call_llvm_pure_intrin("float32x4", "llvm.fma", a, b, c)'
    if "dtype" not in named and len(items) > 1 and isinstance(items[1], str):
        named["dtype"] = items.pop(0)
    if "dtype" not in named or not items or not isinstance(items[0], str):
        raise ParseError(f"a call of an intrinsic has a type and a name: {form}")
    dtype, name, args = dtype_name(named["dtype"]), str(items[0]), items[1:]
    if not _NAME.fullmatch(name):
        raise ParseError(f'the name of an intrinsic of LLVM is "llvm." and words with dots, unlike {name!r}: {form}')
    if args and isinstance(args[0], Const) and args[0].dtype == "uint32" and as_const(args[0]) is not None:
        count = as_const(args.pop(0))
        if count not in (0, len(args)):
            raise ParseError(f'"{name}" is given {len(args)} arguments; their number says {count}')
    for arg in args:
        if not is_expr(arg) and not isinstance(arg, int | float):
            raise ParseError(f'"{name}" takes values, not {describe(arg)}: a pure intrinsic accesses no memory')
    with evaluate.state.source.location(node):
        exprs = [arithmetic.as_expr(a) for a in args]
        operands = [arithmetic.to_value(e, dtype_of(e)) for e in exprs]
        return arithmetic.make_value(llvm_intrinsics.call(name, dtypes.to_mlir(dtype), operands), dtype)


# ---- methods of buffers


def method(evaluate: Evaluator, method: pointers.BufferMethod, node: ast.Call) -> object:
    """`A.vload([0], "int8x4")`, `A.vstore([0], value)`."""
    name, buffer = method.name, method.buffer
    items, named = _arguments(evaluate, node, "begin", "dtype" if name == "vload" else "value")
    for key in ("begin", "dtype" if name == "vload" else "value"):
        if key not in named and items:
            named[key] = items.pop(0)
    if items or "begin" not in named or (name == "vstore" and "value" not in named):
        form = f'vload([0], "{buffer.dtype}x4")' if name == "vload" else "vstore([0], value)"
        raise ParseError(f"{buffer.name}.{name} is used as {buffer.name}.{form}")
    begin = list(named["begin"]) if isinstance(named["begin"], list | tuple) else [named["begin"]]
    if name == "vload":
        dtype = dtype_name(named.get("dtype") or buffer.dtype)
        if dtypes.element(dtype) != buffer.dtype:
            raise ParseError(f"{buffer.name} holds {buffer.dtype}; {dtype} is loaded by T.reinterpret of its elements")
        return evaluate.load(buffer, _add_lanes(begin, dtypes.lanes(dtype)), node)
    value = arithmetic.as_expr(named["value"])
    evaluate.store(buffer, _add_lanes(begin, dtypes.lanes(dtype_of(value))), value, node)
    return None


def _add_lanes(begin: list[object], lanes: int) -> list[object]:
    """An index whose last axis has lanes."""
    return [*begin[:-1], Ramp(begin[-1], 1, lanes)] if lanes > 1 and begin else list(begin)


HANDLERS: dict[str, Callable[..., object]] = {
    "ramp": lambda word, base, stride, lanes: ramp(base, stride, lanes),
    "broadcast": _broadcast,
    "Shuffle": _shuffle,
    "vectorlow": _half,
    "vectorhigh": _half,
    "vectorcombine": _combine_vectors,
    "llvm_lookup_intrinsic_id": _lookup,
}
DIRECT: dict[str, Callable[..., object]] = {"reinterpret": _reinterpret, "call_llvm_pure_intrin": _call_intrinsic}
"""Calls with arguments in several orders."""
