"""bfloat16 numbers that are only moved, as 16-bit words."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import walk
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
def run(module: ir.Module) -> None:
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
