"""bfloat16 numbers that are only moved, as 16-bit words."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import walk
from tir_mlir.passes.lower.llvm.float_builder import Floats
from tir_mlir.passes.lower.registry import lowering

_CONSTANT, _CAST = "llvm.mlir.constant", "llvm.bitcast"
_MOVES = frozenset(
    f"llvm.{name}"
    for name in (
        *("load", "store", "intr.masked.load", "intr.masked.store", "intr.masked.gather", "intr.masked.scatter"),
        *("mlir.constant", "mlir.zero", "mlir.undef", "mlir.poison", "bitcast", "freeze", "select", "br", "cond_br"),
        *("extractelement", "insertelement", "shufflevector", "intr.vector.extract", "intr.vector.insert"),
    )
)


@lowering("tir-lower-words", "move bfloat16 numbers as 16-bit integers")
def run_words(module: ir.Module) -> None:
    """Have LLVM see no bfloat16 where there is no arithmetic on it.

        %x = llvm.load %p : !llvm.ptr -> bf16                %x = llvm.load %p : !llvm.ptr -> i16
        llvm.store %x, %q : bf16, !llvm.ptr           -->    llvm.store %x, %q : i16, !llvm.ptr

    LLVM 22 ends the process over a vector of them that it puts together on a CPU with AVX512-BF16 ("Do not know how to
    soft promote this operator's operand"). Runs on the llvm dialect, where arithmetic is in float32 (`tir-lower-bf16`);
    a module in which another op, or a function, still takes such a value stays as it is.
    """
    listed = walk.ops(module.operation)
    found = [op for op in listed if any(_is_bf16(v.type) for v in [*op.operands, *op.results])]
    if not all(op.name in _MOVES for op in found) or any(map(_takes_one, listed)):
        return
    joins = [a for op in listed for region in op.regions for block in region.blocks for a in block.arguments]
    made = [v for op in found for v in op.results if op.name != _CONSTANT]
    for value in [*joins, *made]:
        if _is_bf16(value.type):
            value.set_type(_word(value.type))
    for op in found:
        if op.name == _CONSTANT:
            _cast(op)
        elif op.name == _CAST and op.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()


def _is_bf16(type_: ir.Type) -> bool:
    return isinstance(type_.element_type if isinstance(type_, ir.VectorType) else type_, ir.BF16Type)


def _takes_one(op: ir.Operation) -> bool:
    """Whether a function has such a parameter, which its type says as well."""
    return op.name == "llvm.func" and "bf16" in str(op.attributes["function_type"])


def _word(type_: ir.Type) -> ir.Type:
    word = ir.IntegerType.get_signless(16)
    if isinstance(type_, ir.VectorType):
        return ir.VectorType.get(type_.shape, word, scalable=type_.scalable_dims)
    return word


def _cast(constant: ir.Operation) -> None:
    """Let the bits of a constant stand for it; LLVM makes one constant of that."""
    value = constant.results[0]
    uses = list(value.uses)
    with ir.InsertionPoint.after(constant), constant.location:
        bits = ir.Operation.create(_CAST, [_word(value.type)], [value]).results[0]
    for use in uses:
        use.owner.operands[use.operand_number] = bits


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
