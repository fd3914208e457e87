"""Collapse dimensions of shared buffers that threads fill by one linear index."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Buffer, walk
from tir_mlir.dialect.ir.op_views import AllocLikeOp, isa
from tir_mlir.passes.lower.blocks.collapse_dims import collapse
from tir_mlir.passes.lower.gpu.thread_tags import is_shared
from tir_mlir.passes.lower.memory.strides import DIM_ALIGN
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-gpu-shared-dims", "Collapse dimensions of shared buffers that threads fill by one linear index")
def run(module: ir.Module) -> None:
    """Collapse dimensions of shared buffers, if that simplifies indices (see `tir-lower-collapse-dims`).

        %s = memref.alloc : memref<4x100xf32, "shared">                          memref<400xf32, "shared">
        fill %s[(%a * 256 + %t) floordiv 100, (%a * 256 + %t) mod 100]   -->     fill %s[%a * 256 + %t]
        use %s[%i, %j]                                                           use %s[%i * 100 + %j]

    Requires blocks to be removed. Buffers with the alignment of a dimension are left as they are.
    """
    for func in programs(module):
        for op in [op for op in walk.ops(func.op) if isa(op, AllocLikeOp) and DIM_ALIGN not in op.attributes]:
            if is_shared(Buffer(op.results[0])):
                collapse(func, op.results[0])
