"""Functions that may be approximated, as instructions of NVIDIA's GPUs."""

from __future__ import annotations

from math import e, log2

from mlir import ir

from tir_mlir.dialect.ir import edit, walk
from tir_mlir.passes.lower.gpu.nvvm.math import intrinsic
from tir_mlir.passes.lower.llvm.float_builder import FloatBuilder
from tir_mlir.passes.lower.registry import lowering

_POWER, _LOG = "llvm.nvvm.ex2.approx", "llvm.nvvm.lg2.approx.f"
_ROWS = {
    "math.exp": (_POWER, log2(e), 1.0),
    "math.exp2": (_POWER, 1.0, 1.0),
    "math.log": (_LOG, 1.0, 1 / log2(e)),
    "math.log2": (_LOG, 1.0, 1.0),
}
"""By function: an intrinsic, the factor of its argument, and that of its result."""


@lowering("tir-lower-gpu-approximations", "Make instructions of functions that may be approximated")
def run(module: ir.Module) -> None:
    """Lower the functions of float32 that `tir-lower-gpu-approximate` has marked.

        %e = math.exp %x fastmath<afn>   -->   %y = arith.mulf %x, 1.442695
                                               %e = llvm.call_intrinsic "llvm.nvvm.ex2.approx"(%y)

    Error: exp2 relative 2 ** -22, exp relative 2 ** -22 + |x| * 2 ** -23 (of the rounded product), log2 and log
    absolute 2 ** -22 for arguments in [0.5, 2], else relative 2 ** -22 (PTX manual, ex2.approx and lg2.approx).
    Infinities and NaN are those of the functions. Others remain for the passes after it.
    """
    for op in walk.ops(module.operation):
        row = _ROWS.get(op.name)
        if row is None or not isinstance(op.results[0].type, ir.F32Type) or "afn" not in str(op.attributes["fastmath"]):
            continue
        name, before, after = row
        with ir.InsertionPoint(op), op.location:
            f = FloatBuilder(op.results[0].type)
            argument = op.operands[0] if before == 1 else f.mul(op.operands[0], before)
            value = intrinsic(name, [argument])
            value = value if after == 1 else f.mul(value, after)
        edit.replace_uses(op.results[0], value)
        edit.drop(op)
