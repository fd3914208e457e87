"""Asynchronous copies as instructions."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import defining_op, edit, walk
from tir_mlir.dialect.ir.lowering_op_views import LLVMLoadOp, LLVMStoreOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.passes.lower.registry import lowering


@lowering(
    "tir-lower-gpu-cp-async", "Make `cp.async` of loads from global memory and their marked stores to shared memory"
)
def run(module: ir.Module) -> None:
    """Replace each marked store, and the load of what it stores.

        %x = llvm.load %a : !llvm.ptr<1>
        llvm.store %x, %s {nontemporal} : !llvm.ptr<3>    -->    nvvm.cp.async.shared.global %s, %a, 16, cache = cg

    16 bytes bypass the first cache. A store of what is computed remains one. Requires that nothing writes what is
    loaded (see `tir-lower-gpu-copy-groups`).
    """
    for op in [op for op in walk.ops(module.operation) if isa(op, LLVMStoreOp) and "nontemporal" in op.attributes]:
        store = LLVMStoreOp(op)
        load = defining_op(store.value, LLVMLoadOp)
        if load is None:  # chosen between what is loaded and 0: the waits of its group are right for a store, too
            del op.attributes["nontemporal"]
            continue
        size = _bytes(store.value.type)
        level = "cg" if size == 16 else "ca"
        with ir.InsertionPoint(op), op.location:
            facts = {
                "size": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), size),
                "modifier": ir.Attribute.parse(f"#nvvm<load_cache_modifier {level}>"),
            }
            ir.Operation.create("nvvm.cp.async.shared.global", [], [store.memref, load.memref], facts)
        edit.drop(op)
        if not list(load.op.results[0].uses):
            edit.drop(load.op)


def _bytes(type_: ir.Type) -> int:
    count = 1
    if isinstance(type_, ir.VectorType):
        type_, count = type_.element_type, type_.shape[0]
    assert isinstance(type_, ir.IntegerType | ir.FloatType)
    return count * type_.width // 8
