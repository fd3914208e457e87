"""Math functions of kernels, of which a GPU has no library."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import dtypes, walk
from tir_mlir.dialect.ir.op_traits import OPS
from tir_mlir.passes.lower.gpu.nvvm import double_functions
from tir_mlir.passes.lower.llvm import math_polynomials
from tir_mlir.passes.lower.llvm.float_builder import FloatBuilder
from tir_mlir.passes.lower.registry import location_text, lowering

INTRINSICS = {name: f"llvm.{row.llvm.split()[0]}" for name, row in OPS.items() if row.gpu == "instruction"}
"""Functions that are instructions, by the name of LLVM's intrinsic. Upstream's conversion would call a library."""


@lowering("tir-lower-gpu-math", "Lower math functions to instructions of a GPU, or to code in float64")
def run(module: ir.Module) -> None:
    """Lower math functions to arithmetic and to functions that a GPU has as instructions.

        %s = math.sqrt %x    -->   %s = llvm.call_intrinsic "llvm.sqrt"(%x)
        %r = math.rsqrt %x   -->   %s = llvm.call_intrinsic "llvm.sqrt"(%x)
                                   %r = arith.divf 1, %s
        %l = math.sin %x     -->   the sine in float64, rounded

    Runs after `tir-lower-math-polynomials`. Raises LoweringError for a function, or a type of it, without code.
    """
    while pending := [op for op in walk.ops(module.operation) if _is_pending(op)]:
        for op in pending:
            with ir.InsertionPoint(op), op.location:
                value = _lower_op(op)
            op.results[0].replace_all_uses_with(value)
            op.erase()
        math_polynomials.run(module)  # for functions in terms of others


def _is_pending(op: ir.Operation) -> bool:
    left = op.name in OPS and OPS[op.name].gpu == "upstream"
    return op.name == "arith.remf" or (op.name.startswith("math.") and not left)


def _lower_op(op: ir.Operation) -> ir.Value:
    type_ = op.results[0].type
    if op.name in INTRINSICS:
        return _intrinsic(INTRINSICS[op.name], op)
    f = FloatBuilder(type_)
    if op.name == "math.rsqrt":
        return f.div(f.constant(1.0), ir.Operation.create("math.sqrt", [type_], [op.operands[0]]).results[0])
    if f.bits in (32, 64) and op.name in double_functions.UNARY:
        return _compute_in_double(op, lambda g, values: double_functions.UNARY[op.name](g, *values))
    if f.bits == 32 and op.name == "math.powf":
        return _compute_in_double(op, lambda g, values: double_functions.power(g, *values))
    if f.bits in (32, 64) and op.name == "math.atan2":
        return _compute_in_double(op, lambda g, values: double_functions.atan2(g, *values))
    name = (op.name in OPS and OPS[op.name].c) or op.name.removeprefix("math.")
    narrow = ", or compute it in float32" if f.bits == 64 else ""
    fix = f"write it with exp, log, sqrt and arithmetic{narrow}"
    if name == "fmod":
        fix = "write it as x - T.trunc(x / y) * y, which rounds twice"
    raise LoweringError(f"{location_text(op)}: {name} of {dtypes.to_name(type_)} has no code for a GPU; fix: {fix}")


def _compute_in_double(op: ir.Operation, write: Callable[[FloatBuilder, list[ir.Value]], ir.Value]) -> ir.Value:
    """A function computed in float64."""
    double, type_ = ir.F64Type.get(), op.results[0].type
    g = FloatBuilder(double)
    if type_ == double:
        return write(g, list(op.operands))
    wide: list[ir.Value] = [ir.Operation.create("arith.extf", [double], [value]).results[0] for value in op.operands]
    return ir.Operation.create("arith.truncf", [type_], [write(g, wide)]).results[0]


def _intrinsic(name: str, op: ir.Operation) -> ir.Value:
    facts = {
        "intrin": ir.StringAttr.get(name),
        "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(op.operands), 0]),
    }
    return ir.Operation.create("llvm.call_intrinsic", [op.results[0].type], list(op.operands), facts).results[0]
