"""How many float operations an op does."""

from __future__ import annotations

from mlir import ir

_SAME_AS = {"llvm.intr.maximum": "arith.maximumf", "llvm.intr.minimum": "arith.minimumf"}


def flops(op: ir.Operation) -> int:
    """Float operations of an op per lane: 1, 2 for a multiply-add, 0 for casts and comparisons."""
    dialect, word = words(op)
    if not len(op.results):
        return 0
    type_ = op.results[0].type
    element = type_.element_type if isinstance(type_, ir.VectorType) else type_
    if not isinstance(element, ir.FloatType) or (dialect == "arith" and not word.endswith("f")):
        return 0
    if word in ("extf", "truncf", "constant", "select", "copysign"):
        return 0
    return 2 if word == "fma" else int(dialect in ("arith", "math"))


def words(op: ir.Operation) -> list[str]:
    """The dialect and mnemonic of an op; maximum and minimum of the llvm dialect map to arith."""
    return _SAME_AS.get(op.name, op.name).split(".", 1)
