"""Sums of four products of bytes: `dp4a`."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.analysis import accesses_of_op
from tir_mlir.dialect.ir import Index, Loop, access_indices, apply, create, defining_op, edit, is_loop, step, walk
from tir_mlir.dialect.ir.lowering_op_views import DotAccumulateOp
from tir_mlir.dialect.ir.op_traits import WIDENINGS, accessed_memref
from tir_mlir.dialect.ir.op_views import (
    AddIOp,
    AffineLoadOp,
    AffineStoreOp,
    BinaryOp,
    CastOp,
    ExtSIOp,
    MulIOp,
    StoreOp,
    isa,
)
from tir_mlir.passes.lower.gpu.vectors import adjacent_elements
from tir_mlir.passes.lower.registry import lowering, programs

GROUP = 4
"""The bytes of a word."""
(_DOT,) = DotAccumulateOp.names


@lowering("tir-lower-gpu-dots", "Make `dp4a` of loops that add four products of bytes to an integer")
def run(module: ir.Module, dp4a: bool | str = False) -> None:
    """Replace a loop over four products of adjacent bytes.

        for %k = 0 to 4 {                                %a = vector.load %A[%i * 4] {alignment = 4} : 4 x i8
          %a = affine.load %A[%i * 4 + %k] : i8          %b = vector.load %B[%j * 4] {alignment = 4} : 4 x i8
          %b = affine.load %B[%j * 4 + %k] : i8   -->    %c = affine.load %C[%j]
          %p = ext(%a) * ext(%b)                         %d = nvvm.dot.accumulate.4way %a, %b, %c
          affine.store (load %C[%j]) + %p, %C[%j]        affine.store %d, %C[%j]
        }

    Exact for all numbers, signed or not: sums wrap in both. The bytes of each operand start at a multiple of four.
    dp4a: whether the GPU has the instruction (sm_61). Requires barriers to be placed, and final strides.
    """
    if str(dp4a).lower() != "true":
        return
    for func in programs(module):
        for op in [op for op in walk.ops(func.op) if is_loop(op)]:
            if (dot := _dot(Loop(op))) is not None:
                _replace(Loop(op), dot)


@dataclass(frozen=True)
class _Bytes:
    """Four adjacent bytes from indices of a buffer on, with a sign or not."""

    memref: ir.Value
    indices: tuple[Index, ...]
    sign: str


@dataclass(frozen=True)
class _Dot:
    """Both operands, and the store of the sum."""

    operands: tuple[_Bytes, _Bytes]
    store: ir.Operation


def _dot(loop: Loop) -> _Dot | None:
    """What a loop adds up; None if it is not four products of adjacent bytes, and nothing else."""
    body = loop.body_ops()
    if loop.const_extent != GROUP or len(loop.lowers) != 1 or not body or len(body) != 8:
        return None
    store = body[-1]
    if not isa(store, AffineStoreOp) or any(step(index, loop.var) != 0 for index in access_indices(store)):
        return None
    total = defining_op(StoreOp(store).value, BinaryOp)
    if total is None or not isa(total.op, AddIOp) or total.op.results[0].type != _word():
        return None
    for old, new in ((total.lhs, total.rhs), (total.rhs, total.lhs)):
        load, product = defining_op(old, AffineLoadOp), defining_op(new, BinaryOp)
        if load is None or product is None or not isa(product.op, MulIOp) or not _is_same(load.op, store):
            continue
        operands = [_bytes(value, loop) for value in (product.lhs, product.rhs)]
        if operands[0] is not None and operands[1] is not None:
            return _Dot((operands[0], operands[1]), store)
    return None


def _word() -> ir.Type:
    return ir.IntegerType.get_signless(32)


def _is_same(load: ir.Operation, store: ir.Operation) -> bool:
    pairs = zip(access_indices(load), access_indices(store), strict=False)
    return accessed_memref(load) == accessed_memref(store) and all(a.is_equal_to(b) for a, b in pairs)


def _bytes(value: ir.Value, loop: Loop) -> _Bytes | None:
    """The four bytes, one of which the loop loads and widens in each iteration, if they start a word."""
    cast = defining_op(value, CastOp)
    if cast is None or cast.op.name not in WIDENINGS:
        return None
    load = defining_op(cast.op.operands[0], AffineLoadOp)
    if load is None or load.op.results[0].type != ir.IntegerType.get_signless(8):
        return None
    (access,) = accesses_of_op(load.op)  # behind views, of which an offset may be unknown
    places = [(accessed_memref(load.op), tuple(access_indices(load.op)))]
    places += [(access.buffer, access.mins)] if access.exact and access.is_point else []
    for memref, indices in places:
        if adjacent_elements(memref, indices, loop) >= GROUP:
            first = tuple(index.substitute({loop.var: loop.lower}).simplify() for index in indices)
            return _Bytes(memref, first, "signed" if isa(cast.op, ExtSIOp) else "unsigned")
    return None


def _replace(loop: Loop, dot: _Dot) -> None:
    with ir.InsertionPoint(loop.op), dot.store.location:
        words = [_load(one) for one in dot.operands]
        place = access_indices(dot.store)
        total = create.load(accessed_memref(dot.store), place)
        signs = [ir.Attribute.parse(f"#nvvm.dot_accumulate_type<{one.sign}>") for one in dot.operands]
        facts = {"a_type": signs[0], "b_type": signs[1]}
        new = ir.Operation.create(_DOT, [_word()], [*words, total], facts).results[0]
        create.store(new, accessed_memref(dot.store), place)
    edit.drop(loop.op)


def _load(word: _Bytes) -> ir.Value:
    type_ = ir.VectorType.get([GROUP], ir.IntegerType.get_signless(8))
    facts = {"alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), GROUP)}
    operands = [word.memref, *(apply(index) for index in word.indices)]
    return ir.Operation.create("vector.load", [type_], operands, facts).results[0]
