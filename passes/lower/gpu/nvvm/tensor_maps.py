"""Arguments that are tensor maps, and the start of dynamic shared memory, as the TMA needs them."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import attrs, walk
from tir_mlir.dialect.ir.lowering_op_views import GPUModuleOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.passes.lower.gpu.outline.kernel_memory import DYNAMIC_ALIGNMENT, TENSOR_MAPS
from tir_mlir.passes.lower.registry import lowering


@lowering("tir-lower-gpu-tensor-maps", "Pass tensor maps by value, and align dynamic shared memory")
def run(module: ir.Module) -> None:
    """Give the pointers to tensor maps what a kernel needs to pass them to the TMA.

        llvm.func @f(%m: !llvm.ptr)   -->   (%m: !llvm.ptr {llvm.byval = 128 bytes, grid_constant})
        llvm.mlir.global @__dynamic_shmem__0 {alignment = 16}   -->   {alignment = 1024}

    A tensor map is an argument of 128 bytes, aligned to 64, that no thread writes (CUDA driver API, CUtensorMap). The
    upstream conversion aligns dynamic memory to 16 bytes; the number is that of `tir-lower-gpu-kernels`. Runs on the
    functions of kernels in the llvm dialect.
    """
    i64 = ir.IntegerType.get_signless(64)
    facts = {
        "llvm.byval": ir.TypeAttr.get(ir.Type.parse("!llvm.array<128 x i8>")),
        "llvm.align": ir.IntegerAttr.get(i64, 64),
        "nvvm.grid_constant": ir.UnitAttr.get(),
    }
    for holder in [op.operation for op in module.body.operations if isa(op, GPUModuleOp)]:
        numbers = attrs.get(holder, TENSOR_MAPS, {})
        for op in walk.ops(holder):
            name = ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else ""
            if op.name == "llvm.func" and name in numbers:
                old = ir.ArrayAttr(op.attributes["arg_attrs"])
                new = [ir.DictAttr.get(facts) if n in numbers[name] else a for n, a in enumerate(old)]
                op.attributes["arg_attrs"] = ir.ArrayAttr.get(new)
            if (
                op.name == "llvm.mlir.global"
                and name.startswith("__dynamic_shmem")
                and DYNAMIC_ALIGNMENT in holder.attributes
            ):
                op.attributes["alignment"] = holder.attributes[DYNAMIC_ALIGNMENT]
