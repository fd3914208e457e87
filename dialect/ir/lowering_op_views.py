# pyright: strict, reportMissingTypeStubs=false
"""Typed views of the ops that programs are read from and lowered to: on tensors, on vectors, of kernels, of LLVM."""

from __future__ import annotations

from tir_mlir.dialect.ir.op_views import Operand, ReadOp, TypedOp

# --- tensors --------------------------------------------------------------------------------------------------------


class LinalgGenericOp(TypedOp):
    """A loop nest over tensors or buffers, whose body computes one element."""


class LinalgIndexOp(TypedOp):
    """The position along a loop of a `LinalgGenericOp`, in its body."""


class FillOp(TypedOp):
    value = Operand(0)
    target = Operand(1)


class SoftmaxOp(TypedOp):
    source = Operand(0)
    target = Operand(1)


class EmptyOp(TypedOp):
    """A tensor without values."""


class TensorDimOp(TypedOp):
    """The extent of a tensor along an axis."""

    source = Operand(0)
    axis = Operand(1)


class TensorReshapeOp(TypedOp):
    source = Operand(0)
    shape = Operand(1)


class TensorFromElementsOp(TypedOp):
    """A tensor of scalars."""


class TensorRegroupOp(TypedOp):
    """A tensor with axes split or merged."""

    source = Operand(0)


class TensorCastOp(TypedOp):
    """A tensor with another part of its shape known."""

    source = Operand(0)


class AssertOp(TypedOp):
    condition = Operand(0)


# --- vectors --------------------------------------------------------------------------------------------------------


class BroadcastOp(TypedOp):
    """Its source in every lane."""

    source = Operand(0)


class ExtractOp(TypedOp):
    """A lane of a vector, or a part of it."""

    source = Operand(0)


class InsertOp(TypedOp):
    """A vector with another lane, or another part."""

    value = Operand(0)
    target = Operand(1)


class FromElementsOp(TypedOp):
    """A vector of scalars."""


class ShapeCastOp(TypedOp):
    source = Operand(0)


class VectorBitcastOp(TypedOp):
    source = Operand(0)


class ReductionOp(TypedOp):
    """The lanes of a vector combined; of `multi_reduction`, those along some axes."""

    source = Operand(0)
    start = Operand(1)


class MultiReductionOp(ReductionOp):
    pass


# --- kernels --------------------------------------------------------------------------------------------------------


class GPUModuleOp(TypedOp):
    """The kernels of a module."""


class GPUFuncOp(TypedOp):
    """A kernel before it is converted to LLVM."""


class GPUReturnOp(TypedOp):
    pass


class LaunchFuncOp(TypedOp):
    """The launch of a kernel, by the host."""


class GridIdOp(TypedOp):
    """The number of the thread or block that runs, along an axis."""


class ThreadIdOp(GridIdOp):
    pass


class BlockIdOp(GridIdOp):
    pass


class BarrierOp(TypedOp):
    pass


class ShuffleOp(TypedOp):
    """The value of another lane of the warp."""

    value = Operand(0)
    offset = Operand(1)


class DynamicSharedMemoryOp(TypedOp):
    pass


class NVVMBarrierOp(TypedOp):
    pass


class NVVMShuffleOp(TypedOp):
    pass


class DotAccumulateOp(TypedOp):
    """An integer, to which the products of four pairs of bytes are added."""

    lhs = Operand(0)
    rhs = Operand(1)
    total = Operand(2)


class OMPParallelOp(TypedOp):
    """What a team of threads runs."""


class OMPWsloopOp(TypedOp):
    """A loop whose iterations the threads of a team share."""


class OMPLoopNestOp(TypedOp):
    pass


# --- LLVM -----------------------------------------------------------------------------------------------------------


class LLVMFuncOp(TypedOp):
    pass


class LLVMCallOp(TypedOp):
    pass


class LLVMIntrinsicOp(TypedOp):
    """A call of an intrinsic by its name."""


class AssumeOp(TypedOp):
    condition = Operand(0)


class LLVMConstantOp(TypedOp):
    pass


class LLVMZeroOp(TypedOp):
    pass


class LLVMAllocaOp(TypedOp):
    count = Operand(0)


class GetElementPtrOp(TypedOp):
    """An address at a distance from another one."""

    base = Operand(0)


class PtrToIntOp(TypedOp):
    pointer = Operand(0)


class LLVMLoadOp(ReadOp):
    pass


class LLVMStoreOp(TypedOp):
    value = Operand(0)
    memref = Operand(1)
    """A pointer to what it writes."""


class LLVMAddOp(TypedOp):
    pass


class LLVMBitcastOp(TypedOp):
    source = Operand(0)


class LLVMIntToFPOp(TypedOp):
    """A float from a signed or unsigned integer."""

    source = Operand(0)


class LLVMFPCastOp(TypedOp):
    """A float as one with more or fewer bits."""

    source = Operand(0)


class FCmpOp(TypedOp):
    pass


class BranchOp(TypedOp):
    pass


class LLVMGlobalOp(TypedOp):
    pass


class GlobalCtorsOp(TypedOp):
    """The functions that run when a module is loaded."""


class ComdatOp(TypedOp):
    pass


class UnrealizedCastOp(TypedOp):
    """A value that one conversion left in a type that the others do not know."""
