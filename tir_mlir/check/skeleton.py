"""The structure of a program: everything but its numbers."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import attrs, walk
from tir_mlir.dialect.views import is_loop


def skeleton(module: ir.Module) -> list[tuple[str, ...]]:
    """Ops in order, with how deep they stand, the names and kinds of loops and blocks, and how many bounds and
    conditions they have. Two programs of one skeleton differ in numbers only."""
    return [_shape(op) for op in walk.ops(module.operation)]


def _shape(op: ir.Operation) -> tuple[str, ...]:
    words = [op.name, str(len(op.operands)), str(len(op.results))]
    for key in (attrs.LOOP, attrs.KIND, attrs.BLOCK):
        if key in op.attributes:
            words.append(str(attrs.get(op, key)))
    if op.name == "affine.if":
        words.append(str(len(walk.constraints(op))))
    if is_loop(op):
        words.append(str(len(attrs.affine_map(op, "upperBoundMap").results)))
    parent = op.parent
    return (*words, parent.operation.name if parent is not None else "")
