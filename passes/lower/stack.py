"""Stack memory of OpenMP threads."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import walk
from tir_mlir.passes.lower.registry import lowering


@lowering("tir-lower-thread-stack", "move allocas from the body of a parallel loop to the start of its thread")
def run(module: ir.Module) -> None:
    """Give each thread its memory once.

        omp.parallel { omp.wsloop { ... memref.alloca ... } }   -->   omp.parallel { memref.alloca  omp.wsloop { ... } }

    An alloca in a loop is memory that LLVM cannot keep in registers. Runs after `convert-scf-to-openmp`.
    """
    for op in walk.ops(module.operation):
        if op.name == "omp.parallel":
            first = next(iter(op.regions[0].blocks[0].operations)).operation
            for inner in walk.ops(op):
                if inner.name == "memref.alloca" and not len(inner.operands) and inner != first:
                    inner.move_before(first)
