"""Inline a pure copy into the reduction that computes its input: the reduction runs in the buffer of the copy.

The copy is the only writer of that buffer (a complete block), so partial results in it are not changed in between.
"""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import of_op
from tir_mlir.dialect.ir import Block, Buffer, create, edit, ops
from tir_mlir.dialect.ir.op_traits import AFFINE_ELEMENT_ACCESSES, AFFINE_LOAD, AFFINE_STORE, accessed
from tir_mlir.passes.schedule.inlining.block_expression import BlockExpression, Inverse
from tir_mlir.passes.schedule.legality import MOVE_UNDER_ONE_LOOP
from tir_mlir.passes.schedule.registry import refuse


def is_copy(consumer: BlockExpression) -> bool:
    """Whether a block stores what it loads, unchanged."""
    return any(step.name == AFFINE_LOAD and step.results[0] == consumer.value for step in consumer.steps)


def accumulator_of(block: Block, buffer: Buffer) -> BlockExpression:
    """A reduction as its last store to `buffer`. Refuses uses of the buffer other than plain loads and stores."""
    held = [op for op in ops(block.op) if buffer.value in list(op.operands)]
    odd = next((op for op in held if op.name not in AFFINE_ELEMENT_ACCESSES), None)
    if odd is not None:
        text = f"{buffer.name} is used by {odd.name}; merging needs loads and stores at affine indices only"
        refuse(odd, text, fix=MOVE_UNDER_ONE_LOOP)
    stores = [op for op in block.body_ops() if op.name == AFFINE_STORE and accessed(op) == buffer.value]
    if len(stores) != 1:
        text = f'block "{block.name}" does not update {buffer.name} by one store, which merging needs'
        refuse(block, text, fix=MOVE_UNDER_ONE_LOOP)
    return BlockExpression(block, stores[0], [])


def redirect(block: Block, buffer: Buffer, consumer: BlockExpression, inverse: Inverse) -> None:
    """Let a reduction load and store the element of the copy in place of each element of `buffer`."""
    for op in [o for o in ops(block.op) if o.name in AFFINE_ELEMENT_ACCESSES and accessed(o) == buffer.value]:
        iters = inverse.at_access(of_op(op)[0])
        at = [i.substitute(iters) for i in consumer.indices]
        with ir.InsertionPoint(op), op.location:
            if op.name == AFFINE_STORE:
                create.store(op.operands[0], consumer.buffer.value, at)
            else:
                edit.replace_uses(op.results[0], create.load(consumer.buffer.value, at))
        edit.erase(op)
