"""Hide the zero of a comparison from LLVM, which takes -0.0 for 0.0 when it moves a conversion."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.constants.dense import is_dense, splat_of
from tir_mlir.dialect.ir import defining_op, walk
from tir_mlir.dialect.ir.lowering_op_views import (
    FCmpOp,
    GPUModuleOp,
    LLVMConstantOp,
    LLVMFPCastOp,
    LLVMIntToFPOp,
    LLVMZeroOp,
)
from tir_mlir.dialect.ir.op_views import CastOp, isa
from tir_mlir.dialect.ir.vectors import scalar_type
from tir_mlir.passes.lower.registry import Content, lowering

_ORDERS = {2, 3, 4, 5, 9, 10, 11, 12}
"""The predicates of `<`, `<=`, `>` and `>=`, ordered and unordered."""
_FENCE = "llvm.arithmetic.fence"


@lowering(
    "tir-lower-signed-zeros",
    "Hide the zero of comparisons of floats from LLVM",
    works_on=Content(
        ops={*LLVMFPCastOp.names, *CastOp.names, "gpu.module"}, elements={"f16", "bf16"}
    ),  # functions of f16 are those of f32
)
def run(module: ir.Module) -> None:
    """Hide the zero that a float is compared with, in kernels, and for types that are converted from.

        %c = llvm.fcmp "olt" %x, %zero : f32   -->   %z = llvm.call_intrinsic "llvm.arithmetic.fence"(%zero)
                                                     %c = llvm.fcmp "olt" %x, %z : f32

    LLVM 22.1 moves the conversion out of `x < 0 ? 0 : double(x)`, which it makes of branches, too, and takes the rest
    for a maximum, which gives 0.0 for -0.0 (llvm/llvm-project#157254). The fence is a constant in a register: loops
    around it are vectorized as before.

    For GPUs LLVM also makes a minimum of `x < 0 ? x : 0`, which gives -0.0 for -0.0, and the same with a converted
    integer instead of 0, as that is never NaN. Runs on the llvm dialect.
    """
    listed = walk.ops(module.operation)
    converted = {scalar_type(LLVMFPCastOp(op).source.type) for op in listed if isa(op, LLVMFPCastOp)}
    for op in listed:
        if not isa(op, FCmpOp) or ir.IntegerAttr(op.attributes["predicate"]).value not in _ORDERS:
            continue
        for number, operand in enumerate(op.operands):
            in_kernel = any(isa(parent, GPUModuleOp) for parent in walk.parents(op))
            hidden = _is_zero(operand) or (in_kernel and _is_whole(operand))
            if hidden and (in_kernel or scalar_type(operand.type) in converted):
                with ir.InsertionPoint(op), op.location:
                    op.operands[number] = _emit_fence(operand)


def _is_zero(value: ir.Value) -> bool:
    source = defining_op(value)
    if source is None or not isa(source, LLVMConstantOp, LLVMZeroOp):
        return False
    if isa(source, LLVMZeroOp):
        return True
    number = source.attributes["value"].maybe_downcast()
    element = splat_of(number) if is_dense(number) else number
    return isinstance(element, ir.FloatAttr) and element.value == 0


def _is_whole(value: ir.Value) -> bool:
    return defining_op(value, LLVMIntToFPOp) is not None


def _emit_fence(value: ir.Value) -> ir.Value:
    segments = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0]),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
    }
    facts = {"intrin": ir.StringAttr.get(_FENCE), **segments}
    return ir.Operation.create("llvm.call_intrinsic", [value.type], [value], facts).results[0]
