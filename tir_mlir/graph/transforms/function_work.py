"""How much a TensorIR function computes."""

from __future__ import annotations

from math import prod

from mlir import ir

from tir_mlir.dialect.ir import Func, is_block, is_init, walk
from tir_mlir.interpreter.ops.scalar_ops import flops


def float_operations(func: Func) -> int | None:
    """The float operations of a function before its schedule: of each block, those of its body for all its iters. None
    if a block has a symbolic extent."""
    total = 0
    for block in walk.all_blocks(func.op):
        extents = [it.extent.as_constant() for it in block.iters]
        own = sum(flops(op) for op in walk.ops(block.op) if _belongs(op, block.op))
        if own and any(e is None for e in extents):
            return None
        total += own * prod(e for e in extents if e is not None)
    return total


def _belongs(op: ir.Operation, block: ir.Operation) -> bool:
    """Whether an op is of a block itself: not of a block in it, nor of an init."""
    for parent in walk.parents(op):
        if parent == block:
            return True
        if is_block(parent) or is_init(parent):
            return False
    return False
