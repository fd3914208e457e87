"""Lower the test for infinities to comparisons."""

from __future__ import annotations

import math

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ir.op_views import IsInfOp
from tir_mlir.passes.lower.llvm.float_builder import FloatBuilder
from tir_mlir.passes.lower.registry import lowering


@lowering("tir-lower-isinf", "Lower math.isinf to comparisons")
def run(module: ir.Module) -> None:
    """Lower the test for infinities, which has no conversion to LLVM upstream.

        %t = math.isinf %x : f32   -->   %t = (%x == inf) or (%x == -inf)

    NaN is neither. Vectors and all float types.
    """
    for test in walk.views_in(module.operation, IsInfOp):
        op, x = test.op, test.operand
        with ir.InsertionPoint(op), op.location:
            ends = [FloatBuilder(x.type).constant(value) for value in (math.inf, -math.inf)]
            is_infinite = arith.ori(*[arith.cmpf(arith.CmpFPredicate.OEQ, x, end) for end in ends])
        op.results[0].replace_all_uses_with(is_infinite)
        op.erase()
