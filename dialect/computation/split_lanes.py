"""Rewrite vector values as one scalar for each lane."""

from __future__ import annotations

import itertools
from math import prod

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.constants.dense import splat_of
from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.ir import attrs, create, llvm_intrinsics, vectors, walk
from tir_mlir.dialect.ir.lowering_op_views import BroadcastOp, ExtractOp, MultiReductionOp, ReductionOp, VectorBitcastOp
from tir_mlir.dialect.ir.op_traits import LANE_JOINS, accessed_memref, is_scalar
from tir_mlir.dialect.ir.op_views import AffineVectorAccessOp, AffineVectorLoadOp, ConstantOp, StoreOp, dyn_cast, isa

_MAKERS = ("vector.", "affine.vector_", llvm_intrinsics.CALL)


def split_lanes(module: ir.Module) -> None:
    """Rewrite a module in place, before views are folded.

        %v = affine.vector_load %A[%i] : vector<4xf32>         %v0 = affine.load %A[%i]; %v1 = affine.load %A[%i + 1]
        %s = arith.addf %v, %v                            -->  %s0 = arith.addf %v0, %v0; ...
        affine.vector_store %s, %B[%i]                         affine.store %s0, %B[%i]; ...

    Calls of LLVM's intrinsics become what they compute. Raises NotChecked for one that is not known.
    """
    names = {op.name for op in walk.ops(module.operation)}
    if not any(name.startswith(_MAKERS) for name in names):
        return
    for op in walk.ops(module.operation):
        if op.name == llvm_intrinsics.CALL and not llvm_intrinsics.expand(op):
            raise NotChecked(
                f'"{llvm_intrinsics.name_of(op)}" has no exact semantics; if it is part of an intrinsic, '
                "TensorIntrin.check compares the built code with the description"
            )
    lanes: dict[ir.Value, list[ir.Value]] = {}
    dead = []
    for op in walk.ops(module.operation):
        values = [*op.operands, *op.results]
        if not any(isinstance(v.type, ir.VectorType) for v in values):
            continue
        if len(op.regions):
            raise NotChecked(f"{op.name} with a vector as its value has no exact semantics")
        with ir.InsertionPoint(op), op.location:
            scalars = _split(op, lanes)
        if len(op.results):
            if isinstance(op.results[0].type, ir.VectorType):
                lanes[op.results[0]] = scalars
            else:
                op.results[0].replace_all_uses_with(scalars[0])
        dead.append(op)
    for op in reversed(dead):
        op.erase()


def _split(op: ir.Operation, lanes: dict[ir.Value, list[ir.Value]]) -> list[ir.Value]:
    """The scalars of the result of an op."""
    name, operand_lanes = op.name, [lanes.get(v, [v]) for v in op.operands]
    count = (
        prod(vectors.shape_of(op.results[0]))
        if len(op.results) and isinstance(op.results[0].type, ir.VectorType)
        else 1
    )
    if isa(op, AffineVectorAccessOp):
        return _access(op, operand_lanes[0])
    if isa(op, BroadcastOp) and len(operand_lanes[0]) == 1:
        return operand_lanes[0] * count
    if name in LANE_JOINS:
        return [v for part in operand_lanes for v in part]
    extract = dyn_cast(op, ExtractOp)
    if extract is not None and len(op.operands) == 1 and not vectors.shape_of(extract.result):
        return [operand_lanes[0][_flat(attrs.integers(op, "static_position"), vectors.shape_of(extract.source))]]
    if isa(op, VectorBitcastOp):
        return _bits(operand_lanes[0], vectors.element_of(op.results[0]))
    if isa(op, MultiReductionOp):
        return _sums(op, *operand_lanes)
    if isa(op, ReductionOp):
        return [_reduce_lanes(op, operand_lanes[0], operand_lanes[1:])]
    if isa(op, ConstantOp):
        element = splat_of(op.attributes["value"])
        if element is not None:
            return [arith.constant(vectors.element_of(op.results[0]), element)] * count
    elif is_scalar(name):
        return [_lane(op, [part[n if len(part) > 1 else 0] for part in operand_lanes]) for n in range(count)]
    raise NotChecked(f"{name} on {op.operands[0].type if len(op.operands) else 'a vector'} has no exact semantics")


