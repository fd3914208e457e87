"""Replace calls of kernels by the description of the intrinsic that they implement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir import ir

from tir_mlir.dialect.analysis import pointed
from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.ir import Func, Index, dtypes, edit, read_apply, step, walk
from tir_mlir.passes.lower.blocks import scopes

_DYNAMIC = ir.ShapedType.get_dynamic_stride_or_offset()


@dataclass(frozen=True)
class _Call:
    """A call with its operands traced to pointers, strides and constants; other operands are None."""

    op: ir.Operation
    callee: str
    given: list[Any]


def describe_calls(module: ir.Module) -> None:
    """Replace the calls of intrinsic implementations by their descriptions; other calls stay.

    A call matches an implementation if its operands are pointers and strides of the same parameters in the same order,
    and the memory has the shapes and strides that the implementation declares.
    """
    calls = [call_of(op) for op in walk.ops(module.operation) if op.name == "func.call"]
    if not calls:
        return
    intrinsics = [(name, TensorIntrin.get(name)) for name in TensorIntrin.list()]
    for call in calls:
        is_used = any(True for r in call.op.results for _ in r.uses)
        fitting = {} if is_used else {i.desc: (i, m) for _, i in intrinsics if i and (m := _fits(call, i)) is not None}
        if len({meaning(text) for text in fitting}) == 1:
            _inline(call.op, *next(iter(fitting.values())))


def call_of(op: ir.Operation) -> _Call:
    """A call with its operands traced."""
    return _Call(op, ir.FlatSymbolRefAttr(op.attributes["callee"]).value, [_source(v) for v in op.operands])


def _source(value: ir.Value) -> Any:
    """("pointer", memref), ("stride", memref, dimension, factor), a number, or None."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    op = owner.operation
    if op.name == "arith.constant":
        attribute = op.attributes["value"]
        return attribute.value if isinstance(attribute, (ir.IntegerAttr, ir.FloatAttr)) else None
    if op.name == "arith.index_cast":
        return _source(op.operands[0])
    if op.name == "memref.extract_strided_metadata":
        number = list(op.results).index(value)
        rank = (len(op.results) - 2) // 2
        return ("stride", op.operands[0], number - 2 - rank, 1) if number >= 2 + rank else None
    if op.name == "arith.muli":
        return _times([_source(v) for v in op.operands])
    if op.name == "affine.apply":
        index = read_apply(op.results[0])
        (stride,) = index.values if len(index.values) == 1 else (None,)
        factor = None if stride is None else step(index, stride)
        same = factor is not None and index.same(Index.of(stride) * factor)
        return _times([_source(stride), factor]) if same and stride is not None else None
    if op.name == "llvm.inttoptr":
        memref = pointed(op)
        return ("pointer", memref) if memref is not None and _plainly(op, memref) else None
    return None


def _times(factors: list[Any]) -> Any:
    """A stride times a number."""
    number = next((f for f in factors if isinstance(f, int)), None)
    stride = next((f for f in factors if isinstance(f, tuple) and f[0] == "stride"), None)
    return None if number is None or stride is None else (*stride[:3], stride[3] * number)


def _plainly(op: ir.Operation, memref: ir.Value) -> bool:
    """Whether a pointer is the first element of its memref: base + offset * size."""
    sum_ = op.operands[0].owner.operands[0].owner.operation
    if sum_.name == "memref.extract_aligned_pointer_as_index":
        return ir.MemRefType(memref.type).get_strides_and_offset()[1] == 0
    if sum_.name != "arith.addi":
        return False
    base, product = (v.owner.operation for v in sum_.operands)
    if base.name != "memref.extract_aligned_pointer_as_index" or product.name != "arith.muli":
        return False
    offset, size = (v.owner.operation for v in product.operands)
    width = dtypes.bits(dtypes.to_name(ir.MemRefType(memref.type).element_type)) // 8
    return (
        size.name == "arith.constant"
        and ir.IntegerAttr(size.attributes["value"]).value == width
        and offset.name == "memref.extract_strided_metadata"
        and offset.operands[0] == memref
        and product.operands[0] == offset.results[1]
    )


def _fits(call: _Call, intrinsic: TensorIntrin) -> dict[int, ir.Value] | None:
    """The memref of each parameter of an intrinsic in a call; None if the call does not match."""
    if f"@{call.callee}(" not in intrinsic.impl:
        return None
    impl = intrinsic.impl_func().func
    calls = [call_of(op) for op in walk.ops(impl.op) if op.name == "func.call"]
    if len(calls) != 1 or calls[0].callee != call.callee or len(calls[0].given) != len(call.given):
        return None
    bound: dict[int, ir.Value] = {}
    for mine, theirs in zip(calls[0].given, call.given, strict=True):
        if not isinstance(mine, tuple):
            if mine is None or mine != theirs:
                return None
            continue
        if not isinstance(theirs, tuple) or mine[0] != theirs[0] or mine[2:] != theirs[2:]:
            return None
        number = impl.args.index(mine[1]) if mine[1] in impl.args else -1
        if number < 0 or bound.setdefault(number, theirs[1]) != theirs[1]:
            return None
    fits = len(bound) == len(impl.args) and all(_laid_out(impl, n, memref) for n, memref in bound.items())
    return bound if fits else None


def _laid_out(impl: Func, number: int, memref: ir.Value) -> bool:
    """Whether a memref has the shape, element type and constant strides of a parameter."""
    expected, actual = ir.MemRefType(impl.args[number].type), ir.MemRefType(memref.type)
    if expected.shape != actual.shape or expected.element_type != actual.element_type:
        return False
    pairs = zip(expected.get_strides_and_offset()[0], actual.get_strides_and_offset()[0], expected.shape, strict=True)
    return all(want in (has, _DYNAMIC) or size == 1 for want, has, size in pairs)


def meaning(desc: str) -> str:
    """A description without locations and storage scopes, for comparison."""
    module = ir.Module.parse(desc)
    everything = walk.ops(module.operation)
    scopes.run(module)
    for op in everything:
        if op.name == "func.func":
            op.attributes["sym_name"] = ir.StringAttr.get("desc")
    return str(module)


def _inline(call: ir.Operation, intrinsic: TensorIntrin, bound: dict[int, ir.Value]) -> None:
    parsed = intrinsic.desc_func()
    mapping = {argument: bound[n] for n, argument in enumerate(parsed.func.args)}
    insertion_point = ir.InsertionPoint(call)
    for op in parsed.func.body_ops():
        copied = edit.clone(op, insertion_point, mapping)
        mapping |= dict(zip(op.results, copied.results, strict=True))
    call.erase()
