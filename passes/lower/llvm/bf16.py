"""Lower bfloat16: rounding as integer arithmetic, and moves as i16, which LLVM 22 cannot legalize otherwise."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import walk
from tir_mlir.passes.lower.llvm.float_builder import FloatBuilder
from tir_mlir.passes.lower.registry import lowering

_CONSTANT, _CAST = "llvm.mlir.constant", "llvm.bitcast"
_MOVE_OPS = frozenset(
    f"llvm.{name}"
    for name in (
        *("load", "store", "intr.masked.load", "intr.masked.store", "intr.masked.gather", "intr.masked.scatter"),
        *("mlir.constant", "mlir.zero", "mlir.undef", "mlir.poison", "bitcast", "freeze", "select", "br", "cond_br"),
        *("extractelement", "insertelement", "shufflevector", "intr.vector.extract", "intr.vector.insert"),
    )
)


@lowering("tir-lower-bf16-moves", "Lower bf16 loads, stores and shuffles to i16")
def lower_moves(module: ir.Module) -> None:
    """Rewrite bf16 values that are only moved to i16.

        %x = llvm.load %p : !llvm.ptr -> bf16                %x = llvm.load %p : !llvm.ptr -> i16
        llvm.store %x, %q : bf16, !llvm.ptr           -->    llvm.store %x, %q : i16, !llvm.ptr

    LLVM 22 aborts on a bf16 vector that it builds on a CPU with AVX512-BF16 ("Do not know how to soft promote this
    operator's operand"). Runs on the llvm dialect, where arithmetic is in f32 (`tir-lower-bf16`). Leaves the module as
    it is if another op or a function still takes a bf16 value.
    """
    listed = walk.ops(module.operation)
    if not any(_is_bf16(value.type) for op in listed for value in op.results):
        return  # so only a parameter could be one, which stays
    bf16_ops = [op for op in listed if any(_is_bf16(v.type) for v in [*op.operands, *op.results])]
    if not all(op.name in _MOVE_OPS for op in bf16_ops) or any(map(_has_bf16_parameter, listed)):
        return
    joins = [a for op in listed for region in op.regions for block in region.blocks for a in block.arguments]
    results = [v for op in bf16_ops for v in op.results if op.name != _CONSTANT]
    for value in [*joins, *results]:
        if _is_bf16(value.type):
            value.set_type(_as_i16(value.type))
    for op in bf16_ops:
        if op.name == _CONSTANT:
            _bitcast_constant(op)
        elif op.name == _CAST and op.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()


def _is_bf16(type_: ir.Type) -> bool:
    return isinstance(type_.element_type if isinstance(type_, ir.VectorType) else type_, ir.BF16Type)


def _has_bf16_parameter(op: ir.Operation) -> bool:
    """Whether a function has a bf16 parameter, which is part of its type."""
    return op.name == "llvm.func" and "bf16" in str(op.attributes["function_type"])


def _as_i16(type_: ir.Type) -> ir.Type:
    word = ir.IntegerType.get_signless(16)
    if isinstance(type_, ir.VectorType):
        return ir.VectorType.get(type_.shape, word, scalable=type_.scalable_dims)
    return word


def _bitcast_constant(constant: ir.Operation) -> None:
    """Bitcast a constant; LLVM folds the cast."""
    value = constant.results[0]
    uses = list(value.uses)
    with ir.InsertionPoint.after(constant), constant.location:
        bits = ir.Operation.create(_CAST, [_as_i16(value.type)], [value]).results[0]
    for use in uses:
        use.owner.operands[use.operand_number] = bits


_QUIET_BIT = 0x400000
"""The quiet bit of a NaN."""


@lowering("tir-lower-bf16", "Lower the rounding of f32 to bf16 to integer arithmetic")
def lower_rounding(module: ir.Module) -> None:
    """Round to nearest, ties to even; a NaN becomes quiet and keeps its leading bits.

        %b = arith.truncf %x : f32 to bf16
            -->
        %i = arith.bitcast %x : f32 to i32 ; add half a unit in the last place, plus one if that bit is odd
        %b = arith.bitcast (arith.trunci (%i >> 16)) : i16 to bf16

    `arith-expand` does the same with a select between bf16 values for NaN, which LLVM scalarizes; here the select is on
    integers. Requires `arith-emulate-unsupported-floats`, which creates these roundings.
    """
    for op in walk.ops(module.operation):
        if op.name != "arith.truncf":
            continue
        source, result = op.operands[0].type, op.results[0].type
        if isinstance(_element(source), ir.F32Type) and isinstance(_element(result), ir.BF16Type):
            with ir.InsertionPoint(op), op.location:
                rounded = _round(FloatBuilder(source), op.operands[0], result)
            op.results[0].replace_all_uses_with(rounded)
            op.erase()


def _element(type_: ir.Type) -> ir.Type:
    return type_.element_type if isinstance(type_, ir.VectorType) else type_


def _round(f: FloatBuilder, x: ir.Value, result: ir.Type) -> ir.Value:
    bits = f.to_bits(x)
    odd = f.whole_op("andi", f.whole_op("shrui", bits, 16), 1)
    rounded = f.whole_op("addi", f.whole_op("addi", bits, 0x7FFF), odd)
    chosen = ir.Operation.create(
        "arith.select", [f.whole], [f.compare(x, "uno", x), f.whole_op("ori", bits, _QUIET_BIT), rounded]
    ).results[0]
    half = ir.IntegerType.get_signless(16)
    if isinstance(result, ir.VectorType):
        half = ir.VectorType.get(result.shape, half, scalable=result.scalable_dims)
    short = ir.Operation.create("arith.trunci", [half], [f.whole_op("shrui", chosen, 16)]).results[0]
    return ir.Operation.create("arith.bitcast", [result], [short]).results[0]
