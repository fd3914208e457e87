"""Whether a buffer is used whole, by a look at the loops around its accesses: most buffers between nests are."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis.accesses import of_op
from tir_mlir.dialect.ir import Buffer, Loop, is_loop, walk
from tir_mlir.dialect.ir.op_traits import AFFINE_ELEMENT_ACCESSES
from tir_mlir.passes.lower.memory.lifetimes import common_loops


def is_used_whole(value: ir.Value) -> bool:
    """Whether accesses to elements reach from end to end of each dimension, and no loop is around all of them, so that
    the buffer can neither move nor shrink. False if that is not plain to see."""
    users = [use.owner.operation for use in value.uses]
    if not users or any(op.name not in AFFINE_ELEMENT_ACCESSES for op in users) or common_loops(users):
        return False
    shape = Buffer(value).shape
    return all(size is not None and any(_spans(op, d, size) for op in users) for d, size in enumerate(shape))


def _spans(op: ir.Operation, d: int, size: int) -> bool:
    """Whether an access runs for all indices of a dimension."""
    (access,) = of_op(op)
    variable = access.mins[d].is_value()
    around = walk.parents(op)[:-1]  # without the function
    if variable is None or not all(is_loop(p) and _length(p) for p in around):
        return False
    return any(Loop(p).var == variable and _length(p) == size for p in around)


def _length(loop: ir.Operation) -> int:
    """The number of iterations of a loop from 0 to a constant; 0 for others."""
    lowers, uppers = Loop(loop).lowers, Loop(loop).uppers
    if len(lowers) != 1 or len(uppers) != 1 or lowers[0].as_constant() != 0:
        return 0
    return max(uppers[0].as_constant() or 0, 0)
