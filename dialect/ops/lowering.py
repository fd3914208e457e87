"""What programs are read from and lowered to: ops on tensors, of kernels, of LLVM."""

from __future__ import annotations

from tir_mlir.dialect.ops.record import MlirOp

OPS = (
    # tensors
    MlirOp("linalg.generic", view="LinalgGenericOp"),
    MlirOp("linalg.index", view="LinalgIndexOp"),
    MlirOp("linalg.fill", view="FillOp"),
    MlirOp("linalg.softmax", view="SoftmaxOp"),
    MlirOp("tensor.empty", view="EmptyOp"),
    MlirOp("tensor.dim", view="TensorDimOp"),
    MlirOp("tensor.reshape", view="TensorReshapeOp"),
    MlirOp("tensor.from_elements", view="TensorFromElementsOp"),
    MlirOp("tensor.expand_shape", view="TensorRegroupOp"),
    MlirOp("tensor.collapse_shape", view="TensorRegroupOp"),
    MlirOp("tensor.cast", view="TensorCastOp"),
    MlirOp("cf.assert", view="AssertOp"),
    # kernels, and loops by threads of a CPU
    MlirOp("gpu.module", view="GPUModuleOp"),
    MlirOp("gpu.func", view="GPUFuncOp"),
    MlirOp("gpu.return", view="GPUReturnOp"),
    MlirOp("gpu.launch_func", view="LaunchFuncOp"),
    MlirOp("gpu.thread_id", view="ThreadIdOp"),
    MlirOp("gpu.block_id", view="BlockIdOp"),
    MlirOp("gpu.barrier", view="BarrierOp"),
    MlirOp("gpu.shuffle", view="ShuffleOp"),
    MlirOp("gpu.dynamic_shared_memory", view="DynamicSharedMemoryOp"),
    MlirOp("nvvm.barrier", view="NVVMBarrierOp"),
    MlirOp("nvvm.barrier0", view="NVVMBarrierOp"),
    MlirOp("nvvm.shfl.sync", view="NVVMShuffleOp"),
    MlirOp("omp.parallel", view="OMPParallelOp"),
    MlirOp("omp.loop_nest", view="OMPLoopNestOp"),
    # LLVM
    MlirOp("llvm.func", view="LLVMFuncOp"),
    MlirOp("llvm.call", view="LLVMCallOp"),
    MlirOp("llvm.call_intrinsic", view="LLVMIntrinsicOp"),
    MlirOp("llvm.intr.assume", view="AssumeOp"),
    MlirOp("llvm.mlir.constant", view="LLVMConstantOp"),
    MlirOp("llvm.mlir.zero", view="LLVMZeroOp"),
    MlirOp("llvm.alloca", view="LLVMAllocaOp"),
    MlirOp("llvm.getelementptr", view="GetElementPtrOp"),
    MlirOp("llvm.ptrtoint", view="PtrToIntOp"),
    MlirOp("llvm.load", view="LLVMLoadOp"),
    MlirOp("llvm.store", view="LLVMStoreOp"),
    MlirOp("llvm.add", view="LLVMAddOp"),
    MlirOp("llvm.bitcast", view="LLVMBitcastOp"),
    MlirOp("llvm.sitofp", view="LLVMIntToFPOp"),
    MlirOp("llvm.uitofp", view="LLVMIntToFPOp"),
    MlirOp("llvm.fcmp", view="FCmpOp"),
    MlirOp("llvm.br", view="BranchOp"),
    MlirOp("llvm.mlir.global", view="LLVMGlobalOp"),
    MlirOp("llvm.mlir.global_ctors", view="GlobalCtorsOp"),
    MlirOp("llvm.comdat", view="ComdatOp"),
    MlirOp("builtin.unrealized_conversion_cast", view="UnrealizedCastOp"),
)
