"""Forward what masked stores write to masked loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import constant_integer, walk
from tir_mlir.dialect.ir.op_views import AllocLikeOp, DeallocOp, LoadOp, MaskedStoreOp, StoreOp, isa
from tir_mlir.passes.lower.registry import Content, lowering

_MASKED_LOAD = "vector.maskedload"


@lowering(
    "tir-lower-masked-buffers",
    "Keep vectors in registers that are only stored and loaded with one mask",
    works_on=Content(ops={_MASKED_LOAD}, kinds={"vectorized"}),
)
def run(module: ir.Module) -> None:
    """Forward what masked stores write to a buffer to the masked loads of it, and erase a buffer that nothing loads.

        vector.maskedstore %sum[0], %mask, %zeros                   %r = affine.for ... iter_args(%c = %zeros) {..}
        %s = vector.maskedload %sum[0], %mask, %zeros               vector.maskedstore %C[%i], %mask, %r
        %r = affine.for ... iter_args(%c = %s) {..}         -->
        vector.maskedstore %sum[0], %mask, %r
        %t = vector.maskedload %sum[0], %mask, %zeros
        vector.maskedstore %C[%i], %mask, %t

    A partial tile so remains in registers as a full one does, for which LLVM sees to it. For buffers allocated here
    whose accesses are all masked and in one block; other lanes of a value that is used without the mask are selected.
    Runs after `cse`, so that equal masks are one value.
    """
    for op in [o for o in walk.ops(module.operation) if isa(o, AllocLikeOp)]:
        users = [use.owner.operation for use in op.results[0].uses]
        accesses = [user for user in users if not isa(user, DeallocOp)]
        if accesses and all(map(_is_masked, accesses)) and len({user.block for user in accesses}) == 1:
            _forward(op.results[0], accesses[0].block)
            if not any(isa(use.owner.operation, LoadOp) for use in op.results[0].uses):
                for user in [use.owner.operation for use in op.results[0].uses]:
                    user.erase()
                op.erase()


@dataclass(frozen=True)
class _Lanes:
    """The lanes of a vector in a buffer that a mask selects."""

    indices: Sequence[ir.Value]
    mask: ir.Value
    type: ir.Type

    @staticmethod
    def from_access(access: ir.Operation) -> _Lanes:
        _, *indices, mask, last = access.operands
        return _Lanes(tuple(indices), mask, last.type)

    def are_apart(self, other: _Lanes) -> bool:
        """Whether two vectors are known to be in different rows."""
        rows = zip(self.indices[:-1], other.indices[:-1], strict=True)
        numbers = [(constant_integer(a), constant_integer(b)) for a, b in rows]
        return any(None not in pair and pair[0] != pair[1] for pair in numbers)


def _is_masked(op: ir.Operation) -> bool:
    return op.name == _MASKED_LOAD or isa(op, MaskedStoreOp)


def _forward(buffer: ir.Value, block: ir.Block) -> None:
    """Replace the loads of a buffer, whose accesses are all in one block, by what was stored there last."""
    stored: dict[_Lanes, ir.Value] = {}
    for op in [o.operation for o in block.operations]:
        if not _is_masked(op) or op.operands[0] != buffer:
            continue
        lanes = _Lanes.from_access(op)
        if isa(op, StoreOp):
            stored = {other: value for other, value in stored.items() if lanes.are_apart(other)}
            stored[lanes] = op.operands[-1]
        elif lanes in stored:
            _replace(op, stored[lanes], lanes.mask)


def _replace(load: ir.Operation, value: ir.Value, mask: ir.Value) -> None:
    """Replace a masked load by the value that was stored; where not all uses have the mask, the other lanes are those
    of the load."""
    result, others = load.results[0], load.operands[-1]
    for use in list(result.uses):
        user = use.owner.operation
        if isa(user, MaskedStoreOp) and MaskedStoreOp(user).value == result and user.operands[-2] == mask:
            user.operands[len(user.operands) - 1] = value
    if any(True for _ in result.uses):
        with ir.InsertionPoint(load), load.location:
            selected = value if value == others else arith.select(mask, value, others)
        result.replace_all_uses_with(selected)
    load.erase()
