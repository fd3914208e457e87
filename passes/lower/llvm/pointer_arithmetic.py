"""Rewrite pointer arithmetic on integers to getelementptr, so that LLVM keeps the provenance."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ir.lowering_op_views import LLVMAddOp, PtrToIntOp
from tir_mlir.dialect.ir.op_views import IntToPtrOp, defining_op, isa
from tir_mlir.passes.lower.registry import Content, lowering

_DYNAMIC = -(1 << 31)  # in a getelementptr: a dynamic operand


@lowering(
    "tir-lower-pointer-arithmetic",
    "Lower pointer arithmetic on integers to llvm.getelementptr",
    works_on=Content(ops={"llvm.inttoptr"}),
)
def run(module: ir.Module) -> None:
    """Rewrite integer pointer arithmetic to getelementptr.

        %0 = llvm.ptrtoint %p : !llvm.ptr to i64
        %1 = llvm.add %0, %bytes : i64                   -->   %2 = llvm.getelementptr %p[%bytes] : ..., i8
        %2 = llvm.inttoptr %1 : i64 to !llvm.ptr

    LLVM's alias analysis does not see through integers: a tile that an inlined kernel updates would remain in memory.
    Runs on the llvm dialect, where views have become sums.
    """
    for cast in walk.views_in(module.operation, IntToPtrOp):
        op = cast.op
        parts: list[ir.Value] = []
        base = _base(cast.address, parts)
        if base is None:
            continue
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(_address(base, parts))
        _erase(op)


def _base(value: ir.Value, parts: list[ir.Value]) -> ir.Value | None:
    """The base pointer of a sum, with the other terms appended to `parts`; None if there is none."""
    if cast := defining_op(value, PtrToIntOp):
        return cast.pointer
    sum_ = defining_op(value, LLVMAddOp)
    if sum_ is None:
        return None
    for base, term in (sum_.operands, sum_.operands[::-1]):
        pointer = _base(base, parts)
        if pointer is not None:
            parts.append(term)
            return pointer
    return None


def _address(base: ir.Value, parts: list[ir.Value]) -> ir.Value:
    """`base` plus a number of bytes."""
    byte = ir.IntegerType.get_signless(8)
    for part in parts:
        attributes = {"elem_type": ir.TypeAttr.get(byte), "rawConstantIndices": ir.DenseI32ArrayAttr.get([_DYNAMIC])}
        base = ir.Operation.create("llvm.getelementptr", [base.type], [base, part], attributes).results[0]
    return base


def _erase(op: ir.Operation) -> None:
    """Erase an unused cast or sum, and its operands that are then unused."""
    owners = [v.owner for v in op.operands if not isinstance(v.owner, ir.Block)]
    op.erase()
    for owner in owners:
        has_uses = any(True for r in owner.results for _ in r.uses)
        if isa(owner, PtrToIntOp, LLVMAddOp) and not has_uses:
            _erase(owner.operation)