def _lane(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    """An elementwise op on one lane."""
    attributes = {n: op.attributes[n] for n in op.attributes}
    return ir.Operation.create(op.name, [vectors.element_of(op.results[0])], operands, attributes).results[0]


def _flat(position: list[int], shape: list[int]) -> int:
    offset = 0
    for index, size in zip(position, shape, strict=True):
        offset = offset * size + index
    return offset


def _access(op: ir.Operation, values: list[ir.Value]) -> list[ir.Value]:
    buffer, indices = accessed_memref(op), walk.access_indices(op)
    loads = isa(op, AffineVectorLoadOp)
    shape = vectors.shape_of(op.results[0] if loads else StoreOp(op).value)
    loaded = []
    for number, point in enumerate(itertools.product(*map(range, shape))):
        moves = [0] * (len(indices) - len(point)) + list(point)
        element = [(i + m).simplify() for i, m in zip(indices, moves, strict=True)]
        if loads:
            loaded.append(create.load(buffer, element))
        else:
            create.store(values[number], buffer, element)
    return loaded


def _bits(values: list[ir.Value], type_: ir.Type) -> list[ir.Value]:
    """Integers of one width as integers of another, the lowest bits first."""
    if not all(isinstance(t, ir.IntegerType) for t in (values[0].type, type_)):
        raise NotChecked("T.reinterpret of floats depends on their bits: it has no exact semantics")
    old, new = (ir.IntegerType(t).width for t in (values[0].type, type_))
    if old > new:
        return [_part(v, shift, type_) for v in values for shift in range(0, old, new)]
    per = new // old
    return [_concat_bits(values[n : n + per], type_) for n in range(0, len(values), per)]


def _part(value: ir.Value, shift: int, type_: ir.Type) -> ir.Value:
    moved = arith.shrui(value, arith.constant(value.type, shift)) if shift else value
    return arith.trunci(type_, moved)


def _concat_bits(parts: list[ir.Value], type_: ir.Type) -> ir.Value:
    width, joined = ir.IntegerType(parts[0].type).width, None
    for number, part in enumerate(parts):
        wide = arith.extui(type_, part) if part.type != type_ else part
        wide = arith.shli(wide, arith.constant(type_, number * width)) if number else wide
        joined = wide if joined is None else arith.ori(joined, wide)
    assert joined is not None
    return joined


def _reduce_lanes(op: ir.Operation, terms: list[ir.Value], start: list[list[ir.Value]]) -> ir.Value:
    """The lanes of a vector combined, from the first on."""
    kind = str(op.attributes["kind"]).split("<")[-1].rstrip(">")
    floats = not isinstance(terms[0].type, ir.IntegerType)
    if kind in ("add", "mul", "and", "or", "xor"):
        kind += "f" if floats else "i"
    total, *lanes = [*(start[0] if start else []), *terms]
    for term in lanes:
        total = ir.Operation.create(f"arith.{kind}", [term.type], [total, term]).results[0]
    return total


def _sums(op: ir.Operation, terms: list[ir.Value], start: list[ir.Value]) -> list[ir.Value]:
    """The sums over the last dimension of two."""
    rows, group = vectors.shape_of(MultiReductionOp(op).source)
    if attrs.integers(op, "reduction_dims") != [1] or "add" not in str(op.attributes["kind"]):
        raise NotChecked(f"{op.name} of this kind has no exact semantics")
    add = arith.addi if isinstance(terms[0].type, ir.IntegerType) else arith.addf
    sums = []
    for row in range(rows):
        total = start[row]
        for term in terms[row * group : (row + 1) * group]:
            total = add(total, term)
        sums.append(total)
    return sums
