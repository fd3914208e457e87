"""How many float operations an op does, and a function."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from mlir import ir

from tir_mlir.dialect.ir import Func, Index, is_block, is_init, walk

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


def float_operations(func: Func, sizes: Mapping[str, int] | None = None) -> int | None:
    """The float operations of a function before its schedule: of each block, those of its body for all its iters. None
    if a block has an extent that is symbolic at the given values of shape variables."""
    total = 0
    values = {value: Index.constant((sizes or {})[n]) for n, value in func.symbols.items() if n in (sizes or {})}
    for block in walk.all_blocks(func.op):
        extents = [it.extent.substitute(values).simplify().as_constant() for it in block.iters]
        block_flops = sum(flops(op) for op in walk.ops(block.op) if _belongs(op, block.op))
        if block_flops and any(e is None for e in extents):
            return None
        total += block_flops * prod(e for e in extents if e is not None)
    return total


def _belongs(op: ir.Operation, block: ir.Operation) -> bool:
    """Whether an op is of a block itself: not of a block in it, nor of an init."""
    for parent in walk.parents(op):
        if parent == block:
            return True
        if is_block(parent) or is_init(parent):
            return False
    return False


def words(op: ir.Operation) -> list[str]:
    """The dialect and mnemonic of an op; maximum and minimum of the llvm dialect map to arith."""
    return _SAME_AS.get(op.name, op.name).split(".", 1)
