"""Updates that several threads make of one element at any time: atomic instructions."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.analysis import atomic_kind
from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, access_indices, create, edit, only_reads, to_name, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref, index_operands
from tir_mlir.dialect.ir.op_views import AffineStoreOp, ElementStoreOp, StoreOp, isa
from tir_mlir.passes.lower.gpu.block_copies import is_right_in_order
from tir_mlir.passes.lower.gpu.combinations import OperatorCombination, Update, update_of
from tir_mlir.passes.lower.gpu.nests import THREAD, owner_of
from tir_mlir.passes.lower.gpu.thread_tags import kernel_nests
from tir_mlir.passes.lower.registry import location_text, lowering, programs

TYPES = "int32 int64 float32 float64"


@lowering("tir-lower-gpu-atomics", "Make atomic instructions of updates that several threads make of one element")
def run(module: ir.Module, types: str = TYPES, chip: str = "a GPU") -> None:
    """Update an element by one instruction where other threads may update it at the same time.

        for %t in threadIdx.x {                            for %t in threadIdx.x {
          %b = affine.load %X[%t]                            %b = affine.load %X[%t]
          %h = memref.load %H[%b]                  -->       memref.atomic_rmw addi %1, %H[%b]
          memref.store %h + %1, %H[%b]                     }
        }

    Right as these updates commute and no thread reads what is so far, which `tir-lower-gpu-block-copies` proves of the
    result. Floats are added in an order that differs from run to run, which their reduce iter allows. An update remains
    where the order of threads gives each read its value anyway. types: what the GPU updates at once. Requires
    blocks to be removed, and fast-math flags to be set. Errors: LoweringError for another type.
    """
    for func in programs(module):
        for top in kernel_nests(func):
            for update in _racing_updates(top):
                _make_atomic(update, types.split(), chip)


@only_reads
def _racing_updates(top: ir.Operation) -> list[Update]:
    """The updates of a kernel that are right only if each is one instruction."""
    stores = [op for op in walk.ops(top) if isa(op, ElementStoreOp)]
    updates = [u for op in stores if (u := update_of(op)) is not None and _can_be_atomic(u)]
    buffers = dict.fromkeys(Buffer(accessed_memref(u.stores[0])).root.value for u in updates)
    racing = {b for b in buffers if not is_right_in_order(b, top)}
    return [u for u in updates if Buffer(accessed_memref(u.stores[0])).root.value in racing]


def _can_be_atomic(update: Update) -> bool:
    """Whether an update of memory that threads share is an instruction of some GPU: nothing else writes the buffer
    between its load and its store."""
    store, load = update.stores[0], update.loads[0]
    if not isinstance(update.combination, OperatorCombination) or atomic_kind(store) is None:
        return False
    buffer = Buffer(accessed_memref(store)).root
    if owner_of(buffer) == THREAD or load.block != store.block:
        return False
    between = range(walk.position(load) + 1, walk.position(store))
    return not any(_writes(store.block.operations[n].operation, buffer) for n in between)


def _writes(op: ir.Operation, buffer: Buffer) -> bool:
    return any(t.is_write and t.buffer == buffer.value for t in touches(op))


def _make_atomic(update: Update, types: list[str], chip: str) -> None:
    store, value = update.stores[0], update.combination.new[0]
    name, dtype = Buffer(accessed_memref(store)).name, to_name(value.type)
    if dtype not in types:
        raise LoweringError(
            f"{location_text(store)}: several threads may update an element of {name} at the same time, and {chip} has "
            f"no instruction that updates {dtype} at once; fix: compute {name} in one of {', '.join(types)}"
            if types
            else f"{location_text(store)}: several threads may update an element of {name} at the same time, which "
            f"code for {chip} cannot do yet; fix: bind loops whose iterations update elements of their own"
        )
    kind = arith.AtomicRMWKind[atomic_kind(store) or ""]
    with ir.InsertionPoint(store), store.location:
        indices = index_operands(store)
        if isa(store, AffineStoreOp):
            indices = [create.apply(index) for index in access_indices(store)]
        memref.AtomicRMWOp(kind, value, accessed_memref(store), indices)
    computed = StoreOp(store).value.owner.operation
    for op in (store, computed, *update.loads):
        edit.drop(op)
