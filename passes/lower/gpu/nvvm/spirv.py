"""Kernels for SPIR-V: the same llvm module as for PTX, its few instructions of NVIDIA as functions of SPIR-V."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import defining_op, walk
from tir_mlir.dialect.ir.lowering_op_views import LLVMAllocaOp, LLVMConstantOp, LLVMFuncOp, NVVMBarrierOp, NVVMShuffleOp
from tir_mlir.dialect.ir.op_views import dyn_cast, isa
from tir_mlir.passes.lower.registry import location_text, lowering

_AXES = "xyz"
_IDS = {"tid": "__spirv_BuiltInLocalInvocationId", "ctaid": "__spirv_BuiltInWorkgroupId"}
_WORKGROUP, _SUBGROUP = 2, 3  # scopes
_ALL_MEMORY = 0x10 | 0x100 | 0x200  # sequentially consistent, of workgroups and across them
_CODES = {"i8": "c", "i16": "s", "i32": "j", "i64": "m", "f16": "Dh", "f32": "f", "f64": "d"}
"""Types as the names of functions in C++ have them, from which the code generator knows a function of SPIR-V."""
_FLAGS = "fastmathFlags"
_NVIDIA_PREFIXES = ("nvvm.", "gpu.")


@lowering("tir-lower-gpu-spirv", "Replace NVIDIA's instructions in kernels by functions of SPIR-V")
def run(module: ir.Module, warp: int | str = 1) -> None:
    """Replace NVIDIA's instructions in kernels of the llvm dialect by calls that LLVM turns into those of SPIR-V.

        %t = nvvm.read.ptx.sreg.tid.x : i32       -->   %i = llvm.call @"__spirv_BuiltInLocalInvocationId"(0) : i64
                                                        %t = llvm.trunc %i
        nvvm.barrier0                             -->   llvm.call @"__spirv_ControlBarrier"(2, 2, 784)
        %s = nvvm.shfl.sync bfly %m, %x, %d, %w   -->   %s = llvm.call @"__spirv_GroupNonUniformShuffleXor"(3, %x, %d)
        %b = llvm.alloca %c8 x f32                -->   %b = llvm.alloca %c1 x !llvm.array<8 x f32>
        nvvm.kernel, nvvm.maxntid = [64, 1, 1]    -->   CConv = spir_kernelcc, reqd_work_group_size = [64, 1, 1]

    Sums and products lose their fast-math flags: LLVM writes `reassoc` as all that SPIR-V has, "no NaN" among them.
    warp: the threads that shuffle values, which are a sub-group then; 1 without shuffles. A shuffle remains within
    aligned groups of its width, as its distance is below it. Raises LoweringError for an instruction that SPIR-V lacks.
    """
    kernels = [op.operation for op in module.body.operations if "nvvm.kernel" in op.operation.attributes]
    calls = _Calls(module)
    for kernel in kernels:
        for op in list(walk.ops(kernel)):
            if _FLAGS in op.attributes:
                op.attributes[_FLAGS] = ir.Attribute.parse("#llvm.fastmath<none>")
            with ir.InsertionPoint(op), op.location:
                if op.name.startswith("nvvm."):
                    _replace(op, calls)
                elif alloca := dyn_cast(op, LLVMAllocaOp):
                    _to_array(alloca)
        _describe(kernel, int(warp))


def _describe(kernel: ir.Operation, warp: int) -> None:
    """Say what a kernel is in the words for SPIR-V."""
    kernel.attributes["reqd_work_group_size"] = kernel.attributes["nvvm.maxntid"]
    kernel.attributes["CConv"] = ir.Attribute.parse("#llvm.cconv<spir_kernelcc>")
    if warp > 1:
        kernel.attributes["intel_reqd_sub_group_size"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), warp)
    for name in [name for name in kernel.attributes if name.startswith(_NVIDIA_PREFIXES)]:
        del kernel.attributes[name]


def _to_array(alloca: LLVMAllocaOp) -> None:
    """Make one array of what a kernel puts on its stack: a count is that of an array of variable size in SPIR-V."""
    op = alloca.op
    counted, element = defining_op(alloca.count, LLVMConstantOp), ir.TypeAttr(op.attributes["elem_type"]).value
    if counted is None:
        raise LoweringError(f"{location_text(op)}: SPIR-V has no stack of variable size; fix: build for CUDA")
    count = ir.IntegerAttr(counted.op.attributes["value"]).value
    if count > 1:
        op.attributes["elem_type"] = ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{count} x {element}>"))
        alloca.count = _constant(1)


def _replace(op: ir.Operation, calls: _Calls) -> None:
    words = op.name.split(".")
    i32, i64 = (ir.IntegerType.get_signless(bits) for bits in (32, 64))
    if words[:-2] == ["nvvm", "read", "ptx", "sreg"] and words[-2] in _IDS:
        number = calls.call(_IDS[words[-2]], [i64], [_constant(_AXES.index(words[-1]))]).results[0]
        value = ir.Operation.create("llvm.trunc", [i32], [number]).results[0]
    elif isa(op, NVVMBarrierOp) and not op.operands:
        calls.call("__spirv_ControlBarrier", [], [_constant(n) for n in (_WORKGROUP, _WORKGROUP, _ALL_MEMORY)])
        value = None
    elif isa(op, NVVMShuffleOp) and "bfly" in str(op.attributes["kind"]):
        _, shuffled, distance, _ = op.operands
        scope = _constant(_SUBGROUP)
        shuffle = calls.call("__spirv_GroupNonUniformShuffleXor", [shuffled.type], [scope, shuffled, distance])
        value = shuffle.results[0]
    else:
        raise LoweringError(f"{location_text(op)}: SPIR-V has nothing for {op.name}; fix: build for CUDA")
    if value is not None:
        op.results[0].replace_all_uses_with(value)
    op.erase()


def _constant(number: int) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    facts = {"value": ir.IntegerAttr.get(i32, number)}
    return ir.Operation.create("llvm.mlir.constant", [i32], [], facts).results[0]


class _Calls:
    """Calls of functions of SPIR-V, each declared once at the start of a module."""

    def __init__(self, module: ir.Module):
        self._module = module
        functions = [op for op in walk.ops(module.operation) if isa(op, LLVMFuncOp)]
        self._declared = {ir.StringAttr(op.attributes["sym_name"]).value for op in functions}

    def call(self, name: str, results: Sequence[ir.Type], operands: Sequence[ir.Value]) -> ir.Operation:
        """A call, with the results that it has."""
        types = [str(value.type) for value in operands]
        symbol = f"_Z{len(name)}{name}{''.join(_CODES[type_] for type_ in types)}"
        if symbol not in self._declared:
            self._declare(symbol, types, results)
        facts = {
            "callee": ir.FlatSymbolRefAttr.get(symbol),
            "CConv": ir.Attribute.parse("#llvm.cconv<spir_funccc>"),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
            "convergent": ir.UnitAttr.get(),
        }
        return ir.Operation.create("llvm.call", results, operands, facts)

    def _declare(self, symbol: str, types: Sequence[str], results: Sequence[ir.Type]) -> None:
        self._declared.add(symbol)
        result = str(results[0]) if results else "void"
        facts = {
            "sym_name": ir.StringAttr.get(symbol),
            "function_type": ir.TypeAttr.get(ir.Type.parse(f"!llvm.func<{result} ({', '.join(types)})>")),
            "CConv": ir.Attribute.parse("#llvm.cconv<spir_funccc>"),
            "linkage": ir.Attribute.parse("#llvm.linkage<external>"),
            "convergent": ir.UnitAttr.get(),
        }
        with ir.InsertionPoint.at_block_begin(self._module.body):
            ir.Operation.create("llvm.func", [], [], facts, regions=1)
