"""What programs consist of besides scalar operations: memory, control flow, indices, casts, vectors."""

from __future__ import annotations

from tir_mlir.dialect.ops.record import MlirOp, Trait

_T = Trait
_CAST, _WIDENS = _T.ZERO, _T.ZERO | _T.WIDENS

OPS = (
    # loads and stores
    MlirOp("affine.load", _T.PURE, view="AffineLoadOp"),
    MlirOp("affine.store", view="AffineStoreOp"),
    MlirOp("affine.vector_load", view="AffineVectorLoadOp"),
    MlirOp("affine.vector_store", view="AffineVectorStoreOp"),
    MlirOp("memref.load", _T.PURE, view="MemrefLoadOp"),
    MlirOp("memref.store", view="MemrefStoreOp"),
    MlirOp("vector.load", view="VectorLoadOp"),
    MlirOp("vector.store", view="VectorStoreOp"),
    MlirOp("vector.maskedload", view="LoadOp"),
    MlirOp("vector.maskedstore", view="MaskedStoreOp"),
    MlirOp("vector.expandload", view="LoadOp"),
    MlirOp("vector.compressstore", view="MaskedStoreOp"),
    MlirOp("vector.gather", view="LoadOp"),
    MlirOp("vector.scatter", view="MaskedStoreOp"),
    MlirOp("vector.transfer_read", view="LoadOp"),
    MlirOp("vector.transfer_write", view="StoreOp"),
    MlirOp("memref.copy", view="CopyOp"),
    MlirOp("memref.atomic_rmw", view="AtomicOp"),
    MlirOp("memref.generic_atomic_rmw", view="UpdateOp"),
    MlirOp("affine.prefetch", view="PrefetchOp"),
    MlirOp("memref.prefetch", view="PrefetchOp"),
    MlirOp("llvm.load", view="ReadOp"),
    # what else takes or makes a buffer
    MlirOp("memref.alloc", view="AllocOp"),
    MlirOp("memref.alloca", view="AllocaOp"),
    MlirOp("memref.assume_alignment", view="SameIndicesOp"),
    MlirOp("memref.cast", _T.RETYPED, view="MemrefCastOp"),
    MlirOp("memref.collapse_shape", view="ViewLikeOp"),
    MlirOp("memref.expand_shape", view="ViewLikeOp"),
    MlirOp("memref.memory_space_cast", view="SameIndicesOp"),
    MlirOp("memref.reinterpret_cast", _T.RETYPED, view="ViewLikeOp"),
    MlirOp("memref.subview", _T.RETYPED | _T.PURE, view="SubviewOp"),
    MlirOp("memref.transpose", view="ViewLikeOp"),
    MlirOp("memref.view", view="ByteViewOp"),
    MlirOp("memref.dealloc", view="DeallocOp"),
    MlirOp("memref.dim", _T.SIZE, view="DimOp"),
    MlirOp("memref.extract_aligned_pointer_as_index", view="AlignedPointerOp"),
    MlirOp("memref.extract_strided_metadata", _T.RETYPED | _T.SIZE, view="StridedMetadataOp"),
    MlirOp("memref.get_global", _T.FREE, view="GetGlobalOp"),
    MlirOp("llvm.inttoptr", view="IntToPtrOp"),
    # control flow
    MlirOp("affine.for", view="AffineForOp"),
    MlirOp("affine.parallel", view="AffineParallelOp"),
    MlirOp("scf.for", view="ScfForOp"),
    MlirOp("scf.parallel", view="ScfParallelOp"),
    MlirOp("scf.while", view="WhileOp"),
    MlirOp("affine.if", view="AffineIfOp"),
    MlirOp("scf.if", view="ScfIfOp"),
    MlirOp("affine.yield", view="AffineYieldOp"),
    MlirOp("scf.yield", view="YieldOp"),
    MlirOp("scf.condition", _T.FREE, view="ConditionOp"),
    MlirOp("builtin.module", view="ModuleOp"),
    MlirOp("func.func", view="FuncOp"),
    MlirOp("func.call", view="CallOp"),
    # indices and choices
    MlirOp("affine.apply", _T.PURE | _T.FOLDS, view="ApplyOp"),
    MlirOp("affine.max", _T.FREE, view="MappedOp"),
    MlirOp("affine.min", _T.FREE, view="MappedOp"),
    # casts
    MlirOp("arith.extf", _WIDENS, view="CastOp"),
    MlirOp("arith.extsi", _WIDENS, view="CastOp", unsigned="arith.extui"),
    MlirOp("arith.extui", _WIDENS, view="CastOp"),
    MlirOp("arith.sitofp", _WIDENS | _T.TO_FLOAT, view="CastOp", unsigned="arith.uitofp"),
    MlirOp("arith.uitofp", _WIDENS | _T.TO_FLOAT, view="CastOp"),
    MlirOp("arith.truncf", _CAST, view="CastOp"),
    MlirOp("arith.trunci", _CAST, view="CastOp"),
    MlirOp("arith.fptosi", _CAST | _T.ROUNDS, view="CastOp", unsigned="arith.fptoui"),
    MlirOp("arith.fptoui", _CAST | _T.ROUNDS, view="CastOp"),
    MlirOp("arith.index_cast", _T.SIZE, view="IndexCastOp", unsigned="arith.index_castui"),
    MlirOp("arith.index_castui", view="IndexCastOp"),
    # vectors
    MlirOp("vector.broadcast", _T.LANES),
    MlirOp("vector.extract", _T.LANES),
    MlirOp("vector.from_elements", _T.LANES | _T.JOINS),
    MlirOp("vector.shape_cast", _T.LANES | _T.JOINS),
    MlirOp("vector.shuffle", _T.LANES),
)
