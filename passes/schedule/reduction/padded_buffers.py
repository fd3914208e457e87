"""Buffers that have the size of padded iters already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.analysis import access_boxes
from tir_mlir.dialect.analysis.accesses import accesses_to
from tir_mlir.dialect.ir import Block, Buffer, Index
from tir_mlir.dialect.presburger import sets
from tir_mlir.passes.schedule.legality import scope_of
from tir_mlir.passes.schedule.legality.scope import writers
from tir_mlir.passes.schedule.legality.written_before_read import common_ancestor, runs_before


def has_padding(block: Block, buffer: Buffer, index: Sequence[Index], extents: Mapping[ir.Value, Index]) -> bool:
    """Whether a buffer is as large as the padded iters need, and one block before fills all of it."""
    ends = [(extents.get(i.is_value()), dim) for i, dim in zip(index, buffer.dims, strict=True)]  # type: ignore[arg-type]
    sizes, scope = sets.sizes(block.op), scope_of(block)
    if buffer.is_param or not all(end is None or sets.holds(sizes, dim - end) for end, dim in ends):
        return False
    made_by = writers(scope, buffer.value)
    if len(made_by) != 1 or made_by[0].guarded_op != made_by[0].op or not runs_before(made_by[0].op, block.op):
        return False
    if common_ancestor(made_by[0].op, block.op)[0] != scope.op:
        return False
    filled = access_boxes.access_box(accesses_to(buffer.value, made_by[0].op, True), scope.op)
    if filled is None or not filled.dense:
        return False
    pairs = zip(filled.mins, filled.extents, buffer.dims, strict=True)
    return all(low.as_constant() == 0 and size.is_equal_to(dim) for low, size, dim in pairs)
