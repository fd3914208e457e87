"""Lower bool buffers to byte buffers."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ir.op_views import ElementLoadOp, ElementStoreOp, dyn_cast, isa
from tir_mlir.passes.lower.registry import Content, lowering
from tir_mlir.passes.lower.retype_module import retype


@lowering("tir-lower-bools", "Lower bool buffers to i8", works_on=Content(elements={"i1"}))
def run(module: ir.Module) -> None:
    """A bool is an i1 as a value, and a byte in memory (as in NumPy).

        %b = affine.load %M[%i] : memref<16xi1>     -->   %x = affine.load %M[%i] : memref<16xi8>
                                                          %b = arith.trunci %x : i8 to i1

    The upstream conversion of a store to `memref<i1>` aborts.
    """
    everything = walk.ops(module.operation)
    if not retype(everything, as_bytes):
        return
    byte, bit = ir.IntegerType.get_signless(8), ir.IntegerType.get_signless(1)
    for op in everything:
        if isa(op, ElementLoadOp) and op.results[0].type == bit:
            _widen_load(op, byte, bit)
        elif (store := dyn_cast(op, ElementStoreOp)) and store.value.type == bit:
            with ir.InsertionPoint(op), op.location:
                store.value = ir.Operation.create("arith.extui", [byte], [store.value]).results[0]


def as_bytes(type_: ir.Type) -> ir.Type:
    """The memref type with i8 for i1."""
    memref = ir.MemRefType(type_)
    element = memref.element_type
    if not (isinstance(element, ir.IntegerType) and element.width == 1):
        return type_
    return ir.MemRefType.get(memref.shape, ir.IntegerType.get_signless(8), memref.layout, memref.memory_space)


def _widen_load(op: ir.Operation, byte: ir.Type, bit: ir.Type) -> None:
    value = op.results[0]
    uses = [(use.owner.operation, use.operand_number) for use in value.uses]
    value.set_type(byte)
    with ir.InsertionPoint.after(op), op.location:
        narrow = ir.Operation.create("arith.trunci", [bit], [value]).results[0]
    for owner, number in uses:
        owner.operands[number] = narrow
