"""bfloat16 from float32, by its bits."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import walk
from tir_mlir.passes.lower.floats import Floats
from tir_mlir.passes.lower.registry import lowering

_QUIET = 0x400000
"""The bit of a quiet NaN."""


@lowering("tir-lower-bf16", "round float32 to bfloat16 by arithmetic on the bits")
def run(module: ir.Module) -> None:
    """Round to nearest, ties to even; a NaN becomes quiet and keeps its first bits.

        %b = arith.truncf %x : f32 to bf16
            -->
        %i = arith.bitcast %x : f32 to i32 ; the half of the last place is added, and one more where that bit is odd
        %b = arith.bitcast (arith.trunci (%i >> 16)) : i16 to bf16

    `arith-expand` has the same, but with a choice between bf16 values for NaN, for which LLVM takes vectors apart; so
    it does where a side is constant, and moves the choice to the end.
    Requires `arith-emulate-unsupported-floats`, which makes these roundings.
    """
    for op in walk.ops(module.operation):
        if op.name != "arith.truncf":
            continue
        source, result = op.operands[0].type, op.results[0].type
        if isinstance(_element(source), ir.F32Type) and isinstance(_element(result), ir.BF16Type):
            with ir.InsertionPoint(op), op.location:
                made = _round(Floats(source), op.operands[0], result)
            op.results[0].replace_all_uses_with(made)
            op.erase()


def _element(type_: ir.Type) -> ir.Type:
    return type_.element_type if isinstance(type_, ir.VectorType) else type_


def _round(f: Floats, x: ir.Value, result: ir.Type) -> ir.Value:
    bits = f.to_bits(x)
    odd = f.whole_op("andi", f.whole_op("shrui", bits, 16), 1)
    rounded = f.whole_op("addi", f.whole_op("addi", bits, 0x7FFF), odd)
    chosen = ir.Operation.create(
        "arith.select", [f.whole], [f.compare(x, "uno", x), f.whole_op("ori", bits, _QUIET), rounded]
    ).results[0]
    half = ir.IntegerType.get_signless(16)
    if isinstance(result, ir.VectorType):
        half = ir.VectorType.get(result.shape, half, scalable=result.scalable_dims)
    short = ir.Operation.create("arith.trunci", [half], [f.whole_op("shrui", chosen, 16)]).results[0]
    return ir.Operation.create("arith.bitcast", [result], [short]).results[0]
