"""Copies from global to shared memory without registers."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Buffer, apply, attrs, dtypes, edit, walk
from tir_mlir.dialect.ir.lowering_op_views import ExtractOp
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, StoreOp, isa
from tir_mlir.passes.lower.gpu.pipelines.copy_groups import COMMIT, COPIED_AHEAD, WAIT
from tir_mlir.passes.lower.registry import location_text, lowering, programs, warn

BYTES = (4, 8, 16)
"""What `cp.async` copies at once (PTX ISA, cp.async)."""


@lowering("tir-lower-gpu-async-copies", "Mark stores that copy to shared memory as asynchronous")
def run(module: ir.Module) -> None:
    """Mark the stores to buffers that `tir-lower-gpu-copy-groups` has marked as `nontemporal`.

        %x = vector.load %A[%i] : 4 x f32         %x = vector.load %A[%i]
        vector.store %x, %s[%j]            -->    vector.store %x, %s[%j] {nontemporal = true}

    `tir-lower-gpu-cp-async` makes an instruction of the pair, whose pointers exist then. A copy of another width than
    4, 8 or 16 bytes remains a load and a store, with a LoweringWarning; the waits of its group are right for it, too,
    and are dropped if there are no other copies.
    Requires vectors, and addresses of shared buffers, to be final.
    """
    for func in programs(module):
        marked = [op for op in walk.ops(func.op) if COPIED_AHEAD in op.attributes]
        stores: dict[int, list[ir.Operation]] = {attrs.get(op, COPIED_AHEAD): [] for op in marked}
        of_each = {number: [op for op in marked if attrs.get(op, COPIED_AHEAD) == number] for number in stores}
        for op in walk.ops(func.op):
            alloc = Buffer(accessed_memref(op)).root.op if isa(op, StoreOp) else None
            if alloc is not None and COPIED_AHEAD in alloc.attributes:
                stores[attrs.get(alloc, COPIED_AHEAD)].append(op)
        for number, group in stores.items():
            _mark_all(group, of_each[number])


def _mark_all(stores: Sequence[ir.Operation], marked: Sequence[ir.Operation]) -> None:
    """Mark the stores of a pipeline; drop the groups and waits of one without a copy that can be asynchronous."""
    narrow: dict[str, ir.Operation] = {}
    wide = 0
    for op in stores:
        name = Buffer(accessed_memref(op)).root.name
        if _mark(op):
            wide += 1
        else:
            narrow.setdefault(name, op)
    for op in marked:
        if not wide and op.name in (COMMIT, WAIT):
            edit.drop(op)
        else:
            attrs.put(op, COPIED_AHEAD, None)
    for name, op in narrow.items():
        warn(
            f"{location_text(op)}: what is copied to {name} is loaded and stored: an asynchronous copy is of "
            "4, 8 or 16 bytes; vectorize the copy"
        )


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
