"""Keep the rounding of casts to shorter floats."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ir.op_views import CastOp, isa
from tir_mlir.passes.lower.registry import lowering

_FLAGS = "fastmath"


@lowering("tir-lower-cast-rounding", "Keep the rounding between functions of float16")
def run(module: ir.Module) -> None:
    """Take the license to fold casts from those that `math-extend-to-supported-types` makes.

        %h = arith.truncf %x fastmath<contract> : f32 to f16          %h = arith.truncf %x : f32 to f16
        %y = arith.extf %h fastmath<contract> : f16 to f32      -->   %y = arith.extf %h : f16 to f32

    With it, upstream folds replace %y by %x: the second of two functions of float16 would take a number that is not a
    float16, and a result would depend on whether somebody reads the one between.
    """
    for op in walk.ops(module.operation):
        if isa(op, CastOp) and _FLAGS in op.attributes:
            del op.attributes[_FLAGS]
