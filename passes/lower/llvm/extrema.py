"""Maxima and minima of single floats, left to LLVM."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import walk
from tir_mlir.passes.lower.registry import lowering

_NAMES = {"arith.maximumf": "llvm.intr.maximum", "arith.minimumf": "llvm.intr.minimum"}


@lowering("tir-lower-extrema", "leave maxima and minima of single floats to LLVM")
def run(module: ir.Module) -> None:
    """Keep a maximum of scalars one op, which uses each operand once.

        %m = arith.maximumf %x, %y : f32   -->   %m = llvm.intr.maximum(%x, %y) : f32

    `arith-expand` compares and chooses: each value is used twice, which in a long chain takes LLVM too long (see
    `chains`), and LLVM does not see that it is a maximum. Of +0 and -0, +0 is the maximum, as `arith` says. Vectors
    are left to `arith-expand`.
    """
    for op in walk.ops(module.operation):
        name = _NAMES.get(op.name)
        if name is None or not isinstance(op.results[0].type, ir.F16Type | ir.F32Type | ir.F64Type):
            continue
        with ir.InsertionPoint(op), op.location:
            made = ir.Operation.create(name, [op.results[0].type], list(op.operands))
        op.results[0].replace_all_uses_with(made.results[0])
        op.erase()
