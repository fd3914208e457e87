"""Copies from global to shared memory without registers."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Buffer, apply, dtypes, edit, walk
from tir_mlir.dialect.ir.lowering_op_views import ExtractOp
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, StoreOp, isa
from tir_mlir.passes.lower.gpu.pipelines.copy_groups import COPIED_AHEAD, drop_groups
from tir_mlir.passes.lower.registry import location_text, lowering, programs, warn

BYTES = (4, 8, 16)
"""What `cp.async` copies at once (PTX ISA, cp.async)."""


@lowering("tir-lower-gpu-async-copies", "Mark stores that copy to shared memory as asynchronous")
def run(module: ir.Module) -> None:
    """Mark the stores of copies, in loops that `tir-lower-gpu-copy-groups` has marked, as `nontemporal`.

        %x = vector.load %A[%i] : 4 x f32         %x = vector.load %A[%i]
        vector.store %x, %s[%j]            -->    vector.store %x, %s[%j] {nontemporal = true}

    `tir-lower-gpu-cp-async` makes an instruction of the pair, whose pointers exist then. A copy of another width than
    4, 8 or 16 bytes remains a load and a store, with a LoweringWarning; the waits of its group are right for it, too,
    and are dropped if there are no other copies.
    Requires vectors, and addresses of shared buffers, to be final.
    """
    for func in programs(module):
        for loop in [op for op in walk.ops(func.op) if COPIED_AHEAD in op.attributes and len(op.regions)]:
            del loop.attributes[COPIED_AHEAD]
            narrow: dict[str, ir.Operation] = {}
            stores = [op for op in walk.ops(loop) if isa(op, StoreOp) and _is_copied_ahead(op)]
            marked = [_mark(op) for op in stores]
            for op in (op for op, is_marked in zip(stores, marked, strict=True) if not is_marked):
                narrow.setdefault(Buffer(accessed_memref(op)).name, op)
            if not any(marked):
                drop_groups(loop)
            for name, op in narrow.items():
                warn(
                    f"{location_text(op)}: what is copied to {name} is loaded and stored: an asynchronous copy is of "
                    "4, 8 or 16 bytes; vectorize the copy"
                )


def _is_copied_ahead(op: ir.Operation) -> bool:
    alloc = Buffer(accessed_memref(op)).op
    return alloc is not None and COPIED_AHEAD in alloc.attributes


def _mark(store: ir.Operation) -> bool:
    """Mark a store of what is loaded; False if its width is none of a copy."""
    value, target = StoreOp(store).value, accessed_memref(store)
    lanes = ir.VectorType(value.type).shape[0] if isinstance(value.type, ir.VectorType) else 1
    if lanes * dtypes.bits(Buffer(target).dtype) // 8 not in BYTES:
        return False
    for user in [use.owner.operation for use in value.uses]:
        if isa(user, ExtractOp) and not list(user.results[0].uses):
            edit.drop(user)  # a lane, of which `tir-lower-gpu-vectors` has made one vector again
    nontemporal = {"nontemporal": ir.BoolAttr.get(True)}
    if isa(store, AffineElementAccessOp):
        with ir.InsertionPoint(store), store.location:
            indices = [apply(index) for index in walk.access_indices(store)]
            ir.Operation.create("memref.store", [], [value, target, *indices], nontemporal)
        edit.drop(store)
    else:
        edit.set_attribute(store, "nontemporal", nontemporal["nontemporal"])
    return True
